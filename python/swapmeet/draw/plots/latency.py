"""Latency over the size of blocks, log-log, with bands of the intervals and the constants C, K and R of `slimfly`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from swapmeet.draw.plots import fit as fits
from swapmeet.draw.plots.measured import EQUAL, Measurements, Place, Setting, interval
from swapmeet.draw.plots.pictures import LeftOut, Picture, Table
from swapmeet.draw.plots.style import bytes_scale, dress, line_style, new_figure, seconds_scale, wrapped
from swapmeet.measure.bench.cells import NATIVE
from swapmeet.measure.bench.statistics import Estimate
from swapmeet.units import digits, mean_text, size_text

KIND = "latency"


@dataclass(frozen=True)
class Line:
    """One spec over the sizes."""

    spec: str
    points: Sequence[tuple[float, Place, Estimate]]  #: (where on the x axis, ...), ascending
    fit: fits.Fit | None
    ratio: fits.Bounds | None  #: R; None for the host MPI, or if one of the two has no fit
    same_growth: bool  #: whether R means anything


@dataclass(frozen=True)
class Latency:
    """The lines of one setting and number of ranks, for sizes of one kind."""

    setting: Setting
    ranks: int
    kind: str  #: EQUAL or the kind of the workloads
    categories: Sequence[str]  #: labels at 0, 1, ... on the x axis; empty: x is bytes
    lines: Sequence[Line]

    def size(self, block_bytes: float) -> str:
        """A size for people; with three digits where it is a mean."""
        return size_text(block_bytes) if self.kind == EQUAL else mean_text(block_bytes)

    @property
    def title(self) -> str:
        """For people."""
        kind = "" if self.kind == EQUAL else f", {self.kind} sizes"
        return f"{self.setting.title}, P = {self.ranks:,}{kind}"


def pictures(data: Measurements) -> Iterator[Picture | LeftOut]:
    """A picture for each setting, number of ranks and kind of sizes."""
    for setting in data.settings():
        places = data.places(setting)
        for ranks, kind in sorted({(place.cell.ranks, data.sizes_kind(place.cell)) for place in places}):
            words = "" if kind == EQUAL else f"-{kind}"

            def made(setting: Setting = setting, ranks: int = ranks, kind: str = kind) -> Latency:
                return latency(data, setting, ranks, kind)

            yield Picture(
                KIND,
                f"latency-{setting.stem}-P{ranks}{words}",
                lambda made=made: draw(made()),  # type: ignore[misc]
                lambda made=made: [found] if (found := table(made())) else [],  # type: ignore[misc]
            )


def latency(data: Measurements, setting: Setting, ranks: int, kind: str) -> Latency:
    """Medians over sizes, and the fits through them."""
    places = [place for place in data.places(setting, ranks) if data.sizes_kind(place.cell) == kind]
    if any(data.mean_bytes(place.cell) > 0 for place in places):  # empty blocks have no place on a logarithmic scale
        places = [place for place in places if data.mean_bytes(place.cell) != 0]
    where = [data.mean_bytes(place.cell) for place in places]
    in_bytes = len(set(where)) == len(where) and all(size > 0 for size in where)
    categories = [] if in_bytes else [data.size_label(place.cell) for place in places]
    specs = data.specs(places)
    points: dict[str, list[tuple[float, Place, Estimate]]] = {}
    for i, place in enumerate(places):
        for spec in specs:
            if (found := data.median(place, spec)) is not None:
                points.setdefault(spec, []).append((where[i] if in_bytes else i, place, found))
    fitted = {
        spec: fits.fit([(size, found.value) for size, _, found in line]) if in_bytes else None
        for spec, line in points.items()
    }
    native = fitted.get(NATIVE)
    lines = []
    for spec in (spec for spec in specs if spec in points):
        own = fitted[spec]
        compared = own is not None and native is not None and spec != NATIVE
        lines.append(
            Line(
                spec,
                points[spec],
                own,
                fits.ratio(own, native) if compared and own and native else None,
                bool(compared and own and native and fits.same_growth(own, native)),
            )
        )
    return Latency(setting, ranks, kind, categories, lines)


def constants_text(line: Line) -> str:
    """C, K and R of a line in short; "" if there is no fit."""
    if line.fit is None:
        return ""
    text = f"C = {_within(line.fit.constant)}, K = {_within(line.fit.exponent)}"
    if line.ratio is not None:
        text += f", R = {_within(line.ratio)}" + ("" if line.same_growth else " (K differ)")
    return text


def _within(bounds: fits.Bounds) -> str:
    return f"{digits(bounds[0])} [{digits(bounds[1])}, {digits(bounds[2])}]"


def table(latency: Latency) -> Table | None:
    """The constants with their intervals; None if there are none."""
    rows = []
    for line in latency.lines:
        if line.fit is None:
            continue
        ratio = "" if line.ratio is None else _within(line.ratio) + ("" if line.same_growth else " (K differ)")
        span = f"{latency.size(line.fit.from_bytes)} to {latency.size(line.fit.to_bytes)}, {line.fit.points} sizes"
        rows.append((line.spec, _within(line.fit.constant), _within(line.fit.exponent), ratio, span))
    if not rows:
        return None
    caption = f"{latency.title}: l = C·s^K, l in µs, s in bytes; R = C / C of native"
    return Table(caption, ("spec", "C", "K", "R", "fitted from"), rows)


# matplotlib

LEGEND_LEFT, LEGEND_SIDES = 7.3, 0.75  #: inches: where it begins, and all that is not text
CHARACTER = 0.078  #: of the legend, inches
NOTE_CHARACTERS = 15.5  #: of the note in an inch


def draw(latency: Latency) -> Any:
    """Draw the lines on the left, and on the right what they are."""
    from matplotlib.lines import Line2D

    labels = [_label(line) for line in latency.lines]
    legend_height = 0.5 + 0.175 * sum(label.count("\n") + 1.35 for label in labels)
    tall = 1.7 if latency.categories else 1.3
    height = max(4.4 + tall, legend_height + 0.9)
    width = LEGEND_LEFT + LEGEND_SIDES + CHARACTER * max(len(text) for label in labels for text in label.split("\n"))
    figure = new_figure(width, height)
    axes = figure.add_axes((0.95 / width, tall / height, 6.2 / width, (height - tall - 0.55) / height))
    axes.set_yscale("log")
    specs = [line.spec for line in latency.lines]
    alone = max(len(line.points) for line in latency.lines) == 1
    handles = []
    for i, (line, label) in enumerate(zip(latency.lines, labels, strict=True)):
        style: Any
        colour, style, marker = line_style(line.spec, specs)
        shift = (
            (i - (len(specs) - 1) / 2) * 1.6 / len(specs) if alone else 0.0
        )  # so that points of one size lie side by side
        _draw_line(axes, latency, line, (colour, style, marker), shift)
        handles.append(Line2D([], [], color=colour, linestyle=style, marker=marker, markersize=4, label=label))
    _dress(axes, latency)
    figure.suptitle(f"Latency: {latency.title}", fontsize=12, x=0.95 / width, ha="left", y=1 - 0.2 / height)
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(LEGEND_LEFT / width, 1 - 0.5 / height),
        frameon=False,
        fontsize=8.5,
        handlelength=2.6,
        labelspacing=0.6,
    )
    note = wrapped(_note(latency), int((width - 1.1) * NOTE_CHARACTERS))
    figure.text(0.95 / width, 0.12 / height, note, fontsize=8, color="0.3")
    return figure


def _label(line: Line) -> str:
    text = wrapped(line.spec, 52)
    return f"{text}\n{constants_text(line).replace(', R = ', chr(10) + 'R = ')}" if line.fit else text


def _draw_line(axes: Any, latency: Latency, line: Line, look: tuple[str, str, str], shift: float) -> None:
    colour, style, marker = look
    xs = [x + shift if latency.categories else x * 2**shift for x, _, _ in line.points]
    ys = [found.value for _, _, found in line.points]
    axes.plot(xs, ys, color=colour, linestyle=style, marker=marker, markersize=4, linewidth=1.5, label=line.spec)
    bounds = [interval(found) or (found.value, found.value) for _, _, found in line.points]
    lows, highs = zip(*bounds, strict=True)
    if len(xs) > 1 and not latency.categories:
        axes.fill_between(xs, lows, highs, color=colour, alpha=0.2, linewidth=0)
    axes.vlines(xs, lows, highs, color=colour, linewidth=1, alpha=0.7)
    if line.fit is not None:
        ends = (line.fit.from_bytes, line.fit.to_bytes * 1.6)
        axes.plot(
            ends,
            [line.fit.microseconds(size) * 1e-6 for size in ends],
            color=colour,
            linewidth=0.8,
            alpha=0.8,
            linestyle=(0, (1, 1.5)),
            label="_fit",
        )


def _dress(axes: Any, latency: Latency) -> None:
    dress(axes)
    if latency.categories:
        axes.set_xticks(
            range(len(latency.categories)), [wrapped(label, 30) for label in latency.categories], fontsize=8
        )
        axes.tick_params(axis="x", rotation=30)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
        axes.set_xlim(-0.5, len(latency.categories) - 0.5)
    else:
        sizes = sorted({x for line in latency.lines for x, _, _ in line.points})
        if len(sizes) == 1:
            axes.set_xlim(sizes[0] / 4, sizes[0] * 4)
        bytes_scale(axes, sizes, latency.size)
        axes.set_xlabel("size of a block (the mean of the workload)" if latency.kind != EQUAL else "size of a block")
    seconds_scale(axes, "y", logarithmic=True)
    axes.set_ylabel("median time of a call (slowest rank)")


def _note(latency: Latency) -> str:
    note = "Bands: 95 % intervals of the medians."
    fitted = next((line.fit for line in latency.lines if line.fit), None)
    if fitted is None:
        return note + (
            ""
            if latency.categories
            else f" No constants: a fit takes {fits.LEAST_POINTS} sizes from {size_text(fits.LEAST_BYTES)} up."
        )
    return (
        f"{note} Dotted: l = C·s^K (l in µs, s in bytes), fitted from {latency.size(fitted.from_bytes)} up"
        f" ({fitted.points} sizes); R = C / C of native; [95 % intervals]."
    )


# plotly
