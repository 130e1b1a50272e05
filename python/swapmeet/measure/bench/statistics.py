"""What samples show about medians, ratios and changes, and when there are enough of them. No input or output.

Launches are the units of evidence. Samples of one launch share its placement of ranks and its memory, so that more of
them show ever more about that launch and nothing about the next (hunold2014). Therefore:

- within a launch, the interval of a median is that of order statistics (hoefler2015), which is the percentile bootstrap
  carried to infinitely many resamples; where neighbours are alike, it is widened by their autocorrelation. The interval
  of a ratio is the percentile bootstrap over rounds, both specs resampled together;
- over two or more launches, the estimate is the geometric mean of the launches' estimates, and its interval Student's t
  of their logarithms, never narrower than the samples themselves allow;
- an estimate from one launch holds for that launch only.

A bootstrap over launches would be too narrow where they are few: its 95 % intervals hold the truth in 60 to 82 % of
cases with two launches and 76 to 87 % with three; these do so in 93 to 97 % (docs/results.md). The price is width: two
launches show next to nothing, three little, five enough. Known shortfall: 87 % in one launch whose samples are
autocorrelated by 0.6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swapmeet.measure.bench.results import Run
from swapmeet.quantiles import interpolated

if find_spec("scipy") is None:  # imported late, missed at once
    raise ModuleNotFoundError("No module named 'scipy'", name="scipy")

Samples: TypeAlias = NDArray[np.float64]  #: (samples,) array, seconds, in the order taken

NORMAL = 1.959963984540054  #: half of a 95 % interval in standard errors, where those are known
TIE = 0.01  #: effects below 1 % are ties
NEAR = 0.05  #: an interval that stays within 5 % of 1 makes a tie
TARGET = 0.02  #: relative half-width at which a median is known well enough
LEAST_SAMPLES = 30  #: before a median counts as known
LEAST_IN_LAUNCH = 6  #: fewer have no 95 % interval of their median: 2·(1/2)⁵ > 0.05
RESAMPLES = 1000
FALSE_DISCOVERIES = 0.05  #: of the changes that are named, the share that may be none
SMALLEST = 1e-12  #: seconds: a clock that did not move is read as this, so that ratios stay finite


@dataclass(frozen=True)
class Part:
    """The estimate of each of several launches. Arrays are (launches,)."""

    launches: tuple[int, ...]
    logs: NDArray[np.float64]  #: of medians, or of ratios of medians
    noise: NDArray[np.float64]  #: standard errors that the samples of the launch explain; 0: unknown
    sign: int = 1  #: -1: divides


@dataclass(frozen=True)
class Estimate:
    """A median in seconds, or a ratio, with its 95 % interval."""

    value: float
    low: float
    high: float
    samples: int
    launches: int  #: 1: the interval is about that launch only
    error: float = math.nan  #: standard error of log(value), by how launches differ
    freedom: float = math.inf  #: its degrees of freedom
    floor: float = 0.0  #: standard error of log(value), by the samples within launches alone
    parts: tuple[Part, ...] = field(default=(), repr=False, compare=False)

    @property
    def half_width(self) -> float:
        """Half of the interval, relative to the value; inf while there are too few samples for an interval."""
        return (self.high - self.low) / 2 / self.value if math.isfinite(self.high) else math.inf

    def record(self) -> dict[str, float | int | None]:
        """For other programs; null where the interval is not known."""
        known = math.isfinite(self.high)
        low, high = (self.low, self.high) if known else (None, None)
        return {"value": self.value, "low": low, "high": high, "samples": self.samples, "launches": self.launches}

    def chance(self, tie: float = 0.0) -> float:
        """The chance (p-value) of so large an effect, if in truth it were `tie` or less, as in 0.01."""
        beyond = abs(math.log(self.value)) - math.log1p(tie)
        if beyond <= 0 or not math.isfinite(self.high):
            return 1.0
        by_launches = _tail(beyond, self.error, self.freedom)
        return max(by_launches, _tail(beyond, self.floor, math.inf))


def _special() -> Any:
    """Of SciPy; importing it takes a quarter of a second, which mistakes in options need not wait for."""
    from scipy import special  # type: ignore[import-untyped]

    return special


def _tail(beyond: float, error: float, freedom: float) -> float:
    if error <= 0:
        return 0.0
    score = -beyond / error
    return float(2 * (_special().ndtr(score) if math.isinf(freedom) else _special().stdtr(freedom, score)))


def median(runs: Sequence[Samples]) -> Estimate:
    """Estimate the median of a typical launch, in seconds: the geometric mean of the launches' medians.

    Parameters
    ----------
    runs
        The samples of each launch, at least one. Launches with fewer than LEAST_IN_LAUNCH count only if all are so.
    """
    some = [np.maximum(run, SMALLEST) for run in runs if len(run)]
    kept = [run for run in some if len(run) >= LEAST_IN_LAUNCH] or some
    samples = sum(map(len, kept))
    if len(kept) > 1:
        return replace(_combine([_part(kept, range(len(kept)))], samples), parts=())
    (run,) = kept
    low, high = _order_interval(run)
    return Estimate(float(np.median(run)), low, high, samples, 1, _noise(run), math.inf, _noise(run))


def ratio(theirs: Sequence[Run], ours: Sequence[Run], seed: int = 1) -> Estimate:
    """Estimate how many times faster ours is: their median over ours; above 1, ours is faster.

    What was taken side by side (the same launch and round) is compared with one another, so that disturbances that
    hit both cancel. Without any launch in common: as `unpaired_ratio`.

    Parameters
    ----------
    theirs, ours
        As `Results.samples` gives them; the longest time over ranks is compared.
    seed
        Of the bootstrap, which is used where there is one launch only.
    """
    pairs = _side_by_side(theirs, ours)
    pairs = [pair for pair in pairs if min(len(pair[1]), len(pair[2])) >= LEAST_IN_LAUNCH] or pairs
    if not pairs:
        return unpaired_ratio(theirs, ours)
    logs, noise = np.array([_paired(a, b) for _, a, b in pairs]).T
    part = Part(tuple(launch for launch, _, _ in pairs), logs, noise)
    samples = sum(min(len(a), len(b)) for _, a, b in pairs)
    if len(pairs) > 1:
        return _combine([part], samples)
    _, a, b = pairs[0]
    low, high = _bootstrap(a, b, seed)
    return Estimate(math.exp(logs[0]), low, high, samples, 1, noise[0], math.inf, noise[0], (part,))


def unpaired_ratio(above: Sequence[Run], below: Sequence[Run]) -> Estimate:
    """Estimate the ratio of two medians that come from different launches, as of two results files.

    Welch's t of the logarithms of the launches' medians. If one side has one launch only, launches are taken to
    differ there as they do on the other side; if both have, nothing is known and the interval is all numbers.
    """
    parts, samples = [], []
    for side, sign in ((above, 1), (below, -1)):
        kept = [run for run in side if len(run.longest) >= LEAST_IN_LAUNCH] or side
        parts.append(_part([np.maximum(run.longest, SMALLEST) for run in kept], [run.launch for run in kept], sign))
        samples.append(sum(len(run.longest) for run in kept))
    return _combine(parts, min(samples))


def verdict(estimate: Estimate, tie: float = TIE) -> str:
    """Judge a ratio: "faster" (above 1), "slower", "tie" or "unclear".

    Faster and slower: the interval excludes 1, and the effect is `tie` or more. A tie: the effect is less, or all of
    the interval is near 1 (`NEAR`). Else nothing is known: more launches are needed.
    """
    if estimate.low > 1 or estimate.high < 1:
        if estimate.value >= 1 + tie:
            return "faster"
        return "slower" if estimate.value <= 1 / (1 + tie) else "tie"
    return "tie" if estimate.low >= 1 / (1 + NEAR) and estimate.high <= 1 + NEAR else "unclear"


def differs(estimate: Estimate, tie: float = TIE) -> bool:
    """Decide whether a ratio is known not to be 1, by more than `tie`."""
    return verdict(estimate, tie) in ("faster", "slower")


def changed(ratios: Sequence[Estimate], tie: float = 0.0, false_discoveries: float = FALSE_DISCOVERIES) -> list[bool]:
    """Decide which of many ratios differ from 1 by more than `tie`.

    Of those that are named, a share of at most `false_discoveries` is expected to be none (benjamini1995).
    """
    if not ratios:
        return []
    from scipy import stats  # takes half a second

    chances = stats.false_discovery_control([estimate.chance(tie) for estimate in ratios])
    return [bool(chance <= false_discoveries) for chance in chances]


def geometric_mean(ratios: Sequence[Estimate]) -> Estimate:
    """Estimate the geometric mean of ratios over cells.

    Cells that were measured in the same launches err together: these are averaged launch by launch. Groups of
    different launches are independent of one another (MOVER: zou2008).

    Parameters
    ----------
    ratios
        At least one, as `ratio` or `unpaired_ratio` gives them.
    """
    if not all(math.isfinite(estimate.high) for estimate in ratios):  # too few samples: of their mean nothing is known
        center = math.exp(sum(math.log(estimate.value) for estimate in ratios) / len(ratios))
        return Estimate(center, 0.0, math.inf, sum(e.samples for e in ratios), min(e.launches for e in ratios))
    groups: dict[tuple[object, ...], list[Estimate]] = {}
    for i, estimate in enumerate(ratios):
        key = tuple((part.launches, part.sign) for part in estimate.parts)
        groups.setdefault(key or (i,), []).append(estimate)  # of unknown launches: on its own
    means = [_mean_of_group(group) for group in groups.values()]
    weights = [len(group) / len(ratios) for group in groups.values()]
    if len(means) == 1:
        return means[0]
    center = sum(weight * math.log(mean.value) for weight, mean in zip(weights, means, strict=True))
    down = math.hypot(*(w * (math.log(m.value) - _log(m.low)) for w, m in zip(weights, means, strict=True)))
    up = math.hypot(*(w * (_log(m.high) - math.log(m.value)) for w, m in zip(weights, means, strict=True)))
    samples, launches = sum(mean.samples for mean in means), min(mean.launches for mean in means)
    error = max(down, up) / NORMAL
    return Estimate(math.exp(center), _exp(center - down), _exp(center + up), samples, launches, error)


def converged(runs: Sequence[Samples], target: float = TARGET, least: int = LEAST_SAMPLES) -> bool:
    """Decide whether the median is known well enough: its interval's half-width is `target` or less, as in 0.02.

    Of one launch, this is about that launch: whether more samples in it are worth their time. See `wanting`.
    """
    return sum(map(len, runs)) >= least and median(runs).half_width <= target


def wanting(runs: Sequence[Samples]) -> str:
    """Name what would narrow the interval of the median: more "samples" in each launch, or more "launches"."""
    estimate = median(runs)
    if estimate.launches == 1 or not estimate.floor > 0:
        return "samples"
    return "launches" if estimate.error > math.sqrt(2) * estimate.floor else "samples"


def drift(runs: Sequence[Samples]) -> Estimate:
    """Estimate the median of each launch's second half over that of its first: 1 without warm-up or drift.

    `differs(drift(runs), 0.02)` is whether they do beyond noise and by 2 %.
    """
    halves = [(run[: len(run) // 2], run[len(run) // 2 :]) for run in (np.maximum(run, SMALLEST) for run in runs)]
    halves = [pair for pair in halves if len(pair[0]) >= LEAST_IN_LAUNCH]
    if not halves:
        return Estimate(1.0, 0.0, math.inf, sum(map(len, runs)), len(runs))
    logs = [math.log(np.median(second) / np.median(first)) for first, second in halves]
    error = math.hypot(*(_noise(half) for pair in halves for half in pair)) / len(halves)
    center = float(np.mean(logs))
    low, high = _exp(center - NORMAL * error), _exp(center + NORMAL * error)
    return Estimate(math.exp(center), low, high, sum(map(len, runs)), len(halves), error)


# Within a launch


@lru_cache(maxsize=4096)
def _rank(samples: int) -> int:
    """The order statistics of this rank from below and from above hold the median with a chance of 95 % or more."""
    least = int(_special().bdtrik(0.025, samples, 0.5))
    return least if _special().bdtr(least, samples, 0.5) >= 0.025 else least + 1


def _order_interval(run: Samples) -> tuple[float, float]:
    ordered, count = np.sort(run), len(run)
    half = (count + 1) / 2
    rank = math.floor(half - (half - _rank(count)) * math.sqrt(_alike(run > np.median(run))))
    return (float(ordered[rank - 1]), float(ordered[count - rank])) if rank >= 1 else (0.0, math.inf)


def _noise(run: Samples) -> float:
    """The standard error of the logarithm of the median; 0 if there are too few samples."""
    low, high = _order_interval(run)
    return (math.log(high) - math.log(low)) / 2 / NORMAL if math.isfinite(high) else 0.0


def _alike(series: NDArray[np.generic]) -> float:
    """How many successive samples are worth one independent sample: the integrated autocorrelation, at least 1.

    Summed up to the first lag that cannot be told from none.
    """
    values = np.asarray(series, dtype=np.float64)
    values = values - values.mean()
    power = float(values @ values)
    total, count = 1.0, len(values)
    for lag in range(1, count // 3) if power > 0 else ():
        correlation = float(values[lag:] @ values[:-lag]) / power
        if correlation < 2 / math.sqrt(count):
            break
        total += 2 * correlation
    return total


def _side_by_side(theirs: Sequence[Run], ours: Sequence[Run]) -> list[tuple[int, Samples, Samples]]:
    """The launches that both were measured in, and the times there: of equal rounds, if most rounds have an equal."""
    found = []
    by_launch = {run.launch: run for run in ours}
    for run in theirs:
        other = by_launch.get(run.launch)
        if other is None or not len(run.rounds) or not len(other.rounds):
            continue
        a, b = np.maximum(run.longest, SMALLEST), np.maximum(other.longest, SMALLEST)
        _, i, j = np.intersect1d(run.rounds, other.rounds, assume_unique=True, return_indices=True)
        found.append((run.launch, a[i], b[j]) if 2 * len(i) >= min(len(a), len(b)) else (run.launch, a, b))
    return found


def _paired(a: Samples, b: Samples) -> tuple[float, float]:
    """The logarithm of the ratio of medians and its standard error, by the medians' influence functions."""
    center = math.log(np.median(a) / np.median(b))
    noise_a, noise_b = _noise(a), _noise(b)
    if len(a) != len(b) or not noise_a or not noise_b:
        return center, math.hypot(noise_a, noise_b)
    signs_a, signs_b = np.sign(a - np.median(a)), np.sign(b - np.median(b))
    together = float(np.mean(signs_a * signs_b))
    return center, math.sqrt(max(0.0, noise_a**2 + noise_b**2 - 2 * together * noise_a * noise_b))


