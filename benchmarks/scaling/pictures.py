"""Scaling as a picture, time over ranks, and as Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from problems import PROBLEMS
from records import Point

from swapmeet.draw.plots.panels import Panels
from swapmeet.draw.plots.style import dress, line_style, plain_numbers, save, seconds_scale
from swapmeet.tables import between, markdown
from swapmeet.units import digits, duration

PANEL = (2.5, 2.0)  #: inches
NEAR = 0.98  #: speed-ups below are counted
PRICES = "<!-- made by `benchmarks/scaling --document`, prices: begin -->\n"
BEGIN, END = "<!-- made by `benchmarks/scaling --document`: begin -->\n", "<!-- end -->\n"


def ordered(values: Sequence[str]) -> list[str]:
    """Each once, as they first come."""
    return list(dict.fromkeys(values))


def draw(points: Sequence[Point], where: str, file: Path) -> None:
    """A row for strong scaling, one for weak: solid, the time of the application; dotted, that of its all-to-alls."""
    from matplotlib.lines import Line2D

    here = [point for point in points if point.where == where]
    specs = ordered([point.spec for point in here])
    panels = list(dict.fromkeys((point.program, point.scaling) for point in here))
    handles = []
    for spec in specs:
        colour, _, marker = line_style(spec, specs)
        handles.append(Line2D([], [], color=colour, marker=marker, markersize=4, label=spec))
    handles.append(Line2D([], [], color="0.4", linestyle=":", label="in all-to-alls"))
    figure = Panels(
        f"Scaling, {where}",
        [f"{program}, {scaling}" for program, scaling in panels],
        PANEL,
        handles=handles,
        note="Means over ranks. Solid: the application; dotted: its all-to-alls.",
        left=0.75,
        legend_columns=4,
    )
    for (program, scaling), axes in zip(panels, figure.axes, strict=True):
        _panel(axes, [point for point in here if (point.program, point.scaling) == (program, scaling)], specs)
    figure.label("ranks", "time")
    save(figure.figure, file, "--picture")


def _panel(axes: object, points: Sequence[Point], specs: Sequence[str]) -> None:
    for spec in specs:
        line = sorted((point for point in points if point.spec == spec), key=lambda point: point.ranks)
        ranks = [point.ranks for point in line]
        colour, _, marker = line_style(spec, specs)
        style = {"color": colour, "marker": marker, "markersize": 3.5, "linewidth": 1.1}
        axes.plot(ranks, [point.seconds for point in line], **style)  # type: ignore[attr-defined]
        dotted = {**style, "linestyle": ":", "marker": ""}
        axes.plot(ranks, [point.all_to_all_seconds for point in line], **dotted)  # type: ignore[attr-defined]
    dress(axes)
    axes.set_xscale("log", base=2)  # type: ignore[attr-defined]
    axes.set_xticks(sorted({point.ranks for point in points}))  # type: ignore[attr-defined]
    plain_numbers(axes.xaxis)  # type: ignore[attr-defined]
    seconds_scale(axes, "y", logarithmic=True)


def tables(points: Sequence[Point]) -> str:
    """For each place: the time by `native` on some numbers of ranks, and the speed-ups of the others over it."""
    parts = []
    for where in ordered([point.where for point in points]):
        here = [point for point in points if point.where == where]
        specs = ordered([point.spec for point in here])
        others = [spec for spec in specs if spec != "native"]
        rows = []
        heads = ["application", "ranks", "by `native`", "in all-to-alls", *(f"`{spec}`" for spec in others)]
        for program, scaling in dict.fromkeys((point.program, point.scaling) for point in here):
            some = [point for point in here if (point.program, point.scaling) == (program, scaling)]
            ranks = sorted({point.ranks for point in some})
            for number in dict.fromkeys((ranks[0], ranks[len(ranks) // 2], ranks[-1])):
                by = {point.spec: point for point in some if point.ranks == number}
                if "native" in by:
                    rows.append(_row(f"`{program}`, {scaling}", number, by, others))
        title = f"**{where[0].upper() + where[1:]}**"
        parts.append("\n".join([title, "", *markdown(heads, rows), "", *_beside_native(here)]) + "\n")
    return "\n".join(parts)


def _beside_native(here: Sequence[Point]) -> list[str]:
    """In how many points of a place `auto` is slower than `native`; nothing if it was not run there."""
    plain = {point.key[:4]: point for point in here if point.spec == "native"}
    found = [median(_speedups(point, plain[point.key[:4]])) for point in here if point.spec == "auto"]
    if not found:
        return []
    slower = sum(speedup < NEAR for speedup in found)
    return [f"`auto` is below {NEAR} in {slower} of {len(found)} points; the least is {digits(min(found))}."]


def _row(name: str, ranks: int, by: dict[str, Point], others: Sequence[str]) -> list[str]:
    plain = by["native"]
    cells = [name, str(ranks), duration(plain.seconds), f"{plain.share:.0%}"]
    cells += [_speedup(by[spec], plain) if spec in by else "" for spec in others]
    return cells


def _speedups(one: Point, plain: Point) -> list[float]:
    """The time by `native` over that of a point: of each round, or of the only run."""
    pairs = zip(plain.rounds, one.rounds, strict=True) if one.rounds else [(plain.seconds, one.seconds)]
    return [above / below for above, below in pairs]


def _speedup(one: Point, plain: Point) -> str:
    """Of rounds the median, the least and the greatest."""
    found = _speedups(one, plain)
    value = digits(median(found))
    return f"{value} ({digits(min(found))}-{digits(max(found))})" if one.rounds else value


def document(page: str, points: Sequence[Point]) -> str:
    """The page with its tables made anew."""
    return between(between(page, BEGIN, END, tables(points)), PRICES, END, prices())


def prices() -> str:
    """What operations of the applications take in simulations."""
    rows = [[f"`{one.name}`", one.operation, f"{one.operation_ns:g}"] for one in PROBLEMS if one.operation]
    return "\n" + "\n".join(markdown(["", "operation", "ns"], rows)) + "\n\n"
