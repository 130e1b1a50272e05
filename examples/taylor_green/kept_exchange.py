"""Exchanges by requests that are made once: persistent ones of MPI, or plans of Swapmeet (docs/plans.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

Block = tuple[NDArray, Sequence[int]]


class Request(Protocol):
    """What is started, and waited for, again and again."""

    def start(self) -> object:
        """Start, with what the buffers now hold."""

    def wait(self) -> object:
        """Wait until the data are there."""


class Persistent:
    """A persistent request of MPI 4."""

    def __init__(self, send: Block, receive: Block, comm: MPI.Intracomm) -> None:
        self._request = comm.Alltoallv_init(send, receive)

    def start(self) -> None:
        """Start."""
        self._request.Start()

    def wait(self) -> None:
        """Wait."""
        self._request.Wait()


def planned(spec: str) -> Callable[[Block, Block, MPI.Intracomm], Request]:
    """Plans of an algorithm, such as "radix(r=4)"; "auto": what Swapmeet chooses."""
    from swapmeet import exchange

    return lambda send, receive, comm: exchange.plan_alltoallv(send, receive, comm, None if spec == "auto" else spec)


class Kept:
    """Exchanges by requests that are made when sizes are first met, each with buffers of its own.

    Parameters
    ----------
    make : callable
        Makes a request of the two buffers with their counts, and the communicator.
    """

    def __init__(self, make: Callable[[Block, Block, MPI.Intracomm], Request]) -> None:
        self._make = make
        self._idle: defaultdict[tuple, list[tuple[Request, NDArray, NDArray]]] = defaultdict(list)

    def __call__(self, comm: MPI.Intracomm, send: Block, receive: Block, equal: bool) -> Callable[[], None]:
        """Exchange as `distributed_fft.Exchange`; ranks meet new sizes together, for making requests is collective."""
        idle = self._idle[(comm.handle, send[0].dtype.char, tuple(send[1]), tuple(receive[1]))]
        if not idle:
            out, back = np.empty_like(send[0]), np.empty_like(receive[0])
            idle.append((self._make((out, send[1]), (back, receive[1]), comm), out, back))
        request, out, back = idle.pop()
        out[:] = send[0]
        request.start()

        def wait() -> None:
            request.wait()
            receive[0][:] = back
            idle.append((request, out, back))

        return wait
