"""What is replayed, and what follows from it. Nothing is launched here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from swapmeet.measure.bench.statistics import Estimate
from swapmeet.measure.profiling import replay as replaying
from swapmeet.measure.profiling.exchanges import Distinct, Found
from swapmeet.measure.profiling.recording import RankFile, Recording
from swapmeet.measure.profiling.replay import LAUNCHES, VISIT_S, Replay, Replayed, Request, cell_of, choose
from swapmeet.measure.profiling.report import advice
from swapmeet.mpi import mpis

TARGET = mpis.Mpi("openmpi", "openmpi", "5.0.11", Path("mpicc"), Path("mpiexec"), None)
WORLD = 8
RUN_S = 10.0


def request(budget_s: float = 1000, launcher: str | None = None) -> Request:
    return Request(TARGET, ("pairwise",), budget_s, launcher)


def exchange(seconds: float, ranks: int = 4, sizes: int = 64, calls: float = 100, **changes: bool) -> Distinct:
    flags = {"in_place": False, "derived": False, **changes}
    return Distinct(ranks, "alltoall", sizes, calls=calls, rank_seconds=seconds, **flags)


def estimate(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, low, high, 100, 3)


def replayed(one: Distinct, native_s: float, **candidates: tuple[float, float, float]) -> Replayed:
    """`candidates`: how many times faster than native, and the interval."""
    known = {spec: (estimate(native_s / f[0], 0, 1), estimate(*f)) for spec, f in candidates.items()}
    cell = cell_of(one, 0, request(), Path())
    return Replayed(one, cell, WORLD, estimate(native_s, native_s, native_s), known)


def recording() -> Recording:
    file = RankFile(Path(), {"rank": 0, "ranks": WORLD, "host": "here", "boot": "b", "clock": 0}, seconds=RUN_S)
    return Recording(WORLD, {0: file}, [], [])


def test_the_most_expensive_are_chosen_until_the_coverage() -> None:
    costs = [60, 30, 6, 3, 1]
    found = Found([exchange(cost) for cost in costs], 100, {})
    chosen, left = choose(found, request())
    assert [one.rank_seconds for one in chosen] == [60, 30, 6]
    assert left == {"beyond 95% of the time": 4}


def test_no_more_than_the_budget_allows() -> None:
    found = Found([exchange(10) for _ in range(10)], 100, {"intercommunicators": 5})
    chosen, left = choose(found, request(budget_s=3 * LAUNCHES * VISIT_S))
    assert len(chosen) == 3
    assert left == {"intercommunicators": 5, "beyond the budget: give a larger --budget": 70}
    assert len(choose(found, request(budget_s=0.001))[0]) == 1


def test_what_cannot_be_replayed_here() -> None:
    ranks = 1 + replaying.CROWD * 1000
    found = Found([exchange(4, ranks=ranks), exchange(3, ranks=1), exchange(2, sizes=0)], 9, {})
    chosen, left = choose(found, request())
    assert (chosen, sorted(left.values())) == ([], [2, 3, 4])
    assert [one.ranks for one in choose(found, request(launcher="srun -n {ranks}"))[0]] == [ranks]


def test_sizes_that_differ_go_through_a_file(tmp_path: Path) -> None:
    matrix = np.array([[8, 16], [0, 24]])
    one = Distinct(2, "alltoallv", matrix, False, True, 1, 1.0)
    cell = cell_of(one, 3, request(), tmp_path)
    assert cell.sizes == f"matrix:{tmp_path}/sizes-3.i64"
    assert np.fromfile(tmp_path / "sizes-3.i64", dtype="=i8").tolist() == [8, 16, 0, 24]
    assert cell.datatype == "strided"
    assert cell_of(Distinct(2, "alltoallv", matrix + 1, False, True, 1, 1.0), 4, request(), tmp_path).datatype == "byte"
    assert cell_of(exchange(1, sizes=64), 0, request(), tmp_path).sizes == "64"


def test_gains_are_of_a_mean_rank() -> None:
    """100 calls of 4 of the 8 ranks at 10 ms natively: half a second of a mean rank; twice as fast saves half of it."""
    one = replayed(exchange(seconds=100), 0.01, pairwise=(2.0, 1.25, 4.0))
    gain = one.gain("pairwise")
    assert (gain.value, gain.low, gain.high) == pytest.approx((0.25, 0.1, 0.375))
    assert one.gain("tra").value == 0


def test_no_more_is_saved_than_was_spent() -> None:
    """The replay takes 10 ms a call, the application took 1 ms."""
    one = replayed(exchange(seconds=0.4), 0.01, pairwise=(2.0, 1.25, 4.0))
    assert one.gain("pairwise").value == pytest.approx(0.025)


def test_one_setting_serves_all_exchanges() -> None:
    one = replayed(exchange(100), 0.01, pairwise=(2.0, 1.9, 2.1), tra=(0.5, 0.4, 0.6))
    other = replayed(exchange(100), 0.01, pairwise=(0.5, 0.4, 0.6), tra=(1.25, 1.2, 1.3))
    replay = Replay([one, other])
    gains = replay.by_spec()
    assert list(gains) == ["pairwise", "tra"]
    assert gains["pairwise"].value == pytest.approx(0.25 - 0.5)
    assert gains["tra"].value == pytest.approx(-0.5 + 0.1)
    assert replay.best_of_each.value == pytest.approx(0.35)
    assert (one.best, other.best) == ("pairwise", "tra")


FOUND = Found([], 10.0, {})


@pytest.mark.parametrize(
    ("faster", "beginning"),
    [
        ((2.0, 1.9, 2.1), "Worth it: SWAPMEET_ALGORITHM='pairwise' would save 0.25 (0.237 to 0.262) s of 10 s, 2.5 %"),
        ((2.0, 0.5, 4.0), "Not decided: "),
        ((1.1, 0.9, 1.2), "Not worth it: "),
        ((0.5, 0.4, 0.6), "Not worth it: "),
        ((1.2, 1.1, 1.3), "Hardly worth it: "),
    ],
)
def test_advice(faster: tuple[float, float, float], beginning: str) -> None:
    sentence = advice(recording(), FOUND, Replay([replayed(exchange(100), 0.01, pairwise=faster)]))
    assert sentence.startswith(beginning)


def test_what_is_sure_comes_before_what_looks_better() -> None:
    one = replayed(exchange(100), 0.01, pairwise=(3.0, 0.1, 9.0), tra=(2.0, 1.9, 2.1))
    assert "SWAPMEET_ALGORITHM='tra'" in advice(recording(), FOUND, Replay([one]))


def test_no_advice_without_candidates() -> None:
    assert advice(recording(), FOUND, Replay([])).startswith("Nothing to recommend")