def _bootstrap(a: Samples, b: Samples, seed: int) -> tuple[float, float]:
    """The percentile interval of the ratio of medians; the same indices for both where they are pairs."""
    if min(len(a), len(b)) < LEAST_IN_LAUNCH:
        return 0.0, math.inf
    generator = np.random.default_rng(seed)
    i = generator.integers(0, len(a), (RESAMPLES, len(a)))
    j = i if len(a) == len(b) else generator.integers(0, len(b), (RESAMPLES, len(b)))
    logs = np.log(np.median(a[i], axis=1) / np.median(b[j], axis=1))
    low, high = interpolated(logs.tolist(), 0.025, 0.975)
    center = math.log(np.median(a) / np.median(b))
    stretch = math.sqrt(max(_alike(a > np.median(a)), _alike(b > np.median(b))))
    return _exp(center + (low - center) * stretch), _exp(center + (high - center) * stretch)


# Over launches


def _part(runs: Sequence[Samples], launches: Iterable[int], sign: int = 1) -> Part:
    logs = np.log([np.median(run) for run in runs])
    return Part(tuple(launches), logs, np.array([_noise(run) for run in runs]), sign)


def _combine(parts: Sequence[Part], samples: int) -> Estimate:
    """Quotient or mean over launches, with Student's t of how launches differ and the noise within them as a floor."""
    center = float(sum(part.sign * part.logs.mean() for part in parts))
    floor = math.sqrt(sum(float(np.mean(part.noise**2)) / len(part.logs) for part in parts))
    spread = {i: float(np.var(part.logs, ddof=1)) for i, part in enumerate(parts) if len(part.logs) > 1}
    launches = min(len(part.logs) for part in parts)
    if not spread:  # two launches, one on each side: how launches differ is not known
        return Estimate(math.exp(center), 0.0, math.inf, samples, 1, math.inf, 0.0, floor, tuple(parts))
    other = next(iter(spread.values()))
    variances = [spread.get(i, other) / len(part.logs) for i, part in enumerate(parts)]
    error = math.sqrt(sum(variances))
    freedom = _welch(variances, [len(part.logs) - 1 for part in parts])
    half = max(float(_special().stdtrit(freedom, 0.975)) * error, NORMAL * floor)
    low, high = _exp(center - half), _exp(center + half)
    return Estimate(math.exp(center), low, high, samples, launches, error, freedom, floor, tuple(parts))


