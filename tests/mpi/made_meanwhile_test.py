"""The library makes one communicator, in MPI_Init: never one in the calls of the application."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from swapmeet.mpi import mpis
from swapmeet.mpi.library import library


def served(file: Path) -> Counter[str]:
    """Calls by algorithm."""
    calls: Counter[str] = Counter()
    for row in json.loads(file.read_text())["calls"]:
        calls[row["algorithm"]] += row["calls"]
    return calls


@pytest.mark.in_turn
@pytest.mark.parametrize("algorithm", ["auto", "pairwise"])
@pytest.mark.parametrize("how", ["idup", "threads", "race 200", "race 1200", "race 2000"])
def test_never_waits_for_what_the_application_makes(
    launch, compiled, tmp_path: Path, wheel: str, how: str, algorithm: str
) -> None:
    """Open MPI makes one communicator at a time: where it was ours, these programs hung."""
    env = {"SWAPMEET_NODES": "1", "SWAPMEET_STATS": str(tmp_path / "%r.json")}
    argv = [compiled(wheel, "made_meanwhile", "-pthread"), *how.split()]
    done = launch(3, argv, mpi=wheel, env=env, algorithm=algorithm, timeout=60)
    assert done.returncode == 0 and "made_meanwhile: right" in done.stdout, done.stdout + done.stderr
    if (how, algorithm) == ("threads", "pairwise"):
        assert served(tmp_path / "1.json")["direct(order=shift,window=1,complete=all)"] >= 10


@pytest.mark.parametrize(("nodes", "gathered"), [("1", "512"), ("3", "512"), ("3", "1")])
@pytest.mark.parametrize("how", ["dup", "idup"])
def test_loaded_late_makes_none_beside_threads(
    launch, compiled, tmp_path: Path, wheel: str, how: str, nodes: str, gathered: str
) -> None:
    """It has made none in MPI_Init, and Open MPI hung where it made one in the first exchange."""
    env = {"SWAPMEET_NODES": nodes, "SWAPMEET_GATHERED_RANKS": gathered}
    env |= {"SWAPMEET_EXPLAIN": "1", "SWAPMEET_ALGORITHM": "pairwise"}
    argv = [compiled(wheel, "late_beside", "-pthread", "-ldl"), how, library(mpis.find(wheel))]
    done = launch(3, argv, mpi=wheel, env=env, preload=False, timeout=60)
    assert done.returncode == 0 and "late_beside: right" in done.stdout, done.stdout + done.stderr
    assert "the library was loaded after MPI_Init" in done.stderr, done.stderr


@pytest.mark.parametrize("gathered", ["512", "1"])
@pytest.mark.parametrize("how", ["sub", "together", "number"])
def test_loaded_late_is_called_by_several_threads(launch, compiled, wheel: str, how: str, gathered: str) -> None:
    """They make its communicator once, and ranks treat a call alike, whether or not they have it already."""
    env = {"SWAPMEET_NODES": "3", "SWAPMEET_GATHERED_RANKS": gathered}
    slow = compiled(wheel, "slow_group", "-shared", "-fPIC", "-ldl")
    program = compiled(wheel, "late_threads", "-pthread", "-ldl")
    argv = ["env", f"LD_PRELOAD={slow}", program, how, library(mpis.find(wheel))]
    done = launch(3, argv, mpi=wheel, env=env, preload=False, timeout=30)
    assert done.returncode == 0 and "late_threads: right, made 1\n" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("how", ["threads", "race 1200"])
def test_ranks_of_a_node_need_no_communicator_on_many_ranks(launch, compiled, wheel: str, how: str) -> None:
    """On more than 512 ranks they made one in the first exchange, and hung with Open MPI."""
    env = {"SWAPMEET_NODES": "2", "SWAPMEET_GATHERED_RANKS": "1"}
    argv = [compiled(wheel, "made_meanwhile", "-pthread"), *how.split()]
    done = launch(3, argv, mpi=wheel, env=env, algorithm="direct(intra=shm)", timeout=60)
    assert done.returncode == 0 and "made_meanwhile: right" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("how", ["typed", "planned"])
@pytest.mark.parametrize("ranks", [2, 3])
def test_makes_what_it_needs_alone_before_the_application_makes_any(
    launch, compiled, wheel: str, ranks: int, how: str
) -> None:
    """Open MPI waits for communicators of one rank, too: to pack derived types on, and for persistent requests."""
    argv = [compiled(wheel, "made_meanwhile", "-pthread"), how]
    done = launch(ranks, argv, mpi=wheel, env={"SWAPMEET_NODES": "mpi"}, timeout=20)
    assert done.returncode == 0 and "made_meanwhile: right" in done.stdout, done.stdout + done.stderr


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("nodes", "algorithm"), [("1", "auto"), ("2", "auto"), ("2", "two-layer"), ("2", "tuna"), ("2", "pairwise")]
)
def test_makes_none_after_init(launch, built, compiled, preloaded, wheel: str, nodes: str, algorithm: str) -> None:
    """Calls of all forms, on communicators of all kinds, but for those with large counts, which decide alike."""
    counter = compiled(wheel, "counts_made", "-shared", "-fPIC", "-ldl")
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}:{counter}", built(wheel, "conformance"), "--except", "_c/"]
    env = {"SWAPMEET_NODES": nodes, "SWAPMEET_ALGORITHM": algorithm, "SWAPMEET_TRIALS": "50"}
    done = launch(3, argv, mpi=wheel, preload=False, env=env, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "counts_made: 1\n" in done.stdout, done.stdout


@pytest.mark.parametrize(("spec", "ranks"), [("pairwise", 3), ("two-layer", 4), ("tuna", 5)])
def test_plans_make_none(launch, compiled, preloaded, wheel: str, spec: str, ranks: int) -> None:
    """120 plans, of which six are there at a time."""
    counter = compiled(wheel, "counts_made", "-shared", "-fPIC", "-ldl")
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}:{counter}", compiled(wheel, "plans_anew")]
    env = {"SWAPMEET_NODES": "2", "SWAPMEET_ALGORITHM": spec}
    done = launch(ranks, argv, mpi=wheel, preload=False, env=env, timeout=60)
    assert "plans_anew: right" in done.stdout, done.stdout + done.stderr
    assert "counts_made: 1\n" in done.stdout, done.stdout


def test_many_plans_leave_communicators_to_the_application(
    launch, compiled, tallies, tmp_path: Path, wheel: str
) -> None:
    """MPICH has 2,048 in a process, and as many teams have tags: the plans beyond these are the host MPI's."""
    plans, made, starts = 1900, 500, 2
    env = {"SWAPMEET_NODES": "2", "SWAPMEET_STATS": str(tmp_path / "%r.json")}
    argv = [compiled(wheel, "many_plans"), str(plans), str(made)]
    done = launch(2, argv, mpi=wheel, algorithm="pairwise", env=env, timeout=60)
    assert done.returncode == 0 and "many_plans: right" in done.stdout, done.stdout + done.stderr[-2000:]
    for rank in range(2):
        assert served(tmp_path / f"{rank}.json")["direct(order=shift,window=1,complete=all)"] == starts * plans


