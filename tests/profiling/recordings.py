"""Recordings made up for tests: small, and with known answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MS = 1_000_000  #: ns
RUN_NS = 1000 * MS

Line = Mapping[str, Any]


def header(rank: int | None, ranks: int | None, **changes: Any) -> dict[str, Any]:
    """The first line."""
    line = {"type": "recording", "schema": 1, "swapmeet": "0.1.0", "host": "here", "boot": "b", "process": 1}
    line |= {"clock": 0, "started": 0, "command": "app", "rank": rank, "ranks": ranks, "mpi": "Open MPI v5.0.11"}
    return {**line, "algorithm": "native", "first_call": 0, **changes}


def communicator(index: int, members: Sequence[int], id: str, **changes: Any) -> dict[str, Any]:
    """A line that describes a communicator."""
    line = {"type": "communicator", "communicator": index, "id": id, "inter": False, "shared": True, "name": ""}
    return {**line, "blocks": len(members), "members": list(members), **changes}


def exchange(index: int, communicator: int | None, sizes: int | Sequence[int] | None, **changes: Any) -> dict[str, Any]:
    """A line that describes an exchange: an Alltoall if it has one size, unless it says otherwise."""
    collective = "alltoall" if isinstance(sizes, int) else "alltoallv"
    line = {"type": "exchange", "exchange": index, "communicator": communicator, "collective": collective}
    return {**line, "in_place": False, "derived": False, "bytes": sizes, **changes}


def total(index: int, calls: int, ms: float) -> dict[str, Any]:
    """A line of totals: so many calls took so many milliseconds together."""
    each = int(ms * MS / calls)
    line = {"type": "total", "exchange": index, "calls": calls, "nanoseconds": each * calls}
    return {**line, "shortest": each, "longest": each, "first": 0, "last": calls - 1}


def single_calls(communicator: int, rows: Sequence[Sequence[float]]) -> dict[str, Any]:
    """A line of calls: number, exchange, start in ms, time in ms, weight."""
    calls = [[n, which, int(start * MS), int(ms * MS), weight] for n, which, start, ms, weight in rows]
    return {"type": "calls", "communicator": communicator, "calls": calls}


END = {"type": "end", "ended": "finalize", "nanoseconds": RUN_NS}


def write(folder: Path, lines_of: Mapping[int, Sequence[Line]], ranks: int, **changes: Any) -> Path:
    """Write what each rank leaves, and return the folder."""
    for rank, lines in lines_of.items():
        text = "".join(json.dumps(line) + "\n" for line in [header(rank, ranks, **changes), *lines])
        (folder / f"{rank}.jsonl").write_text(text)
    return folder


def skewed(folder: Path) -> Path:
    """Two ranks; 10 Alltoalls of 100 bytes, and 4 Alltoallvs of two kinds, in turns; rank 1 comes 2 ms late to each.

    Of the Alltoallvs, two have rank 0 send 1000 and 3000 bytes and rank 1 nothing; the others are of 8 bytes each. A
    run takes 1 s; the Alltoalls 100 ms on rank 0 and 80 on rank 1, the Alltoallvs 40 and 20.
    """
    rows0 = [(n, 0, 10 * n, 10, 1) for n in range(10)] + [(10 + n, 1 + n % 2, 100 + 10 * n, 10, 1) for n in range(4)]
    rows1 = [(n, which, start + 2, ms - 2, weight) for n, which, start, ms, weight in rows0[:10]]
    rows1 += [(n, which, start + 5, ms - 5, weight) for n, which, start, ms, weight in rows0[10:]]
    world = communicator(0, [0, 1], "0.0", name="MPI_COMM_WORLD")
    eights = {"collective": "alltoallv"}
    of_rank = {
        0: [exchange(0, 0, 100), exchange(1, 0, [1000, 3000]), exchange(2, 0, 8, **eights)],
        1: [exchange(0, 0, 100), exchange(1, 0, 0, **eights), exchange(2, 0, 8, **eights)],
    }
    totals = {0: [total(0, 10, 100), total(1, 2, 20), total(2, 2, 20)]}
    totals[1] = [total(0, 10, 80), total(1, 2, 10), total(2, 2, 10)]
    rows = {0: rows0, 1: rows1}
    return write(
        folder, {rank: [world, *of_rank[rank], single_calls(0, rows[rank]), *totals[rank], END] for rank in (0, 1)}, 2
    )
