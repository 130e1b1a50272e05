"""`swapmeet run`, `lib`, `info`, `conformance`: what needs MPIs."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.command import refused, swapmeet
from limits import scaled
from typer.testing import CliRunner

from swapmeet import SwapmeetError
from swapmeet.cli.app import app
from swapmeet.mpi import application, discovery, launch, library, mpis

pytestmark = pytest.mark.slow

ALLTOALL = """
from mpi4py import MPI
import numpy
world = MPI.COMM_WORLD
sent = 100 * world.rank + numpy.arange(world.size)
received = numpy.full(world.size, -1)
world.Alltoall(sent, received)
assert received.tolist() == [100 * rank + world.rank for rank in range(world.size)]
print("rank", world.rank, "of", world.size, "is right")
"""
HELLO = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, send[8] = {0}, receive[8];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  printf("rank %d\\n", rank);
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(scope="session")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("script") / "alltoall.py"
    path.write_text(ALLTOALL)
    return str(path)


def compiled(folder: Path, name: str) -> str:
    source = folder / "hello.c"
    source.write_text(HELLO)
    subprocess.run([mpis.find(name).mpicc, source, "-o", folder / "hello"], check=True)
    return str(folder / "hello")


def test_info_lists_the_wheels() -> None:
    text = swapmeet("info").stdout
    assert "│ mpich " in text
    assert "│ openmpi " in text


def test_info_tells_fields(mpi: str) -> None:
    kind = mpi.removesuffix("-system")
    lines = swapmeet("info", "--mpi", mpi).stdout.splitlines()
    fields = {name: value.strip() for name, value in (line.split(":", 1) for line in lines)}
    assert (fields["name"], fields["kind"]) == (mpi, kind)
    assert fields["version"][0].isdigit()
    for field in ("mpicc", "mpiexec", "libmpi"):
        assert Path(fields[field]).exists()
    assert Path(fields["prefix"]).is_dir()
    assert swapmeet("info", "--mpi", mpi, "--field", "libmpi").stdout == fields["libmpi"] + "\n"
    by_path = swapmeet("info", "--mpi", fields["mpicc"], "--field", "name").stdout.strip()
    assert by_path == mpi


def test_lib_prints_a_library_and_is_quick_the_second_time(mpi: str) -> None:
    first = swapmeet("lib", "--mpi", mpi, timeout=600)
    assert first.returncode == 0, first.stderr
    assert Path(first.stdout.strip()).name == "libswapmeet.so"
    assert Path(first.stdout.strip()).exists()
    begin = time.monotonic()
    assert swapmeet("lib", "--mpi", mpi).stdout == first.stdout
    assert time.monotonic() - begin < scaled(20)


@pytest.mark.parametrize(
    ("command", "served"), [("lib", "swapmeet.cli.lib.library"), ("conformance", "swapmeet.mpi.conformance.run")]
)
def test_without_a_name_the_mpi_that_is_here_is_taken(
    command: str, served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where that is Open MPI: it cannot use a library for MPICH."""
    taken = []
    monkeypatch.setattr(mpis, "wrappers", lambda: [one for one in discovery.wrappers() if one[0] == "openmpi"])
    monkeypatch.setattr(served, lambda target, *_: taken.append(target.name) or [])
    done = CliRunner().invoke(app, [command])
    assert done.exit_code == 0, done.output
    assert taken == ["openmpi"]


def test_lib_prints_the_fortran_module() -> None:
    assert "module swapmeet" in Path(swapmeet("lib", "--fortran").stdout.strip()).read_text()


def test_names_that_are_unknown_are_refused_in_one_line() -> None:
    line = refused("lib", "--mpi", "openmpii")
    assert "did you mean openmpi?" in line
    assert "pip install --prefix" in line
    assert "is no program" in refused("lib", "--mpi", "/nowhere/mpicc")
    assert "no mpi.h" in refused("lib", "--mpi", "/bin/true")
    assert "`/bin/false -show` failed" in refused("info", "--mpi", "/bin/false")
    assert "expected one of name, kind" in refused("info", "--mpi", "mpich", "--field", "colour")


def test_no_launcher_beside_the_wrapper(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "include" / "mpi.h").write_text('#define MPICH_VERSION "9.9"\n')
    (tmp_path / "bin" / "mpicc").write_text("#!/bin/sh\necho cc\n")
    (tmp_path / "bin" / "mpicc").chmod(0o755)
    assert "has no launcher" in refused("info", "--mpi", str(tmp_path / "bin" / "mpicc"))
    (tmp_path / "bin" / "mpiexec").symlink_to("/bin/true")
    found = swapmeet("info", "--mpi", str(tmp_path / "bin" / "mpicc"), "--field", "version")
    assert found.stdout == "9.9\n"
    done = swapmeet("lib", "--mpi", str(tmp_path / "bin" / "mpicc"), env={"XDG_CACHE_HOME": str(tmp_path)})
    assert done.returncode == 2
    assert "building libswapmeet for" in done.stderr
    assert "configure.log" in done.stderr
    shutil.rmtree(library.build_folder(mpis.find(str(tmp_path / "bin" / "mpicc"))))