@pytest.mark.parametrize("wheel", ["mpich"], indirect=True)
def test_freed_plans_make_room_for_others(launch, compiled, tallies, tmp_path: Path, wheel: str) -> None:
    """More, one after the other, than there can be at once with MPICH's tags."""
    plans, starts = 2500, 2
    env = {"SWAPMEET_NODES": "1", "SWAPMEET_STATS": str(tmp_path / "%r.json")}
    argv = [compiled(wheel, "many_plans"), str(plans), "1", "in-turn"]
    done = launch(2, argv, mpi=wheel, algorithm="pairwise", env=env, timeout=120)
    assert done.returncode == 0 and "many_plans: right" in done.stdout, done.stdout + done.stderr[-2000:]
    for rank in range(2):
        assert served(tmp_path / f"{rank}.json")["direct(order=shift,window=1,complete=all)"] == starts * plans


@pytest.mark.parametrize("ranks", [3, 4])
def test_serves_while_the_application_duplicates(launch, compiled, ranks: int) -> None:
    """With communicators of ours most of these launches hung. Open MPI 5.0.11 alone hangs in this program."""
    for _ in range(5):
        done = launch(ranks, [compiled("mpich", "idup_beside")], mpi="mpich", timeout=30)
        assert done.returncode == 0 and "idup_beside: right" in done.stdout, done.stdout + done.stderr


def test_goes_on_where_attributes_refuse_to_be_copied(launch, compiled, wheel: str) -> None:
    """No callback of the application is called."""
    done = launch(3, [compiled(wheel, "refuses_copies")], mpi=wheel, timeout=60)
    assert done.returncode == 0 and "refuses_copies: right" in done.stdout, done.stdout + done.stderr


def test_traces_beside_what_the_application_makes(launch, compiled, tmp_path: Path, wheel: str) -> None:
    env = {"SWAPMEET_TRACE": str(tmp_path / "trace.json")}
    done = launch(3, [compiled(wheel, "made_meanwhile", "-pthread"), "idup"], mpi=wheel, env=env, timeout=60)
    assert "made_meanwhile: right" in done.stdout, done.stdout + done.stderr
    assert "not traced" not in done.stderr
    assert (tmp_path / "trace.json").stat().st_size > 0
