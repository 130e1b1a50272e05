"""Files of evidence between runs, and whatever befalls them."""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from evidence import BAD, GOOD, PAIRWISE, SPECS, took

from swapmeet import _core


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where memory goes; nothing else is looked at."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "site"))
    return tmp_path / "state/swapmeet"


def store(*environment: str, library: str = "0.1.0", mpi: str = "openmpi 5.0.11") -> _core.MemoryStore:
    made = _core.MemoryStore()
    made.begin(_core.read_options(list(environment)), mpi, library)
    return made


def run(*all: _core.Evidence, environment: tuple[str, ...] = (), **key: str) -> str:
    """What a process does that measures; what it warns of."""
    made = store(*environment, **key)
    made.recall(64)
    for one in all:
        made.remember(one)
    made.write()
    return made.take_problem()


def lines(*environment: str, ranks: int = 64, **key: str) -> list[str]:
    return [one.line for one in store(*environment, **key).recall(ranks)]


def test_what_one_run_measures_the_next_knows(state: Path) -> None:
    assert run(took(), took("pairwise", 15)) == ""
    (first, second) = store().recall(64)
    assert {str(first.spec), str(second.spec)} == {"native", PAIRWISE}
    assert abs(first.date - time.time()) < 100
    assert lines(ranks=32) == []
    run(took("pairwise", 17))
    (again,) = [one for one in store().recall(64) if str(one.spec) == PAIRWISE]
    assert (again.calls, again.mean_s) == (18, pytest.approx(16e-6))
    (file,) = state.iterdir()
    assert str(file) == store().file and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


def test_how_many_calls_a_communicator_made(state: Path) -> None:
    """The least of any; and a file is written for it only where much has changed."""

    def run(*calls: int) -> list[int]:
        process = store()
        process.recall(64)
        for number in calls:
            process.made(took().kind, number)
            process.made(took(size_class=9).kind, number)  # of which nothing was measured
        process.write()
        return [one.made for one in store().recall(64)]

    measuring = store()
    measuring.remember(took())
    measuring.remember(took("pairwise"))
    measuring.made(took().kind, 200)
    measuring.write()
    (file,) = state.iterdir()
    assert run() == [200, 200]
    before = file.stat().st_ino
    assert run(220) == [200, 200] and file.stat().st_ino == before
    assert run(300, 5, 40) == [5, 5]
    assert run(6) == [5, 5]
    assert run(100) == [100, 100]
    number = f"{_core.program_number():016x}"
    assert file.read_text().count(f" made=100 program={number}\n") == 2
    file.write_text(file.read_text().replace(number, "0123456789abcdef"))
    assert run() == [0, 0]  # another program made them
    assert run(100) == [100, 100]


