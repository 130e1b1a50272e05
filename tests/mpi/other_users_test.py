"""What other users of a node may try: to look into a running job, and to put something where it will write or load."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from limits import scaled

from swapmeet.mpi import launch as launching
from swapmeet.mpi import mpis

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can be several users"),
    pytest.mark.skipif(not shutil.which("setpriv"), reason="setpriv is not installed"),
]
VICTIM, INTRUDER = 54321, 12345
PYTHON = os.path.realpath(sys.executable)

#: Tries to have what belongs to the processes of another user; prints what it got.
TRIES = """
import ctypes, glob, json, os, sys
got = []
def attempt(what, action):
    try:
        action()
    except OSError:
        return
    got.append(what)
def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
libc = ctypes.CDLL(None, use_errno=True)
byte = ctypes.create_string_buffer(1)
class Piece(ctypes.Structure):
    _fields_ = (("address", ctypes.c_void_p), ("bytes", ctypes.c_size_t))
here = Piece(ctypes.addressof(byte), 1)
for process in map(int, sys.argv[1:]):
    attempt("files", lambda: os.listdir(f"/proc/{process}/fd"))
    attempt("maps", lambda: os.listdir(f"/proc/{process}/map_files"))
    attempt("memory", lambda: open(f"/proc/{process}/mem", "rb"))
    attempt("addresses", lambda: open(f"/proc/{process}/maps", "rb"))
    attempt("read", lambda: checked(libc.process_vm_readv(process, ctypes.byref(here), 1, ctypes.byref(here), 1, 0)))
    attempt("ptrace", lambda: checked(libc.ptrace(0x4206, process, 0, 0)))  # PTRACE_SEIZE, which stops nobody
    attempt("signal", lambda: os.kill(process, 0))
for name in glob.glob("/dev/shm/*swapmeet*"):
    attempt(name, lambda: open(name, "rb"))
print(json.dumps(got))
"""


def as_user(user: int) -> list[str]:
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that all users can reach, unlike pytest's."""
    with tempfile.TemporaryDirectory(prefix="swapmeet-test-") as name:
        os.chmod(name, 0o755)
        yield Path(name)


def shared_mappings(process: str) -> list[os.stat_result]:
    """The files of Swapmeet's that a process has mapped; none where this may not be asked, as in some containers."""
    files = []
    for link in Path(f"/proc/{process}/map_files").iterdir():
        try:
            if re.match(r"/(memfd:|dev/shm/)swapmeet-", os.readlink(link)):
                files.append(link.stat())
        except PermissionError:
            return []
    return files


@pytest.mark.parametrize("place", ["memfd", "/dev/shm"])
def test_nobody_reaches_the_memory_of_a_job(compiled, preloaded, open_folder: Path, wheel: str, place: str) -> None:
    program = shutil.copy(compiled(wheel, "stays"), open_folder)
    spoiler = shutil.copy(compiled(wheel, "node_spoiler", "-shared", "-fPIC", "-ldl"), open_folder)
    os.chown(open_folder, VICTIM, VICTIM)
    go = open_folder / "go"
    spoilt = {} if place == "memfd" else {"NODE_SPOIL": "memfd_create=ENOSYS"}
    variables = {"LD_PRELOAD": f"{spoiler}:{preloaded(wheel)}", "SWAPMEET_ALGORITHM": "shared-memory", **spoilt}
    target = mpis.find(wheel)
    argv = ["env", *(f"{name}={value}" for name, value in variables.items()), program, str(go)]
    words = [*as_user(VICTIM), *launching.command(target, 3, argv, None, {})]
    environment = {**os.environ, **mpis.environment(target, 3), "HOME": str(open_folder), "TMPDIR": str(open_folder)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment, cwd=open_folder) as job:
        assert job.stdout
        try:
            said = "".join(job.stdout.readline() for _ in range(3))  # a launcher may put lines before their ends
            processes = re.findall(r"stays (\d+)", said)
            assert len(processes) == 3, said
            tries = [PYTHON, "-I", "-S", "-c", TRIES, *processes]
            got = [json.loads(subprocess.check_output([*who, *tries])) for who in (as_user(INTRUDER), as_user(VICTIM))]
            files = [status for process in processes for status in shared_mappings(process)]
        finally:
            go.touch()
        assert re.findall("right|wrong", job.stdout.read()) == ["right"] * 3
        assert job.wait(scaled(60)) == 0
    assert {(status.st_uid, stat.S_IMODE(status.st_mode)) for status in files} <= {(VICTIM, 0o600)}
    assert got[0] == []
    assert {"files", "memory", "signal"} <= set(got[1])  # the attempts are ones that may succeed


