"""Gains between measured numbers of ranks and sizes: a Gaussian process over their logarithms, for each spec.

It counts only where it has shown that it guesses better than the nearest measurement does, when each cell is left out
in turn. Needs scikit-learn.
"""

from __future__ import annotations

import importlib
import itertools
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from swapmeet.measure.bench.cells import NATIVE
from swapmeet.measure.bench.statistics import NORMAL, Estimate

Sized: TypeAlias = list[tuple[int, dict[str, Estimate]]]  #: what is known for each size, ascending
Point: TypeAlias = tuple[int, int]  #: ranks, bytes

PER_OCTAVE = 4  #: sizes that are asked for, for each doubling
LEAST_POINTS = 6
LEAST_ERROR, MOST_ERROR = 0.002, 1.0  #: of a gain's logarithm


@dataclass(frozen=True)
class Fit:
    """What is known where nothing was measured, too."""

    rows: dict[int, Sized]  #: by ranks, ascending
    fineness: float  #: sizes for each one that was measured
    lost: float  #: in the mean over all cells, each left out in turn, of the time
    lost_by_nearest: float


class _Surface:
    """One spec's gain everywhere."""

    def __init__(self, known: Mapping[Point, Estimate], kernel: Any = None) -> None:
        processes = importlib.import_module("sklearn.gaussian_process")
        kernels = importlib.import_module("sklearn.gaussian_process.kernels")
        points = list(known)
        gains = np.array([math.log(known[point].value) for point in points])
        errors = np.clip([_error(known[point]) for point in points], LEAST_ERROR, MOST_ERROR)
        self._mean, self._width = float(gains.mean()), NORMAL * float(np.median(errors))
        own = kernels.ConstantKernel(0.1, (1e-3, 10)) * kernels.Matern((1, 3), ((0.3, 30), (0.5, 30)), nu=1.5)
        optimizer = None if kernel else "fmin_l_bfgs_b"
        self._process = processes.GaussianProcessRegressor(kernel or own, alpha=errors**2, optimizer=optimizer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a length at its bound: nothing depends on it
            self._process.fit(_logs(points), gains - self._mean)
        self.kernel = self._process.kernel_

    def at(self, points: Sequence[Point]) -> list[Estimate]:
        """What is expected there, as sure as measurements are: how far away they are is no reason to choose native."""
        means = self._mean + self._process.predict(_logs(points))
        sides = [[math.exp(mean + side * self._width) for side in (0, -1, 1)] for mean in means]
        return [Estimate(value, low, high, 0, 0) for value, low, high in sides]


def _logs(points: Sequence[Point]) -> Any:
    return np.log2(np.array(points, dtype=float))


def _error(estimate: Estimate) -> float:
    return math.log(estimate.high / estimate.low) / 2 / NORMAL if estimate.low > 0 else MOST_ERROR


def fitted(rows: Mapping[int, Sized]) -> Fit | None:
    """What is known at and between these numbers of ranks and sizes.

    Parameters
    ----------
    rows
        What was measured, by ranks.

    Returns
    -------
    Fit or None
        None: scikit-learn is missing, too little was measured, or the nearest measurement guesses as well.
    """
    known = {(ranks, size): found for ranks, sized in rows.items() for size, found in sized if size > 0}
    specs = sorted({spec for found in known.values() for spec in found})
    by_spec = {spec: {point: found[spec] for point, found in known.items() if spec in found} for spec in specs}
    by_spec = {spec: some for spec, some in by_spec.items() if len(some) >= LEAST_POINTS}
    if not by_spec:
        return None
    try:
        surfaces = {spec: _Surface(some) for spec, some in by_spec.items()}
    except ImportError:
        return None
    lost, lost_by_nearest = _left_out(known, by_spec, surfaces)
    if lost >= lost_by_nearest:
        return None
    sizes = sorted({size for _, size in known})
    grid = _between(sizes)
    found = {ranks: _row(ranks, grid, by_spec, surfaces, rows) for ranks in _with_middles(sorted(rows))}
    return Fit(found, len(grid) / len(sizes), lost, lost_by_nearest)


def _row(
    ranks: int,
    grid: Sequence[int],
    by_spec: Mapping[str, Mapping[Point, Estimate]],
    surfaces: Mapping[str, _Surface],
    rows: Mapping[int, Sized],
) -> Sized:
    """Gains of all specs that were measured on that many ranks, or on fewer and on more."""
    ends = {max(p for p in rows if p <= ranks), min(p for p in rows if p >= ranks)}
    usable = [spec for spec, known in by_spec.items() if ends <= {p for p, _ in known}]
    columns = [surfaces[spec].at([(ranks, size) for size in grid]) for spec in usable]
    return [
        (size, {spec: column[i] for spec, column in zip(usable, columns, strict=True)}) for i, size in enumerate(grid)
    ]


def _between(sizes: Sequence[int]) -> list[int]:
    """The sizes, and others between them."""
    found = {sizes[-1]}
    for a, b in itertools.pairwise(sizes):
        steps = max(1, round(PER_OCTAVE * math.log2(b / a)))
        found |= {round(a * (b / a) ** (i / steps)) for i in range(steps)}
    return sorted(found)


def _with_middles(ranks: Sequence[int]) -> list[int]:
    return sorted({*ranks, *(math.isqrt(a * b) for a, b in itertools.pairwise(ranks))})


def _left_out(
    known: Mapping[Point, Mapping[str, Estimate]],
    by_spec: Mapping[str, Mapping[Point, Estimate]],
    surfaces: Mapping[str, _Surface],
) -> tuple[float, float]:
    """What the choices by a fit, and by the nearest measurement, lose in the mean where a cell is not known."""
    lost = []
    for point, found in known.items():
        guesses = {}
        for spec, some in by_spec.items():
            rest = {other: estimate for other, estimate in some.items() if other != point}
            if spec in found and rest:
                guesses[spec] = _Surface(rest, surfaces[spec].kernel).at([point])[0]
        others = [other for other in known if other != point]
        nearest = min(others, key=lambda other: (_distance(point, other), other))
        lost.append((_loss(_choice(guesses), found), _loss(_choice(known[nearest]), found)))
    by_fit, by_nearest = np.mean(lost, axis=0)
    return float(by_fit), float(by_nearest)


def _distance(one: Point, other: Point) -> float:
    return abs(math.log2(one[0] / other[0])) + abs(math.log2(one[1] / other[1]))


def _choice(gains: Mapping[str, Estimate]) -> str:
    best = max(gains, key=lambda spec: gains[spec].low, default=NATIVE)
    return best if best in gains and gains[best].low > 1 else NATIVE


def _loss(spec: str, truth: Mapping[str, Estimate]) -> float:
    """Of the time, against the best; a spec that was not measured there is left to native."""
    times = {NATIVE: 1.0} | {known: 1 / estimate.value for known, estimate in truth.items()}
    return times.get(spec, 1.0) / min(times.values()) - 1
