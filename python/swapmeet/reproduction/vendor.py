"""What the papers compare with, as far as it is known.

Cray's MPI is closed; by the papers it is based on MPICH, so MPICH's rule stands for it: in simulations SimGrid's
own (`native:mpich`), in models the nearest of our specs. Open MPI 1.10, with which `slimfly` was measured, had the rule
below; SimGrid has that of a later version, so its algorithms are asked for by name.
"""

from __future__ import annotations

SHORT, MEDIUM, FEW = 256, 32768, 8  #: MPICH: bytes of a block, bytes, ranks
THROTTLE = 32  #: messages in flight

OMPI_SHORT, OMPI_MEDIUM, OMPI_FEW = 200, 3000, 12  #: coll_tuned_decision_fixed.c of Open MPI 1.10


def mpich(ranks: int, block_bytes: int) -> str:
    """The nearest to what MPICH chooses for an Alltoall, as one of our specs."""
    if block_bytes <= SHORT and ranks >= FEW:
        return "bruck(radix=2,layout=basic)"
    return f"direct(order=shift,window={THROTTLE})" if block_bytes <= MEDIUM else "pairwise"


def open_mpi_1(ranks: int, block_bytes: int) -> str:
    """What Open MPI 1.10 chooses for an Alltoall, as SimGrid has it."""
    if block_bytes < OMPI_SHORT and ranks > OMPI_FEW:
        return "native:bruck"
    return "native:basic_linear" if block_bytes < OMPI_MEDIUM else "native:ring"
