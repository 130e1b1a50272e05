"""Quantiles without NumPy (python/swapmeet/quantiles.py), compared with NumPy's."""

import random
import re
from pathlib import Path

import numpy as np
import pytest

from swapmeet.quantiles import interpolated, quantile, quartiles


@pytest.mark.parametrize("count", [1, 2, 3, 10, 100, 101])
def test_quantiles_are_numpys(count: int) -> None:
    draw = random.Random(count)
    values = [draw.choice([draw.random(), 0.5, 2.0]) for _ in range(count)]
    for percent in (0, 1, 10, 25, 50, 90, 99, 100):
        # NumPy takes the share times the count before it rounds up: in whole numbers, 0.9 of 10 values is the ninth
        assert quantile(values, percent / 100) == np.quantile(values, percent / 100, method="inverted_cdf")
    shares = [draw.random() for _ in range(20)] + [0, 0.025, 0.25, 0.5, 0.95, 1]
    assert interpolated(values, *shares) == [float(np.quantile(values, share)) for share in shares]
    assert list(quartiles(values)) == [float(value) for value in np.quantile(values, [0.25, 0.5, 0.75])]


def test_a_weight_counts_a_value_several_times() -> None:
    values, weights = [64.0, 8.0, 1024.0], [3, 5, 2]
    repeated = [8.0] * 5 + [64.0] * 3 + [1024.0] * 2
    for tenth in range(11):
        assert quantile(values, tenth / 10, weights) == quantile(repeated, tenth / 10)


def test_nothing_else_defines_one() -> None:
    root = Path(__file__).parents[2]
    other = re.compile(r"\bnp\.(nan)?(quantile|percentile)\(|statistics\.quantiles\(")
    files = [
        path
        for folder in ("python", "benchmarks", "docs/reference", "examples")
        for path in (root / folder).rglob("*.py")
    ]
    assert [str(path) for path in files if other.search(path.read_text())] == []
