"""Quantiles, without NumPy: for tables that are printed where it is not installed.

The intervals of measured times are those of bench/statistics.py.
"""

from __future__ import annotations

import itertools
import statistics
from bisect import bisect_left
from collections.abc import Iterable


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


def quartiles(values: Iterable[float]) -> tuple[float, float, float]:
    """The lower quartile, the median and the upper quartile, interpolated as by numpy.percentile."""
    found = list(values)
    if len(found) == 1:
        found *= 2  # statistics.quantiles refuses one
    low, middle, high = statistics.quantiles(found, n=4, method="inclusive")
    return low, middle, high
