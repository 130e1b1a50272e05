"""Blocks of unequal size through schedules of equal ones, on real MPIs: memory, limits, mistakes, choices, threads."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

MIB = 1 << 20
LARGE_BYTES = 64 * MIB


def check(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def explained(done: subprocess.CompletedProcess[str], collective: str = "Alltoallv") -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith(f"swapmeet: {collective} on ")]


def only_alltoallv(path: Path) -> dict[str, Any]:
    [tally] = [tally for tally in json.loads(path.read_text())["calls"] if tally["collective"] == "Alltoallv"]
    return dict(tally)


class Report(NamedTuple):
    """What skewed.c says of a rank, and what the library does."""

    rank: int
    grown_bytes: int  #: the peak of the process's memory, beyond what it had before
    must_move: int  #: bytes that it must send and receive
    tally: dict[str, Any]


def skewed(launch, compiled, folder: Path, mpi: str, ranks: int, algorithm: str, *words: str, **env: str):
    argv = [compiled(mpi, "skewed"), *words]
    variables = {"SWAPMEET_STATS": f"{folder}/%r.json", "SWAPMEET_EXPLAIN": "1", **env}
    done = launch(ranks, argv, mpi=mpi, algorithm=algorithm, env=variables, timeout=500)
    check(done)
    rows = re.findall(r"rank (\d+) grew (-?\d+) KiB, sent (\d+), received (\d+): right", done.stdout)
    assert len(rows) == ranks, done.stdout
    reports = []
    for rank, grown, sent, received in (map(int, row) for row in rows):
        tally = only_alltoallv(folder / f"{rank}.json")
        reports.append(Report(rank, grown * 1024, sent + received, tally))
    return done, reports


# --- memory ----------------------------------------------------------------------------------------------------------

ONE_LARGE = ("small=8", f"large={LARGE_BYTES}", "from=1", "to=0")  #: in radix 2 through four other ranks of 32


@pytest.mark.in_turn
@pytest.mark.parametrize("algorithm", ["hybrid", "bruck"])
def test_one_large_block_among_small_ones(launch, compiled, tmp_path: Path, wheel: str, algorithm: str) -> None:
    """No rank uses more than twice what it must send and receive, and 1 MiB: as the library counts it."""
    done, reports = skewed(launch, compiled, tmp_path, wheel, 32, algorithm, *ONE_LARGE)
    assert "B directly" in explained(done)[0]
    for report in reports:
        assert report.tally["algorithm"].startswith("bruck(")
        assert 0 < report.tally["working_bytes"] <= 4096  # a few small blocks
        assert report.tally["working_bytes"] <= 2 * report.must_move + MIB
        # As the system counts it, what MPI takes for 32 ranks included: 3 MiB for an Alltoallv of Open MPI, 5 of MPICH.
        assert report.grown_bytes <= 2 * report.must_move + 12 * MIB


def test_never_direct_burdens_the_ranks_on_the_way(launch, compiled, tmp_path: Path) -> None:
    """What the papers' algorithm costs, and why `direct` has a default: 64 MiB that came, and 64 that leave."""
    env = {"SWAPMEET_SCRATCH_LIMIT": "16GiB"}
    _, reports = skewed(launch, compiled, tmp_path, "openmpi", 32, "two-phase-bruck", *ONE_LARGE, **env)
    on_the_way = {(1 + 2**digits - 1) % 32 for digits in range(1, 5)}
    for report in reports:
        working = report.tally["working_bytes"]
        if report.rank in on_the_way:
            assert 2 * LARGE_BYTES <= working <= 2 * LARGE_BYTES + 4096
        else:
            assert working <= 4096 + (LARGE_BYTES if report.rank in (0, 1) else 0)


@pytest.mark.parametrize("large", [100, 200])
def test_what_is_sent_is_counted(launch, compiled, tmp_path: Path, wheel: str, large: int) -> None:
    """4 ranks, radix 2: two messages, the first with sizes ahead, unless the ranks know that blocks are equal."""
    words = ("small=100", f"large={large}", "from=0", "to=1", "calls=5")
    done, reports = skewed(launch, compiled, tmp_path, wheel, 4, "two-phase-bruck", *words)
    equal = large == 100
    assert (", all of 100 B, agreed on" in explained(done)[0]) == equal
    for report in reports:
        assert report.tally["messages_sent"] == 5 * (2 if equal else 3)
        sizes, data = 0 if equal else 2 * 4, 4 * 100  # two sizes; offsets 1, 3 and 2, 3
        assert report.tally["message_bytes"] == 5 * (sizes + data + (large - 100) * (report.rank == 0))
        assert report.tally["working_bytes"] > 0


