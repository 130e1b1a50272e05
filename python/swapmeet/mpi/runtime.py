"""MPIs without a compiler wrapper, as packages for running programs have them: a launcher, and a library beside it."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from swapmeet.errors import SwapmeetError

LAUNCHERS = ("mpiexec", "mpirun")
LIMIT_S = 30
#: Debian's launchers end in the name of their MPI, and its MPICH has a library of another name.
LIBRARIES = {
    ".openmpi": ("libmpi.so.40",),
    ".mpich": ("libmpich.so.12", "libmpi.so.12"),
    "": ("libmpi.so.12", "libmpi.so.40"),
}
STANDARD_LIBRARY = "libmpi_abi.so.1"
#: What MPI_Get_library_version() begins with, which may be called before MPI_Init().
VERSIONS = {
    "intel": re.compile(r"Intel\(R\) MPI Library ([\d.]+)"),
    "mpich": re.compile(r"MPICH Version:\s*(\S+)"),
    "openmpi": re.compile(r"Open MPI v([^\s,]+)"),
}
PROBE = """
import ctypes, sys
text, length = ctypes.create_string_buffer(1 << 16), ctypes.c_int()
ctypes.CDLL(sys.argv[1]).MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode(errors="replace"))
"""


def is_launcher(path: Path) -> bool:
    """Whether a program is a launcher by its name, rather than a compiler wrapper."""
    return path.name.startswith(LAUNCHERS)


def suffix_of(program: Path) -> str:
    """What Debian adds to the name of a program of an MPI, such as ".openmpi"; links are followed."""
    link = program
    while True:
        if link.suffix in LIBRARIES:
            return link.suffix
        if not link.is_symlink():
            return ""
        link = Path(os.path.normpath(link.parent / os.readlink(link)))


def libmpi(launcher: Path, standard: bool = False) -> Path:
    """The library of the MPI to which a launcher belongs.

    Parameters
    ----------
    launcher : Path
        Its mpiexec.
    standard : bool
        The library with the ABI of the MPI-5 standard.

    Raises
    ------
    SwapmeetError
        If there is none.
    """
    names = (STANDARD_LIBRARY,) if standard else LIBRARIES[suffix_of(launcher)]
    folders = list(_folders(launcher))
    for path in (folder / name for folder in folders for name in names):
        if path.is_file():
            return path
    raise SwapmeetError(f"{launcher} has no MPI library ({', '.join(names)} in {', '.join(map(str, folders))})")


def _folders(launcher: Path) -> Iterator[Path]:
    prefix = launcher.parent.parent
    multiarch = getattr(sys.implementation, "_multiarch", "")
    yield from dict.fromkeys([prefix / "lib" / multiarch, prefix / "lib64", prefix / "lib"])


@functools.cache
def kind_and_version(library: Path) -> tuple[str, str]:
    """Kind, as of `wrapper.kind_and_version`, and version of an MPI, asked of its library in a process that ends.

    Raises
    ------
    SwapmeetError
        If it cannot be loaded.
    """
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    words = [sys.executable, "-I", "-S", "-c", PROBE, str(library)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL, timeout=LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise SwapmeetError(f"{library} cannot be asked for its version: {problem}") from None
    if done.returncode:
        last = (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]
        raise SwapmeetError(f"{library} cannot be asked for its version: {last}")
    for kind, pattern in VERSIONS.items():
        if found := pattern.search(done.stdout):
            return kind, found[1]
    return "unknown", ""
