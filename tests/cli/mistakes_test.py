"""A mistake in what was typed gets one line with the nearest thing that is right."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from swapmeet import SwapmeetError, cache, texts
from swapmeet.cli.app import app
from swapmeet.doctor import machine
from swapmeet.doctor.finding import NOTE
from swapmeet.model import memory
from swapmeet.mpi import application, library, mpis

CASES = [
    (["show", "prwise", "-P", "4"], 'did you mean "pairwise"?'),
    (["show", "slimfly(q=5)", "-P", "4"], "slim-fly is a network, for `swapmeet topology` and --network"),
    (["show", "native:openmpi", "-P", "4"], "algorithms of MPIs are for `swapmeet simulate`"),
    (["show", "xyzzyplugh", "-P", "4"], "`swapmeet algorithms` lists all"),
    (["topology", "slimfly(q=5)"], "did you mean slim-fly?"),
    (["model", "tra", "-P", "4", "-S", "8kb"], "did you mean 8KiB?"),
    (["model", "tra", "-P", "4", "-S", "2 mbytes"], "did you mean 2MiB?"),
    (["model", "tra", "-P", "4", "-S", "much"], "such as 64, 8KiB or 1MiB"),
    (["simulate", "--estimate", "tra", "-n", "4", "--machine", "nothing"], "with a network (cluster, "),
    (["simulate", "--estimate", "tra", "-n", "4", "--machine", "hockney"], "has no network"),
    (["simulate", "--estimate", "tra", "-n", "4", "--machine", "polarix"], "did you mean polaris?"),
    (["simulate", "--estimate", "tra", "-n", "4", "--time-limit", "soon"], '--time-limit "soon": expected a time'),
    (["model", "tra", "-P", "4", "-S", "8", "--machine", "lumi"], "did you mean lumi-c?"),
    (["limits", "-o", "nowhere", "--machine", "hockney"], "has no network: add"),
    (["show", "tra", "-P", "0"], '-P "0": expected 1 or more'),
    (["limits", "-o", "nowhere", "--markdown"], "nowhere/cells.jsonl: No such file or directory: `swapmeet limits -o"),
    (["topology", "torus(4x4)"], "did you mean torus(dims=4x4)?"),
    (["show", "tra(r=2:P)", "-P", "4"], "`swapmeet bench` takes ranges, and `swapmeet model` by --radix"),
    (["run", "-n", "two", "--", "true"], '-n "two": expected a whole number'),
    (["doctor", "--ranks=1"], '--ranks "1": expected 2 or more'),
    (["topology", "torus(2)", "-P", "9999999"], '-P "9999999": expected 1048576 or less'),
    (["compare", "x", "y", "--tie", "none"], '--tie "none": expected a number'),
    (["show", "pairwise", "-P", "2147483648"], '-P "2147483648": expected 2147483647 or less'),
    (["run", "-n", "2147483648", "--", "true"], '-n "2147483648": expected 2147483647 or less'),
    (["model", "pairwise", "-P", "2147483648"], '"2147483648" is not within 1 to 2147483647'),
    (["verify", "tra", "-P", "9" * 5000], "expected a number, FIRST:LAST"),
    (["verify", "tra", "-P", "2147483647"], "GiB are available: choose P up to about"),
    (["show", "tra", "-P", "2147483647", "--nodes", "8"], "more than 1048576 ranks is too long to print"),
    (["goal", "tra", "-P", "4", "-S", "999999999999999G"], "expected 9223372036854775807 bytes or less"),
]


@pytest.mark.parametrize("words, hint", CASES, ids=lambda part: " ".join(part) if isinstance(part, list) else "")
def test_the_nearest_is_named(words: list[str], hint: str) -> None:
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("swapmeet: ") and hint in line
    assert "known:" not in line and "theta-fit" not in line


NO_TEXT = os.fsdecode(b"\xff\xfe")
NOT_UTF8 = [
    (["show", NO_TEXT, "-P", "8"], "SPEC"),
    (["show", "tra", "-P", "8", "--nodes", NO_TEXT], "--nodes"),
    (["model", "tra", NO_TEXT, "-P", "8", "-S", "8"], "SPEC"),
    (["verify", NO_TEXT, "-P", "8"], "SPEC"),
    (["draw", NO_TEXT, "-P", "8"], "SPEC"),
    (["goal", NO_TEXT, "-P", "8", "-S", "8"], "SPEC"),
    (["run", "-n", "1", "--algorithm", NO_TEXT, "--", "true"], "--algorithm"),
    (["simulate", "--estimate", NO_TEXT], "SPEC"),
    (["tuning", "forget", NO_TEXT], "FILE"),
]


@pytest.mark.parametrize("words, name", NOT_UTF8, ids=lambda part: ascii(part))
def test_an_argument_that_is_not_utf_8_is_named(
    words: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(NO_TEXT).touch()  # file names may be so
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert (
        done.stderr.splitlines()[-1] == f'swapmeet: {name} "\ufffd\ufffd": not UTF-8; type it anew, or rename the file'
    )


def test_files_may_have_names_that_are_not_utf_8(tmp_path: Path) -> None:
    file = tmp_path / f"{NO_TEXT}.goal"
    assert CliRunner().invoke(app, ["goal", "tra", "-P", "4", "-S", "8", "-o", str(file)]).exit_code == 0
    assert file.read_text().startswith("// bruck(")


def test_what_needs_more_memory_than_there_is_gets_one_line() -> None:
    line = f"ulimit -v 2500000; {sys.executable} -m swapmeet model -P 500000000 -S 8 pairwise"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "swapmeet: out of memory: ask for less, such as fewer ranks (-P)\n"


@pytest.mark.parametrize("more, fits", [([], 44739242), (["--nodes", "8"], 22369621)])
def test_counts_that_need_more_memory_than_there_is_are_refused_before(
    more: list[str], fits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 30)
    done = CliRunner().invoke(app, ["model", "tra", "-P", "2147483647", *more])
    assert done.exit_code == 2 and done.stderr.endswith(f"choose P up to about {fits}\n")


def test_estimates_have_no_empty_columns(tmp_path: Path) -> None:
    words = ["simulate", "--estimate", "tra", "pairwise", "-n", "8", "-S", "8", "-o", str(tmp_path / "e.jsonl")]
    text = CliRunner().invoke(app, words).stdout
    assert "µs a call" in text and "pairwise" in text and "speed-up" not in text


def test_a_missing_file_is_found_missing_before_anything_is_made(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["plot", str(tmp_path / "missing.jsonl")])
    assert done.exit_code == 2 and "no such file" in done.stderr
    assert not list(tmp_path.iterdir())


REFUSED = [
    (["nonsense"], "no such command 'nonsense'; `swapmeet -h` lists what there is"),
    (["show", "tra", "-P", "4", "--blocks", "8"], "show: no such option: --blocks"),
    (["goal", "tra", "-P", "4"], "goal: missing option '-S' / '--sizes'; `swapmeet goal -h` lists what there is"),
    (["tuning", "merge"], "tuning merge: missing argument 'FILE...'"),
]


@pytest.mark.parametrize("words, hint", REFUSED, ids=lambda part: " ".join(part) if isinstance(part, list) else "")
def test_what_the_parser_refuses_is_one_line_with_the_next_step(words: list[str], hint: str) -> None:
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("swapmeet: ") and hint in line and " -h` lists" in line


def test_quiet_leaves_notes_out(tmp_path: Path) -> None:
    words = ["simulate", "--estimate", "tra", "-n", "8", "-S", "8", "-o"]
    assert "has all samples" in CliRunner().invoke(app, [*words, str(tmp_path / "one.jsonl")]).stderr
    done = CliRunner().invoke(app, ["--quiet", *words, str(tmp_path / "other.jsonl")])
    assert (done.exit_code, done.stderr) == (0, "") and "tra" in done.stdout


def test_quiet_leaves_out_which_mpi_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "library", lambda _: Path("/libswapmeet.so"))
    assert ", the default" in CliRunner().invoke(app, ["env"]).stderr
    assert CliRunner().invoke(app, ["--quiet", "env"]).stderr == ""


HEAVY = [
    ["plot", "missing.jsonl"],
    ["tune", "--from", "missing.jsonl"],
    ["calibrate", "-P", "1"],
    ["limits", "-o", "there", "--machine", "nowhere"],
]


@pytest.mark.parametrize("words", HEAVY, ids=" ".join)
def test_a_mistake_is_reported_before_slow_libraries_are_imported(words: list[str], tmp_path: Path) -> None:
    program = (
        "import sys\nfrom swapmeet.cli.app import app\n"
        "try: app()\nfinally: print(*{'scipy', 'matplotlib', 'sklearn'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "\n"), done.stderr


FORGOTTEN = [
    (["run", "-n", "2", "--stats", "--", "./app"], "--stats"),
    (["run", "--stats", "-n", "2", "--", "./app"], "--stats"),
    (["run", "-n", "2", "--trace", "--", "./app"], "--trace"),
    (["run", "-n", "2", "--mpi", "--explain", "./app"], "--mpi"),
    (["env", "--stats", "--", "./app"], "--stats"),
    (["profile", "-n", "2", "-o", "--", "./app"], "-o"),
    (["cluster", "run", "--stats", "--", "./app"], "--stats"),
    (["bench", "-n", "2", "-o", "--report", "x.jsonl"], "-o"),
    (["tuning", "merge", "-o", "--", "x.memory"], "-o"),
    (["model", "tra", "-S", "8", "-S", "--json"], "-S"),
]


@pytest.mark.parametrize("words, option", FORGOTTEN, ids=lambda part: " ".join(part) if isinstance(part, list) else "")
def test_a_forgotten_value_is_not_taken_from_what_follows(
    words: list[str], option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    found = words[len(words) - words[::-1].index(option)]
    assert line.startswith(f'swapmeet: {option} "{found}": its value is missing: {option} ')
    assert not list(tmp_path.iterdir())


def test_what_follows_the_program_is_the_programs() -> None:
    for words in (["run", "-n", "2", "no-such", "--stats", "--", "x"], ["run", "-n", "2", "--", "no-such", "--stats"]):
        assert "no-such is no program" in CliRunner().invoke(app, words).stderr


UNWRITABLE = [
    (["run", "-n", "2", "--stats", "none/x.json", "--", "true"], "--stats none/x.json: there is no folder "),
    (["run", "-n", "2", "--stats", "folder", "--", "true"], "--stats folder: it is a folder; name a file"),
    (
        ["run", "-n", "2", "--trace", "none/x.json,call=3", "--", "true"],
        "--trace none/x.json,call=3: there is no folder ",
    ),
    (["cluster", "run", "--stats", "none/x.json", "--", "true"], "--stats none/x.json: there is no folder "),
    (["cluster", "run", "--trace", "none/x.json", "--", "true"], "--trace none/x.json: there is no folder "),
    (["run", "-n", "2", "--launcher", "srun -n {rank}", "--", "true"], "{rank} is unknown; try "),
    (["run", "-n", "2", "--", "OMP_NUM_THREADS=1", "true"], "OMP_NUM_THREADS=1 is no program; to set a variable: env "),
]


@pytest.mark.parametrize("words, hint", UNWRITABLE, ids=lambda part: " ".join(part) if isinstance(part, list) else "")
def test_it_is_refused_before_anything_runs(
    words: list[str], hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job should not run for hours, and then leave nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert hint in done.stderr.splitlines()[-1]


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs as a user without a name."""

    def unknown(user: int) -> None:
        raise KeyError(user)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("homeless")
