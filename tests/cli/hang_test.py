"""The page of a job that hangs, from reports that are written down here. What ranks report: mpi/watchdog_test.py."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from swapmeet import SwapmeetError
from swapmeet.mpi import hang

Record = dict[str, Any]


def watches(rank: int, ranks: int, **more: Any) -> Record:
    return {"rank": rank, "process": os.getpid(), "event": "watches", "ranks": ranks, "host": "elsewhere", **more}


def waits(rank: int, ranks: int, receives: list[int] | None = None, **more: Any) -> Record:
    messages = [{"direction": "receive", "peer": peer, "bytes": 8, "step": 0} for peer in receives or []]
    return {
        "rank": rank,
        "process": os.getpid(),
        "event": "waits",
        "seconds": 2.0,
        "background": False,
        "communicator": 0,
        "name": "MPI_COMM_WORLD",
        "members": list(range(ranks)),
        "call": 3,
        "collective": "MPI_Alltoall",
        "bytes": 24,
        "algorithm": "direct",
        "doing": "exchanging" if messages else "meeting",
        "step": 0 if messages else -1,
        "messages": messages,
        "says": "exchanging" if messages else "setting up",
        **more,
    }


def no_call(rank: int, ranks: int, calls: int, **more: Any) -> Record:
    here = {"communicator": 0, "background": False, "members": list(range(ranks)), "calls": calls}
    return {
        "rank": rank,
        "process": os.getpid(),
        "event": "no call",
        "communicators": [here],
        "finalizes": False,
        **more,
    }


def read(folder: Path, *records: Record) -> dict[int, hang.Rank]:
    for record in records:
        with (folder / f"{record['rank']}.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")
    return hang.read(folder)


def page(folder: Path, *records: Record) -> str:
    return hang.page(read(folder, *records), lambda process: [f"#0 stack of {process}"])


def all_watch(ranks: int, **more: Any) -> list[Record]:
    return [watches(rank, ranks, **more) for rank in range(ranks)]


def test_a_rank_that_never_came_and_its_stack(tmp_path: Path) -> None:
    here = all_watch(3, host=socket.gethostname())
    text = page(tmp_path, *here, waits(0, 3, [1]), no_call(1, 3, 2), waits(2, 3, [0, 1]))
    assert text.splitlines() == [
        "ranks 0, 2 of 3 wait in all-to-alls",
        "",
        "Cause:",
        "  rank 1 has not come: it is in no all-to-all; ranks 0, 2 wait for it",
        f"      #0 stack of {os.getpid()}",
        "",
        "Ranks:",
        f"  rank 0 (process {os.getpid()} on {socket.gethostname()}): 2.0 s in call 3 on MPI_COMM_WORLD "
        "(MPI_Alltoall, sends 24 B, direct): exchanging, step 0",
        "      waits to receive 8 B from rank 1",
        f"  rank 1 (process {os.getpid()} on {socket.gethostname()}): is in no all-to-all",
        f"  rank 2 (process {os.getpid()} on {socket.gethostname()}): 2.0 s in call 3 on MPI_COMM_WORLD "
        "(MPI_Alltoall, sends 24 B, direct): exchanging, step 0",
        "      waits to receive 8 B from ranks 0-1",
    ]


def test_in_set_up_every_rank_that_is_not_there_is_waited_for(tmp_path: Path) -> None:
    """A rank that other ranks know nothing of, too; its communicator has no number yet."""
    text = page(tmp_path, watches(0, 3), waits(0, 3, communicator=-1, call=1), watches(2, 3), waits(2, 3, call=1))
    assert "  rank 1 has not come: it is in no all-to-all; ranks 0, 2 wait for it" in text
    assert "  rank 1: has reported nothing" in text
    assert "rank 0 has not come" not in text
    assert "rank 2 has not come" not in text


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (no_call(1, 2, 2, finalizes=True), "it has called MPI_Finalize"),
        ({"rank": 1, "process": 1, "event": "ends"}, "it has ended"),
    ],
)
def test_ways_to_be_away(tmp_path: Path, record: Record, said: str) -> None:
    assert f"rank 1 has not come: {said}; rank 0 waits for it" in page(
        tmp_path, *all_watch(2), waits(0, 2, [1]), record
    )


def test_a_rank_that_is_gone(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead = watches(1, 2, process=ended.pid, host=socket.gethostname())
    text = page(tmp_path, watches(0, 2), waits(0, 2, [1]), dead, waits(1, 2, [0], process=ended.pid))
    assert "  rank 1 has not come: it has died; rank 0 waits for it" in text
    assert "stack" not in text


def test_counts_that_differ(tmp_path: Path) -> None:
    """Not a circle, though rank 0 waits for rank 1 in the next call."""
    text = page(tmp_path, *all_watch(2), waits(0, 2, [1], call=4), waits(1, 2, [0], call=3))
    assert (
        "  rank 1 waits to receive 8 B from rank 0 in call 3 on MPI_COMM_WORLD (MPI_Alltoall, sends 24 B, direct), "
        "which rank 0 has ended: the counts of the two differ, or a message was lost\n"
    ) in text
    assert "one another" not in text
    (tmp_path / "later").mkdir()
    text = page(tmp_path / "later", *all_watch(2), no_call(0, 2, 3), waits(1, 2, [0], call=3))
    assert "which rank 0 has ended" in text


def test_the_shortest_circle(tmp_path: Path) -> None:
    """On two communicators, one of them with its ranks in another order; messages name ranks of the communicator."""
    other = {"communicator": 7, "name": "other", "members": [3, 2, 1, 0], "call": 1}
    rows = [waits(0, 4, [1]), waits(1, 4, [0], **other), waits(2, 4, [1], **other), waits(3, 4, [0])]
    text = page(tmp_path, *all_watch(4), *rows)
    assert "  ranks wait for one another:\n" in text
    circle = text.split("one another:\n")[1].split("\n\n")[0].splitlines()
    assert [line.split(",")[0].strip() for line in circle] == ["rank 0", "rank 1", "rank 3"]
    assert circle[1].endswith("waits to receive 8 B from rank 3")


def test_a_rank_that_goes_on_waits_no_more(tmp_path: Path) -> None:
    goes_on = {"rank": 0, "process": os.getpid(), "event": "goes on"}
    ranks = read(tmp_path, *all_watch(2), waits(0, 2, [1]), goes_on)
    assert not ranks[0].waits
    assert not ranks[0].settled


def test_a_line_that_is_being_written_is_left_for_later(tmp_path: Path) -> None:
    (tmp_path / "0.jsonl").write_text(json.dumps(watches(0, 2)) + '\n{"rank": 0, "eve')
    assert hang.read(tmp_path)[0].ranks == 2


def test_what_no_watchdog_wrote_is_told_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "0.jsonl").write_text(json.dumps(watches(0, 2)) + '\n{"rank": 0, "process": 1, "event": "waits"}\n')
    with pytest.raises(SwapmeetError, match='0.jsonl, line 2: ".*" is missing'):
        hang.read(tmp_path)


def test_the_host_mpi_knows(tmp_path: Path) -> None:
    rows = [waits(rank, 2, doing="host") for rank in range(2)]
    assert "all ranks are in the same call; what it waits for, only the host MPI knows" in page(
        tmp_path, *all_watch(2), *rows
    )
