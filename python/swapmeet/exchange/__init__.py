"""Swapmeet's public interface for programs with mpi4py: its communicators, and its ways to describe a buffer.

    from swapmeet import exchange

    exchange.set_algorithm(comm, "radix(r=8)")
    exchange.alltoall(out, back, comm)
    with exchange.plan_alltoall(out, back, comm) as plan:
        plan.start()
        ...
        plan.wait()

Here is how functions are called; what they do, and which of them are collective, is in include/swapmeet/swapmeet.h.
Buffers are NumPy arrays or any contiguous buffer objects, in the specifications of mpi4py: `array`, `[array, type]`,
`[array, count, type]`, for unequal blocks `[array, counts, displs, type]` and `[array, (counts, displs), type]`, for
types that differ `[array, counts, displs, types]`, MPI.BOTTOM for an array, and MPI.IN_PLACE for the send side.

The library is the one that the process has, preloaded or linked; else the one for the MPI that mpi4py uses is loaded,
and then serves these functions alone: methods such as `comm.Alltoall` stay with the MPI.
"""

try:
    import mpi4py.MPI  # noqa: F401
except ImportError as problem:
    raise ImportError("swapmeet.exchange needs mpi4py 4 or newer: pip install 'mpi4py>=4'") from problem

from swapmeet.exchange.control import phases, set_algorithm, trace
from swapmeet.exchange.library import built_for, version
from swapmeet.exchange.memory import allocate, allocate_array
from swapmeet.exchange.now import alltoall, alltoallv, alltoallw
from swapmeet.exchange.plan import Description, Plan, plan_alltoall, plan_alltoallv, plan_alltoallw
from swapmeet.exchange.sparse import Message, sparse_alltoallv

__all__ = [
    "Description",
    "Message",
    "Plan",
    "allocate",
    "allocate_array",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "built_for",
    "phases",
    "plan_alltoall",
    "plan_alltoallv",
    "plan_alltoallw",
    "set_algorithm",
    "sparse_alltoallv",
    "trace",
    "version",
]
