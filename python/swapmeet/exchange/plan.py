"""Exchanges that are planned once and made again and again, while the program goes on."""

from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mpi4py import MPI

from swapmeet.errors import SwapmeetError
from swapmeet.exchange.arguments import Arguments
from swapmeet.exchange.library import call, spec_of, text

if TYPE_CHECKING:
    from mpi4py.typing import BufSpecB, BufSpecV, BufSpecW, InPlace


class _Description(ctypes.Structure):
    """swapmeet_plan_description of swapmeet.h."""

    _fields_ = (
        ("spec", ctypes.c_char_p),
        ("reason", ctypes.c_char_p),
        ("messages", ctypes.c_longlong),
        ("bytes", ctypes.c_longlong),
        ("scratch_bytes", ctypes.c_longlong),
        ("expected_seconds", ctypes.c_double),
    )


@dataclass(frozen=True)
class Description:
    """What a plan does, on this rank."""

    spec: str  #: the algorithm with all its parameters; "native": the host MPI
    reason: str  #: why that was chosen
    messages: int | None  #: that this rank sends, at most; None: not known, as of the host MPI
    bytes: int | None  #: in these; None: not known, as of unequal blocks before the first exchange
    scratch_bytes: int  #: of working memory, at most
    expected_seconds: float | None  #: the time of one exchange by the model of automatic choices; None: not known


class Plan:
    """An exchange of two buffers, which it keeps alive. Made by `plan_alltoall`, `plan_alltoallv` and `plan_alltoallw`.

    At the end of a `with` it is completed, if it is under way, and freed; after an exception it is left as it is, for
    other ranks may not come to it any more. One that nothing refers to is freed too, unless it is under way.
    """

    _started: set[Plan] = set()  #: alive until they are complete: MPI uses their buffers

    def __init__(self, kind: str, sendbuf: Any, recvbuf: Any, comm: MPI.Comm, spec: str | None) -> None:
        self._plan = ctypes.c_void_p()
        arguments = Arguments("plan_", kind, sendbuf, recvbuf, comm)
        call(arguments.function, *arguments.words, spec_of(spec), ctypes.byref(self._plan))
        self._buffers = arguments.buffers

    def start(self) -> None:
        """Start the exchange. Collective over the plan's communicator, but does not wait for the other ranks.

        The send buffer must not change, and the receive buffer not be looked at, until the exchange is complete.

        Raises
        ------
        SwapmeetError
            If the plan is under way, or was freed; or MPI's error.
        """
        call("plan_start", self._plan)
        self._started.add(self)

    def test(self) -> bool:
        """Whether the exchange is complete; what is under way moves on meanwhile. Local.

        Raises
        ------
        SwapmeetError
            What the exchange ended with; or if the plan was freed.
        """
        done = ctypes.c_int(1)  # as when the exchange ends with an error
        try:
            call("plan_test", self._plan, ctypes.byref(done))
        finally:
            if done.value:
                self._started.discard(self)
        return bool(done.value)

    def wait(self) -> None:
        """Wait until the exchange is complete. Raises as `test` does."""
        try:
            call("plan_wait", self._plan)
        finally:
            self._started.discard(self)

    def free(self) -> None:
        """Free the plan, which must not be under way; once it is freed, nothing is done. Collective, as `Comm.Free` is.

        Raises
        ------
        SwapmeetError
            If the plan is under way.
        """
        call("plan_free", ctypes.byref(self._plan))
        self._buffers = []

    def describe(self) -> Description:
        """What the plan does, on this rank. Local.

        Raises
        ------
        SwapmeetError
            If the plan was freed.
        """
        found = _Description()
        call("plan_describe", self._plan, ctypes.byref(found))
        known = [None if value == -1 else value for value in (found.messages, found.bytes, found.expected_seconds)]
        return Description(text(found.spec), text(found.reason), known[0], known[1], found.scratch_bytes, known[2])

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, traceback: TracebackType | None) -> None:
        if kind is None:
            if self in self._started:
                self.wait()
            self.free()

    def __del__(self) -> None:
        if self._plan and not MPI.Is_finalized():
            with contextlib.suppress(SwapmeetError):  # under way, at the end of the program
                self.free()

    def __repr__(self) -> str:
        if not self._plan:
            return "<swapmeet.exchange.Plan, freed>"
        state = "under way" if self in self._started else "ready"
        return f"<swapmeet.exchange.Plan {self.describe().spec}, {state}>"


def plan_alltoall(sendbuf: BufSpecB | InPlace, recvbuf: BufSpecB, comm: MPI.Comm, spec: str | None = None) -> Plan:
    """Plan what `alltoall` does. Collective over `comm`.

    Parameters
    ----------
    sendbuf, recvbuf, comm
        As of `alltoall`.
    spec : str, optional
        The algorithm, such as "radix(r=8)", the same on all ranks; that of later calls on `comm` if not given.

    Raises
    ------
    SwapmeetError
        If the spec is malformed or cannot serve `comm`, or ranks or arguments do not agree: with what is wrong.
    TypeError, ValueError, BufferError, OverflowError
        If a specification of a buffer cannot be read.
    """
    return Plan("", sendbuf, recvbuf, comm, spec)


def plan_alltoallv(sendbuf: BufSpecV | InPlace, recvbuf: BufSpecV, comm: MPI.Comm, spec: str | None = None) -> Plan:
    """Plan what `alltoallv` does, with parameters and exceptions like `plan_alltoall`. Collective over `comm`."""
    return Plan("v", sendbuf, recvbuf, comm, spec)


def plan_alltoallw(sendbuf: BufSpecW | InPlace, recvbuf: BufSpecW, comm: MPI.Comm, spec: str | None = None) -> Plan:
    """Plan what `alltoallw` does, with parameters and exceptions like `plan_alltoall`. Collective over `comm`."""
    return Plan("w", sendbuf, recvbuf, comm, spec)
