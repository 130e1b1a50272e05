"""`swapmeet bench`, `tune` and `profile` across hosts, by their --launcher."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.command import swapmeet

from swapmeet.measure.bench.results import read
from swapmeet.measure.profiling.recording import read as read_recording

LATENCY_S = 2e-3
LAUNCHER = f"{sys.executable} -m swapmeet cluster run --native --mpi {{mpi}} --hosts 2 -n {{ranks}} --latency 2ms --"


def test_bench_measures_across_hosts(namespaces: None, tmp_path: Path) -> None:
    """No call is faster than the network, by any MPI: so the ranks are on both hosts."""
    file = tmp_path / "results.jsonl"
    words = ["--mpi", "mpich,openmpi", "-n", "4", "-S", "8", "--launches", "1", "-i", "3", "-o", str(file)]
    done = swapmeet("bench", "two-layer", *words, "--launcher", LAUNCHER)
    assert done.returncode == 0, done.stderr
    results = read(file)
    assert [cell.mpi.split()[0] for cell in results.cells()] == ["mpich", "openmpi"]
    for cell in results.cells():
        assert results.specs(cell) == ["native", "two-layer"]
        for spec in results.specs(cell):
            (run,) = results.samples(cell, spec)
            assert (run.longest > LATENCY_S).all()
            assert run.longest.min() < 50 * LATENCY_S


@pytest.mark.long
def test_tune_tunes_for_several_hosts(namespaces: None, tmp_path: Path) -> None:
    file = tmp_path / "cluster.tuning"
    words = [
        "-n",
        "4",
        "--mpi",
        "mpich",
        "-S",
        "8",
        "--budget",
        "40s",
        "--launches",
        "1",
        "--into",
        str(tmp_path / "t"),
    ]
    done = swapmeet("tune", "two-layer", "pairwise", *words, "--launcher", LAUNCHER, "-o", str(file), timeout=500)
    assert done.returncode == 0, done.stderr
    rules = [line for line in file.read_text().splitlines() if line.startswith("rule: alltoall ")]
    assert rules
    assert all("nodes=2" in rule for rule in rules), rules


@pytest.mark.long
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_profile_records_and_replays_on_several_hosts(
    namespaces: None, exchange: Callable[[str], Path], tmp_path: Path, mpi: str
) -> None:
    folder = tmp_path / "kept"
    words = ["-n", "4", "--mpi", mpi, "--budget", "10s", "--candidates", "two-layer", "--keep", str(folder)]
    done = swapmeet("profile", *words, "--launcher", LAUNCHER, "--", str(exchange(mpi)), "1", "100", timeout=500)
    assert done.returncode == 0, done.stderr
    assert ", 0 wrong" in done.stdout
    assert read_recording([folder / "recording"]).ranks == 4
    results = read(folder / "samples.jsonl")
    for cell in results.cells():
        assert "two-layer" in results.specs(cell)
        assert all((run.longest > LATENCY_S).all() for run in results.samples(cell, "native"))
