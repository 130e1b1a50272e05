"""All samples: violins as PNG and SVG, in the report the share of samples up to a time (ECDF)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapmeet.draw.plots.measured import Measurements, Place, Setting, interval
from swapmeet.draw.plots.panels import Panels
from swapmeet.draw.plots.pictures import LeftOut, Picture
from swapmeet.draw.plots.style import WIDE_SPREAD, dress, line_style, seconds_scale, wrapped
from swapmeet.measure.bench.statistics import SMALLEST, Estimate
from swapmeet.quantiles import interpolated, quartiles

KIND = "samples"
LEAST_OF_VIOLIN = 8  #: fewer samples are drawn as points
SHOWN = 0.95  #: of the samples of each spec; a few slow ones would squash all others
STEPS = 200  #: of a curve in the report
GRID = 160  #: points along a violin


@dataclass(frozen=True)
class Group:
    """The samples of one cell."""

    place: Place
    label: str  #: of the sizes
    samples: dict[str, NDArray[np.float64]]  #: spec -> (samples,) array, seconds, ascending
    medians: dict[str, Estimate]


def pictures(data: Measurements) -> Iterator[Picture | LeftOut]:
    """A picture for each setting and number of ranks."""
    for setting in data.settings():
        for ranks in sorted({place.cell.ranks for place in data.places(setting)}):
            if _all_the_same(data, data.places(setting, ranks)):
                yield LeftOut(KIND, f"{setting.title}, P = {ranks}: all samples of a spec are the same, as simulated")
                continue

            def made(setting: Setting = setting, ranks: int = ranks) -> list[Group]:
                return groups(data, setting, ranks)

            yield Picture(
                KIND,
                f"samples-{setting.stem}-P{ranks}",
                lambda made=made: draw(made()),  # type: ignore[misc]
            )


def _all_the_same(data: Measurements, places: Sequence[Place]) -> bool:
    """Whether no spec has two times that differ: points then show nothing."""
    runs = (data.runs(place, spec) for place in places for spec in data.specs([place]))
    return all(float(np.ptp(np.concatenate([run.longest for run in some]))) == 0 for some in runs if some)


def groups(data: Measurements, setting: Setting, ranks: int) -> list[Group]:
    """The samples of each cell, of all launches together."""
    found = []
    for place in data.places(setting, ranks):
        specs = data.specs([place])
        samples = {spec: np.sort(np.concatenate([run.longest for run in data.runs(place, spec)])) for spec in specs}
        medians = {spec: median for spec in specs if (median := data.median(place, spec)) is not None}
        found.append(Group(place, data.size_label(place.cell), samples, medians))
    return found


def draw(groups: Sequence[Group]) -> Any:
    """Draw a panel for each size, a violin for each spec."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    specs = list(dict.fromkeys(spec for group in groups for spec in group.samples))
    names = [wrapped(spec, 34) for spec in specs]
    row = max(0.34, 0.15 * max(name.count("\n") + 1 for name in names) + 0.06)
    place = groups[0].place
    panels = Panels(
        f"Samples: {place.setting.title}, P = {place.cell.ranks:,}",
        [wrapped(group.label, 38) for group in groups],
        (3.3, row * len(specs)),
        handles=[
            Patch(facecolor="0.7", label="how densely samples lie (all launches)"),
            Line2D([], [], color="black", marker="|", markersize=9, label="median with its 95 % interval"),
        ],
        note=f"Time of a call, slowest rank. The scale holds at least {100 * SHOWN:.0f} % of the samples of each spec;"
        " numbers at its right end: samples beyond it.",
        left=0.35 + 0.073 * max(len(line) for name in names for line in name.split("\n")),
        shared=True,
    )
    logarithmic = any(map(_is_wide, groups))  # all or none, so that panels can be compared
    for i, (axes, group) in enumerate(zip(panels.axes, groups, strict=True)):
        _draw_group(axes, group, specs, logarithmic)
        axes.set_yticks(range(len(specs)), names if panels.first_column(i) else [""] * len(specs), fontsize=8)
    panels.label("time of a call")
    return panels.figure


def _ends(group: Group) -> tuple[float, float]:
    """The least time, and that which most samples of each spec are below."""
    low = max(min(float(values[0]) for values in group.samples.values()), SMALLEST)
    return low, max(low, *(interpolated(values, SHOWN)[0] for values in group.samples.values()))


def _is_wide(group: Group) -> bool:
    low, high = _ends(group)
    return high / low > WIDE_SPREAD


def _draw_group(axes: Any, group: Group, specs: Sequence[str], logarithmic: bool) -> None:
    low, high = _ends(group)
    margin = max(high / low, 1.5) ** 0.06 if logarithmic else 0.06 * (high - low) or 0.05 * (high or 1e-9)
    left, right = (low / margin, high * margin**2) if logarithmic else (max(0.0, low - margin), high + 1.5 * margin)
    for spec, values in group.samples.items():
        shade, _, _ = line_style(spec, specs)
        _violin(axes, values[values <= right], specs.index(spec), "0.45" if spec == "native" else shade, logarithmic)
        beyond = int(np.sum(values > right))
        if beyond:
            axes.annotate(
                f"+{beyond:,}",
                (1, specs.index(spec)),
                xycoords=("axes fraction", "data"),
                ha="right",
                va="center",
                fontsize=7,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
            )
        _median(axes, group.medians.get(spec), specs.index(spec))
    axes.set_xlim(left, right)
    axes.set_ylim(len(specs) - 0.5, -0.5)
    seconds_scale(axes, "x", logarithmic=logarithmic, ticks=4)
    dress(axes)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)


def _violin(axes: Any, values: NDArray[np.float64], y: int, shade: str, logarithmic: bool) -> None:
    from scipy import stats  # type: ignore[import-untyped]

    scaled = np.log(np.maximum(values, SMALLEST)) if logarithmic else values
    spread = float(np.ptp(scaled))
    if len(values) < LEAST_OF_VIOLIN or spread <= 1e-9 * float(np.max(np.abs(scaled))):
        axes.plot(values, np.full(len(values), y), ".", color=shade, markersize=5, alpha=0.6)
        return
    grid = np.linspace(scaled[0], scaled[-1], GRID)
    density = stats.gaussian_kde(scaled, _smoothing(scaled))(grid)
    half = 0.42 * density / density.max()
    axes.fill_between(
        np.exp(grid) if logarithmic else grid,
        y - half,
        y + half,
        color=shade,
        alpha=0.65,
        linewidth=0.6,
        label=f"samples {y}",
    )


def _smoothing(values: NDArray[np.float64]) -> float:
    """Silverman's width in units of the standard deviation, from quartiles: a few slow samples must not blur all."""
    deviation = float(np.std(values, ddof=1))
    low, _, high = quartiles(values)
    width = 0.9 * min(deviation, (high - low) / 1.349 or deviation) * len(values) ** -0.2
    return float(max(width, float(np.ptp(values)) / GRID) / deviation)


def _median(axes: Any, found: Estimate | None, y: int) -> None:
    if found is None:
        return
    low, high = interval(found) or (found.value, found.value)
    axes.plot([low, high], [y, y], color="black", linewidth=1.6, solid_capstyle="butt", zorder=4)
    axes.plot(found.value, y, "|", color="black", markersize=11, markeredgewidth=1.6, zorder=4)
