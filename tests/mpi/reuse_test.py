"""What the library keeps of one communicator for the next (choices, schedules, memory), and which calls it leaves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ranks import RANK_VARIABLE


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"SWAPMEET_FIRST_CALLS": "0"},
        {"SWAPMEET_ALGORITHM": "bruck"},
        {"SWAPMEET_NODES": "2"},
        {"SWAPMEET_NODES": "cyclic:2", "SWAPMEET_FIRST_CALLS": "0"},  # some communicators are within a node
    ],
    ids="-".join,
)
def test_communicators_of_other_ranks_share_nothing_wrong(launch, compiled, wheel: str, variables) -> None:
    done = launch(5, [compiled(wheel, "reused")], mpi=wheel, env=variables)
    assert (done.returncode, done.stdout) == (0, "reused: 0 errors\n"), done.stdout + done.stderr


@pytest.mark.parametrize("how", ["types", "once"])
def test_what_looks_like_an_earlier_one_is_another(launch, compiled, wheel: str, how: str) -> None:
    done = launch(3, [compiled(wheel, "left_behind"), how], mpi=wheel, env={"SWAPMEET_FIRST_CALLS": "0"})
    assert (done.returncode, done.stdout) == (0, "left_behind: right\n"), done.stdout + done.stderr


def test_memory_of_an_earlier_one_is_cleared(launch, compiled, wheel: str) -> None:
    """A communicator whose calls are explained is not taken over whole, so the next one gets its shared memory only."""
    env = {"SWAPMEET_FIRST_CALLS": "0", "SWAPMEET_EXPLAIN": "1"}
    done = launch(3, [compiled(wheel, "left_behind"), "once"], mpi=wheel, env=env)
    assert (done.returncode, done.stdout) == (0, "left_behind: right\n"), done.stdout + done.stderr


def counted(launch, compiled, wheel: str, folder: Path, *variables: str, program: str = "reused") -> dict[str, int]:
    """The calls of rank 0 by the reason for their algorithm, up to its first colon."""
    env = {"SWAPMEET_STATS": str(folder / "counts.json"), **dict(one.split("=") for one in variables)}
    done = launch(3, [compiled(wheel, program)], mpi=wheel, env=env, timeout=20)
    assert done.returncode == 0, done.stdout + done.stderr
    calls: dict[str, int] = {}
    for row in json.loads((folder / "counts.json").read_text())["calls"]:
        reason = row["reason"].split(":")[0]
        calls[reason] = calls.get(reason, 0) + row["calls"]
    return calls


@pytest.mark.parametrize("first", [None, "0"], ids=["auto", "0"])
@pytest.mark.parametrize("how", ["loop", "several", "threads"])
@pytest.mark.in_turn
def test_communicators_take_over_what_freed_ones_had(launch, compiled, wheel: str, how: str, first: str | None) -> None:
    env = {"SWAPMEET_FIRST_CALLS": first} if first else {}
    done = launch(3, [compiled(wheel, "taken_over", "-pthread"), how], mpi=wheel, env=env, timeout=60)
    assert (done.returncode, done.stdout) == (0, "taken_over: right\n"), done.stdout + done.stderr


@pytest.mark.parametrize("gathered", ["512", "1"], ids=["gathered", "reduced"])
@pytest.mark.parametrize("setting", ["EXPLAIN", "STATS", "PHASES"])
@pytest.mark.parametrize("how", ["loop", "threads"])
@pytest.mark.in_turn
def test_one_rank_keeps_nothing_or_observes(
    launch, compiled, wheel: str, how: str, setting: str, gathered: str
) -> None:
    """A rank that explains or times calls keeps nothing of a freed communicator, so the offers of the others fail. Many
    ranks reduce their parameters, and do not see offers."""
    script = f'[ "${RANK_VARIABLE[wheel]}" = 1 ] && export SWAPMEET_{setting}=1; exec "$@"'
    program = compiled(wheel, "taken_over", "-pthread")
    argv = ["env", "SWAPMEET_FIRST_CALLS=0", "sh", "-c", script, "sh", program, how]
    done = launch(3, argv, mpi=wheel, env={"SWAPMEET_GATHERED_RANKS": gathered}, timeout=60)
    assert (done.returncode, done.stdout) == (0, "taken_over: right\n"), done.stdout + done.stderr


FIRST, ROUNDS = "a first call on the communicator", 60
LEFT = {"mpich": 1, "openmpi": 8}  #: calls of each communicator


def test_the_first_blocking_calls_of_a_communicator_are_the_hosts(launch, compiled, wheel: str, tmp_path: Path) -> None:
    """On communicators of more than one rank; rank 0 is alone in some. Each has nine calls at least."""
    alone, calls = "one rank only", counted(launch, compiled, wheel, tmp_path)
    assert calls[FIRST] % LEFT[wheel] == 0 and 0 < calls[FIRST] < LEFT[wheel] * ROUNDS and calls[alone] > 0
    for variable in ("SWAPMEET_ALGORITHM=bruck", "SWAPMEET_FIRST_CALLS=0"):
        assert FIRST not in counted(launch, compiled, wheel, tmp_path, variable)


@pytest.mark.parametrize("calls", ["1", "2", "8"])
def test_calls_behind_one_that_was_started_are_alike_on_all_ranks(
    launch, compiled, wheel: str, tmp_path: Path, calls: str
) -> None:
    """A start begins the exchange of records, after which no rank leaves a call to the host MPI, whatever it knows."""
    reasons = counted(launch, compiled, wheel, tmp_path, f"SWAPMEET_FIRST_CALLS={calls}", program="left")
    assert reasons[FIRST] == 1, reasons
