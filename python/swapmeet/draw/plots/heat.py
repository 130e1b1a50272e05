"""Heat maps of the speed-up over the host MPI, sizes by ranks, as figure 2 of `slimfly` has them.

A cell holds the speed-up and its 95 % interval. Ties are grey, so that colour always means a difference.
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from swapmeet.draw.plots.measured import Measurements, Setting, interval
from swapmeet.draw.plots.pictures import LeftOut, Picture
from swapmeet.draw.plots.style import FASTER, SLOWER, TIE, new_figure, wrapped
from swapmeet.measure.bench import statistics
from swapmeet.measure.bench.cells import NATIVE
from swapmeet.measure.bench.statistics import Estimate
from swapmeet.units import digits

KIND = "heat"
ALL_SIZES = "all sizes"  #: the row of geometric means
MOST_LOG = 3.0  #: colours tell speed-ups from 1/8 to 8 apart
LEAST_LOG = 0.3  #: of the scale of colours, so that 2 % do not look like a lot

Key = tuple[str, int]  #: sizes, ranks


@dataclass
class Panel:
    """One heat map."""

    letter: str  #: by which the map of the best names a spec
    spec: str  #: "" for the best of all
    cells: dict[Key, Estimate] = field(default_factory=dict)  #: speed-ups
    best: dict[Key, str] = field(default_factory=dict)  #: the spec of each cell, in the map of the best


@dataclass
class Heat:
    """The heat maps of one setting."""

    setting: Setting
    sizes: list[tuple[str, str]]  #: (sizes, label), small blocks first
    ranks: list[int]
    panels: list[Panel]

    def letter(self, spec: str) -> str:
        """By which the map of the best names it."""
        return next(panel.letter for panel in self.panels if panel.spec == spec)


def pictures(data: Measurements) -> Iterator[Picture | LeftOut]:
    """A picture for each setting in which something was compared with the host MPI."""
    for setting in data.settings():
        if any(data.speedup(place, spec) for place in data.places(setting) for spec in data.specs([place])):
            yield Picture(
                KIND,
                f"heat-{setting.stem}",
                lambda setting=setting: draw(heat(data, setting)),  # type: ignore[misc]
            )
        else:
            yield LeftOut(KIND, f"{setting.title}: nothing was measured side by side with native")


def heat(data: Measurements, setting: Setting) -> Heat:
    """The speed-ups of a setting: a panel for the best (if there is a choice) and one for each spec."""
    places = data.places(setting)
    sizes: dict[str, str] = {}
    for place in sorted(places, key=lambda place: data.size_key(place.cell)):
        sizes.setdefault(place.cell.sizes, data.size_label(place.cell))
    panels = []
    for i, spec in enumerate(spec for spec in data.specs(places) if spec != NATIVE):
        panel = Panel(_letter(i), spec)
        for place in places:
            if (found := data.speedup(place, spec)) is not None:
                panel.cells[place.cell.sizes, place.cell.ranks] = found
        if panel.cells:
            panels.append(panel)
    if len(panels) > 1:
        panels.insert(0, _best(panels))
    rows = list(sizes.items())
    ranks = sorted({place.cell.ranks for place in places})
    if len(rows) > 1:
        for panel in panels:
            _add_means(panel, list(sizes), ranks)
        if any(key[0] == ALL_SIZES for panel in panels for key in panel.cells):
            rows.append((ALL_SIZES, f"{ALL_SIZES} (geometric\u00a0mean)"))
    return Heat(setting, rows, ranks, panels)


def _letter(i: int) -> str:
    letters = string.ascii_uppercase
    return letters[i] if i < len(letters) else letters[i // len(letters) - 1] + letters[i % len(letters)]


def _best(panels: Sequence[Panel]) -> Panel:
    best = Panel("", "")
    for panel in panels:
        for key, found in panel.cells.items():
            if key not in best.cells or found.value > best.cells[key].value:
                best.cells[key], best.best[key] = found, panel.spec
    return best


def _add_means(panel: Panel, sizes: Sequence[str], ranks: Sequence[int]) -> None:
    for p in ranks:
        column = [panel.cells[size, p] for size in sizes if (size, p) in panel.cells]
        if len(column) == len(sizes) and all(map(interval, column)):
            panel.cells[ALL_SIZES, p] = statistics.geometric_mean(column)


def reach(heat: Heat) -> float:
    """The logarithm (base 2) of the speed-up at which colours end."""
    logs = [abs(math.log2(found.value)) for panel in heat.panels for found in panel.cells.values() if found.value > 0]
    return min(MOST_LOG, max([LEAST_LOG, *logs]))


def cell_texts(found: Estimate) -> tuple[str, str]:
    """(speed-up, its interval) as a cell has them."""
    bounds = interval(found)
    if bounds is None:
        return digits(found.value), "too few samples"
    tie = {"tie": "≈ ", "unclear": "? "}.get(statistics.verdict(found), "")
    return f"{tie}{digits(found.value)}", f"{digits(bounds[0])}–{digits(bounds[1])}"


def ink(found: Estimate, limit: float) -> str:
    """The colour of the text on the colour of a cell."""
    dark = statistics.differs(found) and abs(math.log2(found.value)) > 0.7 * limit
    return "white" if dark else "black"


# matplotlib

CELL_WIDTH, CELL_HEIGHT = 0.92, 0.42  #: inches
GAP = 0.35
TITLE_LINE = 0.17
SHAPE = 1.4  #: width over height


def draw(heat: Heat) -> Any:
    """Draw the panels side by side, as many as fit."""
    labels = [wrapped(label, 26) for _, label in heat.sizes]
    margin = 0.75 + 0.075 * max(len(line) for label in labels for line in label.split("\n"))
    row = max(CELL_HEIGHT, 0.14 * max(label.count("\n") + 1 for label in labels) + 0.1)
    wide, high = max(CELL_WIDTH * len(heat.ranks), 2.6), row * len(heat.sizes)
    titles = [wrapped(_title(panel), int(wide / 0.085)) for panel in heat.panels]
    above = 0.2 + TITLE_LINE * max(title.count("\n") + 1 for title in titles)
    across = _across(len(heat.panels), margin, wide + GAP, above + high + 0.3)
    down = -(-len(heat.panels) // across)
    width = max(margin + across * (wide + GAP), 7.2)
    below = 1.25
    height = 0.5 + down * (above + high + 0.3) + below
    figure = new_figure(width, height)
    figure.suptitle(
        f"Speed-up over the host MPI: {heat.setting.title}",
        fontsize=12,
        x=0.15 / width,
        ha="left",
        y=1 - 0.22 / height,
    )
    limit = reach(heat)
    for i, (panel, title) in enumerate(zip(heat.panels, titles, strict=True)):
        left = margin + (i % across) * (wide + GAP)
        bottom = height - 0.5 - (i // across + 1) * (above + high + 0.3) + 0.3
        axes = figure.add_axes((left / width, bottom / height, wide / width, high / height))
        _draw_panel(axes, heat, panel, limit)
        axes.set_title(title, fontsize=9.5, loc="left")
        axes.set_yticks(range(len(labels)), labels if i % across == 0 else [""] * len(labels), fontsize=8.5)
        if i % across == 0:
            axes.set_ylabel("sizes of the blocks" if high > 1.4 else "sizes", fontsize=9)
        if i + across >= len(heat.panels):
            axes.set_xlabel("ranks", fontsize=9)
    _legend(figure, limit, width, height)
    return figure


def _across(panels: int, margin: float, wide: float, high: float) -> int:
    """How many panels side by side come nearest to the shape of a screen."""

    def shape(across: int) -> float:
        return (margin + across * wide) / (-(-panels // across) * high)

    return min(range(1, panels + 1), key=lambda across: abs(math.log(shape(across) / SHAPE)))


def _title(panel: Panel) -> str:
    return f"{panel.letter}: {panel.spec}" if panel.spec else "best of all specs, named by its letter"


def colours() -> Any:
    """Slower orange, faster blue, through white; missing cells stay white."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("speed-up", [SLOWER, "#F7D9C8", "#FFFFFF", "#C3DDEE", FASTER])