def _welch(variances: Sequence[float], freedoms: Sequence[int]) -> float:
    known = [(variance, freedom) for variance, freedom in zip(variances, freedoms, strict=True) if freedom > 0]
    if len(known) < len(variances) or not sum(variances):
        return float(min(freedom for _, freedom in known))
    return float(sum(variances) ** 2 / sum(variance**2 / freedom for variance, freedom in known))


def _mean_of_group(group: Sequence[Estimate]) -> Estimate:
    """The geometric mean of ratios from the same launches."""
    if len(group) == 1 or not group[0].parts:
        return group[0]
    parts = [
        Part(
            same[0].launches,
            np.mean([part.logs for part in same], axis=0),
            np.sqrt(np.sum([part.noise**2 for part in same], axis=0)) / len(same),
            same[0].sign,
        )
        for same in zip(*(estimate.parts for estimate in group), strict=True)
    ]
    samples = sum(estimate.samples for estimate in group)
    if len(parts) == 1 and len(parts[0].logs) == 1:
        center, error = float(parts[0].logs[0]), float(parts[0].noise[0])
        low, high = _exp(center - NORMAL * error), _exp(center + NORMAL * error)
        return Estimate(math.exp(center), low, high, samples, 1, error, math.inf, error, tuple(parts))
    return _combine(parts, samples)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
