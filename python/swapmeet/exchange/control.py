"""Choosing the algorithm of a communicator, measuring its phases, tracing a call."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
from collections.abc import Iterator

from mpi4py import MPI

from swapmeet.exchange.library import call, function, handle_of, spec_of, text


def set_algorithm(comm: MPI.Comm, spec: str | None) -> None:
    """Choose the algorithm of all later all-to-alls on `comm`. Collective over `comm`.

    Parameters
    ----------
    comm : MPI.Comm
        Whose all-to-alls: of `alltoall` and its like, and where the library is preloaded of all.
    spec : str or None
        The algorithm, such as "radix(r=8)" or "auto", the same on all ranks; None: the value of SWAPMEET_ALGORITHM.

    Raises
    ------
    SwapmeetError
        On all ranks if a spec is malformed or they differ.
    """
    call("set_algorithm", handle_of(comm), spec_of(spec))


@contextlib.contextmanager
def phases(comm: MPI.Comm) -> Iterator[dict[str, float]]:
    """Measure the phases of all-to-alls on `comm` within a `with`. Collective over `comm` if it is the first use of it.

    Yields
    ------
    dict
        From the end of the `with` on: the time that this rank has spent in each phase, such as "wait", in seconds.

    Raises
    ------
    SwapmeetError
        If `comm` is no communicator, or something in the `with` has ended the measurement.
    """
    names = list(map(text, itertools.takewhile(bool, map(function("phase_name"), itertools.count()))))
    seconds = (ctypes.c_double * len(names))()
    measured: dict[str, float] = {}
    call("phases_begin", handle_of(comm))
    try:
        yield measured
    finally:
        call("phases_end", handle_of(comm), seconds)
        measured.update(zip(names, seconds, strict=True))


def trace(comm: MPI.Comm, file: str | os.PathLike[str]) -> None:
    """Trace the next all-to-all on `comm` (docs/traces.md). Collective over `comm`.

    Parameters
    ----------
    comm : MPI.Comm
        Whose call.
    file : path
        What rank 0 writes; elsewhere anything.

    Raises
    ------
    SwapmeetError
        On all ranks if the file cannot be written.
    """
    call("trace", handle_of(comm), os.fsencode(file))
