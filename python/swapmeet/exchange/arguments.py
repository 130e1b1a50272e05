"""The arguments of the C functions that exchange, made of what a Python program passes."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

from mpi4py import MPI

from swapmeet.exchange.buffers import Side, sides
from swapmeet.exchange.library import Handle, function, handle_of


class Arguments:
    """Of `swapmeet_STEMalltoallKIND`, in the form with large counts if the library has it."""

    def __init__(self, stem: str, kind: str, sendbuf: Any, recvbuf: Any, comm: MPI.Comm) -> None:
        self._large = function(f"{stem}alltoall{kind}_c") is not None
        self.function = f"{stem}alltoall{kind}{'_c' if self._large else ''}"  #: without its prefix
        both = sides(kind, sendbuf, recvbuf, comm)
        self.buffers = [side.kept for side in both]  #: what owns the memory
        words = self._one if not kind else self._many
        self.words = [*words(both[0]), *words(both[1]), handle_of(comm)]

    def _one(self, side: Side) -> Iterator[Any]:
        [count] = self._integers(side.counts)
        yield from (ctypes.c_void_p(side.address), (ctypes.c_int64 if self._large else ctypes.c_int)(count))
        yield handle_of(side.types[0])

    def _many(self, side: Side) -> Iterator[Any]:
        yield from (ctypes.c_void_p(side.address), self._integers(side.counts), self._integers(side.displs))
        handles = [handle_of(type) for type in side.types]
        yield (Handle * len(handles))(*handles) if self.function.removesuffix("_c").endswith("w") else handles[0]

    def _integers(self, values: Sequence[int]) -> Any:
        """As C has them. Refuses what does not fit, which ctypes would cut off."""
        code, integer = ("q", ctypes.c_int64) if self._large else ("i", ctypes.c_int)
        return (integer * len(values)).from_buffer(array(code, values))
