"""The library for aarch64, cross-compiled and run by qemu-user: that processor's instructions on this one's memory.

qemu translates on this processor, which reorders less: what a weaker memory does is explored by tests/interleavings.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from emulator import EMULATOR, emulated, run

from swapmeet.mpi import mpis, site

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "aarch64"
NEEDED = ("aarch64-linux-gnu-g++", EMULATOR[0], "cmake", "ninja")
TARGETS = ("swapmeet", "swapmeet_front", "transport", "conformance")
BUILD_S = 1800

pytestmark = [pytest.mark.long, pytest.mark.timeout(BUILD_S)]


@pytest.fixture(scope="module")
def mpich() -> Path:
    """MPICH for aarch64, as its wheel has it."""
    version = mpis.find("mpich").version
    wheels = FOLDER / "wheels"
    if not list(wheels.glob(f"mpich-{version}-*.whl")):
        words = ["--no-deps", "--only-binary=:all:", "--platform=manylinux_2_28_aarch64", f"--dest={wheels}"]
        done = subprocess.run(
            ["pip", "download", "--quiet", *words, f"mpich=={version}"], capture_output=True, text=True
        )
        if done.returncode:
            pytest.skip(f"the wheel of MPICH {version} for aarch64 cannot be downloaded: {done.stderr[-300:]}")
    prefix = FOLDER / f"mpich-{version}"
    if not prefix.exists():
        [wheel] = wheels.glob(f"mpich-{version}-*.whl")
        zipfile.ZipFile(wheel).extractall(FOLDER / "unpacked")
        (FOLDER / "unpacked" / f"mpich-{version}.data" / "data").rename(prefix)
    return prefix


@pytest.fixture(scope="module")
def built(mpich: Path) -> Path:
    """The folder with the library and programs for aarch64."""
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        pytest.skip(f"{', '.join(missing)}: apt-get install g++-aarch64-linux-gnu qemu-user-static cmake ninja-build")
    shown = FOLDER / "mpicc"
    libraries = f"-I{mpich}/include -L{mpich}/lib -Wl,-rpath,{mpich}/lib -lmpi"
    shown.write_text(f"#!/bin/sh\necho aarch64-linux-gnu-gcc {libraries}\n")
    shown.chmod(0o755)
    words = ["-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/aarch64.cmake", f"-DSWAPMEET_MPICC={shown}"]
    run("cmake", "-S", ROOT, "-B", FOLDER / "build", *words)
    run("cmake", "--build", FOLDER / "build", "--target", *TARGETS, limit_s=BUILD_S)
    return FOLDER / "build"


@pytest.mark.parametrize("members", [1, 2, 3, 5])
@pytest.mark.parametrize("way", ["", "threads=1", "rows=64"])
def test_messages_within_a_node(built: Path, members: int, way: str) -> None:
    words = f"exchange members={members} bulk=4160 cells=4 readable=none seed={members} steps=20 most=100000 {way}"
    assert run(*EMULATOR, built / "bin" / "transport", *words.split()) == "transport: 0 wrong\n"


@pytest.fixture(scope="module")
def front(built: Path) -> Path:
    """The file for every MPI, with the library for MPICH beside it."""
    folder = FOLDER / "everybody"
    for source, target in {
        built / "front" / site.NAME: folder / site.NAME,
        built / "lib" / site.NAME: site.library_beside(folder / site.NAME, "mpich"),
    }.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return folder / site.NAME


@pytest.mark.parametrize("ranks", [1, 2])
def test_conforms(built: Path, ranks: int) -> None:
    words = [built / "bin" / "conformance", "--only", "alltoall/int/"]
    printed = emulated(ranks, built / "lib" / site.NAME, *words, SWAPMEET_ALGORITHM="pairwise")
    assert re.search(r"^\d+ passed, 0 failed, \d+ skipped$", printed, re.MULTILINE), printed[-4000:]
    assert ranks == 1 or "swapmeet: Alltoall on" in printed


def test_the_file_for_every_mpi_loads_its_library(front: Path, built: Path) -> None:
    """The trampolines of that processor."""
    words = [built / "bin" / "conformance", "--only", "alltoall/int/"]
    printed = emulated(2, front, *words, SWAPMEET_ALGORITHM="pairwise")
    assert f"MPICH is served by {site.library_beside(front, 'mpich')}" in printed
    assert re.search(r"^\d+ passed, 0 failed, \d+ skipped$", printed, re.MULTILINE), printed[-4000:]
