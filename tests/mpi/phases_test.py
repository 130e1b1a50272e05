"""Phases and traces: what they say is counted, not timed. The library is given a clock that counts its readings."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from swapmeet import _core

pytestmark = pytest.mark.in_turn  # the tested code is ours, whichever the host MPI is

INCLUDE = Path(__file__).parents[2] / "include"
PHASES = ("pack", "transfer", "wait", "unpack", "copy", "metadata", "native", "other")
RANKS = (1, 2, 3, 5)
NODES = "2"  #: ranks of a node: 2+2+1

#: What may take time in a call of more than one rank; all else must take none.
SERVED: dict[tuple[str, str], str] = {
    ("pairwise", "alltoall=8"): "transfer wait copy",  # MPI_Sendrecv, where it is used, is one call
    ("spread-out", "alltoall=8"): "transfer wait copy",
    ("multipair-waitany", "alltoall=8"): "transfer wait copy",
    ("direct(intra=shm)", "alltoall=8"): "transfer wait copy",
    ("direct(segment=3,intra=auto)", "alltoall=8"): "transfer wait copy",
    ("direct", "alltoallv=8"): "transfer wait copy",
    ("direct", "strided=3"): "transfer wait copy",
    ("direct", "in-place=3"): "transfer wait copy",
    ("bruck(radix=3,window=all)", "alltoall=8"): "pack transfer wait unpack copy",
    ("bruck(radix=3,layout=zero-rotation)", "strided=8"): "pack transfer wait unpack copy",
    ("two-layer(intra=shm)", "alltoall=8"): "pack transfer wait unpack copy",
    ("node-leaders", "alltoall=4"): "pack transfer wait unpack copy",
    ("bruck(sizes=combined)", "alltoallv=9"): "pack transfer wait unpack copy",
    ("two-phase-bruck", "alltoallv=9"): "pack transfer wait unpack copy metadata",
    ("sloav", "alltoallv=9"): "pack transfer wait unpack copy metadata",
    ("hybrid", "alltoallv=9"): "pack transfer wait unpack copy metadata",
    ("two-layer(intra=auto,sizes=total)", "alltoallv=9"): "pack transfer wait unpack copy metadata",
    ("padded-alltoall", "alltoallv=9"): "pack transfer wait unpack copy metadata native",
    ("padded-bruck", "alltoallv=9"): "pack transfer wait unpack copy metadata",
    ("native", "alltoall=8"): "native",
    ("native", "alltoallv=8"): "native",
}
#: At five ranks these take time on every rank, and phases that depend on who is first to arrive are not among them.
CERTAIN = {
    ("pairwise", "alltoall=8"): "transfer copy",
    ("spread-out", "alltoall=8"): "transfer wait copy",
    ("direct(intra=shm)", "alltoall=8"): "transfer wait copy",
    ("direct", "strided=3"): "transfer wait copy",
    ("direct", "in-place=3"): "transfer wait copy",
    ("bruck(radix=3,window=all)", "alltoall=8"): "pack transfer wait unpack copy",
    ("bruck(radix=3,layout=zero-rotation)", "strided=8"): "pack transfer wait unpack copy",
    ("two-phase-bruck", "alltoallv=9"): "pack transfer wait unpack copy metadata",
    ("hybrid", "alltoallv=9"): "transfer wait copy metadata",
    ("padded-alltoall", "alltoallv=9"): "pack unpack copy metadata native",
    ("native", "alltoall=8"): "native",
}


@pytest.fixture(scope="session")
def phases(launch, compiled):
    """Run programs/phases.c; its data must be right. Returns its lines, and what was said."""

    def phases(mpi: str, ranks: int, *words: str, **env: str) -> tuple[list[str], str]:
        program = compiled(mpi, "phases", f"-I{INCLUDE}", "-rdynamic", "-ldl", "-lm")
        done = launch(ranks, [program, *words], mpi=mpi, env={"SWAPMEET_NODES": NODES, **env})
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout.splitlines(), done.stderr

    return phases


# --- phases ----------------------------------------------------------------------------------------------------------


class Measured(NamedTuple):
    rank: int
    spec: str
    call: str
    readings: int
    times: dict[str, int]  #: by phase, in readings


def measured(lines: list[str]) -> list[Measured]:
    rows = (re.fullmatch(r"rank (\d+) (\S+) (\S+) readings (\d+):((?: \d+){8})", line) for line in lines)
    return [
        Measured(int(row[1]), row[2], row[3], int(row[4]), dict(zip(PHASES, map(int, row[5].split()), strict=True)))
        for row in rows
        if row
    ]


@pytest.mark.parametrize("ranks", RANKS)
def test_phases_add_up_and_are_what_the_algorithm_does(phases, wheel: str, ranks: int) -> None:
    words = [word for spec, call in SERVED for word in (f"set={spec}", call)]
    lines, _ = phases(wheel, ranks, "measure=2", *words)
    assert [line.split()[2] for line in lines if line.startswith("phase ")] == list(PHASES)
    rows = measured(lines)
    assert len(rows) == ranks * len(SERVED)
    for row in rows:
        assert sum(row.times.values()) == row.readings - 1, row  # from the first to the last
        assert row.times["other"] > 0
        took = {phase for phase, time in row.times.items() if time > 0} - {"other"}
        if ranks == 1:
            assert took == {"native"}, row
            continue
        assert took <= set(SERVED[row.spec, row.call].split()), row
        if ranks == 5:
            assert took >= set(CERTAIN.get((row.spec, row.call), "").split()), row


def test_nothing_reads_the_clock_unless_asked(phases, wheel: str) -> None:
    """Twice each: the first call of a kind makes its plan."""
    by_mpi = [key for key in SERVED if "intra=" not in str(_core.parse_spec(key[0]))]  # others look at it as they wait
    words = [word for spec, call in by_mpi for word in (f"set={spec}", call, call)]
    lines, _ = phases(wheel, 3, "measure=0", *words)
    rows = measured(lines)
    assert len(rows) == 3 * 2 * len(by_mpi)
    assert {row.readings for row in rows} == {0}


def test_statistics_have_phases(phases, tallies, tmp_path: Path, wheel: str) -> None:
    env = {"SWAPMEET_STATS": f"{tmp_path}/%r.json", "SWAPMEET_PHASES": "1"}
    phases(wheel, 3, "set=bruck", "alltoall=8", "alltoall=8", "alltoallv=3", "set=native", "alltoall=8", **env)
    for rank in range(3):
        rows = tallies(tmp_path / f"{rank}.json")
        assert [row["calls"] for row in rows] == [2, 1, 1]
        for row in rows:
            assert tuple(row["phase_nanoseconds"]) == PHASES
            assert sum(row["phase_nanoseconds"].values()) == row["nanoseconds"]
            assert (row["phase_nanoseconds"]["native"] > 0) == (row["algorithm"] == "native")


def test_statistics_have_no_phases_unless_asked(phases, tallies, tmp_path: Path, wheel: str) -> None:
    phases(wheel, 2, "measure=1", "alltoall=8", SWAPMEET_STATS=f"{tmp_path}/s.json")
    assert all("phase_nanoseconds" not in row for row in tallies(tmp_path / "s.json"))


# --- traces ----------------------------------------------------------------------------------------------------------


class Message(NamedTuple):
    source: int
    destination: int
    bytes: int
    kind: str
    number: int


class Trace:
    """A trace file, read and checked for what holds of every one."""

    def __init__(self, path: Path) -> None:
        everything = json.loads(path.read_text())
        self.about: dict[str, Any] = everything["otherData"]
        self.events: list[dict[str, Any]] = everything["traceEvents"]
        self.ranks = int(self.about["ranks"])
        assert self.about["swapmeet_trace"] == 2
        calls = {event["tid"]: event for event in self.events if event.get("cat") == "call"}
        assert sorted(calls) == list(range(self.ranks))
        for name in ("bytes_sent", "clock_error_ns", "dropped"):
            assert len(self.about[name]) == self.ranks
        assert self.about["clock_error_ns"][0] == 0
        assert all(error > 0 for error in self.about["clock_error_ns"][1:])
        for event in self.events:
            call = calls[event["tid"]]
            assert event["pid"] == call["pid"]
            if event["ph"] == "X":  # slices lie in the call, to a nanosecond
                assert event["ts"] > call["ts"] - 0.002
                assert event["ts"] + event["dur"] < call["ts"] + call["dur"] + 0.002
        assert min(call["ts"] for call in calls.values()) == 0
        self.nodes = [calls[rank]["pid"] for rank in range(self.ranks)]

    def messages(self, rank: int, what: str) -> list[tuple[Message, int | None]]:
        """(message, step) of each message that a rank "sends" or "receives", in order; each begins and ends once."""
        own = [event for event in self.events if event["tid"] == rank and event.get("cat") == what]
        begun = [event for event in own if event["ph"] == "b"]
        ended = {event["id"]: event for event in own if event["ph"] == "e"}
        assert len(begun) == len(ended)
        for event in begun:
            assert event["ts"] <= ended[event["id"]]["ts"]
        rows = [event["args"] for event in begun]
        return [
            (Message(row["from"], row["to"], row["bytes"], row["kind"], row["number"]), row.get("step")) for row in rows
        ]

    def check_both_ends(self) -> None:
        """What is sent is received, the arrows between them included."""
        sent = Counter(message for rank in range(self.ranks) for message, _ in self.messages(rank, "sends"))
        received = Counter(message for rank in range(self.ranks) for message, _ in self.messages(rank, "receives"))
        assert sent == received
        assert set(sent.values()) <= {1}
        arrows = {
            end: sorted(event["id"] for event in self.events if event["ph"] == end and event["cat"] == "message")
            for end in "sf"
        }
        assert arrows["s"] == arrows["f"]
        assert len(set(arrows["s"])) == len(sent)


def blocks_in(runs: list[str]) -> int:
    total = 0
    for run in runs:
        parts = re.fullmatch(r"\w+\[(\d+)(?:\.\.(\d+)(?:/(-?\d+))?)?\]", run)
        assert parts
        first, last, stride = int(parts[1]), int(parts[2] or parts[1]), int(parts[3] or 1)
        total += (last - first) // stride + 1
    return total


#: Of equal blocks: every message is in the schedule.
TRACED = [
    "pairwise",
    "direct(order=random,window=2,complete=any)",
    "direct(intra=shm)",
    "bruck(radix=3,layout=zero-copy)",
    "two-layer(intra=auto)",
    "node-leaders",
    "bruck(radix=2,pack=datatype)",
]
BYTES = 6


@pytest.mark.parametrize("ranks", RANKS)
def test_a_trace_has_every_message_of_the_schedule(phases, tmp_path: Path, wheel: str, ranks: int) -> None:
    words = [f"trace={tmp_path}/first.json", f"alltoall={BYTES}"]
    for i, spec in enumerate(TRACED):
        words += [f"set={spec}", f"alltoall={BYTES}", f"trace={tmp_path}/{i}.json", f"alltoall={BYTES}"]
    lines, said = phases(wheel, ranks, *words)
    assert lines.count("rank 0 trace: success") == len(TRACED) + 1
    assert "swapmeet" not in said
    for i, spec in enumerate(TRACED):
        trace = Trace(tmp_path / f"{i}.json")
        assert trace.ranks == ranks
        assert trace.about["bytes_sent"] == [BYTES * ranks] * ranks
        assert trace.about["dropped"] == [0] * ranks
        if ranks == 1:
            assert trace.about["algorithm"] == "native"
            continue
        point = _core.parse_spec(spec)
        assert trace.about["algorithm"] == str(point)
        assert trace.nodes == _core.parse_node_map(NODES, ranks)[0]
        trace.check_both_ends()
        for rank in range(ranks):
            steps = _core.generate(point, ranks, rank, NODES).steps
            for what, place in (("sends", 4), ("receives", 5)):
                expected = Counter(
                    (peer, BYTES * blocks_in(runs), number)
                    for number, step in enumerate(steps)
                    for peer, runs in step[place]  # type: ignore[attr-defined]
                )
                found = trace.messages(rank, what)
                peers = Counter((m.destination if place == 4 else m.source, m.bytes, step) for m, step in found)
                assert peers == expected, (spec, rank, what)


#: Of unequal blocks: their number and bytes are what the model counts.
VARYING = ["bruck(sizes=combined,direct=never)", "two-phase-bruck", "sloav", "two-layer(intra=shm,sizes=ahead)"]
VARYING += ["bruck(direct=0)", "hybrid", "bruck(radix=3,sizes=total,direct=10)"]


@pytest.mark.parametrize("ranks", [3, 5])
def test_a_trace_of_unequal_blocks(phases, tmp_path: Path, wheel: str, ranks: int) -> None:
    words = []
    for i, spec in enumerate(VARYING):
        words += [f"set={spec}", f"trace={tmp_path}/{i}.json", "alltoallv=7"]
    phases(wheel, ranks, *words)
    sizes = [[(7 * source + 3 * destination) % 5 * 7 for destination in range(ranks)] for source in range(ranks)]
    for i, spec in enumerate(VARYING):
        trace = Trace(tmp_path / f"{i}.json")
        trace.check_both_ends()
        assert trace.about["bytes_sent"] == [sum(row) for row in sizes]
        counts = _core.count_varying(_core.parse_spec(spec), ranks, sizes, NODES)
        for rank, counted in enumerate(counts.ranks):
            sent = [message for message, _ in trace.messages(rank, "sends")]
            assert len(sent) == counted.messages, (spec, rank)
            assert sum(message.bytes for message in sent) == counted.message_bytes, (spec, rank)


def test_the_phases_of_a_trace_are_those_measured(phases, tmp_path: Path, wheel: str) -> None:
    """Slices of a phase add up to its time."""
    words = ["set=two-phase-bruck", "measure=2", "alltoallv=9", f"trace={tmp_path}/t.json", "measure=1", "alltoallv=9"]
    lines, _ = phases(wheel, 5, *words)
    trace = Trace(tmp_path / "t.json")
    for row in measured(lines)[-5:]:
        slices: Counter[str] = Counter()
        for event in trace.events:
            if event["tid"] == row.rank and event.get("cat") == "phase":
                slices[event["name"]] += round(event["dur"])
        assert slices == Counter({phase: time for phase, time in row.times.items() if time and phase != "other"})


# --- by option, and what goes wrong ----------------------------------------------------------------------------------


def test_one_call_is_traced_by_option(phases, tmp_path: Path, wheel: str) -> None:
    """The third on the communicator of the halves: the other half has no rank 0, and the whole has two calls only."""
    path = tmp_path / "t.json"
    words = ["alltoall=1", "alltoall=2", "halves", *(f"alltoall={size}" for size in (3, 4, 5, 6))]
    phases(wheel, 5, *words, SWAPMEET_TRACE=f"{path},call=3", SWAPMEET_ALGORITHM="spread-out")
    assert Trace(path).about["bytes_sent"] == [15, 15, 15]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("by_option", [False, True])
def test_a_file_that_cannot_be_opened(phases, tmp_path: Path, wheel: str, ranks: int, by_option: bool) -> None:
    path = tmp_path / "nowhere" / "t.json"
    if by_option:
        _, said = phases(wheel, ranks, "alltoall=8", "alltoall=8", SWAPMEET_TRACE=str(path))
    else:
        lines, said = phases(wheel, ranks, f"trace={path}", "alltoall=8", f"trace={path}", "alltoall=8")
        assert sorted(set(lines[len(PHASES) :])) == [f"rank {rank} trace: file" for rank in range(ranks)]
    [warning] = [line for line in said.splitlines() if line.startswith("swapmeet: ")]
    assert warning == f"swapmeet: warning: the trace cannot be written to {path}: No such file or directory"


def test_a_file_that_is_full(phases, wheel: str) -> None:
    _, said = phases(wheel, 3, "trace=/dev/full", "alltoall=8", "alltoall=8")
    [warning] = [line for line in said.splitlines() if line.startswith("swapmeet: ")]
    assert "could not be written to the end: No space left on device" in warning


def test_no_file(phases, wheel: str) -> None:
    lines, _ = phases(wheel, 2, "null-trace=x", "alltoall=8")
    assert sorted(lines[len(PHASES) :]) == [f"rank {rank} null-trace: argument" for rank in range(2)]


def test_more_than_the_records_hold(phases, tmp_path: Path, wheel: str) -> None:
    """20000 passes of a message each way, each of which begins and ends, are 80000; the rest is dropped."""
    path = tmp_path / "t.json"
    phases(wheel, 2, "set=direct(segment=1)", f"trace={path}", "alltoall=20000", "alltoall=20000")
    trace = Trace(path)
    assert all(dropped >= 4 * 20000 - (1 << 16) for dropped in trace.about["dropped"])
    assert all(16000 < len(trace.messages(rank, "sends")) < 20000 for rank in range(2))
