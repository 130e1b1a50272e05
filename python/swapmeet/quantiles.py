"""Quantiles, both kinds, for all that prints, fits or draws one. Without NumPy, for tables where it is not installed.

The intervals of measured times are those of measure/bench/statistics.py.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence


def quantile(values: Iterable[float], share: float, weights: Iterable[float] | None = None) -> float:
    """The least of the values that at least this share of them do not exceed: always one that occurs.

    Parameters
    ----------
    values : iterable of float
        At least one, in any order.
    share : float
        From 0, which gives the least, to 1, which gives the largest.
    weights : iterable of float, optional
        How often each value counts; 1 if not given.

    Source
    ------
    The inverse of the empirical distribution: method "inverted_cdf" of numpy.quantile, which takes weights from 2.0 on.
    """
    pairs = sorted(zip(values, itertools.repeat(1) if weights is None else weights, strict=False))
    totals = list(itertools.accumulate(weight for _, weight in pairs))
    return pairs[min(bisect_left(totals, share * totals[-1]), len(pairs) - 1)][0]


def interpolated(values: Iterable[float], *shares: float) -> list[float]:
    """Between the values beside each share: method "linear" of numpy.quantile, to the last bit.

    Parameters
    ----------
    values : iterable of float
        At least one, in any order.
    *shares : float
        From 0, which gives the least, to 1, which gives the largest.
    """
    ordered = sorted(map(float, values))
    return [_between(ordered, share * (len(ordered) - 1)) for share in shares]


def _between(ordered: Sequence[float], place: float) -> float:
    """From the nearer of two values, as NumPy does."""
    below = math.floor(place)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    part = place - below
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)


def quartiles(values: Iterable[float]) -> tuple[float, float, float]:
    """The lower quartile, the median and the upper quartile, interpolated."""
    low, middle, high = interpolated(values, 0.25, 0.5, 0.75)
    return low, middle, high
