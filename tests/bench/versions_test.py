"""benchmarks/versions.py: ratios of two builds are taken within a turn."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import versions


def row(build: str, turn: int, us: dict[int, float], status: int = 0) -> dict[str, Any]:
    where = {"mpi": "mpich", "ranks": 2, "spec": "tra", "collective": "Alltoall"}
    return {
        **where,
        "build": build,
        "turn": turn,
        "status": status,
        "us": {str(size): time for size, time in us.items()},
    }


def test_a_row_is_a_mean_of_medians() -> None:
    rows = []
    for turn, (small, large) in enumerate([(2.0, 8.0), (4.0, 1.0), (1.0, 2.0)]):
        rows += [row("old", turn, {8: 3 * small, 64: 3 * large}), row("new", turn, {8: 3.0, 64: 3.0})]
    text = list(versions.table(rows))
    assert text[2] == "| mpich | 2 | `tra` | 2.000 | 1.41 to 4.00 | 2.00: 8 B |"
    assert "all rows: 2.000" in text[-1]


def test_a_launch_that_failed_counts_for_nothing() -> None:
    rows = [row("old", 0, {8: 1.0}), row("new", 0, {8: 1.0}, status=1)]
    assert len(list(versions.table(rows))) == 2


@pytest.mark.parametrize("build", ["old", "new"])
def test_a_build_alone_is_compared_with_nothing(build: str) -> None:
    assert not versions.ratios([row(build, 0, {8: 1.0})])
