"""The production MPIs' own choices, and their algorithms, as SimGrid has them: `native:NAME`."""

from __future__ import annotations

import difflib

from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.cells import NATIVE

SELECTORS = ("ompi", "mpich", "mvapich2", "impi")  #: decision functions of these MPIs, all collectives alike
USUAL_NAMES = {"openmpi": "ompi", "mvapich": "mvapich2", "intel": "impi", "intelmpi": "impi"}
BARRIERS = ("", "_light_barrier", "_mpi_barrier", "_one_barrier")
_BOTH = ("bruck", *(name + barrier for name in ("pair", "ring") for barrier in BARRIERS))
#: By collective, as SimGrid 3.32 names them. Its pair_rma is left out: it delivers wrong data.
ALGORITHMS = {
    "alltoall": ("2dmesh", "3dmesh", "basic_linear", *_BOTH, "mvapich2_scatter_dest", "rdb"),
    "alltoallv": (*_BOTH, "ompi_basic_linear"),
}
PREFIX = NATIVE + ":"


def is_peer(spec: str) -> bool:
    """Whether this is an MPI's own, not ours."""
    return spec == NATIVE or spec.startswith(PREFIX)


def require_peer(spec: str) -> None:
    """Refuse a `native:NAME` that SimGrid has not.

    Raises
    ------
    SwapmeetError
        With all names.
    """
    name = spec.removeprefix(PREFIX)
    known = [*SELECTORS, *ALGORITHMS["alltoall"], *ALGORITHMS["alltoallv"]]
    if name not in known:
        near = [USUAL_NAMES[name]] if name in USUAL_NAMES else difflib.get_close_matches(name, known, 1)
        if near:
            raise SwapmeetError(f'SPEC "{spec}": SimGrid has no such algorithm; did you mean {PREFIX}{near[0]}?')
        raise SwapmeetError(
            f'SPEC "{spec}": expected native:NAME, NAME being an MPI, whose choice is taken ({", ".join(SELECTORS)}), '
            f"or an algorithm: {', '.join(ALGORITHMS['alltoall'])}; of Alltoallv also {ALGORITHMS['alltoallv'][-1]}"
        )


def unsuitable(spec: str, collective: str) -> str:
    """Why a peer cannot do this collective; "" if it can."""
    name = spec.removeprefix(PREFIX)
    if spec == NATIVE or name in SELECTORS or name in ALGORITHMS[collective]:
        return ""
    return f"SimGrid has no such algorithm for {collective}"


def chosen(spec: str, native: str) -> str:
    """The MPI, or algorithm, that serves what goes to the host MPI; `native` stands for plain "native"."""
    return spec.removeprefix(PREFIX) if spec.startswith(PREFIX) else native


def options(spec: str, collective: str, native: str) -> list[str]:
    """SimGrid's options for a simulated exchange.

    Other collectives are only those of the measuring program, and what some algorithms agree by: these are SimGrid's
    simplest, but with few messages: those of production MPIs take six times as long to simulate, and SimGrid's own
    allgather has P (P - 1) messages in flight, which takes far longer to simulate than the exchange.
    """
    others = ("--cfg=smpi/allreduce:rdb", "--cfg=smpi/allgather:bruck")
    return [f"--cfg=smpi/{collective}:{chosen(spec, native)}", *others]


def options_of_application(spec: str, native: str) -> list[str]:
    """The same for a program, all of whose collectives are those of a production MPI."""
    name = chosen(spec, native)
    if name in SELECTORS:
        return [f"--cfg=smpi/coll-selector:{name}"]
    each = [f"--cfg=smpi/{collective}:{name}" for collective in ALGORITHMS if not unsuitable(spec, collective)]
    return [f"--cfg=smpi/coll-selector:{native}", *each]
