"""How often intervals hold the truth, ours and those of a bootstrap, on the samples of tests/bench/estimates_test.py.

python benchmarks/intervals.py: some minutes; writes the table into docs/results.md. All is seeded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swapmeet.measure.bench import statistics
from swapmeet.quantiles import interpolated
from swapmeet.tables import between, markdown

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from bench.estimates_test import MEDIANS, Shape, launches, side_by_side  # noqa: E402

PAGE = ROOT / "docs" / "results.md"
BEGIN, END = "<!-- made by `python benchmarks/intervals.py`: begin -->\n", "<!-- end -->\n"
SAMPLES, SPREAD, OURS, THEIRS, RESAMPLES = 50, 0.1, 400, 200, 300
Samples = NDArray[np.float64]
Interval = Callable[[Sequence[Samples]], tuple[float, float]]


def ours(runs: Sequence[Samples]) -> tuple[float, float]:
    """The interval of `swapmeet bench`."""
    estimate = statistics.median(runs)
    return estimate.low, estimate.high


def bootstrap(runs: Sequence[Samples]) -> tuple[float, float]:
    """By percentiles: launches are drawn again, and samples in each."""
    random, times = np.random.default_rng(0), np.array(runs)
    drawn = random.integers(len(times), size=(RESAMPLES, len(times), 1))
    samples = times[drawn, random.integers(times.shape[1], size=(*drawn.shape[:2], times.shape[1]))]
    low, high = interpolated(np.exp(np.log(np.median(samples, axis=2)).mean(axis=1)), 0.025, 0.975)
    return low, high


def coverage(shape: Shape, count: int, interval: Interval, trials: int) -> str:
    """The share of intervals that hold the truth, and their median half-width."""
    random = np.random.default_rng([count, len(shape.__name__)])
    spread = 0.0 if count == 1 else SPREAD
    found = [interval(launches(random, shape, count, SAMPLES, spread)) for _ in range(trials)]
    share = np.mean([low <= MEDIANS[shape] <= high for low, high in found])
    width = np.median([(high - low) / 2 / MEDIANS[shape] for low, high in found])
    return f"{share:.2f}, ± {width:.0%}".replace("%", " %")


def seen(count: int) -> float:
    """In which share of campaigns a speed-up of 5 % is called faster, where launches favour a spec by 2 %."""
    random = np.random.default_rng(count)
    ratios = (statistics.ratio(*side_by_side(random, 1.05, count, spread=0.02)) for _ in range(THEIRS))
    return float(np.mean([statistics.verdict(ratio) == "faster" for ratio in ratios]))


def table() -> Iterator[str]:
    """A row for each number of launches, and what is seen."""
    names = [shape.__name__.replace("_", "-") for shape in MEDIANS]
    rows = []
    for count in (1, 2, 3, 5, 10):
        cells = [coverage(shape, count, *method) for shape in MEDIANS for method in ((ours, OURS), (bootstrap, THEIRS))]
        rows.append([f"{count}{' (about this launch)' if count == 1 else ''}", *cells])
    heads = [head for name in names for head in (f"{name}: ours", "bootstrap")]
    yield from markdown(["launches", *heads], rows)
    yield ""
    shares = ", ".join(f"{seen(count):.2f}" for count in (2, 3, 5))
    yield (
        f"A speed-up of 5 % is seen in {shares} of 200 campaigns each with 2, 3, 5 launches that favour a spec by 2 % "
        "(30 rounds)."
    )


if __name__ == "__main__":
    PAGE.write_text(between(PAGE.read_text(), BEGIN, END, "\n" + "\n".join(table()) + "\n\n"))
