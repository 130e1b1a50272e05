"""alltoall(), alltoallv() and alltoallw(): exchanges that are complete when they return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpi4py import MPI

from swapmeet.exchange.arguments import Arguments
from swapmeet.exchange.library import function

if TYPE_CHECKING:
    from mpi4py.typing import BufSpecB, BufSpecV, BufSpecW, InPlace


def alltoall(sendbuf: BufSpecB | InPlace, recvbuf: BufSpecB, comm: MPI.Comm) -> None:
    """Exchange blocks of one size, as `comm.Alltoall(sendbuf, recvbuf)` does. Collective over `comm`.

    Parameters
    ----------
    sendbuf : buffer specification, or MPI.IN_PLACE
        One block for each rank, in order of ranks; a count that is given is that of one block, in elements.
    recvbuf : buffer specification
        Gets one block from each rank.
    comm : MPI.Comm
        The ranks that exchange.

    Raises
    ------
    MPI.Exception
        As the error handler of `comm` has it.
    TypeError, ValueError, BufferError, OverflowError
        If a specification cannot be read.
    """
    _exchange("", sendbuf, recvbuf, comm)


def alltoallv(sendbuf: BufSpecV | InPlace, recvbuf: BufSpecV, comm: MPI.Comm) -> None:
    """Exchange blocks of any sizes, as `comm.Alltoallv(sendbuf, recvbuf)` does. Collective over `comm`.

    Parameters
    ----------
    sendbuf : buffer specification, or MPI.IN_PLACE
        Counts and displacements, one for each rank, in elements. Without displacements one block follows the other.
    recvbuf : buffer specification
        The same of what is received.
    comm : MPI.Comm
        The ranks that exchange.

    Raises
    ------
    MPI.Exception, TypeError, ValueError, BufferError, OverflowError
        As `alltoall`.
    """
    _exchange("v", sendbuf, recvbuf, comm)


def alltoallw(sendbuf: BufSpecW | InPlace, recvbuf: BufSpecW, comm: MPI.Comm) -> None:
    """Exchange blocks of any sizes and types, as `comm.Alltoallw(sendbuf, recvbuf)` does. Collective over `comm`.

    Parameters
    ----------
    sendbuf : buffer specification, or MPI.IN_PLACE
        Counts in elements, displacements in bytes and types, one of each for each rank.
    recvbuf : buffer specification
        The same of what is received.
    comm : MPI.Comm
        The ranks that exchange.

    Raises
    ------
    MPI.Exception, TypeError, ValueError, BufferError, OverflowError
        As `alltoall`.
    """
    _exchange("w", sendbuf, recvbuf, comm)


def _exchange(kind: str, sendbuf: object, recvbuf: object, comm: MPI.Comm) -> None:
    arguments = Arguments("", kind, sendbuf, recvbuf, comm)
    error = function(arguments.function)(*arguments.words)
    if error:
        raise MPI.Exception(error)
