"""order=topology(...) in simulations, where hosts have the names that the network gives them."""

from __future__ import annotations

from pathlib import Path

import pytest
from plain import MakeJob

from swapmeet.simulation.job import Simulator
from swapmeet.simulation.platform import platform

NETWORK = "torus(dims=4,hosts=2)"
ORDER = f"direct(order=topology({NETWORK}),window=2,complete=any)"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWAPMEET_ORDER_TIME", "0.05")


def test_orders_are_simulated(simulator: Simulator, make_job: MakeJob) -> None:
    where = platform("cscs-slimfly", 8, NETWORK, 1)
    times = {}
    for spec in (ORDER, "direct(order=shift,window=2,complete=any)"):
        outcome = simulator.run(make_job(where, spec, "65536"))
        assert outcome.problem == ""
        times[spec] = outcome.longest
    assert times[ORDER] <= times["direct(order=shift,window=2,complete=any)"]


def test_a_stale_network_costs_time_only(simulator: Simulator, make_job: MakeJob) -> None:
    """An order for a ring, on a switch."""
    where = platform("cscs-slimfly", 8, "torus(dims=1,hosts=8)", 1)
    assert simulator.run(make_job(where, ORDER, "4096")).problem == ""


def test_ranks_may_begin_late(simulator: Simulator, make_job: MakeJob) -> None:
    prompt, late = platform("cscs-slimfly", 8, NETWORK, 1), platform("cscs-slimfly", 8, NETWORK, 1, 1000)
    times = [simulator.run(make_job(where, ORDER, "64")).longest for where in (prompt, late)]
    assert times[0] < 1e-4 < times[1] < 1e-3 + 2 * times[0]
    assert late.name == f"cscs-slimfly {NETWORK} jitter=1000us"
    assert late.key != prompt.key
