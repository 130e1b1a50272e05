"""Pictures of validation: predicted over measured time, both logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swapmeet.plots.panels import Panels
from swapmeet.plots.style import COLOURS, MARKERS, dress, seconds_scale
from swapmeet.validation.judging import NEAR_FACTOR
from swapmeet.validation.store import Row

SIZE = (2.9, 2.9)  #: of a panel, in inches
MARGIN = 1.6  #: of the scales, beyond the least and the largest time


def against(rows: Sequence[Row], title: str, panel: str = "by") -> Any:
    """A panel for each value of `panel`, a marker for each algorithm; what was fitted is hollow."""
    from matplotlib.lines import Line2D

    names = list(dict.fromkeys(row["algorithm"] for row in rows))
    looks = {name: (COLOURS[i % (len(COLOURS) - 1)], MARKERS[i % len(MARKERS)]) for i, name in enumerate(names)}
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", markersize=5, label=name)
        for name, (colour, marker) in looks.items()
    ]
    titles = list(dict.fromkeys(row[panel] for row in rows))
    note = f"Hollow: cells that the description was fitted to. Dashed: off by a factor of {NEAR_FACTOR}."
    made = Panels(title, titles, SIZE, handles=handles, note=note, left=0.75, legend_columns=3)
    for axes, name in zip(made.axes, titles, strict=True):
        some = [row for row in rows if row[panel] == name]
        times = [1e-6 * row[key] for row in some for key in ("measured_us", "us")]
        ends = (min(times) / MARGIN, max(times) * MARGIN)
        for factor, style in ((1, "-"), (NEAR_FACTOR, (0, (5, 4))), (1 / NEAR_FACTOR, (0, (5, 4)))):
            axes.plot(ends, [factor * end for end in ends], color="0.6", linewidth=0.9, linestyle=style, zorder=1)
        for row in some:
            colour, marker = looks[row["algorithm"]]
            face = "none" if row["fitted"] else colour
            axes.plot(1e-6 * row["measured_us"], 1e-6 * row["us"], marker=marker, color=colour,
                      markerfacecolor=face, markersize=4.5, linestyle="")  # fmt: skip
        axes.set_xlim(*ends), axes.set_ylim(*ends)
        dress(axes)
        for which in ("x", "y"):
            seconds_scale(axes, which, logarithmic=True)
    made.label("measured", "predicted")
    return made.figure
