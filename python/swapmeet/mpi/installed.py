"""Libraries that are there already: brought by the wheel, or installed by a package, a module file or CMake.

Where one fits nothing is compiled.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from swapmeet import __version__
from swapmeet.errors import SwapmeetError

NAME = "libswapmeet.so"
PACKAGE = Path(__file__).resolve().parents[1]
BROUGHT = PACKAGE / "lib"  #: where a wheel has the library for every MPI, and beside it those that it loads
VARIABLE = "SWAPMEET_LIBRARY"
ABIS = {
    "Open MPI": "openmpi",
    "MPICH": "mpich",
    "the MPI-5 ABI": "standard",
}  #: by what swapmeet_built_for() begins with
FRONT = b"swapmeet_front_library"  #: a function that only the one for every MPI has
LIMIT_S = 30
#: Run in a process that ends, with nothing preloaded: what a library is for is in nobody's way then.
PROBE = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
for name in ("version", "built_for"):
    function = library[f"swapmeet_{name}"]
    function.restype = ctypes.c_char_p
    print(function().decode())
"""


def installed(abi: str, search: bool = True) -> Path | None:
    """The installed library for an ABI (`Mpi.abi`), of this package's version.

    Parameters
    ----------
    abi : str
        'mpich', 'openmpi' or 'standard'; there is none for others.
    search : bool
        Whether to look into this package and its Python's prefixes, and where pkg-config finds `swapmeet`, if
        SWAPMEET_LIBRARY is not set.

    Raises
    ------
    SwapmeetError
        If SWAPMEET_LIBRARY names nothing that can be used: neither a library nor a folder with one, or another version.
    """
    if abi not in ABIS.values():
        return None
    if named := os.environ.get(VARIABLE):
        return _named(Path(named).absolute(), abi)
    places = _places() if search else ()
    return next((path for place in places for path in _libraries(place, abi) if _fits(path, abi)), None)


def installed_front(search: bool = True) -> Path | None:
    """The installed file for every MPI: the wheel's, or one with a library of this package's version beside it.

    `search` is as in `installed`.
    """
    if (brought_front := BROUGHT / NAME).exists():
        return brought_front
    places = _places() if search else ()
    fronts = (folder / NAME for place in places for folder in _folders(place))
    return next((path for path in fronts if is_front(path) and any(_serves(path, abi) for abi in ABIS.values())), None)


def _serves(front: Path, abi: str) -> bool:
    path = library_beside(front, abi)
    return path.is_file() and _fits(path, abi)


def library_beside(front: Path, abi: str) -> Path:
    """Where the library for every MPI looks for that for one ABI (`Mpi.abi`): src/front."""
    return front.parent / "swapmeet" / abi / NAME


def beside(library: Path, name: str) -> Path | None:
    """A file that was installed with a library: in its folder, or where the one for every MPI lies."""
    folders = [library.parent]
    if library.parent.parent.name == "swapmeet":
        folders.append(library.parents[2])
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def brought(abi: str, name: str = NAME) -> Path | None:
    """The wheel's library for an ABI, or another file beside it."""
    path = library_beside(BROUGHT / NAME, abi).with_name(name)
    return path if path.is_file() else None


def is_front(path: Path) -> bool:
    """Whether a file is the one for every MPI, rather than a library for one."""
    try:
        return FRONT in path.read_bytes()
    except OSError:
        return False


def _named(place: Path, abi: str) -> Path | None:
    """What SWAPMEET_LIBRARY names for an ABI; None: it is for others."""
    found = list(_libraries(place, abi))
    if not found:
        raise SwapmeetError(
            f"{VARIABLE}={place}: there is no {NAME}; name one, or the folder that it was installed into, or unset it"
        )
    described = {path: _description(path) for path in found}
    known = {path: version for path, (version, _) in described.items() if version}
    if not known and any(map(is_front, found)):
        return None
    if not known:
        raise SwapmeetError(f"{VARIABLE}={place}: {described[found[0]][1]}; unset it, or install swapmeet anew")
    for path, version in known.items():
        if version != __version__:
            raise SwapmeetError(
                f"{VARIABLE}={place}: {path} is of version {version}, and this command of {__version__}; "
                f"use the command of that installation, or unset {VARIABLE}"
            )
    return next((path for path in known if _fits(path, abi)), None)


def _libraries(place: Path, abi: str) -> Iterator[Path]:
    """The files for an ABI, or perhaps for it, at a path: a library, its folder, or a prefix."""
    if place.is_file():
        folders, names = [place.parent], [place.name]
    else:
        folders, names = _folders(place), [NAME]
    for folder in folders:
        yield from (
            path for path in (library_beside(folder / NAME, abi), *(folder / name for name in names)) if path.is_file()
        )


def _folders(prefix: Path) -> list[Path]:
    """Where a prefix, or a folder, has its libraries."""
    multiarch = getattr(sys.implementation, "_multiarch", "")
    return [prefix, prefix / "lib", prefix / "lib64", prefix / "lib" / multiarch / "swapmeet"]


def _places() -> Iterator[Path]:
    yield BROUGHT
    prefixes = [folder.parent for folder in PACKAGE.parents if folder.name in ("lib", "lib64")][:1]
    yield from dict.fromkeys([*prefixes, Path(sys.prefix), Path(sys.base_prefix)])
    if command := shutil.which("pkg-config"):
        words = [command, "--variable=libdir", "swapmeet"]
        folder = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout.strip()
        if folder:
            yield Path(folder)


def _fits(path: Path, abi: str) -> bool:
    version, built_for = _description(path)
    return version == __version__ and any(built_for.startswith(name) for name, its in ABIS.items() if its == abi)


@functools.cache
def _description(path: Path) -> tuple[str, str]:
    """The version of a library and what it was built for; or "" and why it is none."""
    env = {
        name: value for name, value in os.environ.items() if name != "LD_PRELOAD" and not name.startswith("SWAPMEET_")
    }
    words = [sys.executable, "-I", "-S", "-c", PROBE, str(path)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL, timeout=LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return "", str(problem)
    lines = done.stdout.splitlines()
    if done.returncode == 0 and len(lines) == 2:
        return lines[0], lines[1]
    return "", (done.stderr.strip() or f"{path} cannot be loaded").splitlines()[-1].removeprefix("OSError: ")
