"""A figure of `swapmeet reproduce` whose numbers are simulated."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

from swapmeet.reproduction import running
from swapmeet.reproduction.figure import CONFIRMED, SIMULATION, Claim, Figure, Rows
from swapmeet.reproduction.judging import faster
from swapmeet.reproduction.sources import Grid, Simulated
from swapmeet.simulate.job import Job, Outcome, Simulator

pytestmark = pytest.mark.slow


def test_a_simulated_figure(simulator: Simulator) -> None:
    roles = {"few": "tra(r=2)", "again": "tra(r=2)", "many": "pairwise", "theirs": "native:bruck"}
    grid = Grid("cluster", roles, (8, 12), ("8",), per_node=4, wanted=lambda ranks, size: ranks == 12 and size == 8)
    claim = Claim("radix 2 is faster than pairwise", "", "everywhere", faster("few", "many"))
    figure = Figure("test:one", "one", "", (Simulated(grid),), (claim,))
    told: list[str] = []

    def tell(job: Job, outcome: Outcome) -> None:
        told.append(job.spec)

    rows = Rows(running.rows_of(figure, simulator, 1, tell))
    assert sorted(rows.values("role")) == sorted(roles) and rows.values("P") == [12]
    assert all(row["by"] == SIMULATION and row["per_node"] == 4 and row["us"] > 0 for row in rows)
    assert rows.one("us", role="few") == rows.one("us", role="again")
    assert claim.judge(rows).verdict == CONFIRMED
    assert told.count("tra(r=2)") <= 1, "equal simulations are made once"
    assert running.takes(figure)[0] == 3
    assert [dict(row) for row in running.rows_of(figure, simulator, 1, tell)] == [dict(row) for row in rows]
