"""mpi4py's buffer specifications, read: where the blocks of one side of an exchange lie, and of which types."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mpi4py import MPI
from mpi4py.util import dtlib


@dataclass(frozen=True)
class Side:
    """The blocks of one side."""

    address: int
    kept: object  #: owns what `address` points to
    counts: Sequence[int]  #: elements, one number for each peer; of an Alltoall one for all
    displs: Sequence[int]  #: elements, of an Alltoallw bytes; empty for an Alltoall
    types: Sequence[MPI.Datatype]  #: one, but for an Alltoallw one for each peer

    def in_place(self) -> Side:
        """The send side of an exchange in place, of which this is the other; its counts and types mean nothing."""
        return replace(self, address=int(MPI.IN_PLACE))


def peers_of(comm: MPI.Comm) -> int:
    """How many ranks there are to exchange with."""
    return comm.Get_remote_size() if isinstance(comm, MPI.Intercomm) else comm.Get_size()


def sides(kind: str, sendbuf: Any, recvbuf: Any, comm: MPI.Comm) -> tuple[Side, Side]:
    """Both sides of an exchange; `kind`: what follows "alltoall" in its name.

    Raises
    ------
    TypeError, ValueError, BufferError
        If a specification cannot be read: no contiguous buffer, not writable, of a type that MPI does not have, ...
    """
    read = {"": _equal, "v": _unequal, "w": _mixed}[kind]
    peers = peers_of(comm)
    receive = read(recvbuf, peers, True)
    in_place = sendbuf is None or isinstance(sendbuf, MPI.InPlaceType)
    return receive.in_place() if in_place else read(sendbuf, peers, False), receive


def _equal(spec: Any, peers: int, writable: bool) -> Side:
    """`array`, `[array, type]` or `[array, count, type]`; the count is that of one block."""
    buffer, count, displs, type = split_specification(spec)
    if displs is not None:
        raise ValueError("blocks of one size have no displacements: use alltoallv")
    memory = Memory(buffer, type, writable)
    if count is None:
        count, rest = divmod(memory.elements(), peers)
        if rest:
            raise ValueError(f"{memory.elements()} elements make no {peers} equal blocks, one for each rank")
    return Side(memory.address, memory.kept, [operator.index(count)], [], [memory.type])


def _unequal(spec: Any, peers: int, writable: bool) -> Side:
    """As `_equal`, with counts; and displacements, if blocks do not lie one behind the other."""
    buffer, counts, displs, type = split_specification(spec)
    memory = Memory(buffer, type, writable)
    if counts is None:
        least, rest = divmod(memory.elements(), peers)
        counts = [least + (rank < rest) for rank in range(peers)]
    counts = _one_each(counts, peers, "counts")
    if displs is None:
        displs = list(itertools.accumulate(counts[:-1], initial=0))
    return Side(memory.address, memory.kept, counts, _one_each(displs, peers, "displacements"), [memory.type])


def _mixed(spec: Any, peers: int, writable: bool) -> Side:
    """`[array, counts, displs, types]`, `[array, (counts, displs), types]`; `[array, types]`: one element of each."""
    buffer, *blocks, types = spec
    if len(blocks) == 1:
        [blocks] = blocks
    counts, displs = blocks or ([1] * peers, [0] * peers)
    types = [_type_called(type) for type in _one_each(types, peers, "types")]
    memory = Memory(buffer, MPI.BYTE, writable)
    counts, displs = _one_each(counts, peers, "counts"), _one_each(displs, peers, "displacements")
    return Side(memory.address, memory.kept, counts, displs, types)


def split_specification(spec: Any) -> tuple[Any, Any, Any, Any]:
    """Buffer, count or counts, displacements and type of a specification, None where it has none."""
    if not isinstance(spec, list | tuple):
        return spec, None, None, None
    match list(spec):
        case [buffer, str() | MPI.Datatype() as type]:
            counts = displs = None
        case [buffer, counts]:
            displs = type = None
        case [buffer, counts, type]:
            displs = None
        case [buffer, counts, displs, type]:
            pass
        case _:
            raise ValueError(f"a buffer has 1 to 4 parts, [array, counts, displs, type], not {len(spec)}")
    if isinstance(counts, tuple):
        counts, displs = counts
    return buffer, counts, displs, type


def _one_each(values: Any, peers: int, what: str) -> list[Any]:
    each: list[Any] = list(values)
    if len(each) != peers:
        raise ValueError(f"{len(each)} {what} for {peers} ranks")
    return each


class Memory:
    """A buffer, and the type of its elements: as given, or by the object itself."""

    def __init__(self, buffer: Any, type: MPI.Datatype | str | None, writable: bool) -> None:
        self.address, self.bytes, self.kept = int(MPI.BOTTOM), 0, None
        if not isinstance(buffer, MPI.BottomType | None):
            memory = MPI.buffer.frombuffer(buffer, readonly=not writable)
            self.address, self.bytes, self.kept = memory.address, memory.nbytes, memory
        elif type is None:
            raise ValueError("MPI.BOTTOM needs counts and a type")
        self.type = _type_of(buffer) if type is None else _type_called(type)

    def elements(self) -> int:
        """How many there are."""
        extent = self.type.Get_extent()[1]
        if extent <= 0 or self.bytes % extent or self.kept is None:
            raise ValueError(f"a buffer of {self.bytes} bytes has no whole number of {self.type.name}: give counts")
        return self.bytes // extent


def _type_called(type: MPI.Datatype | str) -> MPI.Datatype:
    return MPI.Datatype.fromcode(type) if isinstance(type, str) else type


def _type_of(buffer: Any) -> MPI.Datatype:
    if hasattr(buffer, "dtype"):
        return _type_of_dtype(buffer.dtype)
    view = memoryview(buffer)
    type = MPI.Datatype.fromcode(view.format.lstrip("@=<"))
    if type.Get_size() != view.itemsize:
        raise ValueError(f"cannot map {view.format!r} to an MPI datatype")
    return type


@functools.cache
def _type_of_dtype(dtype: Any) -> MPI.Datatype:
    """Derived types are kept, for they cost something to make."""
    if dtype.isbuiltin == 1 and dtype.isnative:
        return MPI.Datatype.fromcode(dtype.char)
    return dtlib.from_numpy_dtype(dtype).Commit()
