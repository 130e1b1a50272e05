"""Pictures of what exchanges cost: `swapmeet model --plot`. Needs matplotlib, which `make build` installs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from swapmeet.draw.plots.style import COLOURS, STYLES, WIDE_SPREAD, dress, plain_numbers, save
from swapmeet.errors import SwapmeetError
from swapmeet.model.costs import Point, root, special_radices
from swapmeet.model.hockney import AlphaBeta
from swapmeet.model.varying import Curves

SUFFIXES = (".png", ".svg", ".pdf")

Curve = Sequence[tuple[int, Point]]  #: (radix, what it costs), by rising radix


def require_plotting(file: Path, option: str = "--plot") -> None:
    """Refuse a picture that cannot be drawn, before anything is computed.

    Raises
    ------
    SwapmeetError
        If matplotlib is missing, or the file's name or folder is of no use.
    """
    if file.suffix.lower() not in SUFFIXES:
        raise SwapmeetError(f'{option} "{file}": the name must end in {", ".join(SUFFIXES)}')
    if not file.parent.is_dir():
        raise SwapmeetError(f'{option} "{file}": there is no folder {file.parent}')
    if find_spec("matplotlib") is None:  # importing it takes a third of a second
        raise SwapmeetError(f"{option} needs matplotlib: `pip install 'swapmeet[plot]'`")


def plot_radices(curves: Mapping[str, Curve], block_bytes: int | None, file: Path) -> None:
    """Draw K and D over the radix, a line for each curve, as figure 4 of `tra` and 2a of `radix` have it.

    Marked on each line are the radices that the papers single out: 2, the square root of P and P.

    Parameters
    ----------
    curves : mapping
        The points by the name of their line.
    block_bytes : int or None
        If given, a second scale shows D in bytes.
    file : Path
        PNG, SVG or PDF by its suffix.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 7.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for i, (name, curve) in enumerate(curves.items()):
        style: dict[str, Any] = {
            "color": COLOURS[i % len(COLOURS)],
            "linestyle": STYLES[i // len(COLOURS) % len(STYLES)],
        }
        _draw(above, [(radix, point.counts.messages) for radix, point in curve], name, style)
        _draw(below, [(radix, point.counts.blocks) for radix, point in curve], name, style)
        _mark(above, below, curve, style["color"], alone=len(curves) == 1)
    _dress(figure, above, below, list(curves), block_bytes)
    save(figure, file, "--plot")


def plot_times(curves: Curves, workload: str, machine: AlphaBeta, file: Path) -> None:
    """Draw predicted times over the mean block: a line for each spec, and equations 1 and 2 of `nonuniform` in grey.

    Parameters
    ----------
    curves : Curves
        In bytes and microseconds.
    workload : str
        Its text; its own mean block is marked.
    machine : AlphaBeta
        What the times were predicted with.
    file : Path
        PNG, SVG or PDF by its suffix.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5.5), layout="constrained")
    axes = figure.subplots()
    for i, (name, line) in enumerate(curves.lines.items()):
        colour, style = COLOURS[i % len(COLOURS)], STYLES[i // len(COLOURS) % len(STYLES)]
        _draw(
            axes,
            line or [(float("nan"), float("nan"))],
            name if line else f"{name} (not known)",
            {"color": colour, "linestyle": style},
        )
    for (name, line), style in zip(curves.paper.items(), (":", "--"), strict=False):
        axes.plot(*zip(*line, strict=True), label=name, color="0.45", linestyle=style, linewidth=1.2, zorder=1)
    axes.axvline(curves.own_mean, color="0.7", linewidth=0.9, zorder=0)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=10)
    for scale in (axes.xaxis, axes.yaxis):
        plain_numbers(scale)
    axes.tick_params(axis="x", rotation=45)
    dress(axes)
    axes.set_xlabel(f"mean block in bytes: {workload}, all blocks scaled alike   (line: as given)")
    axes.set_ylabel(f"predicted time in µs (alpha = {machine.alpha_us:g} µs, beta = {machine.beta_ns:g} ns/B)")
    axes.legend(frameon=False, fontsize=9)
    save(figure, file, "--plot")


def _draw(axes: Any, pairs: Sequence[tuple[float, float]], name: str, style: dict[str, Any]) -> None:
    axes.plot(*zip(*pairs, strict=True), label=name, linewidth=1.6, **style)


def _mark(above: Any, below: Any, curve: Curve, colour: str, alone: bool) -> None:
    ranks = curve[0][1].ranks
    for axes in (above, below):
        axes.axvline(root(ranks), color=colour, linewidth=0.9, alpha=0.7, linestyle=(0, (6, 4)), zorder=1)
    for radix, point in curve:
        if radix not in special_radices(ranks):
            continue
        for axes, letter, value in ((above, "K", point.counts.messages), (below, "D", point.counts.blocks)):
            axes.plot(radix, value, "o", markersize=6, markerfacecolor="white", markeredgecolor=colour, zorder=3)
            if alone:
                _label(axes, radix, value, f"{letter} = {value:,}", ranks, rising=letter == "K")


def _label(axes: Any, radix: int, value: int, text: str, ranks: int, rising: bool) -> None:
    """Beside the mark, on the side where the line is not: it rises (K) or falls (D) with the radix."""
    if radix == max(2, ranks):
        place, side = (-9, -4) if rising else (-9, -10), "right"
    else:
        place, side = (9, -11) if rising else (9, 6), "left"
    named = f"r = {special_radices(ranks)[radix].split(':')[0]}: {text}" if radix not in (2, ranks) else text
    axes.annotate(named, (radix, value), xytext=place, textcoords="offset points", ha=side, fontsize=9)


def _dress(figure: Any, above: Any, below: Any, names: Sequence[str], block_bytes: int | None) -> None:
    from matplotlib.ticker import LogLocator

    for axes in (above, below):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(LogLocator(base=2, numticks=20))
        if _spread(axes) > WIDE_SPREAD:
            axes.set_yscale("log", base=2)
            axes.yaxis.set_major_locator(LogLocator(base=2, numticks=9))
        else:
            axes.set_ylim(bottom=0)
        axes.margins(y=0.1)
        for scale in (axes.xaxis, axes.yaxis):
            plain_numbers(scale)
        dress(axes)
    below.tick_params(axis="x", rotation=45)
    above.set_ylabel("K (messages sent by a rank)")
    below.set_ylabel("D (blocks sent by a rank)")
    below.set_xlabel("radix r   (dashed: r = √P, rounded up; circles: r = 2, √P and P)")
    if block_bytes:
        kib = block_bytes / 1024
        right = below.secondary_yaxis("right", functions=(lambda blocks: blocks * kib, lambda size: size / kib))
        if below.get_yscale() == "log":
            right.yaxis.set_major_locator(LogLocator(base=2, numticks=9))
        plain_numbers(right.yaxis)
        right.set_ylabel(f"KiB sent by a rank (blocks of {block_bytes:,} B)")
    if len(names) == 1:
        figure.suptitle(names[0], fontsize=11)
    else:
        above.legend(frameon=False, fontsize=9)


def _spread(axes: Any) -> float:
    values: list[float] = [y for line in axes.get_lines() if line.get_label()[0] != "_" for y in line.get_ydata()]
    return max(values) / max(1, min(values))