def test_memory_at_work_does_not_grow_with_calls(launch, compiled, tmp_path: Path, wheel: str) -> None:
    words = ("small=100", "large=200", "from=0", "to=1")
    few, many = (
        [report.tally["working_bytes"] for report in reports]
        for _, reports in (
            skewed(launch, compiled, tmp_path, wheel, 4, "two-phase-bruck", *words, f"calls={calls}")
            for calls in (2, 50)
        )
    )
    assert few == many


def test_other_calls_have_no_such_counts(launch, compiled, tallies, tmp_path: Path, wheel: str) -> None:
    env = {"SWAPMEET_STATS": f"{tmp_path}/statistics.json"}
    argv = [compiled(wheel, "calls"), "alltoall=2", "alltoallv=2"]
    check(launch(3, argv, mpi=wheel, algorithm="pairwise", env=env))
    for tally in tallies(tmp_path / "statistics.json"):
        assert not {"messages_sent", "message_bytes", "working_bytes"} & set(tally)


@pytest.mark.parametrize("algorithm", ["hybrid", "padded-bruck", "sloav"])
def test_gaps(launch, compiled, tmp_path: Path, wheel: str, algorithm: str) -> None:
    words = ("small=3", "large=500", "from=2", "to=1", "unit=5", "gap=3", "calls=2")
    skewed(launch, compiled, tmp_path, wheel, 5, algorithm, *words)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("algorithm", ["two-phase-bruck", "sloav", "bruck(radix=2,direct=never)"])
def test_a_block_beyond_two_gigabytes_is_passed_on(
    launch, compiled, tmp_path: Path, wheel: str, algorithm: str
) -> None:
    """Of 4 ranks rank 0 sends rank 3 2.2 GiB, by rank 1."""
    words = ("small=1", "large=295279001", "unit=8", "from=0", "to=3")
    _, reports = skewed(launch, compiled, tmp_path, wheel, 4, algorithm, *words, SWAPMEET_SCRATCH_LIMIT="64GiB")
    assert reports[1].tally["working_bytes"] > 2**32


# --- limits ----------------------------------------------------------------------------------------------------------

SIXTEEN_KIB = ("small=16", "large=16384", "from=1", "to=2")


@pytest.mark.in_turn
@pytest.mark.parametrize("algorithm", ["two-phase-bruck", "sloav", "tuna", "padded-bruck", "padded-alltoall"])
def test_beyond_the_scratch_limit_the_mpi_underneath_serves(
    launch, compiled, tmp_path: Path, wheel: str, algorithm: str
) -> None:
    """All ranks agree on that, though one only sends much."""
    env = {"SWAPMEET_SCRATCH_LIMIT": "64KiB"}
    done, reports = skewed(launch, compiled, tmp_path, wheel, 5, algorithm, *SIXTEEN_KIB, **env)
    [said] = explained(done)
    assert ": native (" in said
    assert "SWAPMEET_SCRATCH_LIMIT" in said
    assert {report.tally["algorithm"] for report in reports} == {"native"}
    assert len({report.tally["reason"] for report in reports}) == 1
    assert not any("working_bytes" in report.tally for report in reports)


@pytest.mark.parametrize("algorithm", ["bruck", "hybrid", "bruck(radix=3,sizes=total,direct=16KiB)"])
def test_below_the_scratch_limit_less_is_passed_on(
    launch, compiled, tmp_path: Path, wheel: str, algorithm: str
) -> None:
    """With `direct` the limit lowers the threshold instead."""
    done, reports = skewed(launch, compiled, tmp_path, wheel, 5, algorithm, *SIXTEEN_KIB, SWAPMEET_SCRATCH_LIMIT="4KiB")
    [said] = explained(done)
    [above] = re.findall(r"blocks above (\d+) B directly|(all blocks directly)", said)
    assert above[1] or int(above[0]) < 1000
    for report in reports:
        assert report.tally["algorithm"].startswith("bruck(")
        assert report.tally.get("working_bytes", 0) <= 4096


def test_other_calls_stay_served(launch, compiled, tallies, tmp_path: Path, wheel: str) -> None:
    """The limit is a matter of a call's sizes: blocks of up to 8 bytes are served before and after one of 36 is not."""
    env = {"SWAPMEET_SCRATCH_LIMIT": "100", "SWAPMEET_STATS": f"{tmp_path}/statistics.json"}
    argv = [compiled(wheel, "calls"), "ints=2", "alltoallv=2", "ints=100", "alltoallv=3", "ints=2", "alltoallv=4"]
    check(launch(4, argv, mpi=wheel, algorithm="two-phase-bruck", env=env))
    served = {tally["algorithm"] == "native": tally["calls"] for tally in tallies(tmp_path / "statistics.json")}
    assert served == {True: 3, False: 6}


