"""Pictures of validation: predicted over measured time, both logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swapmeet.draw.plots.panels import Panels
from swapmeet.draw.plots.style import COLOURS, MARKERS, dress, seconds_scale
from swapmeet.validation.judging import NEAR_FACTOR
from swapmeet.validation.store import Row

SIZE = (2.9, 2.9)  #: of a panel, in inches
SPECS = ("spread-out", "pairwise", "bruck-dt", "tra(r=2)")  #: that MPIs have: the same marker everywhere
LARGEST = 6.0  #: points of a marker; a second name for the same spec is drawn smaller, upon it
MARGIN = 1.6  #: of the scales, beyond the least and the largest time


def against(rows: Sequence[Row], title: str) -> Any:
    """A panel for each way and number of nodes; a marker for each spec, a colour and a size for each name of it."""
    from matplotlib.lines import Line2D

    looks = _looks(rows)
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", markersize=size, label=name)
        for name, (colour, marker, size) in looks.items()
    ]
    panels = list(dict.fromkeys((row["by"], row["nodes"]) for row in rows))
    note = f"Dashed: off by a factor of {NEAR_FACTOR}."
    if any(row["fitted"] or row["twin"] for row in rows):
        note = f"Hollow: the description was fitted to this cell, or to another name for the same messages. {note}"
    titles = [f"{by}, {nodes} nodes" for by, nodes in panels]
    made = Panels(title, titles, SIZE, handles=handles, note=note, left=0.75, legend_columns=3)
    for axes, (by, nodes) in zip(made.axes, panels, strict=True):
        some = [row for row in rows if (row["by"], row["nodes"]) == (by, nodes)]
        times = [1e-6 * row[key] for row in some for key in ("measured_us", "us")]
        ends = (min(times) / MARGIN, max(times) * MARGIN)
        for factor, style in ((1, "-"), (NEAR_FACTOR, (0, (5, 4))), (1 / NEAR_FACTOR, (0, (5, 4)))):
            axes.plot(ends, [factor * end for end in ends], color="0.6", linewidth=0.9, linestyle=style, zorder=1)
        for row in sorted(some, key=lambda row: list(looks).index(row["algorithm"])):
            colour, marker, size = looks[row["algorithm"]]
            face = "none" if row["fitted"] or row["twin"] else colour
            axes.plot(1e-6 * row["measured_us"], 1e-6 * row["us"], marker=marker, color=colour,
                      markerfacecolor=face, markersize=size, linestyle="")  # fmt: skip
        axes.set_xlim(*ends), axes.set_ylim(*ends)
        dress(axes)
        for which in ("x", "y"):
            seconds_scale(axes, which, logarithmic=True)
    made.label("measured", "predicted")
    return made.figure


def _looks(rows: Sequence[Row]) -> dict[str, tuple[str, str, float]]:
    """Colour, marker and size by the name of an algorithm: one spec has one marker on all machines."""
    specs = [*SPECS, *dict.fromkeys(row["spec"] for row in rows if row["spec"] not in SPECS)]
    names: dict[str, list[str]] = {spec: [] for spec in specs}
    for row in rows:
        if row["algorithm"] not in names[row["spec"]]:
            names[row["spec"]].append(row["algorithm"])
    found = {}
    for i, spec in enumerate(specs):
        for j, name in enumerate(names[spec]):
            colour = COLOURS[(i + len(SPECS) * j) % (len(COLOURS) - 1)]
            found[name] = (colour, MARKERS[i % len(MARKERS)], max(2.5, LARGEST - 3 * j))
    return found
