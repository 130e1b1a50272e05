"""Heat maps of distances: over ranks and sizes, a panel for what is known and one for what MPIs have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swapmeet.draw.plots.panels import Panels
from swapmeet.limits.computing import Row
from swapmeet.units import bytes_text

CELL = (0.62, 0.42)  #: inches
MOST = 8.0  #: where the scale of colours ends
SHORT = {"call": "c", "latency": "L", "messages": "m", "nic": "n", "links": "l", "memory": "M"}
NOTE = (
    "Time over the lower bound. The letter states what the bound is mostly of: m messages of a rank, L latency, "
    "n bytes of a NIC, l links, M memory of a node, c what every call costs."
)


def maps(rows: Sequence[Row], title: str) -> Any:
    """The distances of one platform."""
    from matplotlib.colors import LogNorm

    ranks, sizes = (sorted({row[key] for row in rows}) for key in ("ranks", "bytes"))
    panels = (("best_us", "best spec known"), ("mpi_us", "best of what MPIs have"))
    size = (CELL[0] * len(sizes), CELL[1] * len(ranks))
    made = Panels(title, [name for _, name in panels], size, handles=[], note=NOTE, left=0.75)
    for axes, (key, _) in zip(made.axes, panels, strict=True):
        grid = [[float("nan")] * len(sizes) for _ in ranks]
        for row in rows:
            x, y, ratio = sizes.index(row["bytes"]), ranks.index(row["ranks"]), row[key] / row["bound_us"]
            grid[y][x] = ratio
            colour = "white" if ratio > MOST / 2 else "black"
            text = f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"
            axes.text(x, y, f"{text} {SHORT[row['binding']]}", ha="center", va="center", fontsize=7, color=colour)
        axes.imshow(grid, norm=LogNorm(1, MOST), cmap="YlOrRd", aspect="auto", origin="lower")
        axes.set_xticks(range(len(sizes)), [bytes_text(size) for size in sizes], fontsize=7, rotation=30)
        axes.set_yticks(range(len(ranks)), [f"{p:,}" for p in ranks], fontsize=7)
        for spine in axes.spines.values():
            spine.set_visible(False)
    made.label("block", "ranks")
    return made.figure