def plant(kind: str, place: Path, precious: Path) -> None:
    """What an intruder puts where a file is expected."""
    if kind == "link":
        place.symlink_to(precious)
    elif kind == "pipe":
        os.mkfifo(place, 0o666)
    elif kind == "second name":
        return os.link(precious, place)
    else:
        place.write_text("old")
    os.lchown(place, INTRUDER, INTRUDER)
    return None


@pytest.mark.in_turn
@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["link", "pipe", "file", "second name"])
def test_what_others_have_put_in_a_public_folder_is_not_written_to(
    launch, compiled, open_folder: Path, wheel: str, kind: str
) -> None:
    precious = open_folder / "precious"
    precious.write_text("precious")
    public = open_folder / "public"
    public.mkdir()
    public.chmod(0o1777)
    names = ["statistics.json", "trace.json", "record.0", "record.1"]
    for name in names:
        plant(kind, public / name, precious)
    env = {
        "SWAPMEET_STATS": f"{public}/statistics.json",
        "SWAPMEET_TRACE": f"{public}/trace.json",
        "SWAPMEET_RECORD": f"{public}/record",
    }
    done = launch(2, [compiled(wheel, "one_exchange")], mpi=wheel, env=env, algorithm="pairwise", timeout=20)
    assert done.returncode == 0, done.stderr
    for variable in ("SWAPMEET_STATS", "SWAPMEET_RECORD", "trace"):
        assert any(variable in line and "cannot" in line for line in done.stderr.splitlines()), done.stderr
    assert precious.read_text() == "precious"
    if kind == "file":
        assert [(public / name).read_text() for name in names] == ["old"] * len(names)


@pytest.mark.in_turn
def test_a_pipe_that_somebody_reads_is_written_to(launch, compiled, tmp_path: Path, wheel: str) -> None:
    """One of the user's own, as shells make for `>(...)`."""
    pipe = tmp_path / "statistics.json"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        env = {"SWAPMEET_STATS": str(pipe)}
        done = launch(2, [compiled(wheel, "one_exchange")], mpi=wheel, env=env, algorithm="pairwise", timeout=30)
        assert done.returncode == 0, done.stderr
        output, _ = reader.communicate(timeout=scaled(10))
    assert json.loads(output)["calls"]


@pytest.mark.parametrize("bit", [0, stat.S_ISGID])
def test_a_program_with_the_rights_of_others_obeys_no_variable(
    launch, compiled, preloaded, tmp_path: Path, bit: int
) -> None:
    """It is linked: the loader ignores LD_PRELOAD there."""
    library, include = preloaded("mpich"), Path(__file__).parents[2] / "include"
    flags = [f"-I{include}", str(library), f"-Wl,-rpath,{library.parent}"]
    program = tmp_path / "linked"
    shutil.copy(compiled("mpich", "linked", *flags), program)
    os.chown(program, 0, INTRUDER)
    program.chmod(0o755 | bit)
    statistics, record = tmp_path / "statistics.json", tmp_path / "record.0"
    env = {"SWAPMEET_STATS": str(statistics), "SWAPMEET_RECORD": f"{tmp_path}/record", "SWAPMEET_ALGORITHM": "nonsense"}
    done = launch(2, [program], mpi="mpich", preload=False, env=env, timeout=60)
    assert done.returncode == 0, done.stderr
    assert ("nonsense" in done.stderr, statistics.exists(), record.exists()) == (bit == 0,) * 3


@pytest.mark.in_turn
@pytest.mark.parametrize("search", [":", "."])
def test_nothing_is_loaded_from_the_working_directory(
    compiled, preloaded, tmp_path: Path, wheel: str, search: str
) -> None:
    """Also where LD_LIBRARY_PATH has an empty part, as by `export LD_LIBRARY_PATH=/opt/lib:$LD_LIBRARY_PATH`."""
    for name in ("libanl.so.1", "libBrokenLocale.so.1"):
        shutil.copy(compiled(wheel, "planted", "-shared", "-fPIC"), tmp_path / name)
    target = mpis.find(wheel)
    argv = [compiled(wheel, "repeat"), "200"]
    words = launching.command(target, 2, argv, preloaded(wheel), {"LD_LIBRARY_PATH": search})
    done = launching.run(target, 2, words, timeout_s=scaled(60), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "planted" not in done.stdout
