"""Intervals and verdicts on samples whose truth is known: they hold it as often as they say.

Counts of hits are binomial. With TRIALS trials, an interval that holds the truth 95 times of 100 does so in at least
`least_hits` of them but for a chance of one in a million; all is seeded, so a test fails always or never.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from swapmeet.measure.bench import statistics
from swapmeet.measure.bench.results import Run

TRIALS = 200
Samples = NDArray[np.float64]
Shape = Callable[[np.random.Generator, int], Samples]


def least_hits(share: float = 0.95, trials: int = TRIALS) -> int:
    return int(stats.binom.ppf(1e-6, trials, share))


def most_hits(share: float = 0.05, trials: int = TRIALS) -> int:
    return int(stats.binom.ppf(1 - 1e-6, trials, share))


def log_normal(random: np.random.Generator, count: int) -> Samples:
    return np.exp(random.normal(0, 0.3, count))


def bimodal(random: np.random.Generator, count: int) -> Samples:
    """The median lies in the first peak, which holds 0.7 of all."""
    return np.where(random.random(count) < 0.7, random.normal(1, 0.02, count), random.normal(1.5, 0.02, count))


def heavy_tailed(random: np.random.Generator, count: int) -> Samples:
    """Pareto with an exponent of 1.2: no variance."""
    return np.asarray(1 + 0.1 * random.pareto(1.2, count))


def autocorrelated(random: np.random.Generator, count: int) -> Samples:
    steps, logs = random.normal(0, 0.1, count + 50), np.zeros(count + 50)
    for i in range(1, count + 50):
        logs[i] = 0.6 * logs[i - 1] + steps[i]
    return np.exp(logs[50:])


MEDIANS = {
    log_normal: 1.0,
    bimodal: 1 + 0.02 * stats.norm.ppf(0.5 / 0.7),
    heavy_tailed: 1 + 0.1 * (2 ** (1 / 1.2) - 1),
    autocorrelated: 1.0,
}


def launches(random: np.random.Generator, shape: Shape, count: int, samples: int, spread: float) -> list[Samples]:
    """Launches that differ by a factor, log-normal by `spread`."""
    return [shape(random, samples) * math.exp(random.normal(0, spread)) for _ in range(count)]


def run(launch: int, times: Sequence[float] | Samples, first: int = 0) -> Run:
    seconds = np.asarray(times, dtype=np.float64)
    rounds = np.arange(first, first + len(seconds))
    return Run(launch, rounds, seconds, seconds, seconds, np.ones(len(seconds), dtype=np.int64))


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("shape", MEDIANS, ids=lambda shape: shape.__name__)
def test_intervals_of_medians_hold_the_truth(shape: Shape, count: int) -> None:
    random = np.random.default_rng([count, len(shape.__name__)])
    spread = 0.0 if count == 1 else 0.1  # of one launch, the interval is about that launch
    estimates = [statistics.median(launches(random, shape, count, 50, spread)) for _ in range(TRIALS)]
    least = least_hits(0.9 if shape is autocorrelated and count == 1 else 0.95)
    assert sum(e.low <= MEDIANS[shape] <= e.high for e in estimates) >= least


def test_intervals_are_not_wider_than_need_be() -> None:
    """Five launches without differences: not twice as wide as if all samples were of one launch."""
    random = np.random.default_rng(2)
    many, one = (
        np.median([statistics.median(launches(random, log_normal, n, 500 // n, 0)).half_width for _ in range(50)])
        for n in (5, 1)
    )
    assert many < 2 * one


@pytest.mark.parametrize("samples", range(1, 6))
def test_too_few_samples_have_no_interval(samples: int) -> None:
    estimate = statistics.median([np.full(samples, 2.0)])
    assert (estimate.value, estimate.low, estimate.high) == (2, 0, math.inf)
    assert estimate.half_width == math.inf
    assert not statistics.converged([np.full(samples, 2.0)], least=1)


def test_exact_medians() -> None:
    estimate = statistics.median([np.array([6.0, 1, 11, 2, 10, 5, 7, 9, 3, 8, 4])])
    assert (estimate.value, estimate.samples, estimate.launches) == (6, 11, 1)
    assert (estimate.low, estimate.high) == (2, 10)  # the ranks for eleven samples, by the binomial distribution
    two = statistics.median([np.full(10, 2.0), np.full(10, 8.0)])
    assert two.value == pytest.approx(4)
    assert two.low < 1e-3


def test_a_launch_that_was_cut_off_does_not_count() -> None:
    full = [np.full(10, 2.0), np.full(10, 2.0)]
    assert statistics.median([*full, np.array([200.0])]).value == pytest.approx(2)


def test_a_clock_that_did_not_move() -> None:
    still = [run(0, np.zeros(10)), run(1, np.zeros(10))]
    assert statistics.ratio(still, still).value == 1
    assert statistics.median([run.longest for run in still]).value > 0


def side_by_side(
    random: np.random.Generator, speedup: float, count: int, samples: int = 30, spread: float = 0.0
) -> tuple[list[Run], list[Run]]:
    """Disturbances of launches and rounds that hit both, noise of their own, launches that favour one by `spread`."""
    theirs, ours = [], []
    for launch in range(count):
        both = random.normal(0, 0.1) + random.exponential(0.3, samples)
        own = random.normal(0, 0.02, (2, samples))
        theirs.append(run(launch, np.exp(both + own[0])))
        ours.append(run(launch, np.exp(both + own[1] + random.normal(0, spread)) / speedup))
    return theirs, ours


@pytest.mark.parametrize(("count", "spread"), [(1, 0.0), (2, 0.02), (3, 0.0), (3, 0.02), (5, 0.02)])
def test_intervals_of_ratios_hold_the_truth(count: int, spread: float) -> None:
    random = np.random.default_rng(count)
    estimates = [statistics.ratio(*side_by_side(random, 1.1, count, spread=spread)) for _ in range(TRIALS)]
    assert sum(e.low <= 1.1 <= e.high for e in estimates) >= least_hits()


def test_intervals_of_ratios_in_one_launch_are_no_narrower_than_noise_is() -> None:
    random = np.random.default_rng(4)
    estimates = [
        statistics.ratio([run(0, log_normal(random, 60))], [run(0, log_normal(random, 60))]) for _ in range(TRIALS)
    ]
    assert sum(e.low <= 1 <= e.high for e in estimates) >= least_hits()


def test_pairs_see_what_disturbances_hide() -> None:
    random = np.random.default_rng(3)
    theirs, ours = side_by_side(random, 1.05, 5)
    apart = [Run(r.launch + 9, r.rounds, r.longest, r.shortest, r.mean, r.calls) for r in ours]
    assert statistics.verdict(statistics.ratio(theirs, ours)) == "faster"
    assert statistics.verdict(statistics.ratio(ours, theirs)) == "slower"
    assert not statistics.differs(statistics.ratio(theirs, apart))
    single = statistics.ratio(theirs[:1], ours[:1])
    shifted = run(0, np.roll(ours[0].longest, 7))  # the same times, no longer of the same rounds
    assert single.half_width < 0.6 * statistics.ratio(theirs[:1], [shifted]).half_width


@pytest.mark.parametrize("count", [1, 3, 5])
def test_equals_are_ties(count: int) -> None:
    random = np.random.default_rng(count)
    spread = 0.02 if count > 1 else 0.0
    pairs = [side_by_side(random, 1.0, count, spread=spread) for _ in range(TRIALS)]
    assert sum(statistics.differs(statistics.ratio(*pair), tie=0) for pair in pairs) <= most_hits()


def test_small_effects_are_ties_however_sure() -> None:
    random = np.random.default_rng(1)
    estimate = statistics.ratio(*side_by_side(random, 1.005, 5, 2000))
    assert statistics.verdict(estimate, tie=0) == "faster"
    assert statistics.verdict(estimate, tie=0.01) == "tie"
    assert estimate.chance() < 0.05
    assert estimate.chance(0.01) == 1


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict"),
    [
        (1.2, 1.1, 1.3, "faster"), (0.8, 0.7, 0.9, "slower"), (1.0, 0.96, 1.04, "tie"), (1.005, 1.001, 1.009, "tie"),
        (1.0, 0.9, 1.1, "unclear"), (1.02, 0.99, 1.06, "unclear"), (0.4, 0.1, 1.05, "unclear"),
        (1.0, 0.0, math.inf, "unclear"),
    ],
)  # fmt: skip
def test_verdicts(value: float, low: float, high: float, verdict: str) -> None:
    assert statistics.verdict(statistics.Estimate(value, low, high, 30, 5)) == verdict


def test_power() -> None:
    """A speed-up of 5 % is seen in six of seven campaigns of five launches that favour one of two by 2 %."""
    random = np.random.default_rng(1)
    estimates = [statistics.ratio(*side_by_side(random, 1.05, 5, spread=0.02)) for _ in range(TRIALS)]
    assert sum(statistics.verdict(e) == "faster" for e in estimates) >= least_hits(6 / 7)


def test_unpaired_ratios_hold_the_truth_and_know_what_they_cannot() -> None:
    random = np.random.default_rng(1)
    for above, below in ((3, 3), (5, 2), (3, 1)):
        hits = 0
        for _ in range(TRIALS):
            some = [launches(random, log_normal, n, 50, 0.1) for n in (above, below)]
            estimate = statistics.unpaired_ratio(*([run(i, times) for i, times in enumerate(side)] for side in some))
            hits += estimate.low <= 1 <= estimate.high
        assert hits >= least_hits(), (above, below)
    one = [run(0, log_normal(random, 50))]
    estimate = statistics.unpaired_ratio(one, one)
    assert (estimate.low, estimate.high, estimate.chance()) == (0, math.inf, 1)


def test_of_the_changes_that_are_named_few_are_none() -> None:
    """100 ratios, 20 of them not 1: the share of false ones among those named, on average over campaigns."""
    random = np.random.default_rng(1)
    shares, found = [], 0
    for _ in range(30):
        ratios = []
        for i in range(100):
            logs = random.normal(0.2 if i < 20 else 0, 0.02, 5)
            error = float(np.std(logs, ddof=1)) / math.sqrt(5)
            value = math.exp(logs.mean())
            ratios.append(statistics.Estimate(value, value / 1.1, value * 1.1, 50, 5, error, 4))
        flags = statistics.changed(ratios)
        false, true = sum(flags[20:]), sum(flags[:20])
        shares.append(false / max(1, false + true))
        found += true
    assert np.mean(shares) <= 0.05 + 3 * np.std(shares) / math.sqrt(30)
    assert found >= 0.9 * 20 * 30
    assert statistics.changed([]) == []


def test_geometric_means() -> None:
    random = np.random.default_rng(1)
    same = statistics.ratio(*side_by_side(random, 1.1, 3, spread=0.02))
    double = statistics.geometric_mean([same, same])  # twice the same is no more evidence
    assert (double.value, double.low, double.high) == pytest.approx((same.value, same.low, same.high), rel=1e-2)
    elsewhere = statistics.Estimate(same.value, same.low, same.high, same.samples, 3)
    independent = statistics.geometric_mean([same, elsewhere])
    assert math.log(independent.high / independent.value) == pytest.approx(
        math.log(same.high / same.value) / math.sqrt(2)
    )
    half = [statistics.Estimate(value, value, value, 9, 3) for value in (0.5, 8)]
    assert statistics.geometric_mean(half).value == pytest.approx(2)
    assert statistics.geometric_mean([same]) == same


def test_geometric_means_hold_the_truth_where_launches_favour_all_cells_alike() -> None:
    random = np.random.default_rng(1)
    hits = 0
    for _ in range(TRIALS):
        favour = random.normal(0, 0.05, 3)
        cells = []
        for _ in range(4):
            theirs, ours = side_by_side(random, 1.2, 3)
            ours = [run(r.launch, r.longest * math.exp(favour[r.launch])) for r in ours]
            cells.append(statistics.ratio(theirs, ours))
        mean = statistics.geometric_mean(cells)
        hits += mean.low <= 1.2 <= mean.high
    assert hits >= least_hits()


def test_an_unknown_interval_stays_unknown_in_a_mean() -> None:
    known = statistics.Estimate(1, 0.9, 1.1, 9, 3)
    unknown = statistics.Estimate(1, 0, math.inf, 9, 1)
    mean = statistics.geometric_mean([known, unknown, known])
    assert (mean.value, mean.low, mean.high) == (1, 0, math.inf)


def test_stopping() -> None:
    random = np.random.default_rng(1)
    quiet, loud = (np.exp(random.normal(0, noise, 100)) for noise in (0.02, 0.5))
    assert statistics.converged([quiet])
    assert not statistics.converged([loud])
    assert not statistics.converged([quiet[:20]])
    assert statistics.converged([quiet[:20]], least=20)
    assert not statistics.converged([quiet, quiet * 1.1, quiet * 1.2])
    assert statistics.wanting([quiet, quiet * 1.1, quiet * 1.2]) == "launches"
    assert statistics.wanting([loud, np.roll(loud, 1) * 1.01]) == "samples"


def test_stopping_when_it_looks_good_keeps_the_coverage() -> None:
    """Asking after each ten samples and stopping at the first yes favours narrow intervals; a little is lost."""
    random = np.random.default_rng(1)
    hits = 0
    for _ in range(TRIALS):
        samples = np.exp(random.normal(0, 0.1, 500))
        count = next((n for n in range(30, 500, 10) if statistics.converged([samples[:n]], 0.03)), 500)
        estimate = statistics.median([samples[:count]])
        hits += estimate.low <= 1 <= estimate.high
    assert hits >= least_hits(0.93)


def test_drift() -> None:
    random = np.random.default_rng(1)
    steady = [[np.exp(random.normal(0, 0.1, 60)) for _ in range(2)] for _ in range(TRIALS)]
    warming = [runs[i] * np.linspace(1.3, 1, 60) for runs in steady[:20] for i in range(2)]
    assert sum(statistics.differs(statistics.drift(runs), 0) for runs in steady) <= most_hits()
    assert sum(statistics.verdict(statistics.drift([times])) == "slower" for times in warming) >= 36
    assert statistics.drift([np.ones(5)]).high == math.inf
