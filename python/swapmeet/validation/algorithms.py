"""What the algorithms are that others have measured, by the names that they go by in their files."""

from __future__ import annotations

from dataclasses import dataclass

from swapmeet import _core

OWN_CHOICE = "the MPI's own choice"


@dataclass(frozen=True)
class Algorithm:
    """One name.

    Parameters
    ----------
    spec : str or None
        The point of our family that sends the same messages; None: there is none, or it is not published.
    meaning : str
        What it is, for people.
    default : bool
        What the MPI does by default.
    """

    spec: str | None
    meaning: str
    default: bool = False


#: Open MPI posts everything at once in `linear`. `linear_sync` keeps coll_tuned_alltoall_max_requests in flight, which
#: are all unless a user sets it; the runs do not say that somebody did.
AT_ONCE = Algorithm("spread-out", "every message at once")
IN_TURN = Algorithm("pairwise", "one send and one receive at a time")
#: Open MPI calls its algorithm 3 "modified_bruck"; it rotates twice, and packs by derived datatypes.
TYPED = Algorithm("bruck-dt", "Bruck's algorithm in radix 2, packed by derived datatypes")
PACKED = Algorithm("tra(r=2)", "Bruck's algorithm in radix 2, packed by memcpy")
TORUS = Algorithm(None, "Fujitsu's own for the torus: its messages are not published")
BINE = Algorithm(None, "Bine trees, log P steps (arXiv 2508.17311): no point of our family")
CHOICE = Algorithm(None, OWN_CHOICE, default=True)

NAMES = {
    "default_ompi": CHOICE,
    "default-default": CHOICE,
    "linear_ompi": AT_ONCE,
    "default-linear": AT_ONCE,
    "linear_sync_ompi": AT_ONCE,
    "default-linear-sync": AT_ONCE,
    "pairwise_ompi": IN_TURN,
    "default-pairwise": IN_TURN,
    "modified_bruck_ompi": TYPED,
    "default-modified-bruck": TYPED,
    "BRUCK-LOG-MPI-0-1": PACKED,
    "default-blacc3d": TORUS,
    "default-blacc6d": TORUS,
    "default-crp": TORUS,
    "default-doublespread": TORUS,
    "bine_over": BINE,
    "BINE-LOG-UTOFU-0-1": BINE,
    "native": CHOICE,
}


def find(name: str) -> Algorithm | None:
    """What goes by a name: one of NAMES, or a spec of ours. None: unknown, and not guessed."""
    if name in NAMES:
        return NAMES[name]
    try:
        point = _core.parse_spec(name)
    except ValueError:
        return None
    return Algorithm(None if point.family == "native" else name, "a spec of ours")


def unknown(names: set[str]) -> list[str]:
    """Those of no known algorithm, in order."""
    return sorted(name for name in names if find(name) is None)