def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SwapmeetError, match="no home folder: set HOME or XDG_CACHE_HOME"):
        cache.own_cache_folder()
    found = machine._cache()
    assert (found.state, "no home folder" in found.what) == (NOTE, True)
    monkeypatch.setattr(library, "_in_cache", lambda: True)
    assert library.built(mpis.Mpi("mpich-system", "mpich", "4", Path("/usr/bin/mpicc"), Path("mpiexec"), None)) is None


@pytest.fixture
def unreadable() -> Iterator[Path]:
    """A program that a user without rights may execute, and not read."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    shutil.copy("/bin/true", folder / "program")
    (folder / "program").chmod(0o711)
    yield folder / "program"
    shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="takes a file of another user")
def test_a_program_that_may_not_be_read(unreadable: Path) -> None:
    os.seteuid(65534)
    try:
        assert application.used([str(unreadable)]) is None
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("name", ["a b", "a:b"])
def test_a_folder_that_cannot_be_preloaded_from_is_refused_by_make(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    words = ["make", "-C", folder, "-f", Path(__file__).parents[2] / "Makefile", "demo"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2 and f"{folder}: LD_PRELOAD cannot hold blanks or colons; move it" in done.stderr
    assert not list(folder.iterdir())


def test_no_compiler_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_tool", lambda name: name)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(SwapmeetError, match="^there is no C.. compiler: apt-get install g.., .* or name one by CXX$"):
        library._make(tmp_path, ["x"], [], "", "all MPIs")
    monkeypatch.setenv("CXX", "no-such-compiler -O2")
    with pytest.raises(SwapmeetError, match='^CXX="no-such-compiler -O2" is no program: '):
        library._make(tmp_path, ["x"], [], "", "all MPIs")


@pytest.mark.parametrize("words", ["show tra -P 512", "goal tra -P 64 -S 8", "model tra -P 2:512 --csv"])
def test_output_that_nobody_reads_to_its_end_is_no_mistake(words: str) -> None:
    line = f"set -o pipefail; {sys.executable} -m swapmeet {words} | head -1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout


def test_tables_that_nobody_reads_are_no_mistake() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    words = [sys.executable, "-m", "swapmeet", "algorithms"]
    done = subprocess.run(words, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("words", ["show tra -P 8", "model tra -P 8 --json", "algorithms --markdown"])
def test_output_that_cannot_be_written_is_reported_in_one_line(words: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "swapmeet", *words.split()], stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (2, b"swapmeet: standard output: No space left on device\n")


@pytest.mark.parametrize("file", ["platform.xml", "room"])  # what is written first; what is tried in the end
def test_a_full_folder_for_temporary_files_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    expected = f"^{tmp_path}: No space left on device: give a folder for temporary files by TMPDIR$"
    with pytest.raises(SwapmeetError, match=expected), texts.temporary_folder("swapmeet-simulation-") as folder:
        (folder / file).symlink_to("/dev/full")
        (folder / "platform.xml").write_text("<platform/>")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_what_is_printed_where_nobody_reads_it_is_lost(closed: str) -> None:
    """Without a traceback: `swapmeet run -- app >&-` in a script of a daemon."""
    words = ["sh", "-c", f"exec {sys.executable} -m swapmeet algorithms {closed}"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == closed.startswith("2")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("words", ["show tra -P 4", "model tra -P 4 -S 8 --machine theta", "algorithms"])
def test_what_the_encoding_of_standard_output_lacks_is_printed_otherwise(words: str, encoding: str) -> None:
    command = [sys.executable, "-m", "swapmeet", *words.split()]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding})
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode(encoding)
    assert "<=" in text and "?" not in text


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_names_of_files_that_are_not_utf_8_are_printed(encoding: str) -> None:
    words = [sys.executable, "-m", "swapmeet", "plot", NO_TEXT]
    done = subprocess.run(words, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding})
    shown = "\ufffd\ufffd" if encoding == "utf-8" else "??"
    assert done.returncode == 2 and done.stderr.decode(encoding).startswith(f"swapmeet: {shown}: no such file")


EMPTY = [
    ["goal", "tra", "-P", "4", "-S", "8", "--machine", ""],
    ["topology", "torus(dims=4)", "--workload", ""],
    ["reproduce", "--markdown", "-o", ""],
    ["run", "-n", "1", "--stats", "", "--", "true"],
    ["plot", ""],
]


@pytest.mark.parametrize("words", EMPTY, ids=" ".join)
def test_an_empty_name_is_refused(words: list[str]) -> None:
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith(' "": it is empty; give one, or leave it out\n')


OUTPUTS = [
    "goal tra -P 4 -S 8 -o FILE",
    "topology torus(dims=4) --slots FILE",
    "draw tra -P 4 -o FILE",
    "run -n 1 --stats FILE -- true",
]


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a link of another user")
@pytest.mark.parametrize("words", OUTPUTS)
def test_another_users_link_in_a_shared_folder_is_not_followed(words: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    mine, link = tmp_path / "mine", tmp_path / "link.html"
    mine.write_text("precious")
    link.symlink_to(mine)
    os.chown(link, 65534, 65534, follow_symlinks=False)
    done = CliRunner().invoke(app, words.replace("FILE", str(link)).split())
    assert (done.exit_code, mine.read_text(), link.is_symlink()) == (2, "precious", True)
    assert f"{link}: " in done.stderr and texts.FOREIGN in done.stderr
    os.chown(link, 0, 0, follow_symlinks=False)
    if not words.startswith("run"):
        assert CliRunner().invoke(app, words.replace("FILE", str(link)).split()).exit_code == 0
        assert link.is_symlink() and mine.read_text() != "precious"
