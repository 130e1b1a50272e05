"""The memory that a computation about many ranks takes: refused in advance where the machine does not have it."""

from __future__ import annotations

from swapmeet.errors import SwapmeetError

BOUNDED, LEVEL, PRICED = 24, 48, 32  #: bytes that closed forms take a rank: for bounds, for levels of nodes, for times


def require(what: str, need_bytes: float, ranks: int, power: int, other: str = "") -> None:
    """Refuse what would not fit into memory.

    Parameters
    ----------
    what
        As in "verifying P = 64", for the message.
    need_bytes
        About as much is needed for `ranks` ranks, and as much for others as their number to the `power`.
    other
        What else to do.

    Raises
    ------
    SwapmeetError
        With the largest number of ranks that fits.
    """
    available = available_bytes()
    if available is None or need_bytes <= available:
        return
    fits = int(ranks * (available / need_bytes) ** (1 / power))
    raise SwapmeetError(
        f"{what} needs {need_bytes / 2**30:.1f} GiB of memory, {available / 2**30:.1f} GiB are available: "
        f"choose P up to about {fits}{other}"
    )


def require_for_counts(ranks: int, nodes: str, bounded: bool, priced: bool) -> None:
    """Refuse closed forms, with bounds or times, of more ranks than there is memory for."""
    a_rank = max(BOUNDED * bounded, LEVEL * (nodes.count("/") + 1) if nodes else 0) + PRICED * priced
    require(f"counting P = {ranks}", float(a_rank) * ranks, ranks, 1)


def available_bytes() -> int | None:
    """Memory that can be had without swapping; None where the system does not report it."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None
