"""`swapmeet doctor`, `swapmeet env`, and what a shell completes: what users type before and instead of `run`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli.command import refused, swapmeet
from cli.launch_test import HELLO
from limits import scaled

from swapmeet.doctor import kernel, machine, nodes
from swapmeet.doctor.finding import FINE, NOTE, WRONG, Finding, wrong
from swapmeet.doctor.kernel import Permissions
from swapmeet.mpi import launch, mpis

WORKS = "Swapmeet works here"


def rows(text: str) -> dict[str, str]:
    """State and text of each matter; what follows are hints and results."""
    found = {}
    for line in text.splitlines():
        state, _, rest = line.partition(" ")
        if state in (FINE, NOTE, WRONG):
            matter, _, what = rest.strip().partition("  ")
            found[matter] = f"{state} {what.strip()}"
    return found


def test_the_kernel_is_asked_by_two_processes() -> None:
    assert kernel.permissions() == Permissions("", "", "")  # as on every machine that tests exchanges within a node


def test_what_the_kernel_refuses_is_named() -> None:
    offered = {"process": os.getpid(), "address": 8, "file": 10**6, "problem": ""}
    taken = kernel._take(offered)
    assert taken == {
        "memfd": "/proc/PID/fd: No such file or directory",
        "shm": "",
        "single_copy": "process_vm_readv: Bad address",
    }
    assert kernel._take({**offered, "problem": "memfd_create: x"})["memfd"] == "memfd_create: x"


def test_each_refusal_has_a_hint() -> None:
    found = {one.matter: one for one in machine.findings(Permissions("memfd_create: x", "/dev/shm: y", "readv: z"))}
    for matter, words in (("shared memory", ("memfd_create: x", "/dev/shm: y")), ("single copy", ("readv: z",))):
        assert found[matter].state == NOTE and found[matter].hint
        assert all(word in found[matter].what for word in words)
    rest = {one.matter: one for one in machine.findings(Permissions("memfd_create: x", "", ""))}["shared memory"]
    assert "in its place /dev/shm" in rest.what
    assert all(one.state == FINE for one in machine.findings(Permissions("", "", "")) if one.matter != "memory")


@pytest.mark.slow
def test_an_mpi_that_works(mpi: str) -> None:
    done = swapmeet("doctor", "--mpi", mpi)
    assert done.returncode == 0, done.stdout + done.stderr
    found = rows(done.stdout)
    assert set(found) >= {"Swapmeet", "machine", "network", "MPI", "launcher", "library", "LD_PRELOAD", "variables"}
    assert "served by Swapmeet by direct(order=shift,window=1" in found["2 ranks"]
    assert found["auto"].startswith(FINE)
    assert WORKS in done.stdout
    assert f"Next: swapmeet run -n 2 --mpi {mpi} --stats - -- APP" in done.stdout


@pytest.mark.slow
def test_the_mpi_of_a_program(tmp_path: Path) -> None:
    source = tmp_path / "hello.c"
    source.write_text(HELLO)
    subprocess.run([mpis.find("openmpi").mpicc, source, "-o", tmp_path / "hello"], check=True)
    found = rows(swapmeet("doctor", str(tmp_path / "hello")).stdout)
    assert "openmpi: openmpi" in found["MPI"]
    assert "program" not in found
    assert "no MPI that can be seen" in rows(swapmeet("doctor", "true").stdout)["program"]
    assert "is no program" in refused("doctor", "no-such-program")
    assert 'no MPI is called "no-such-mpi"' in refused("doctor", "--mpi", "no-such-mpi")


@pytest.mark.slow
def test_what_keeps_it_from_working_ends_with_status_1() -> None:
    mpich = str(mpis.find("mpich").mpiexec)
    done = swapmeet("doctor", "--mpi", "openmpi", "--launcher", f"{mpich} -n {{ranks}}")
    assert done.returncode == 1
    assert "is the launcher that of openmpi?" in rows(done.stdout)["2 ranks"]
    assert "it is the same without Swapmeet" in done.stdout
    assert "Swapmeet does not work here: 2 ranks" in done.stdout

    done = swapmeet("doctor", "--launcher", "no-such-launcher {ranks}")
    assert (done.returncode, "2 ranks" in rows(done.stdout)) == (1, False)
    assert rows(done.stdout)["launcher"].startswith(WRONG)

    done = swapmeet("doctor", env={"SWAPMEET_ALGORITHM": "direct(window=0)"})
    assert done.returncode == 1
    assert "window must be" in rows(done.stdout)["variables"]
    assert rows(done.stdout)["2 ranks"].startswith(FINE)


@pytest.mark.slow
@pytest.mark.long
def test_a_library_that_cannot_be_built_ends_with_status_1(tmp_path: Path) -> None:
    openmpi = str(mpis.find("openmpi").mpiexec)
    (tmp_path / "bin").mkdir()
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "mpi.h").write_text('#define MPICH_VERSION "9.9"\n')
    (tmp_path / "bin" / "mpicc").write_text("#!/bin/sh\necho cc\n")
    (tmp_path / "bin" / "mpicc").chmod(0o755)
    (tmp_path / "bin" / "mpiexec").symlink_to(openmpi)
    mpicc = str(tmp_path / "bin" / "mpicc")
    done = swapmeet("doctor", "--mpi", mpicc, env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert done.returncode == 1
    assert "building libswapmeet for" in rows(done.stdout)["library"]


@pytest.mark.slow
def test_what_it_can_do_without_is_a_note() -> None:
    done = swapmeet("doctor", env={"SWAPMEET_SHM_LIMIT": "0", "SWAPMEET_NOTHING": "1"})
    assert done.returncode == 0, done.stdout
    found = rows(done.stdout)
    assert "SWAPMEET_SHM_LIMIT leaves too little shared memory" in found["shared-memory"]
    assert "no such option" in found["variables"]
    assert f"{WORKS}; see the notes on: variables, auto, shared-memory." in done.stdout
    found = rows(swapmeet("doctor", env={"LD_PRELOAD": swapmeet("lib", "--mpi", "openmpi").stdout.strip()}).stdout)
    assert "is not the library for this MPI" in found["LD_PRELOAD"]
    assert found["2 ranks"].startswith(FINE)


@pytest.mark.slow
@pytest.mark.other_mpi
def test_it_says_which_library_a_process_takes_by_the_file_for_every_mpi(tmp_path: Path) -> None:
    path = swapmeet("lib", "--all", "--to", str(tmp_path)).stdout.strip()
    assert path == str(tmp_path / "libswapmeet.so")

    def found(**env: str) -> str:
        return "".join(swapmeet("doctor", "--mpi", "openmpi", env={"LD_PRELOAD": path, **env}).stdout.split())

    assert f"openmpitook{tmp_path}/swapmeet/openmpi/libswapmeet.so" in found()
    assert "butloadsnothing" in found(SWAPMEET_PRELOAD="0")
    (tmp_path / "swapmeet" / "openmpi" / "libswapmeet.so").unlink()
    assert "butnotforopenmpi" in found()
    assert "--all" in refused("lib", "--to", str(tmp_path))


@pytest.mark.slow
def test_env_prints_what_a_shell_can_read(tmp_path: Path, mpi: str) -> None:
    """And what was preloaded before stays, and comes first."""
    spec = "direct(order=random,window=8)"
    lines = swapmeet("env", "--mpi", mpi, "--algorithm", spec, "--stats", str(tmp_path / "it's.json")).stdout
    script = f'{lines}\nprintf "%s\\n" "$LD_PRELOAD" "$SWAPMEET_ALGORITHM" "$SWAPMEET_STATS"'
    bare = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    library = swapmeet("lib", "--mpi", mpi).stdout.strip()
    for before in ("", "libm.so.6"):
        environment = {**bare, **({"LD_PRELOAD": before} if before else {})}
        done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, check=True)
        preload = f"{before}:{library}" if before else library
        assert done.stdout.splitlines() == [preload, spec, str(tmp_path / "it's.json")]
    assert ("mpirun -x LD_PRELOAD -x SWAPMEET_ALGORITHM -x SWAPMEET_STATS" in lines) == mpi.startswith("openmpi")


@pytest.mark.slow
def test_env_serves_what_runs_after_it(tmp_path: Path) -> None:
    mpich = mpis.find("mpich")
    (tmp_path / "hello.c").write_text(HELLO)
    subprocess.run([mpich.mpicc, "hello.c", "-o", "hello"], cwd=tmp_path, check=True)
    command = [sys.executable, "-m", "swapmeet", "env", "--algorithm", "tra(r=2)", "--explain", "./hello"]
    lines = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    script = f"{lines}\n{mpich.mpiexec} -n 2 ./hello"
    done = subprocess.run(["bash", "-ec", script], cwd=tmp_path, capture_output=True, text=True, timeout=scaled(60))
    assert sorted(done.stdout.split("\n")) == ["", "rank 0", "rank 1"]
    assert "bruck(radix=2" in done.stderr


def test_a_library_of_ours_that_is_preloaded_already_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/a/libswapmeet.so libm.so.6:/b/libswapmeet.so.0")
    mpich = mpis.find("mpich")
    assert launch.command(mpich, 2, ["app"], Path("/l/libswapmeet.so"))[3:] == [
        "env",
        "LD_PRELOAD=libm.so.6:/l/libswapmeet.so",
        "app",
    ]
    assert launch.command(mpich, 2, ["app"])[3:] == ["env", "LD_PRELOAD=libm.so.6", "app"]


@pytest.mark.slow
def test_run_takes_a_launcher(tmp_path: Path) -> None:
    mpich = mpis.find("mpich")
    (tmp_path / "hello.c").write_text(HELLO)
    subprocess.run([mpich.mpicc, tmp_path / "hello.c", "-o", tmp_path / "hello"], check=True)
    words = ["run", "-n", "2", "--explain", "--algorithm", "tra(r=2)", "--launcher"]
    path = f"{mpich.mpiexec.parent}:{os.environ['PATH']}"
    done = swapmeet(*words, "mpiexec -n {ranks} env SEEN={mpi}", str(tmp_path / "hello"), env={"PATH": path})
    assert sorted(done.stdout.split("\n")) == ["", "rank 0", "rank 1"], done.stderr
    assert "bruck(radix=2" in done.stderr
    assert "does not contain {ranks}" in refused(*words, "srun", "true")
    assert "no-such-launcher is no program" in refused(*words, "no-such-launcher {ranks}", "true")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("swapmeet do", {"doctor"}),
        ("swapmeet run --mpi openm", {"openmpi"}),
        ("swapmeet env --algorithm multipair-wait", {"multipair-waitall", "multipair-waitany"}),
    ],
)
def test_a_shell_completes(words: str, expected: set[str]) -> None:
    asked = {"_SWAPMEET_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    completed = swapmeet(env=asked).stdout.split()
    assert expected <= set(completed)
    assert all(word.startswith(words.split()[-1]) for word in completed)


def test_nodes_that_differ_are_named() -> None:
    def found(*lines: str) -> Finding:
        text = "\n".join(["some other line", *(f"{nodes.MARK}\t{line}" for line in lines)])
        return nodes.compared("nodes", nodes.ranks(text), 2, wrong, "what to do")

    same = found("n1\t/l/libswapmeet.so\t12 34\tSWAPMEET_CHECK=1 ", "n2\t/l/libswapmeet.so\t12 34\tSWAPMEET_CHECK=1 ")
    assert (same.state, same.what) == (
        FINE,
        "2 ranks on 2 nodes have loaded /l/libswapmeet.so; variables: SWAPMEET_CHECK=1",
    )
    without = found("n1\t/l/libswapmeet.so\t12 34\t", "n2\t\t\t")
    assert (without.state, without.what) == (WRONG, "1 of 2 ranks have not loaded the library, on n2")
    assert without.hint == "what to do"
    other = found("n1\t/l/libswapmeet.so\t12 34\t", "n2\t/l/libswapmeet.so\t56 34\t")
    assert other.state == WRONG
    assert other.what.endswith("different libraries: n1: /l/libswapmeet.so 12 34; n2: /l/libswapmeet.so 56 34")
    options = found("n1\t/l/libswapmeet.so\t12 34\t", "n2\t/l/libswapmeet.so\t12 34\tSWAPMEET_CHECK=1")
    assert (options.state, options.what) == (NOTE, "ranks have different variables: n1: none; n2: SWAPMEET_CHECK=1")
    assert found("n1\t/l/libswapmeet.so\t12 34\t").what == "1 of 2 ranks have answered"


def test_a_node_that_cannot_read_the_library_says_so(tmp_path: Path) -> None:
    library = tmp_path / "libswapmeet.so"
    words = launch.command(mpis.find("mpich"), 2, ["echo", "a  b"], library, {"SWAPMEET_X": "1"}, checked=True)[3:]
    words = [word for word in words if not word.startswith("LD_PRELOAD=")]
    bare = {name: value for name, value in os.environ.items() if name not in ("MPI_LOCALRANKID", "SLURM_LOCALID")}
    done = subprocess.run(words, env=bare, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (-signal.SIGTERM, "")
    assert f"cannot read {library}: put the library where all nodes see it" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    done = subprocess.run(words, env={**bare, "MPI_LOCALRANKID": "1"}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGTERM, "")
    library.touch()
    done = subprocess.run(words, env=bare, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "a  b\n", "")
    library.write_text("another")
    done = subprocess.run(words, env=bare, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "a  b\n")
    assert done.stderr.count("swapmeet: warning: ") == 1
    assert f"has another {library} than the node that launches" in done.stderr
