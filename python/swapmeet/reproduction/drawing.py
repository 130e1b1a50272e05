"""Pictures of figures: times as lines, in panels, by the style that all pictures have (swapmeet.draw.plots)."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swapmeet import texts
from swapmeet.draw.plots.style import MARKERS, WIDE_SPREAD, dress, line_style, plain_numbers, seconds_scale, thinned
from swapmeet.model.costs import root
from swapmeet.reproduction.figure import SIMULATION, Rows
from swapmeet.units import bytes_text

Line = Sequence[tuple[float, float]]  #: (x, microseconds or another number)
WIDTH, HEIGHT = 2.3, 2.0  #: of a panel, in inches
MOST_TICKS = 7
MOST_COLOURS = 128


@dataclass(frozen=True)
class Panel:
    """Lines by name, over one scale; `marks` are dashed upright."""

    title: str
    lines: Mapping[str, Line]
    marks: Sequence[float] = ()


def lines(title: str, panels: Sequence[Panel], x: str, note: str = "", y: str = "time", in_us: bool = True) -> Any:
    """A figure of panels that share a legend."""
    from matplotlib.lines import Line2D

    from swapmeet.draw.plots.panels import Panels

    panels = [panel for panel in panels if panel.lines]
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    looks: dict[str, Any] = {name: line_style(name, names) for name in names}
    few = all(_few(line) for panel in panels for line in panel.lines.values())
    handles = [
        Line2D([], [], color=colour, linestyle=style, marker=marker if few else "", markersize=4, label=name)
        for name, (colour, style, marker) in looks.items()
    ]
    titles = [panel.title for panel in panels]
    made = Panels(title, titles, (WIDTH, HEIGHT), handles=handles, note=note, left=0.75, legend_columns=4)
    for axes, panel in zip(made.axes, panels, strict=True):
        _draw(axes, panel, looks, in_us)
    made.label(x, y)
    return made.figure


def _few(line: Line) -> bool:
    return len(line) <= 2 * len(MARKERS)


def _draw(axes: Any, panel: Panel, looks: Mapping[str, tuple[str, str, str]], in_us: bool) -> None:
    for name, line in panel.lines.items():
        colour, style, marker = looks[name]
        values = [(at, 1e-6 * value if in_us else value) for at, value in line]
        axes.plot(*zip(*values, strict=True), color=colour, linestyle=style, linewidth=1.3,
                  marker=marker if _few(line) else "", markersize=3.5)  # fmt: skip
    for mark in panel.marks:
        axes.axvline(mark, color="0.5", linewidth=0.9, linestyle=(0, (6, 4)), zorder=1)
    at = sorted({point[0] for line in panel.lines.values() for point in line})
    axes.set_xscale("log", base=2)
    plain_numbers(axes.xaxis)
    axes.set_xticks(thinned(at, MOST_TICKS))
    axes.tick_params(axis="x", rotation=30)
    heights = [value for line in panel.lines.values() for _, value in line]
    wide = max(heights) / max(min(heights), 1e-9) > WIDE_SPREAD / 4
    dress(axes)
    if in_us:
        if not wide:
            axes.set_ylim(bottom=0)
        seconds_scale(axes, "y", logarithmic=wide)
    else:
        axes.set_ylim(bottom=0)


def compact(file: Path) -> None:
    """Make a picture take less room: these have few colours. The thinnest line keeps its own."""
    from PIL import Image

    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(MOST_COLOURS, method=Image.Quantize.MAXCOVERAGE)
    content = io.BytesIO()
    few.save(content, format="PNG", optimize=True)
    texts.write(file, content.getvalue())


def counts(rows: Rows) -> Any:
    """K and D over the radix: figure 4 of `tra`, 2a of `radix`."""
    panels = []
    for name in ("K", "D"):
        for ranks in rows.having("K").values("P")[:4]:
            some = rows.where(P=ranks).having(name)
            panels.append(
                Panel(f"{name}, P = {ranks:,}", {name: [(row["r"], row[name]) for row in some]}, [root(ranks)])
            )
    return lines(
        "Messages K and blocks D of a rank over the radix", panels, "radix", "Dashed: √P.", "number", in_us=False
    )


def radix_times(rows: Rows, machine: str) -> Any:
    """Time over the radix, by size: figure 8 of `tra`."""
    from swapmeet.reproduction.radices import curves

    panels = []
    found = curves(rows)
    for by, ranks in dict.fromkeys((by, ranks) for by, ranks, _ in found):
        some = {
            bytes_text(size): sorted(times.items()) for (b, p, size), times in found.items() if (b, p) == (by, ranks)
        }
        if by == SIMULATION or ranks in (512, 8192):
            some = {
                name: line
                for name, line in some.items()
                if name in ("16 B", "64 B", "256 B", "512 B", "1 KiB", "4 KiB")
            }
            panels.append(Panel(f"{by}, P = {ranks:,}", some, [root(ranks)]))
    return lines(f"Time of TRA over the radix, {machine}", panels, "radix", "Dashed: √P, rounded up.")


def over_sizes(rows: Rows, title: str, places: Sequence[tuple[str, int]], **wanted: object) -> Any:
    """Time over the size of blocks, a panel for each (by, P), a line for each part."""
    panels = []
    for by, ranks in places:
        some = rows.where(by=by, P=ranks, **wanted).having("us")
        found = {role: [(row["bytes"], row["us"]) for row in some.where(role=role)] for role in some.values("role")}
        panels.append(Panel(f"{by}, P = {ranks:,}", found))
    return lines(title, panels, "bytes of a block")