@pytest.mark.parametrize("ranks", ["1", "3"])
def test_run_serves_an_unmodified_program(mpi: str, script: str, ranks: str) -> None:
    done = swapmeet(
        "run", "--mpi", mpi, "-n", ranks, "--algorithm", "pairwise", "--explain", "--", sys.executable, script
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("is right") == int(ranks)
    expected = "one rank only" if ranks == "1" else "direct(order=shift,window=1,complete=all)"
    assert expected in done.stderr


def test_run_native_preloads_nothing(mpi: str, script: str) -> None:
    done = swapmeet("run", "--mpi", mpi, "-n", "2", "--native", "--explain", "--", sys.executable, script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("is right") == 2
    assert "swapmeet" not in done.stderr


def test_run_finds_the_mpi_of_a_program(mpi: str, tmp_path: Path) -> None:
    program = compiled(tmp_path, mpi)
    assert application.choose_mpi([program], None).name == mpi
    done = swapmeet("run", "-n", "3", "--algorithm", "spread-out", "--explain", program)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n")) == ["", "rank 0", "rank 1", "rank 2"]
    assert "direct(order=shift,window=all,complete=all)" in done.stderr
    other = "openmpi" if mpi.startswith("mpich") else "mpich"
    assert f"--mpi {other} is" in refused("run", "--mpi", other, "-n", "2", program)


def test_run_writes_statistics(script: str, tmp_path: Path) -> None:
    file = tmp_path / "statistics.json"
    done = swapmeet("run", "-n", "2", "--stats", str(file), "--algorithm", "pairwise", "--", sys.executable, script)
    assert done.returncode == 0, done.stderr
    assert json.loads(file.read_text())
    printed = swapmeet("run", "-n", "2", "--stats", "-", "--algorithm", "pairwise", "--", sys.executable, script)
    assert "Alltoall" in printed.stderr


def test_run_passes_status_input_and_arguments_on() -> None:
    done = swapmeet(
        "run",
        "-n",
        "1",
        "--native",
        "--",
        "sh",
        "-c",
        'cat; printf "%s," "$@"; exit 7',
        "sh",
        "-n",
        "--help",
        stdin="hello\n",
    )
    assert done.stdout == "hello\n-n,--help,"
    assert done.returncode == 7


def test_run_keeps_an_existing_preload_before_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "libm.so.6")
    words = launch.command(mpis.find("mpich"), 2, ["app", "x"], Path("/l/libswapmeet.so"), {"A": "b"})
    assert words[1:] == ["-n", "2", "env", "A=b", "LD_PRELOAD=libm.so.6:/l/libswapmeet.so", "app", "x"]
    assert launch.command(mpis.find("mpich"), 2, ["app"])[1:] == ["-n", "2", "app"]
    both = [Path("/l/libswapmeet-heap.so"), Path("/l/libswapmeet.so")]
    words = launch.command(mpis.find("mpich"), 2, ["app"], both)
    assert words[3:] == ["env", "LD_PRELOAD=libm.so.6:/l/libswapmeet-heap.so:/l/libswapmeet.so", "app"]
    with pytest.raises(SwapmeetError, match="blanks or colons"):
        launch.command(mpis.find("mpich"), 2, ["app"], Path("/a b/libswapmeet.so"))


def test_intel_is_named_with_what_to_install() -> None:
    with contextlib.suppress(SwapmeetError):
        mpis.find("intel")
        pytest.skip("Intel MPI is installed")
    line = refused("lib", "--mpi", "intel")
    assert "MPI intel is not installed" in line
    assert "--no-deps impi-rt==" in line


def test_cmake_is_told_where_intel_mpi_is_in_single_words(tmp_path: Path) -> None:
    mpicc = tmp_path / "prefix" / "bin" / "mpicc"
    mpicc.parent.mkdir(parents=True)
    folders = " ".join(rf"-Xlinker -rpath -Xlinker \"$I_MPI_ROOT/{lib}\"" for lib in ("lib/release", "lib"))
    mpicc.write_text(f'#!/bin/sh\necho "gcc -Xlinker --enable-new-dtags {folders} -lmpifort -lmpi"\n')
    mpicc.chmod(0o755)
    intel = mpis.Mpi("intel", "intel", "2021.18.1", mpicc, mpicc, None)
    script = library._described_by(intel, tmp_path)
    shown = subprocess.run([script, "-show"], capture_output=True, text=True, check=True).stdout
    lib = f"{tmp_path}/prefix/lib"
    assert shown == f'gcc -Wl,--enable-new-dtags -Wl,-rpath,"{lib}/release" -Wl,-rpath,"{lib}" -lmpi\n'
    assert library._described_by(mpis.find("mpich"), tmp_path) == mpis.find("mpich").mpicc


def test_run_refuses_in_one_line() -> None:
    assert "no program" in refused("run", "-n", "2", "--", "no-such-program")
    assert "is not an executable file" in refused("run", "-n", "2", "--", __file__)
    line = refused("run", "-n", "2", "--algorithm", "direct(window=0)", "--", "true")
    assert line.startswith('swapmeet: --algorithm "direct(window=0)": window must be')
    assert line.endswith("(column 15)")


def test_run_leaves_nothing_behind_when_interrupted(mpi: str, tmp_path: Path) -> None:
    marker = f"86{os.getpid()}"
    command = [sys.executable, "-m", "swapmeet", "run", "--mpi", mpi, "-n", "2", "--native", "--", "sleep", marker]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    assert wait_for(lambda: len(processes(marker)) >= 2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    try:
        process.wait(timeout=scaled(30))
        assert wait_for(lambda: not processes(marker))
    finally:
        for pid in processes(marker):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_a_launch_that_takes_too_long_leaves_nothing_behind(mpi: str) -> None:
    marker = f"87{os.getpid()}"
    chosen = mpis.find(mpi)
    with pytest.raises(subprocess.TimeoutExpired):
        launch.run(chosen, 2, launch.command(chosen, 2, ["sleep", marker]), timeout_s=3)
    assert wait_for(lambda: not processes(marker))


def processes(marker: str) -> list[int]:
    """The `sleep MARKER`s that run."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (folder / "cmdline").read_bytes() == b"sleep\0" + marker.encode() + b"\0":
                found.append(int(folder.name))
    return found


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + scaled(seconds)
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_conformance_makes_a_table() -> None:
    options = ["-n", "1,3", "--algorithm", "pairwise", "--algorithm", "direct(order=xor)"]
    done = swapmeet("conformance", *options, "--", "--only", "int", "--random", "1", timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "│ pairwise " in done.stdout
    assert "passed" in done.stdout
    assert "cannot serve" in done.stdout


def test_conformance_fails_when_nothing_matches() -> None:
    done = swapmeet("conformance", "-n", "1", "--native", "--", "--only", "no such case")
    assert done.returncode == 1
    assert "no case's name contains" in done.stderr
    assert "leave --algorithm out" in refused("conformance", "--native", "--algorithm", "pairwise")
    assert "unknown algorithm" in refused("conformance", "--algorithm", "pairwize")
    assert "expected a number" in refused("conformance", "-n", "few")


def test_two_builds_at_once_do_not_meet(mpi: str) -> None:
    command = [sys.executable, "-m", "swapmeet", "lib", "--mpi", mpi]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert len({process.communicate(timeout=scaled(600))[0] for process in running}) == 1
    assert all(process.returncode == 0 for process in running)


def test_folders_of_builds_do_not_clash() -> None:
    usable, _ = mpis.found()
    own = [library.build_folder(one) for one in usable if not one.standard_abi]
    shared = {library.build_folder(one) for one in usable if one.standard_abi}
    assert len(set(own)) == len(own)
    assert len(shared) == 1
    assert not shared & set(own)


def test_a_source_that_cannot_be_written_to_is_built_in_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    mpich = mpis.Mpi("mpich-system", "mpich", "4", Path("/usr/bin/mpicc"), Path("/usr/bin/mpiexec"), None)
    assert library.build_folder(mpich).is_relative_to(tmp_path / "swapmeet")
    assert library.build_folder(mpich).name == "mpich-system"


def test_what_the_user_sets_for_the_launcher_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (name for variables in mpis.YIELDING.values() for name in variables):
        monkeypatch.delenv(name, raising=False)  # set for all tests
    openmpi = mpis.find("openmpi")
    assert mpis.environment(openmpi, 1000)["OMPI_MCA_mpi_yield_when_idle"] == "1"
    assert "OMPI_MCA_mpi_yield_when_idle" not in mpis.environment(openmpi, 1)
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "0")
    assert "OMPI_MCA_mpi_yield_when_idle" not in mpis.environment(openmpi, 1000)
    assert mpis.environment(openmpi, 2)["MPI4PY_LIBMPI"] == str(openmpi.libmpi)
    mpich = mpis.find("mpich")
    assert mpis.environment(mpich, 1000)["MPIR_CVAR_CH4_PROGRESS_THROTTLE"] == "1"
    assert not any("THROTTLE" in name for name in mpis.environment(mpich, 1))