# --- what is said ----------------------------------------------------------------------------------------------------


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("algorithm", "said"),
    [
        ("two-phase-bruck", r"; sizes ahead, agreed on by an allreduce of 16 B in \d+ us\)$"),
        ("sloav", r"; sizes total, agreed on by an allreduce of 16 B in \d+ us\)$"),
        ("bruck", r"; sizes combined, blocks above 32768 B directly, no agreement\)$"),
        ("bruck(sizes=ahead,direct=100)", r"; sizes ahead, blocks above 100 B directly, no agreement\)$"),
        ("bruck(direct=0)", r"; sizes combined, all blocks directly, no agreement\)$"),
        ("hybrid", r"; sizes combined, .*directly, agreed on by an allreduce of 416 B in \d+ us\)$"),
        ("padded-bruck", r"; sizes padded, agreed on by an allreduce of 16 B in \d+ us\)$"),
        (
            "padded-alltoall",
            r": native\(sizes=padded,direct=never\) .*; sizes padded, agreed on by an allreduce of 16 B",
        ),
        ("direct(sizes=padded)", r"; sizes padded, blocks above 32768 B directly, agreed on by an allreduce of 16 B"),
    ],
)
def test_explains_sizes_threshold_and_agreement(launch, compiled, wheel: str, algorithm: str, said: str) -> None:
    argv = [compiled(wheel, "calls"), "alltoallv=3"]
    done = launch(3, argv, mpi=wheel, algorithm=algorithm, env={"SWAPMEET_EXPLAIN": "1"})
    check(done)
    [line] = explained(done)
    assert re.search(said, line), line


@pytest.mark.parametrize("parameters", ["pack=datatype", "complete=any", "complete=test"])
def test_every_packing_and_completion_exchanges_unequal_blocks(launch, compiled, wheel: str, parameters: str) -> None:
    argv = [compiled(wheel, "calls"), "alltoall=1", "alltoallv=3"]
    done = launch(3, argv, mpi=wheel, algorithm=f"bruck({parameters})", env={"SWAPMEET_EXPLAIN": "1"})
    check(done)
    [line] = explained(done)
    assert ": bruck(" in line
    assert ": bruck(" in explained(done, "Alltoall")[0]


# --- mistakes --------------------------------------------------------------------------------------------------------

RELAYED = ["two-phase-bruck", "sloav", "hybrid", "bruck", "bruck(radix=3,window=all,sizes=ahead)"]
PADDED = ["padded-bruck", "padded-alltoall"]


def mismatch(launch, compiled, mpi: str, algorithm: str, to: int, *sizes: str, timeout: float = 120) -> list[str]:
    """What each of 4 ranks says; rank `to` expects less from rank 0 than it sends."""
    argv = [compiled(mpi, "mismatch"), "from=0", f"to={to}", *sizes]
    done = launch(4, argv, mpi=mpi, algorithm=algorithm, timeout=timeout)
    check(done)
    lines = sorted(done.stdout.splitlines())
    assert [line for line in lines if "afterwards" in line] == [f"rank {rank}: afterwards right" for rank in range(4)]
    return [line.partition(": ")[2] for line in lines if "afterwards" not in line]


@pytest.mark.in_turn
@pytest.mark.parametrize("to", [2, 3])  # one hop away in radix 2, or passed on by rank 1
@pytest.mark.parametrize("algorithm", RELAYED + PADDED)
def test_less_is_expected_than_is_sent(launch, compiled, wheel: str, algorithm: str, to: int) -> None:
    """An error where more arrives than there is room for (Open MPI alone dies of some of these); no overrun."""
    said = mismatch(launch, compiled, wheel, algorithm, to, "sent=100", "expected=60", "others=100")
    truncated = said.pop(to)
    assert said == ["success, the rest is right"] * 3
    if algorithm in PADDED:
        assert truncated == "success, the rest is right"  # each block had room; what was not expected is dropped
    else:
        assert truncated.startswith("truncated, ")
        assert "OVERRUN" not in truncated


@pytest.mark.in_turn
@pytest.mark.parametrize("algorithm", RELAYED + PADDED)
def test_nothing_is_expected_but_something_is_sent(launch, compiled, wheel: str, algorithm: str) -> None:
    said = mismatch(launch, compiled, wheel, algorithm, 3, "sent=100", "expected=0", "others=100")
    assert "OVERRUN" not in said.pop(3)
    assert said == ["success, the rest is right"] * 3


@pytest.mark.long
@pytest.mark.xfail(
    raises=subprocess.TimeoutExpired, reason="a block whose ends see it on different sides of the threshold"
)
def test_less_is_expected_than_the_threshold(launch, compiled) -> None:
    """The sender sends it directly; the receiver expects it with others, and for ever."""
    sizes = ("sent=100000", "expected=60", "others=100")
    said = mismatch(launch, compiled, "openmpi", "bruck", 1, *sizes, timeout=10)
    assert "OVERRUN" not in said[1]


