"""sparse_alltoallv(): exchanges of the messages that there are."""

from __future__ import annotations

import ctypes
import operator
import weakref
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from mpi4py import MPI

from swapmeet.exchange.buffers import Memory, split_specification
from swapmeet.exchange.library import call, function, handle_of

if TYPE_CHECKING:
    from mpi4py.typing import BufSpecV


class _Received(ctypes.Structure):
    """swapmeet_sparse_messages."""

    _fields_ = (
        ("count", ctypes.c_int),
        ("sources", ctypes.POINTER(ctypes.c_int)),
        ("sizes", ctypes.POINTER(ctypes.c_int64)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
    )


class Message(NamedTuple):
    """A message that was received."""

    source: int
    """The rank that has sent it."""
    data: memoryview
    """Its bytes, which may be changed; `numpy.frombuffer(data, dtype)` makes an array of them."""


def sparse_alltoallv(sendbuf: BufSpecV | None, destinations: Sequence[SupportsIndex], comm: MPI.Comm) -> list[Message]:
    """Send messages to some ranks, and get those that others have for this one. Collective over `comm`.

    Parameters
    ----------
    sendbuf : buffer specification, or None
        Counts and displacements, one for each message, in elements. Without displacements one message follows the
        other, without counts all are of one size. None: there are no messages.
    destinations : sequence of int
        Of each message, a rank of `comm`. A rank may get several.
    comm : MPI.Comm
        The ranks that exchange.

    Returns
    -------
    list of Message
        In ascending order of sources, those of one rank as that has given them. Their memory is freed when nothing
        refers to any of them.

    Raises
    ------
    SwapmeetError
        If a destination or a count cannot be right: on this rank, which has then sent nothing. If there is no memory.
    TypeError, ValueError, BufferError, OverflowError
        If a specification cannot be read. The other ranks then wait for this one.
    """
    to = array("i", map(operator.index, destinations))
    address, kept, counts, displs, type = _messages(sendbuf, len(to))
    got = ctypes.POINTER(_Received)()
    integers = (ctypes.c_int * len(to)).from_buffer(to)
    words = (_large(counts), None if displs is None else _large(displs), handle_of(type), handle_of(comm))
    call("sparse_alltoallv", ctypes.c_void_p(address), len(to), integers, *words, ctypes.byref(got))
    del kept
    return list(_views(got))


def _messages(spec: Any, number: int) -> tuple[int, object, Sequence[int], Sequence[int] | None, MPI.Datatype]:
    """Address, owner, counts, displacements (None: side by side) and type of what is sent."""
    if spec is None:
        if number:
            raise ValueError(f"there is nothing to send to {number} destinations")
        return 0, None, [], None, MPI.BYTE
    buffer, counts, displs, type = split_specification(spec)
    memory = Memory(buffer, type, writable=False)
    if counts is None:
        each, rest = divmod(memory.elements(), max(1, number))
        if rest or (number == 0 and each):
            raise ValueError(f"{memory.elements()} elements make no {number} equal messages: give counts")
        counts = [each] * number
    counts = [operator.index(count) for count in counts]
    for values in (counts, displs):
        if values is not None and len(values) != number:
            raise ValueError(f"{len(values)} counts or displacements for {number} destinations")
    return memory.address, memory.kept, counts, displs, memory.type


def _large(values: Sequence[SupportsIndex]) -> Any:
    return (ctypes.c_int64 * len(values)).from_buffer(array("q", map(operator.index, values)))


def _views(got: Any) -> Iterator[Message]:
    """The messages; the last of them that is forgotten frees the memory of all."""
    received = got.contents
    owner = _Owner()
    weakref.finalize(owner, function("sparse_free"), ctypes.byref(got)).atexit = False
    for i in range(received.count):
        size = received.sizes[i]
        block: Any = (ctypes.c_char * size).from_address(received.data[i]) if size else (ctypes.c_char * 0)()
        block.owner = owner
        plain: Any = MPI.buffer.frombuffer(block)  # ctypes' own format is one that memoryview cannot index
        yield Message(received.sources[i], memoryview(plain))


class _Owner:
    """Lives as long as a message does."""