def test_programs_are_known_by_two_words_without_folders(tmp_path: Path) -> None:
    def number(script: Path, *words: str) -> str:
        script.parent.mkdir(exist_ok=True)
        script.write_text("from swapmeet import _core; print(_core.program_number())")
        done = subprocess.run([sys.executable, script, *words], check=True, capture_output=True, text=True)
        return done.stdout

    assert number(tmp_path / "a/program.py", "20") == number(tmp_path / "b/program.py", "21")
    assert number(tmp_path / "a/program.py", "20") != number(tmp_path / "a/other.py", "20")


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("2028-02-29T23:59:60Z", 1835481600),
        ("9999-12-31T23:59:59Z", 253402300799),
        ("2026-02-29T00:00:00Z", None),
        ("2026-00-10T00:00:00Z", None),
        ("2026-01-00T00:00:00Z", None),
        ("2026-04-31T00:00:00Z", None),
    ],
)
def test_dates_are_those_of_the_calendar(state: Path, date: str, seconds: int | None) -> None:
    run(took())
    (file,) = state.iterdir()
    file.write_text(re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", date, file.read_text()))
    assert [one.date for one in store().recall(64)] == ([seconds] if seconds else [])


@pytest.mark.parametrize("other", [{"library": "0.1.1"}, {"mpi": "openmpi 5.0.1"}, {"mpi": "mpich 5.0.11"}])
def test_another_mpi_or_version_knows_nothing(state: Path, other: dict[str, str]) -> None:
    run(took())
    assert lines(**other) == []
    run(took(), **other)
    assert len(list(state.iterdir())) == 2 and len(lines()) == 1


def test_a_file_of_another_machine_is_refused_whatever_its_name(state: Path) -> None:
    run(took())
    (file,) = state.iterdir()
    file.write_text(file.read_text().replace("machine: ", "machine: other "))
    reader = store()
    assert reader.recall(64) == []
    assert 'it is for openmpi 5.0.11 on "other ' in reader.take_problem()
    assert run(took(), environment=(f"SWAPMEET_MEMORY={file}",)).endswith("; doing without it")
    assert "other " in file.read_text()


def test_hosts_of_a_cluster_are_one_machine() -> None:
    assert _core.host_class("nid005123") == _core.host_class("nid000001") == "nid#"
    assert _core.host_class("r1i0n12.ice") == "r#i#n#.ice"
    assert _core.host_class("3f2a9c81b4d2") == "container"
    assert _core.host_class("a b\n") == "a?b?"


@pytest.mark.parametrize(
    ("environment", "reads", "writes"),
    [
        ((), True, True),
        (("SWAPMEET_MEMORY=auto",), True, True),
        (("SWAPMEET_MEMORY=off",), False, False),
        (("SWAPMEET_MEMORY=read",), True, False),
        (("SWAPMEET_TRIALS=0",), False, False),
        (("SWAPMEET_TRIALS=0", "SWAPMEET_MEMORY=read"), True, False),
    ],
)
def test_what_may_be_asked_for(state: Path, environment: tuple[str, ...], reads: bool, writes: bool) -> None:
    run(took())
    assert bool(lines(*environment)) == reads
    run(took("pairwise"), environment=environment)
    assert len(lines()) == 1 + writes


def test_a_file_may_be_named(state: Path, tmp_path: Path) -> None:
    named = f"SWAPMEET_MEMORY={tmp_path}/mine.memory"
    assert run(took(), environment=(named,)) == ""
    assert len(lines(named)) == 1 and lines() == [] and not state.exists()


def test_what_is_no_memory_is_not_written_over(state: Path, tmp_path: Path) -> None:
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("All-to-all\n")
    problem = run(took(), environment=(f"SWAPMEET_MEMORY={thesis}",))
    assert "no memory of Swapmeet" in problem
    assert thesis.read_text() == "All-to-all\n" and sorted(os.listdir(tmp_path)) == ["thesis.txt"]


def test_a_file_of_ours_that_was_destroyed_is_made_anew(state: Path) -> None:
    run(took())
    (file,) = state.iterdir()
    for damaged in (b"", b"\0" * 500, b"swapmeet-mem", os.urandom(500)):
        file.write_bytes(damaged)
        run(took("pairwise"))
        assert len(lines()) == 1


def test_poisoned_lines_cost_one_warning_and_are_gone_after_a_run(state: Path) -> None:
    run(took(), took("pairwise", 15))
    (file,) = state.iterdir()
    poison = [GOOD.replace(word, other, 1) for word, other, _ in BAD]
    file.write_text(file.read_text() + "\n".join(poison) + "\n")
    reader = store()
    assert len(reader.recall(64)) == 2
    problem = reader.take_problem()
    assert f"{len(BAD)} of {len(BAD) + 2} lines cannot be used, the first: " in problem and "(line 8, column" in problem
    reader.recall(64)
    reader.write()
    assert reader.take_problem() == ""
    run(took())
    assert store().recall(64) and run() == "" and "mean_us=nan" not in file.read_text()


def test_communicators_after_the_first_recall_at_little_cost(state: Path) -> None:
    """Programs that make one for each call would pay for a full file each time."""
    kinds = [
        {"nodes": n, "per_node": (64 // n, 64 // n), "size_class": size} for n in (2, 4, 8, 16) for size in range(32)
    ]
    run(*(took(spec, 15, **kind) for kind in kinds for spec in SPECS))
    reader = store()

    def recall_s() -> float:
        begun = time.process_time()
        assert reader.recall(64)
        return time.process_time() - begun

    first = recall_s()
    assert min(recall_s() for _ in range(5)) < first / 3


def test_what_a_site_has_is_read_only(state: Path, tmp_path: Path) -> None:
    run(took(), took("pairwise", 15))
    (file,) = state.iterdir()
    site = tmp_path / "site/swapmeet" / file.name
    site.parent.mkdir(parents=True)
    file.rename(site)
    before = site.read_text()
    assert len(lines()) == 2
    run(took("tuna(r=2)", 14))
    assert len(lines()) == 3 and site.read_text() == before
    assert len(_core.parse_memory(file.read_text()).evidence) == 1


# What others do to the files


@pytest.mark.skipif(os.geteuid() != 0, reason="needs files of another user")
@pytest.mark.parametrize("named", [False, True])
def test_another_users_file_is_neither_read_nor_written(state: Path, named: bool) -> None:
    run(took())
    (file,) = state.iterdir()
    environment = (f"SWAPMEET_MEMORY={file}",) if named else ()
    os.chown(file, 12345, 12345)
    before = file.read_text()
    reader = store(*environment)
    assert reader.recall(64) == []
    assert "another user's" in reader.take_problem()
    run(took("pairwise"), environment=environment)
    assert file.read_text() == before and len(list(state.iterdir())) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="needs files of another user")
@pytest.mark.parametrize("link", [False, True])
def test_nothing_is_put_into_another_users_folder(state: Path, tmp_path: Path, link: bool) -> None:
    """One that was there before, in a place like /tmp: its owner could put other files in the place of ours."""
    place = tmp_path / "elsewhere" if link else state
    place.mkdir(parents=True)
    if link:
        state.parent.mkdir()
        state.symlink_to(place)
    os.chown(state, 12345, 12345, follow_symlinks=False)
    place.chmod(0o1777)
    run(took())
    assert os.listdir(place) == []


def test_a_link_is_not_followed(state: Path, tmp_path: Path) -> None:
    run(took())
    (file,) = state.iterdir()
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    before = elsewhere.read_text()
    file.symlink_to(elsewhere)
    reader = store()
    assert reader.recall(64) == []
    assert "symbolic link" in reader.take_problem()
    run(took("pairwise"))
    assert elsewhere.read_text() == before and file.is_symlink()


def test_a_link_in_place_of_the_next_file_is_not_followed(state: Path, tmp_path: Path) -> None:
    run(took())
    (file,) = state.iterdir()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    Path(f"{file}.new").symlink_to(victim)
    run(took("pairwise"))
    assert victim.read_text() == "mine" and len(lines()) == 1


def test_where_others_may_write_nothing_is_believed(state: Path) -> None:
    run(took())
    (file,) = state.iterdir()
    for path, mode, said in ((file, 0o666, "others may write to it"), (state, 0o777, "others may write to its folder")):
        before = stat.S_IMODE(path.stat().st_mode)
        path.chmod(mode)
        reader = store()
        assert reader.recall(64) == []
        assert said in reader.take_problem()
        run(took("pairwise"))
        path.chmod(before)
        assert len(lines()) == 1
    state.chmod(0o1777)  # as /tmp is: nobody may replace what is another's there
    assert len(lines()) == 1


@pytest.mark.parametrize("place", ["a pipe", "a folder"])
def test_what_is_no_file_is_let_be(state: Path, place: str) -> None:
    run(took())
    (file,) = state.iterdir()
    file.unlink()
    file.mkdir() if place == "a folder" else os.mkfifo(file)
    begin = time.monotonic()
    assert lines() == []
    assert "not a file" in run(took("pairwise"))
    assert time.monotonic() - begin < 5


def test_a_large_file_is_not_read(state: Path) -> None:
    run(took())
    (file,) = state.iterdir()
    os.truncate(file, 1 << 40)
    reader = store()
    assert reader.recall(64) == []
    assert "more than 512 KiB" in reader.take_problem()


# Where nothing can be written


@pytest.mark.parametrize("named", [False, True])
def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool) -> None:
    """As on a read-only file system. Silent, but where the file was asked for."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert bool(run(took(), environment=(f"SWAPMEET_MEMORY={tmp_path}/file/a.memory",) if named else ())) == named


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert run(took()) == "" and store().file == ""
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert run(took()) == "" and store().file == ""


PROGRAM = """
import sys
from swapmeet import _core
store = _core.MemoryStore()
store.begin(_core.read_options([]), "openmpi 5.0.11", "0.1.0")
store.recall(64)
for window in map(int, sys.argv[1:]):
    spec = _core.parse_spec(f"direct(window={window})")
    store.remember(_core.Evidence(_core.Collective.alltoall, 64, 8, (8, 8), window % 41, spec, 9, 1e-5 * window, 1e-7))
    store.write()
print(store.take_problem(), flush=True)
"""


def program(*windows: int, **popen: Any) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", PROGRAM, *map(str, windows)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, **popen)


def test_a_limit_on_the_size_of_files_ends_nothing(state: Path) -> None:
    """By default the signal ends a process; Python ignores it."""
    run(took())
    (file,) = state.iterdir()
    before = file.read_text()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) - 1, len(before) - 1))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)

    code = PROGRAM.replace("import sys", "import sys, signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL)")
    done = subprocess.run([sys.executable, "-B", "-c", code, "1"], preexec_fn=limit, capture_output=True, text=True)
    assert done.returncode == 0, done
    assert file.read_text() == before and list(state.iterdir()) == [file]


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
def test_a_full_disk_leaves_the_file_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", tmp_path], capture_output=True).returncode:
        pytest.skip("cannot mount a file system")
    try:
        run(took())
        (file,) = (tmp_path / "swapmeet").iterdir()
        before = file.read_text()
        (tmp_path / "filling").write_bytes(b"x" * 4096)
        problem = run(took("pairwise"), environment=(f"SWAPMEET_MEMORY={file}",))
        assert "No space left on device; what this run has measured is not remembered" in problem
        assert run(took("pairwise")) == ""
        assert file.read_text() == before and list(file.parent.iterdir()) == [file]
    finally:
        subprocess.run(["umount", tmp_path], check=True)


# Many at once


@pytest.mark.slow
def test_what_twenty_write_at_once_is_all_there(tmp_path: Path) -> None:
    """But for those that had no turn in half a second, on a machine that does much else. They say so."""
    file = tmp_path / "memory"
    variable = f"SWAPMEET_MEMORY={file}"
    code = PROGRAM.replace("read_options([])", f"read_options([{variable!r}])")
    words = [[sys.executable, "-c", code, str(window)] for window in range(1, 21)]
    running = [subprocess.Popen(one, stdout=subprocess.PIPE, text=True) for one in words]
    problems = [text for process in running if (text := process.communicate()[0].strip())]
    assert all(os.strerror(errno.EBUSY) in problem for problem in problems), problems
    assert len(lines(variable)) == 20 - len(problems)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_a_whole_file(state: Path) -> None:
    run(*(took(spec) for spec in SPECS))
    (file,) = state.iterdir()
    for attempt in range(10):
        process = program(*range(1, 3000))
        time.sleep(0.15 + 0.01 * attempt)
        process.kill()
        process.communicate()
        read = _core.parse_memory(file.read_text())
        assert read.unusable == 0 and len(read.evidence) >= len(SPECS)
        for left in state.glob("*.new"):  # a minute later it does not matter any more
            os.utime(left, (0, 0))
    run(took("direct(window=77)", size_class=40))
    read = _core.parse_memory(file.read_text())
    # A file that has reached its bounds gives up some lines for a new one.
    assert read.unusable == 0 and len(read.evidence) >= len(SPECS) and "window=77" in file.read_text()
    assert list(state.iterdir()) == [file]


def test_who_waits_too_long_goes_without(state: Path) -> None:
    run(took())
    (file,) = state.iterdir()
    Path(f"{file}.new").write_text("")  # somebody is at it
    begin = time.monotonic()
    run(took("pairwise"))
    assert time.monotonic() - begin < 2 and len(lines()) == 1
    assert Path(f"{file}.new").exists()


def test_files_are_few(state: Path) -> None:
    run(took())
    for k in range(100):
        (state / f"other-{k}.memory").write_text("")
        os.utime(state / f"other-{k}.memory", (k, k))
    run(took(), library="0.2.0")
    left = {path.name for path in state.iterdir()}
    assert len(left) == 64 and "other-99.memory" in left and "other-0.memory" not in left
    assert len(lines()) == 1 and len(lines(library="0.2.0")) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a program with the rights of another group")
@pytest.mark.skipif("SANITIZED_CORE" in os.environ, reason="such a program preloads no sanitizer")
def test_programs_with_the_rights_of_others_remember_nothing(state: Path, tmp_path: Path) -> None:
    run(took())
    python = tmp_path / "python"
    python.write_bytes(Path(os.path.realpath(sys.executable)).read_bytes())
    environment = {**os.environ, "PYTHONHOME": sys.base_prefix, "CORE": _core.__file__}
    code = """
import importlib.util, os
found = importlib.util.spec_from_file_location("_core", os.environ["CORE"])
core = importlib.util.module_from_spec(found)
found.loader.exec_module(core)
store = core.MemoryStore()
store.begin(core.read_options([]), "openmpi 5.0.11", "0.1.0")
print(len(store.recall(64)))
"""

    def recalled() -> str:
        return subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True).stdout

    python.chmod(0o755)
    if recalled() != "1\n":
        pytest.skip("a copy of Python does not run")
    os.chown(python, 0, 12345)
    python.chmod(0o2755)
    assert recalled() == "0\n"


def test_without_a_store_little_time_is_spent(state: Path) -> None:
    """0.2 ms at most; the least of many, for the machine may be busy."""

    def spent() -> float:
        one = store()
        begin = time.perf_counter()
        one.recall(64)
        one.write()
        return time.perf_counter() - begin

    assert min(spent() for _ in range(50)) < 0.2e-3
