"""libswapmeet.so in this process, for the MPI that mpi4py uses; its handles, and its errors."""

from __future__ import annotations

import ctypes
import functools
import re
from pathlib import Path
from typing import Any

from mpi4py import MPI

from swapmeet import __version__
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import mpis
from swapmeet.mpi.library import built

LIBMPI = re.compile(r"/\S*/lib(?:p?mpi|mpich)[^/]*\.so[.\d]*$", re.MULTILINE)

Handle: Any = ctypes.c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p


def version() -> str:
    """The version of the library that is loaded, such as "0.2.0"."""
    return text(function("version")())


def built_for() -> str:
    """The MPI that the library was built for, such as "MPICH 5.0.2"."""
    return text(function("built_for")())


@functools.cache
def loaded() -> ctypes.CDLL:
    """The library: what is in the process already, preloaded or linked or by a front; else what was built for its MPI.

    The latter is loaded for itself alone (RTLD_LOCAL), so that its MPI_Alltoall serves no other caller.

    Raises
    ------
    SwapmeetError
        If no MPI that Swapmeet finds is the one that mpi4py has loaded, or the library for it has not been built (ranks
        are no place for compilers), or is of another version.
    """
    library = ctypes.CDLL(None)
    if not hasattr(library, "swapmeet_version"):
        library = _of_front(library) or ctypes.CDLL(str(_built_for_this_process()), mode=ctypes.RTLD_LOCAL)
    for name in ("version", "built_for", "phase_name", "error_message"):
        getattr(library, f"swapmeet_{name}").restype = ctypes.c_char_p
    if text(library.swapmeet_version()) != __version__ or not hasattr(library, "swapmeet_plan_start"):
        raise SwapmeetError(
            f"libswapmeet {text(library.swapmeet_version())} in this process is not that of the package {__version__}: "
            "`swapmeet lib --mpi NAME` builds it anew"
        )
    return library


def _of_front(process: ctypes.CDLL) -> ctypes.CDLL | None:
    """What the file for every MPI has loaded for this process, if that is preloaded (src/front)."""
    if not hasattr(process, "swapmeet_front_library"):
        return None
    process.swapmeet_front_library.restype = ctypes.c_void_p
    handle = process.swapmeet_front_library()
    return ctypes.CDLL("libswapmeet.so", handle=handle) if handle else None


def _built_for_this_process() -> Path:
    mapped = {Path(name).resolve() for name in LIBMPI.findall(Path("/proc/self/maps").read_text())}
    for mpi in mpis.found()[0]:
        if mpi.libmpi and mpi.libmpi.resolve() in mapped:
            library = built(mpi)
            if library:
                return library
            raise SwapmeetError(f"libswapmeet.so for {mpi.name} is not built yet: run `swapmeet lib --mpi {mpi.name}`")
    raise SwapmeetError(
        f"mpi4py uses {', '.join(map(str, sorted(mapped))) or MPI.Get_library_version()}, which belongs to no MPI of "
        "`swapmeet info`: launch with `swapmeet run --mpi MPICC`, which preloads the library for it"
    )


@functools.cache
def function(name: str) -> Any:
    """The function swapmeet_NAME, None if this library has none."""
    return getattr(loaded(), f"swapmeet_{name}", None)


def call(name: str, *arguments: Any) -> None:
    """Call the function swapmeet_NAME, whose errors are not raised on a communicator.

    Raises
    ------
    SwapmeetError
        With the sentence that the library has for it; its cause is an MPI.Exception with the MPI's error code.
    """
    error = function(name)(*arguments)
    if error:
        sentence = text(function("error_message")()) or MPI.Get_error_string(error)
        raise SwapmeetError(sentence) from MPI.Exception(error)


def handle_of(of: MPI.Comm | MPI.Datatype) -> Any:
    """The handle as an argument."""
    return Handle(MPI._handleof(of))


def spec_of(spec: str | None) -> bytes | None:
    """A spec as an argument."""
    return None if spec is None else spec.encode()


def text(of: bytes | None) -> str:
    """What a function returned that returns a string."""
    return (of or b"").decode()