# --- swapmeet_set_algorithm ------------------------------------------------------------------------------------------


def set_algorithm(launch, compiled, mpi: str, *words: str, ranks: int = 3, algorithm: str = "pairwise"):
    """(what rank 0 says of each set, the explanations)."""
    argv = [compiled(mpi, "set_algorithm", "-ldl"), *words]
    done = launch(ranks, argv, mpi=mpi, algorithm=algorithm, env={"SWAPMEET_EXPLAIN": "1"})
    check(done)
    assert "warning" not in done.stderr
    return done.stdout.splitlines(), [
        line for line in done.stderr.splitlines() if line.startswith("swapmeet: Alltoall")
    ]


def served(lines: list[str], collective: str) -> list[str]:
    """The spec's family and reason in each explanation."""
    found = [re.match(rf"swapmeet: {collective} on [^:]*: (\w+).*? \((\S[^;)]*)", line) for line in lines]
    return [f"{match[1]} by {match[2]}" for match in found if match]


def test_an_application_may_choose(launch, compiled, wheel: str) -> None:
    words = ("call", "set=two-phase-bruck", "call", "set=native", "call", "set=null", "call", "dup", "call")
    said, lines = set_algorithm(launch, compiled, wheel, *words)
    assert said == ["set=two-phase-bruck: success", "set=native: success", "set=null: success"]
    by_call = ["direct by SWAPMEET_ALGORITHM", "bruck by swapmeet_set_algorithm", "native by swapmeet_set_algorithm"]
    for collective in ("Alltoall", "Alltoallv"):
        assert served(lines, collective)[:3] == by_call
        assert set(served(lines, collective)[3:]) <= {"direct by SWAPMEET_ALGORITHM"}


def test_a_choice_may_be_left_to_the_library(launch, compiled, wheel: str) -> None:
    said, lines = set_algorithm(launch, compiled, wheel, "set=auto", "call")
    assert said == ["set=auto: success"]
    assert "intra=rows) (expected: " in lines[0], "without waiting for early calls"


@pytest.mark.in_turn
@pytest.mark.parametrize(
    "spec", ["", "nonsense", "bruck(radix=1)", "pairwise(", "(" * 3000, "two-phase-bruck(direct=-1)"]
)
def test_a_malformed_choice_changes_nothing(launch, compiled, wheel: str, spec: str) -> None:
    said, lines = set_algorithm(launch, compiled, wheel, f"set={spec}", "call", f"odd={spec}", "call")
    assert said == [f"set={spec}: argument", f"odd={spec}: argument"]
    assert set(served(lines, "Alltoall")) == {"direct by SWAPMEET_ALGORITHM"}


@pytest.mark.parametrize("spec", ["sloav", "pairwise(window=2)", "auto"])
def test_ranks_that_choose_differently_are_refused(launch, compiled, wheel: str, spec: str) -> None:
    said, lines = set_algorithm(launch, compiled, wheel, "set=bruck", f"odd={spec}", "call")
    assert said == ["set=bruck: success", f"odd={spec}: argument"]
    assert set(served(lines, "Alltoallv")) == {"bruck by swapmeet_set_algorithm"}


@pytest.mark.parametrize("ranks", [3, 4, 5])
def test_communicators_that_are_never_served(launch, compiled, wheel: str, ranks: int) -> None:
    """One may ask for an algorithm there; it makes no difference. The groups of 3 and of 5 ranks differ in size."""
    words = ("self", "set=sloav", "call", "inter", "set=sloav", "call", "null-comm", "set=sloav", "world", "call")
    said, lines = set_algorithm(launch, compiled, wheel, *words, ranks=ranks)
    assert said == ["set=sloav: success", "set=sloav: success", "set=sloav: communicator"]
    assert "native (one rank only)" in "\n".join(lines)
    assert "native (intercommunicator)" in "\n".join(lines)
    assert served(lines, "Alltoallv")[-1] == "direct by SWAPMEET_ALGORITHM"


# --- threads ---------------------------------------------------------------------------------------------------------


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("algorithm", ["hybrid", "bruck(radix=2,sizes=ahead)", "padded-bruck"])
def test_two_threads_with_two_communicators_each(launch, compiled, wheel: str, ranks: int, algorithm: str) -> None:
    argv = [compiled(wheel, "threads_varying", "-pthread")]
    done = launch(ranks, argv, mpi=wheel, algorithm=algorithm, timeout=300)
    check(done)
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip(f"{wheel} was built without MPI_THREAD_MULTIPLE")
    assert "threads: 0 elements wrong" in done.stdout