def _draw_panel(axes: Any, heat: Heat, panel: Panel, limit: float) -> None:
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle

    shades = Normalize(-limit, limit, clip=True)
    palette = colours()
    for y, (size, _) in enumerate(heat.sizes):
        for x, p in enumerate(heat.ranks):
            found = panel.cells.get((size, p))
            corner = (x - 0.5, y - 0.5)
            if found is None:
                if size != ALL_SIZES:
                    axes.add_patch(
                        Rectangle(corner, 1, 1, facecolor="white", edgecolor="0.85", hatch="///", linewidth=0)
                    )
                continue
            log = math.log2(found.value)
            fill = palette(shades(log)) if statistics.differs(found) else TIE
            axes.add_patch(Rectangle(corner, 1, 1, facecolor=fill, edgecolor="white", linewidth=1.2))
            colour = ink(found, limit)
            value, bounds = cell_texts(found)
            letter = f"{heat.letter(panel.best[size, p])}  " if (size, p) in panel.best else ""
            axes.text(x, y - 0.14, letter + value, ha="center", va="center", fontsize=8.5, color=colour)
            axes.text(x, y + 0.24, bounds, ha="center", va="center", fontsize=6.3, color=colour)
    axes.set_xlim(-0.5, len(heat.ranks) - 0.5)
    axes.set_ylim(len(heat.sizes) - 0.5, -0.5)
    if heat.sizes[-1][0] == ALL_SIZES:
        axes.axhline(len(heat.sizes) - 1.5, color="black", linewidth=1)
    axes.set_xticks(range(len(heat.ranks)), [f"{p:,}" for p in heat.ranks], fontsize=8.5)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _legend(figure: Any, limit: float, width: float, height: float) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import Patch

    axes = figure.add_axes((0.4 / width, 0.62 / height, 3.2 / width, 0.14 / height))
    bar = figure.colorbar(ScalarMappable(Normalize(-limit, limit), colours()), cax=axes, orientation="horizontal")
    ticks = [log for log in (-3, -2, -1, 1, 2, 3) if abs(log) <= limit] if limit >= 1 else [-limit, limit]
    bar.set_ticks([*ticks, 0], labels=[f"{2.0**log:.3g}×" for log in ticks] + ["1×"])
    bar.ax.tick_params(labelsize=8)
    figure.text(0.4 / width, 0.84 / height, "slower than the MPI", fontsize=8)
    figure.text(3.6 / width, 0.84 / height, "faster", fontsize=8, ha="right")
    figure.legend(
        handles=[
            Patch(
                facecolor=TIE,
                label=f"≈ a tie: closer than {statistics.TIE:.0%}, or surely than {statistics.NEAR:.0%}",
            ),
            Patch(facecolor=TIE, label="? unclear: the interval holds 1"),
            Patch(facecolor="white", edgecolor="0.8", hatch="///", label="not measured"),
        ],
        loc="lower left",
        bbox_to_anchor=(3.8 / width, 0.45 / height),
        fontsize=8,
        frameon=False,
    )
    note = "Median time of a call (slowest rank) by the MPI over that by the spec; below it the 95 % interval."
    figure.text(0.4 / width, 0.12 / height, note, fontsize=8, color="0.3")


# plotly
