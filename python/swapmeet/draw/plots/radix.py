"""Time over the radix, the best and the square root of P marked: figures 8 and 11 of `tra` and 3 of `radix`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from swapmeet import _core
from swapmeet.draw.plots.measured import Measurements, Place, Setting, interval
from swapmeet.draw.plots.panels import Panels
from swapmeet.draw.plots.pictures import LeftOut, Picture
from swapmeet.draw.plots.style import NATIVE_COLOUR, STYLES, WIDE_SPREAD, dress, seconds_scale, thinned, wrapped
from swapmeet.measure.bench import statistics
from swapmeet.measure.bench.cells import NATIVE
from swapmeet.measure.bench.statistics import Estimate
from swapmeet.model.costs import root
from swapmeet.units import digits, duration

KIND = "radix"
BEST, ROOT = "#D55E00", "#009E73"  #: rings, as the papers have them: red and green, here of different shape, too
CURVE_COLOURS = ("#0072B2", "#CC79A7", "#E69F00", "#56B4E9")
MOST_ABOVE = 3  #: the ends of intervals that are further above the largest value are cut off


@dataclass
class Curve:
    """Specs that differ in their radix only."""

    name: str
    points: list[tuple[int, str, Estimate]] = field(default_factory=list)  #: (radix, spec, median), by radix

    def best(self) -> tuple[int, str, Estimate]:
        """The fastest."""
        return min(self.points, key=lambda point: point[2].value)


@dataclass(frozen=True)
class Sweep:
    """The curves of one cell."""

    place: Place
    label: str  #: of the sizes
    curves: Sequence[Curve]
    native: Estimate | None
    root: int | None  #: the square root of P, rounded up; None if the curves do not arrange ranks in one dimension
    versus_root: (
        Estimate | None
    )  #: time at the root over the best, of the best curve; None if not measured, or the same


def pictures(data: Measurements) -> Iterator[Picture | LeftOut]:
    """A picture for each setting and number of ranks for which a family has two radices or more."""
    for setting in data.settings():
        everything = [sweep for ranks in _ranks(data, setting) if (sweep := sweeps(data, setting, ranks, cheap=True))]
        if not everything:
            yield LeftOut(
                KIND, f"{setting.title}: no spec was measured with two radices or more: swapmeet bench 'tra(r=2:P)'"
            )
        for some in everything:
            ranks = some[0].place.cell.ranks

            def made(setting: Setting = setting, ranks: int = ranks) -> list[Sweep]:
                return sweeps(data, setting, ranks)

            yield Picture(
                KIND,
                f"radix-{setting.stem}-P{ranks}",
                lambda made=made: draw(made()),  # type: ignore[misc]
            )


def _ranks(data: Measurements, setting: Setting) -> list[int]:
    return sorted({place.cell.ranks for place in data.places(setting)})


def radix_of(text: str, ranks: int, nodes: str = "") -> tuple[str, int] | None:
    """(family without its radix, the radix) of a spec; None if it has none, or several."""
    try:
        spec = _core.parse_spec(text)
    except ValueError:  # a newer version's
        return None
    parameters = dict(spec.parameters)
    if spec.family != "bruck" or ranks < 2:
        return None
    word = parameters.pop("radix")
    if parameters["dims"] == "P" and word in ("root", "all"):
        radix = root(ranks) if word == "root" else ranks
    elif word.isdecimal():
        radix = int(word)
    else:
        return None
    return ",".join(f"{key}={value}" for key, value in parameters.items()), radix


def curve_name(specs: Sequence[str], family: str) -> str:
    """What to call specs that differ in their radix: by the alias they were given by, or by what sets them apart."""
    names = {spec.partition("(")[0] for spec in specs}
    aliases = {name for name, *_ in _core.aliases()}
    if len(names) == 1 and names <= aliases:
        return names.pop()
    parameters = dict(part.partition("=")[::2] for part in family.split(","))
    for name, expansion, *_ in _core.aliases():
        known = dict(_core.parse_spec(expansion).parameters)
        if known.pop("radix", None) in ("root",) and known == parameters:
            return name
    usual = dict(_core.parse_spec("bruck").parameters)
    return f"bruck({','.join(f'{key}={value}' for key, value in parameters.items() if usual[key] != value)})"


def sweeps(data: Measurements, setting: Setting, ranks: int, cheap: bool = False) -> list[Sweep]:
    """The cells with a curve; `cheap` leaves all estimates out, to see whether there are any."""
    found = []
    for place in data.places(setting, ranks):
        families: dict[str, dict[int, str]] = {}
        for spec in data.specs([place]):
            if (parsed := radix_of(spec, ranks, setting.nodes)) is not None:
                families.setdefault(parsed[0], {}).setdefault(parsed[1], spec)
        families = {family: by_radix for family, by_radix in families.items() if len(by_radix) > 1}
        if families and cheap:
            return [Sweep(place, "", [], None, None, None)]
        if families:
            found.append(_sweep(data, place, families))
    return found


def _sweep(data: Measurements, place: Place, families: dict[str, dict[int, str]]) -> Sweep:
    curves = []
    for family, by_radix in families.items():
        curve = Curve(curve_name(list(by_radix.values()), family))
        for radix, spec in sorted(by_radix.items()):
            if (median := data.median(place, spec)) is not None:
                curve.points.append((radix, spec, median))
        curves.append(curve)
    flat = all("dims=P" in family.split(",") for family in families)
    middle = root(place.cell.ranks) if flat else None
    fastest = min(curves, key=lambda curve: curve.best()[2].value)
    best, at_root = fastest.best(), [spec for radix, spec, _ in fastest.points if radix == middle]
    versus = data.ratio(place, at_root[0], best[1]) if at_root and at_root[0] != best[1] else None
    label = data.size_label(place.cell)
    return Sweep(place, label, curves, data.median(place, NATIVE), middle, versus)


def summary(sweep: Sweep) -> str:
    """Which radix is best, and how much is lost by the square root of P."""
    best = min((curve.best() for curve in sweep.curves), key=lambda point: point[2].value)
    text = f"best r = {best[0]}: {duration(best[2].value)}"
    if sweep.root == best[0]:
        return f"{text}, which is √P"
    if sweep.versus_root is None:
        return text if sweep.root is None else f"{text}; r = √P = {sweep.root} not measured"
    bounds = interval(sweep.versus_root)
    span = "" if bounds is None else f" [{digits(bounds[0])}, {digits(bounds[1])}]"
    tie = {"tie": " (a tie)", "unclear": " (unclear)"}.get(statistics.verdict(sweep.versus_root), "")
    return f"{text}; r = √P = {sweep.root} takes {digits(sweep.versus_root.value)}×{span}{tie}"


def draw(sweeps: Sequence[Sweep]) -> Any:
    """Draw a panel for each size."""
    from matplotlib.lines import Line2D

    cell = sweeps[0].place.cell
    names = list(dict.fromkeys(curve.name for sweep in sweeps for curve in sweep.curves))
    look: dict[str, tuple[str, Any]] = {
        name: (CURVE_COLOURS[i % 4], STYLES[i // 4 % 4]) for i, name in enumerate(names)
    }
    handles = [Line2D([], [], color=look[n][0], linestyle=look[n][1], marker=".", label=wrapped(n, 60)) for n in names]
    if any(sweep.native for sweep in sweeps):
        handles.append(Line2D([], [], color=NATIVE_COLOUR, linewidth=1.2, label="native (the host MPI)"))
    handles.append(_ring("o", BEST, 10, "best radix"))
    if any(sweep.root for sweep in sweeps):
        handles.append(_ring("D", ROOT, 9, f"r = √P, rounded up: {root(cell.ranks)} (dashed)"))
    titles = [f"{wrapped(sweep.label, 44)}\n{wrapped(summary(sweep), 58)}" for sweep in sweeps]
    panels = Panels(
        f"Time over the radix: {sweeps[0].place.setting.title}, P = {cell.ranks:,}",
        titles,
        (3.9, 2.5),
        handles=handles,
        note="Bars: 95 % intervals of the medians. Below each size: the best radix, and the time at √P over it.",
        left=0.85,
    )
    for axes, sweep in zip(panels.axes, sweeps, strict=True):
        _draw_sweep(axes, sweep, look)
    panels.label("radix r", "median time of a call")
    return panels.figure


def _ring(marker: str, colour: str, size: int, label: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D(
        [],
        [],
        linestyle="",
        marker=marker,
        markersize=size,
        markerfacecolor="none",
        markeredgewidth=1.8,
        color=colour,
        label=label,
    )


def _draw_sweep(axes: Any, sweep: Sweep, look: dict[str, tuple[str, Any]]) -> None:
    from matplotlib.ticker import FuncFormatter, NullLocator

    values = [found.value for curve in sweep.curves for _, _, found in curve.points]
    values += [sweep.native.value] if sweep.native else []
    for curve in sweep.curves:
        colour, style = look[curve.name]
        radices = [radix for radix, _, _ in curve.points]
        times = [found.value for _, _, found in curve.points]
        bounds = [interval(found) or (found.value, found.value) for _, _, found in curve.points]
        axes.plot(
            radices, times, color=colour, linestyle=style, marker=".", markersize=5, linewidth=1.3, label=curve.name
        )
        axes.vlines(radices, *zip(*bounds, strict=True), color=colour, linewidth=1.1)
        if sweep.root in radices:
            at = times[radices.index(sweep.root)]
            axes.plot(
                sweep.root,
                at,
                "D",
                markersize=9,
                markerfacecolor="none",
                markeredgewidth=1.8,
                color=ROOT,
                label="_root",
            )
    best = min((curve.best() for curve in sweep.curves), key=lambda point: point[2].value)
    axes.plot(
        best[0],
        best[2].value,
        "o",
        markersize=13,
        markerfacecolor="none",
        markeredgewidth=1.8,
        color=BEST,
        label="_best",
    )
    if sweep.native is not None:
        axes.axhline(sweep.native.value, color=NATIVE_COLOUR, linewidth=1.2, label="native")
        if (span := interval(sweep.native)) is not None:
            axes.axhspan(*span, color=NATIVE_COLOUR, alpha=0.12, linewidth=0)
    if sweep.root is not None:
        axes.axvline(sweep.root, color=ROOT, linewidth=0.9, linestyle=(0, (6, 4)), zorder=1)
    axes.set_xscale("log", base=2)
    axes.set_xticks(thinned(sorted({radix for curve in sweep.curves for radix, _, _ in curve.points}), 10))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    dress(axes)
    if max(values) / min(values) <= WIDE_SPREAD:
        ends = [span[1] for curve in sweep.curves for _, _, found in curve.points if (span := interval(found))]
        axes.set_ylim(bottom=0, top=1.12 * min(max([*values, *ends]), MOST_ABOVE * max(values)))
        seconds_scale(axes, "y", logarithmic=False, ticks=5)
    else:
        axes.margins(y=0.15)
        seconds_scale(axes, "y", logarithmic=True)
