"""The page of a job that hangs, from reports that are written down here. What ranks report: mpi/watchdog_test.py."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from swapmeet import SwapmeetError
from swapmeet.mpi import hang, hang_reports

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
        "doing": "exchanging" if messages else "setting up",
        "step": 0 if messages else -1,
        "messages": messages,
        "says": "exchanging" if messages else "setting up",
        **more,
    }


def past_calls(ranks: int, calls: int, **more: Any) -> Record:
    return {"communicator": 0, "background": False, "members": list(range(ranks)), "calls": calls, **more}


def no_call(rank: int, ranks: int, calls: int, **more: Any) -> Record:
    return {
        "rank": rank,
        "process": os.getpid(),
        "event": "no call",
        "communicators": [past_calls(ranks, calls)],
        "finalizes": False,
        **more,
    }


def read(folder: Path, *records: Record) -> dict[int, hang_reports.Rank]:
    for record in records:
        with (folder / f"{record['rank']}.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")
    return hang_reports.read(folder)


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
    assert "  rank 1 has not come: it has reported no wait; ranks 0, 2 wait for it" in text
    assert "  rank 1: has reported nothing" in text
    assert "rank 0 has not come" not in text
    assert "rank 2 has not come" not in text


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (no_call(1, 2, 2, finalizes=True), "it has called MPI_Finalize"),
        ({"rank": 1, "process": os.getpid(), "event": "ends"}, "it has ended"),
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


def test_processes_of_another_namespace_are_not_looked_at(tmp_path: Path) -> None:
    """Though the host is the same: by their numbers, they are others here, or none."""
    here = os.stat("/proc/self/ns/pid").st_ino
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for namespace, state in ((here, "X"), (here + 1, "?"), (0, "X")):
        (folder := tmp_path / str(namespace)).mkdir()
        dead = watches(0, 1, process=ended.pid, host=socket.gethostname(), process_namespace=namespace)
        assert read(folder, dead)[0].state == state
    there = all_watch(2, host=socket.gethostname(), process_namespace=here + 1)
    text = page(tmp_path, *there, waits(0, 2, [1]), no_call(1, 2, 2))
    assert "  rank 1 has not come: it is in no all-to-all; rank 0 waits for it\n\nRanks:" in text


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


def first(rank: int, ranks: int, name: str, **more: Any) -> Record:
    """In its first call on a communicator of all ranks, which have not met."""
    return waits(rank, ranks, communicator=-1, name=name, call=1, collective=None, bytes=0, algorithm="", **more)


def test_first_calls_on_two_communicators_of_the_same_ranks(tmp_path: Path) -> None:
    rows = [first(0, 3, "alpha"), first(1, 3, "beta"), first(2, 3, "alpha")]
    text = page(tmp_path, *all_watch(3), *rows)
    assert "  ranks wait for one another:\n    rank 0, in call 1 on alpha, waits for rank 1\n" in text
    assert "    rank 1, in call 1 on beta, waits for rank 0\n" in text


@pytest.mark.parametrize(
    "past",
    [past_calls(3, 5, communicator=-1, name="beta"), past_calls(3, 5, name="beta")],
    ids=["not met", "met"],
)
def test_past_calls_on_another_communicator_of_the_same_ranks(tmp_path: Path, past: Record) -> None:
    rows = [first(0, 3, "alpha"), no_call(1, 3, 0, communicators=[past]), first(2, 3, "alpha")]
    text = page(tmp_path, *all_watch(3), *rows)
    assert "  rank 1 has not come: it is in no all-to-all; ranks 0, 2 wait for it\n" in text


def test_an_intercommunicator(tmp_path: Path) -> None:
    """Of all ranks, which never meet on it; they have met on MPI_COMM_WORLD."""
    rows = [first(rank, 4, "", doing="host") for rank in range(3)]
    world = past_calls(4, 2, name="MPI_COMM_WORLD")
    text = page(tmp_path, *all_watch(4), *rows, no_call(3, 4, 2, communicators=[world]))
    assert "  rank 3 has not come: it is in no all-to-all; ranks 0-2 wait for it\n" in text
    (tmp_path / "next").mkdir()
    here = past_calls(4, 1, communicator=-1, name="")
    rows = [{**row, "call": 2} for row in rows]
    text = page(tmp_path / "next", *all_watch(4), *rows, no_call(3, 4, 2, communicators=[world, here]))
    assert "  rank 3 has not come: it is in no all-to-all; ranks 0-2 wait for it\n" in text
    (tmp_path / "over").mkdir()
    here["calls"] = 2
    text = page(tmp_path / "over", *all_watch(4), *rows, no_call(3, 4, 2, communicators=[world, here]))
    assert "which rank 3 has ended: the counts of the two differ" in text


def test_a_rank_in_a_call_on_another_communicator_than_an_intercommunicator(tmp_path: Path) -> None:
    rows = [first(0, 2, "", doing="host"), waits(1, 2)]
    text = page(tmp_path, *all_watch(2), *rows)
    assert "    rank 1, in call 3 on MPI_COMM_WORLD (MPI_Alltoall, sends 24 B, direct), waits for rank 0\n" in text
    assert "has ended" not in text


@pytest.mark.parametrize("collective", ["MPI_Neighbor_alltoall", "MPI_Ineighbor_alltoallw"])
def test_an_exchange_of_neighbours_waits_for_neighbours(tmp_path: Path, collective: str) -> None:
    """In the host MPI; a rank may be listed twice, and the rank itself."""
    ring = {"doing": "host", "collective": collective, "members": [3, 2, 1, 0]}
    row = waits(3, 4, neighbours=[1, 0, 1], **ring)
    text = page(tmp_path, *all_watch(4), row, *(no_call(rank, 4, 2) for rank in range(3)))
    assert "rank 2 has not come" in text
    assert "rank 1 has not come" not in text
    assert "rank 0 has not come" not in text
    (tmp_path / "setting up").mkdir()
    row["doing"] = "setting up"
    text = page(tmp_path / "setting up", *all_watch(4), row, *(no_call(rank, 4, 2) for rank in range(3)))
    assert all(f"rank {rank} has not come" in text for rank in range(3))


def test_a_rank_that_waits_alone(tmp_path: Path) -> None:
    text = page(tmp_path, *all_watch(2), waits(0, 2, [1]), no_call(1, 2, 2))
    assert text.startswith("rank 0 of 2 waits in an all-to-all\n")


def test_only_an_exchange_has_steps(tmp_path: Path) -> None:
    text = page(tmp_path, *all_watch(2), waits(0, 2, doing="host", step=0), waits(1, 2, [0]))
    assert text.count(", step 0") == 1
    assert re.search(r"rank 1 .*: exchanging, step 0$", text, re.MULTILINE)


def test_a_rank_that_goes_on_waits_no_more(tmp_path: Path) -> None:
    goes_on = {"rank": 0, "process": os.getpid(), "event": "goes on"}
    ranks = read(tmp_path, *all_watch(2), waits(0, 2, [1]), goes_on)
    assert not ranks[0].waits
    assert not ranks[0].settled


def test_a_line_that_is_being_written_is_left_for_later(tmp_path: Path) -> None:
    (tmp_path / "0.jsonl").write_text(json.dumps(watches(0, 2)) + '\n{"rank": 0, "eve')
    assert hang_reports.read(tmp_path)[0].ranks == 2


@pytest.mark.parametrize("end", ["\u2028", "\u0085", "\u2029"])
def test_a_name_may_hold_what_ends_lines_elsewhere(tmp_path: Path, end: str) -> None:
    rows = [watches(0, 2), waits(0, 2, name=f"a{end}b")]
    (tmp_path / "0.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    assert f"in call 3 on a{end}b (" in hang.page(hang_reports.read(tmp_path), lambda process: [])


def test_what_no_watchdog_wrote_is_told_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "0.jsonl").write_text(json.dumps(watches(0, 2)) + '\n{"rank": 0, "process": 1, "event": "waits"}\n')
    with pytest.raises(SwapmeetError, match='0.jsonl, line 2: ".*" is missing'):
        hang_reports.read(tmp_path)


HOST_KNOWS = (
    ", with all awaited ranks of MPI_COMM_WORLD in the same call; what is missing, only the host MPI knows: counts "
    "that differ, perhaps"
)


def test_the_host_mpi_knows(tmp_path: Path) -> None:
    rows = [waits(rank, 2, doing="host") for rank in range(2)]
    assert f"  ranks 0-1 wait{HOST_KNOWS}\n\nRanks:" in page(tmp_path, *all_watch(2), *rows)


def test_the_host_mpi_knows_of_some_ranks(tmp_path: Path) -> None:
    """Rank 0 waits for rank 1, that elsewhere with rank 2; rank 3 waits for none."""
    pair = {"doing": "host", "communicator": 4, "name": "pair", "members": [1, 2]}
    rows = [waits(0, 4, [1]), waits(1, 2, **pair), waits(2, 2, **pair), no_call(3, 4, 2)]
    assert f"  ranks 1-2 wait{HOST_KNOWS}\n\nRanks:" in page(tmp_path, *all_watch(4), *rows)


def test_the_host_mpi_knows_of_a_rank_that_awaits_none(tmp_path: Path) -> None:
    alone = waits(0, 2, doing="host", collective="MPI_Neighbor_alltoall", neighbours=[0])
    assert f"  rank 0 waits{HOST_KNOWS}\n\nRanks:" in page(tmp_path, *all_watch(2), alone, no_call(1, 2, 2))


def absent(rank: int, ranks: int) -> Record:
    return no_call(rank, ranks, 2)


def test_messages_that_a_list_has_no_room_for_may_be_of_any_rank_that_never_came(tmp_path: Path) -> None:
    """Ranks 1-3 never came; the list of rank 0 ends before ranks 1 and 2, that of rank 4 before all but rank 1."""
    rows = [waits(0, 6, [3], more_messages=2), waits(4, 6, [1], more_messages=1), waits(5, 6, [4])]
    text = page(tmp_path, *all_watch(6), *rows, *(absent(rank, 6) for rank in (1, 2, 3)))
    for rank in (1, 2, 3):
        assert f"  rank {rank} has not come: it is in no all-to-all; ranks 0, 4 wait for it\n" in text
    assert "\n      waits to receive 8 B from rank 3 and others\n      waits perhaps for ranks 1-2\n" in text
    assert "\n      waits to receive 8 B from rank 1 and others\n      waits perhaps for ranks 2-3\n" in text
    assert text.endswith("\n      waits to receive 8 B from rank 4")


def test_what_is_listed_explains_a_hang_before_what_may_be(tmp_path: Path) -> None:
    """Rank 0 waits for rank 1, perhaps for rank 2, which waits elsewhere for rank 0."""
    other = {"communicator": 7, "name": "other", "members": [0, 2], "call": 1}
    rows = [waits(0, 3, [1], more_messages=1), waits(1, 3, [0]), waits(2, 3, [0], **other)]
    text = page(tmp_path, *all_watch(3), *rows)
    assert "  ranks wait for one another:\n    rank 0," in text
    assert "(MPI_Alltoall, sends 24 B, direct), waits to receive 8 B from rank 1\n    rank 1," in text
    (tmp_path / "perhaps").mkdir()
    alone = waits(1, 3, doing="host", collective="MPI_Neighbor_alltoall", neighbours=[1])
    text = page(tmp_path / "perhaps", *all_watch(3), rows[0], alone, rows[2])
    assert "(MPI_Alltoall, sends 24 B, direct), waits perhaps for rank 2\n    rank 2," in text


OUTSIDE = "ranks outside MPI_COMM_WORLD"
MERGED: Record = {"communicator": -1, "name": "merged", "members": [0, 1, -32766, -32766]}
OUTSIDE_CAUSE = f"  ranks 0-1 wait for {OUTSIDE} (spawned or connected), of which there are no reports\n\nRanks:"


def test_ranks_that_are_not_in_the_world(tmp_path: Path) -> None:
    rows = [waits(rank, 2, doing="host", **MERGED) for rank in range(2)]
    text = page(tmp_path, *all_watch(2), *rows)
    assert f"Cause:\n{OUTSIDE_CAUSE}" in text
    assert text.count(f"\n      waits for {OUTSIDE}") == 2
    (tmp_path / "messages").mkdir()
    text = page(tmp_path / "messages", *all_watch(2), waits(0, 2, [1], **MERGED), waits(1, 2, [2, 3], **MERGED))
    assert f"Cause:\n{OUTSIDE_CAUSE.replace('ranks 0-1 wait', 'rank 1 waits')}" in text
    assert text.endswith(f"\n      waits to receive 8 B from {OUTSIDE}")
    (tmp_path / "both").mkdir()
    text = page(tmp_path / "both", *all_watch(2), waits(0, 2, [1, 2], **MERGED), waits(1, 2, [0, 3], **MERGED))
    assert "  ranks wait for one another:\n" in text
    assert OUTSIDE_CAUSE in text
    assert f"\n      waits to receive 8 B from rank 1 and {OUTSIDE}\n" in text
    (tmp_path / "absent").mkdir()
    text = page(tmp_path / "absent", *all_watch(2), waits(0, 2, [1, 2], **MERGED), absent(1, 2))
    assert "  rank 1 has not come: it is in no all-to-all; rank 0 waits for it\n" in text
    assert "spawned" not in text


def test_reports_of_another_world_are_not_those_of_its_ranks(tmp_path: Path) -> None:
    """A spawned process has the variables of its parents where its launcher hands them on."""
    spawned = {"process": os.getpid() + 1}
    text = page(
        tmp_path, *all_watch(2), watches(0, 1, **spawned), waits(0, 2, [1]), absent(0, 1) | spawned, absent(1, 2)
    )
    assert "rank 0 of 2 waits in an all-to-all\n" in text
    assert f"  rank 0 (process {os.getpid()} on elsewhere): 2.0 s in call 3" in text


def test_communicators_without_names_may_be_different_ones(tmp_path: Path) -> None:
    rows = [first(rank, 2, "") for rank in range(2)]
    text = page(tmp_path, *all_watch(2), *rows)
    assert f"  ranks 0-1 wait{HOST_KNOWS}; these may be calls on different communicators of the same ranks\n\n" in text


# --- threads that wait in several communicators -----------------------------------------------------------------------

E: Record = {"communicator": 4, "local_communicator": 5, "name": "E", "call": 2}
B: Record = {"communicator": 3, "local_communicator": 4, "name": "B", "call": 2}


def goes_on(rank: int, **more: Any) -> Record:
    return {"rank": rank, "process": os.getpid(), "event": "goes on", **more}


def two_threads() -> list[Record]:
    """Rank 2 has not come to B, and rank 3 to E."""
    in_b = [waits(rank, 4, [2], **B) for rank in (0, 1, 3)]
    return [*in_b, *(waits(rank, 4, [3], **E) for rank in (0, 1, 2))]


def test_threads_wait_in_two_communicators(tmp_path: Path) -> None:
    text = page(tmp_path, *all_watch(4, threads=True), *two_threads())
    assert text.splitlines()[:6] == [
        "ranks 0-3 of 4 wait in all-to-alls",
        "",
        "Cause:",
        "  rank 2 has reported nothing of call 2 on B: it waits in call 2 on E; ranks 0-1, 3 wait for it",
        "  rank 3 has reported nothing of call 2 on E: it waits in call 2 on B; ranks 0-2 wait for it",
        "",
    ]
    call = "(MPI_Alltoall, sends 24 B, direct): exchanging, step 0"
    assert text.splitlines()[7:11] == [
        f"  rank 0 (process {os.getpid()} on elsewhere): 2.0 s in call 2 on B {call}",
        "      waits to receive 8 B from rank 2",
        f"  rank 0 (process {os.getpid()} on elsewhere): 2.0 s in call 2 on E {call}",
        "      waits to receive 8 B from rank 3",
    ]


def test_a_rank_that_waits_elsewhere_has_a_stack(tmp_path: Path) -> None:
    here = all_watch(4, threads=True, host=socket.gethostname())
    text = page(tmp_path, *here, *two_threads())
    stack = f"      the first thread of rank {{}}:\n      #0 stack of {os.getpid()}\n"
    assert f"; ranks 0-1, 3 wait for it\n{stack.format(2)}" in text
    assert f"; ranks 0-2 wait for it\n{stack.format(3)}" in text
    text = page(tmp_path, waits(1, 4, [2], communicator=9, local_communicator=9, name="A"))
    assert text.count("the first thread of rank 2:") == 1


def test_ranks_that_wait_elsewhere_share_a_line(tmp_path: Path) -> None:
    rows = [waits(0, 4, [1, 2, 3], **B), *(waits(rank, 4, [0], **E) for rank in (1, 2, 3))]
    text = page(tmp_path, *all_watch(4, threads=True), *rows)
    came = "ranks 1-3 have reported nothing of call 2 on B"
    assert f"  {came}: they wait in call 2 on E; rank 0 waits for them\n" in text


def test_a_circle_of_ranks_that_may_have_other_threads(tmp_path: Path) -> None:
    """As in a program that asks for MPI_THREAD_MULTIPLE, and calls by one thread."""
    rows = [waits(0, 3, [1], **B), waits(1, 3, [0], **E), waits(2, 3, [0], **E)]
    text = page(tmp_path, *all_watch(3, threads=True), *rows)
    lines = text.split("Cause:\n  ranks wait for one another, unless another thread comes:\n")[1].splitlines()
    assert lines[0].endswith("waits to receive 8 B from rank 1")
    assert lines[1].endswith("waits to receive 8 B from rank 0")
    assert lines[2].startswith("  rank 0 has reported nothing of call 2 on E")
    text = page(tmp_path, waits(2, 3, [0], **B))
    assert "one another" not in text, "rank 2 has two threads, so others may have"


def test_a_rank_of_one_thread_that_waits_elsewhere_is_in_a_circle(tmp_path: Path) -> None:
    """Though others have several."""
    watch = [watches(0, 2), watches(1, 2, threads=True)]
    text = page(tmp_path, *watch, waits(0, 2, [1], **B), waits(1, 2, [0], **E))
    assert "has reported nothing of call 2 on B" in text
    assert "one another:" not in text
    (tmp_path / "one").mkdir()
    text = page(tmp_path / "one", *all_watch(2), waits(0, 2, [1], **B), waits(1, 2, [0], **E))
    assert "  ranks wait for one another:\n" in text


def test_a_circle_of_calls_of_threads(tmp_path: Path) -> None:
    """In B for one another; in E rank 0 waits for rank 1, which waits there for rank 2."""
    rows = [
        waits(0, 3, [1], **B),
        waits(1, 3, [0], **B),
        waits(0, 3, [1], **E),
        waits(1, 3, [2], **E),
        waits(2, 3, **E),
    ]
    text = page(tmp_path, *all_watch(3, threads=True), *rows)
    circle = text.split("  ranks wait for one another:\n")[1].split("\n\n")[0].splitlines()
    assert [line.split(" (")[0].strip() for line in circle] == ["rank 0, in call 2 on B", "rank 1, in call 2 on B"]


def test_a_non_blocking_call_is_not_what_a_rank_of_one_thread_waits_in(tmp_path: Path) -> None:
    """It waits in its blocking one: a circle, though what is reported last is another."""
    started = {"background": True, "communicator": 9, "local_communicator": 9, "name": "A", "call": 1}
    rows = [waits(0, 3, [1], **B), waits(1, 3, [0], **E), waits(1, 3, [2], **started), waits(2, 3, [1], **E)]
    text = page(tmp_path, *all_watch(3), *rows)
    circle = text.split("  ranks wait for one another:\n")[1].split("\n\n")[0].splitlines()
    assert [line.split(" (")[0].strip() for line in circle] == ["rank 0, in call 2 on B", "rank 1, in call 2 on E"]


def test_a_call_that_a_rank_has_ended_though_another_thread_waits(tmp_path: Path) -> None:
    rows = [waits(0, 2, [1], call=4), waits(0, 2, [1], **E), waits(1, 2, [0], call=3), waits(1, 2, [0], **B)]
    text = page(tmp_path, *all_watch(2, threads=True), *rows)
    assert "  rank 1 waits to receive 8 B from rank 0 in call 3 on MPI_COMM_WORLD" in text
    assert "which rank 0 has ended: the counts of the two differ" in text
    there = "call 4 on MPI_COMM_WORLD and call 2 on E"
    assert f"  rank 0 has reported nothing of call 2 on B: it waits in {there}; rank 1 waits for it" in text


def test_one_of_two_waits_goes_on(tmp_path: Path) -> None:
    rows = two_threads()
    ended = [goes_on(rank, communicator=4, local_communicator=5) for rank in range(4)]
    ranks = read(tmp_path, *all_watch(4, threads=True), *rows, *ended)
    assert [[call.name for call in ranks[rank].calls] for rank in range(4)] == [["B"], ["B"], [], ["B"]]
    assert [ranks[rank].settled for rank in range(4)] == [True, True, False, True]
    text = page(tmp_path, no_call(2, 4, 2))
    assert "Cause:\n  rank 2 has not come: it is in no all-to-all; ranks 0-1, 3 wait for it\n\nRanks:" in text
    ranks = read(tmp_path, goes_on(0))
    assert not ranks[0].waits


def test_first_calls_on_two_communicators_go_on_one_by_one(tmp_path: Path) -> None:
    """Their ranks have met when the wait is over, but the report names them as they were."""
    rows = [first(0, 2, "", local_communicator=number) for number in (1, 2)]
    ranks = read(tmp_path, *all_watch(2, threads=True), *rows, goes_on(0, communicator=-1, local_communicator=1))
    assert [call.local_communicator for call in ranks[0].calls] == [2]


def test_when_a_page_is_due(tmp_path: Path) -> None:
    """Again where a wait is over and others are not, once these have been the same for some time."""
    pages = hang.Pages(1.0)
    ended = [goes_on(rank, communicator=4, local_communicator=5) for rank in range(4)]
    rows = two_threads()
    ranks = read(tmp_path, *all_watch(4, threads=True), *rows[:-1])
    assert not pages.due(ranks, 0)
    ranks = read(tmp_path, rows[-1])
    assert [pages.due(ranks, now) for now in (0.8, 1.6, 2.0, 2.2, 9)] == [False, False, True, False, False]
    ranks = read(tmp_path, *ended[:3])
    assert not pages.due(ranks, 10)
    ranks = read(tmp_path, ended[3])
    assert [pages.due(ranks, now) for now in (10.2, 12)] == [False, False]  # rank 2 may be waiting, too
    ranks = read(tmp_path, no_call(2, 4, 2))
    assert [pages.due(ranks, now) for now in (12.2, 12.4, 99)] == [True, False, False]
    ranks = read(tmp_path, waits(2, 4, [3], **E))  # another hang, perhaps
    assert [pages.due(ranks, now) for now in (100, 100.8, 101, 150)] == [False, False, True, False]


def test_a_page_is_due_though_a_rank_reports_nothing_more(tmp_path: Path) -> None:
    pages = hang.Pages(1.0)
    ranks = read(tmp_path, *all_watch(3), waits(0, 3, [2], **B), waits(1, 3, [2], **E))
    assert [pages.due(ranks, now) for now in (0, 4, 4.2, 4.4)] == [False, False, True, False]
    ranks = read(tmp_path, goes_on(1, **{key: E[key] for key in ("communicator", "local_communicator")}))
    assert [pages.due(ranks, now) for now in (10, 14, 14.2, 14.4)] == [False, False, True, False]


def test_no_page_is_due_where_a_debugger_stops_a_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = hang.Pages(1.0)
    here = all_watch(2, host=socket.gethostname())
    ranks = read(tmp_path, *here, waits(0, 2, [1], **B), waits(1, 2, [0], **B))
    assert pages.due(ranks, 5)
    monkeypatch.setattr(hang_reports, "process_state", lambda _: "t")
    ranks = hang_reports.read(tmp_path)
    assert not ranks[0].calls
    assert [pages.due(ranks, now) for now in (6, 20)] == [False, False]


def test_pages_of_one_hang_are_few(tmp_path: Path) -> None:
    """But the next hang has its own."""
    pages = hang.Pages(1.0)
    read(tmp_path, *all_watch(2, threads=True), waits(0, 2, [1], **B), no_call(1, 2, 2))
    now, due = 0.0, 0
    for call in range(20):
        ranks = read(tmp_path, waits(0, 2, [1], **E | {"call": call}), waits(1, 2, [0], **E | {"call": call}))
        for _ in range(20):
            now += 0.2
            due += pages.due(ranks, now)
        read(tmp_path, *(goes_on(rank, communicator=4, local_communicator=5) for rank in range(2)))
    assert due == hang.MOST_PAGES
    ranks = read(tmp_path, goes_on(0))
    assert not pages.due(ranks, now)
    ranks = read(tmp_path, waits(0, 2, [1], **B), no_call(1, 2, 2))
    assert [pages.due(ranks, now + more) for more in (0, 2)] == [False, True]


def test_a_later_page_has_the_whole_wait(tmp_path: Path) -> None:
    pages = hang.Pages(1.0)
    rows = [*all_watch(2), waits(0, 2, [1]), no_call(1, 2, 2)]
    ranks = read(tmp_path, *rows)
    assert pages.due(ranks, 5)
    ranks = hang_reports.read(tmp_path)
    assert not pages.due(ranks, 65)
    assert [call.seconds for call in ranks[0].calls] == [2.0]
    pages.lengthen(ranks, 65)
    assert [call.seconds for call in ranks[0].calls] == [62.0]


# --- reports of anything ----------------------------------------------------------------------------------------------


def test_messages_of_negative_ranks_are_left_out(tmp_path: Path) -> None:
    rows = [waits(0, 2, [-1, -9, 1]), waits(1, 2, doing="host", collective="MPI_Neighbor_alltoall", neighbours=[-7, 0])]
    text = page(tmp_path, *all_watch(2), *rows)
    assert "\n      waits to receive 8 B from rank 1\n" in text


def test_members_beyond_the_world_are_outside(tmp_path: Path) -> None:
    text = page(tmp_path, *all_watch(2), waits(0, 2, [1], members=[0, 77]), no_call(1, 2, 2))
    assert f"  rank 0 waits for {OUTSIDE} (spawned or connected)" in text


def test_control_characters_are_replaced(tmp_path: Path) -> None:
    odd = "a\x1b[31m\r\n\x00\x7f\x9bb\u00e4"
    more = {"name": odd, "algorithm": odd, "says": odd, "collective": odd}
    text = page(tmp_path, *all_watch(2, host=odd), waits(0, 2, [1], **more), no_call(1, 2, 2))
    shown = "a?[31m?????b\u00e4"
    assert text.count(shown) == 6
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\x9b]", text)
    assert len(text.splitlines()) == 9
