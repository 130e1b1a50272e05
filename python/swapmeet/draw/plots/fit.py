"""The constants of `slimfly`, figure 3: how latency grows with the size of blocks, C, K and R.

    l = C * s^K      latency l in microseconds, size of a block s in bytes
    R = C / C of the host MPI

C and K are the line through log s and log l, by least squares (scipy.stats.linregress), from 32768 bytes up as in the
paper; where fewer than `LEAST_POINTS` such sizes were measured, through the `LEAST_POINTS` largest ones from
`LEAST_BYTES` up. K near 1 is linear growth: bandwidth decides. C is an extrapolation to s = 1, so R compares two specs
only if their K agree: it is flagged where the intervals of K do not overlap.

Intervals are of 95 %, from the scatter of the points around the line, by Student's t with n - 2 degrees of freedom;
that of R by Welch and Satterthwaite from the two constants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

FROM_BYTES = 32768
LEAST_POINTS = 3
LEAST_BYTES = 1024  #: below, latency hardly grows, and a slope says nothing about large blocks
CONFIDENCE = 0.95

Bounds = tuple[float, float, float]  #: value, low, high


@dataclass(frozen=True)
class Fit:
    """A line through points in log-log scale."""

    constant: Bounds  #: C, microseconds per byte^K
    exponent: Bounds  #: K
    from_bytes: float
    to_bytes: float
    points: int
    log_error: float  #: standard error of the natural logarithm of C
    freedom: int

    def microseconds(self, block_bytes: float) -> float:
        """The line at a block size."""
        return self.constant[0] * math.pow(block_bytes, self.exponent[0])


def fit(points: Sequence[tuple[float, float]]) -> Fit | None:
    """Fit l = C * s^K.

    Parameters
    ----------
    points
        (bytes of a block, seconds), in any order.

    Returns
    -------
    Fit or None
        None if there are fewer than `LEAST_POINTS` different sizes from `LEAST_BYTES` up.
    """
    from scipy import stats  # type: ignore[import-untyped]

    usable = sorted({(size, seconds) for size, seconds in points if size >= LEAST_BYTES and seconds > 0})
    if len({size for size, _ in usable}) < LEAST_POINTS:
        return None
    large = [point for point in usable if point[0] >= FROM_BYTES]
    if len({size for size, _ in large}) < LEAST_POINTS:
        least = sorted({size for size, _ in usable})[-LEAST_POINTS]
        large = [point for point in usable if point[0] >= least]
    line = stats.linregress([math.log(size) for size, _ in large], [math.log(seconds * 1e6) for _, seconds in large])
    freedom = len(large) - 2
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom))
    slope, spread = float(line.slope), reach * float(line.stderr)
    height, error = float(line.intercept), float(line.intercept_stderr)
    return Fit(
        (_exp(height), _exp(height - reach * error), _exp(height + reach * error)),
        (slope, slope - spread, slope + spread),
        large[0][0],
        large[-1][0],
        len(large),
        error,
        freedom,
    )


def ratio(ours: Fit, theirs: Fit) -> Bounds:
    """Estimate R, the ratio of the constants C of a spec and of the host MPI."""
    from scipy import stats

    log = math.log(ours.constant[0]) - math.log(theirs.constant[0])
    squares = [(one.log_error**2, one.freedom) for one in (ours, theirs)]
    total = sum(square for square, _ in squares)
    if total == 0:
        return (_exp(log),) * 3
    freedom = total**2 / sum(square**2 / degrees for square, degrees in squares)
    reach = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * math.sqrt(total)
    return _exp(log), _exp(log - reach), _exp(log + reach)


def same_growth(ours: Fit, theirs: Fit) -> bool:
    """Whether the intervals of K overlap: only then does R state how much faster large blocks are."""
    return ours.exponent[1] <= theirs.exponent[2] and theirs.exponent[1] <= ours.exponent[2]


def _exp(log: float) -> float:
    return math.exp(log) if log < 700 else math.inf
