"""order=topology(...) in simulations, where hosts have the names that the network gives them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from plain import MakeJob

from swapmeet.errors import SwapmeetError
from swapmeet.simulate import application
from swapmeet.simulate.job import Simulator
from swapmeet.simulate.platform import platform

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
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


def test_the_study_of_drift_runs(simulator: Simulator, tmp_path: Path) -> None:
    """benchmarks/drift.c: barriers take more time than they save."""
    slots = tmp_path / "slots"
    made = subprocess.run(
        [sys.executable, "-m", "swapmeet", "topology", NETWORK, "--slots", slots, "--moves", "1000"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    where = platform("cscs-slimfly", 8, NETWORK, 1)
    times = {}
    with application.compiled(simulator.target, str(BENCHMARKS / "drift.c")) as program:
        for policy in ("any 2 0", "all 1 0", "all 1 1"):
            words = [str(slots), "65536", *policy.split(), "0", "0"]
            output, _, _ = application.run(simulator, where, program, words, "native", "mpich")
            times[policy] = float(output.split()[0])
        with pytest.raises(SwapmeetError, match="the table is of another number of ranks"):
            few = platform("cscs-slimfly", 4, NETWORK, 1)
            application.run(simulator, few, program, words, "native", "mpich")
    assert max(times["any 2 0"], times["all 1 0"]) < times["all 1 1"]
