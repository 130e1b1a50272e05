"""What all pictures share: colours, units, axes, and writing files. Imports matplotlib only when something is drawn."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from swapmeet import texts
from swapmeet.units import short_duration

#: Told apart by colour-blind readers too (Okabe and Ito); yellow is left out, too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
STYLES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
FASTER, SLOWER, TIE = COLOURS[0], COLOURS[1], "#DDDDDD"
NATIVE_COLOUR = COLOURS[-1]  #: kept for the host MPI
WIDE_SPREAD = 16  #: largest over smallest value; from there on a scale is logarithmic
DOTS_PER_INCH = 160
MOST_DOTS = 10_000  #: along the longer side of a PNG; larger pictures get fewer per inch


def line_style(spec: str, specs: Sequence[str]) -> tuple[str, str, str]:
    """(colour, line, marker) of a spec among those of a picture; the host MPI is always black."""
    if spec == "native":
        return NATIVE_COLOUR, "-", "o"
    i = [other for other in specs if other != "native"].index(spec)
    colours = COLOURS[:-1]
    return colours[i % len(colours)], STYLES[(i // len(colours)) % len(STYLES)], MARKERS[i % len(MARKERS)]


def tick_duration(seconds: float) -> str:
    """A time for an axis: without digits that mean nothing."""
    if seconds <= 0 or not math.isfinite(seconds):
        return "0" if seconds == 0 else ""
    return short_duration(seconds, 4)


def wrapped(text: str, width: int) -> str:
    """Lines of at most that many characters; specs are broken after commas, which `textwrap` alone would not do."""
    if len(text) <= width:
        return text
    lines = textwrap.wrap(text.replace(",", ", \0"), width, break_long_words=True, break_on_hyphens=True)
    return "\n".join(line.replace(" \0", "").replace("\0", "") for line in lines)


def dress(axes: Any) -> None:
    """The grid and the frame that all pictures have."""
    axes.grid(True, color="0.9", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def plain_numbers(scale: Any) -> None:
    """Ticks as 1,024 and not as powers, none between."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    scale.set_minor_locator(NullLocator())
    scale.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def seconds_scale(axes: Any, which: str, logarithmic: bool, ticks: int = 6) -> None:
    """Make an axis ("x" or "y") one of seconds, with labels such as 10 µs."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    scale = axes.xaxis if which == "x" else axes.yaxis
    if logarithmic:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    if logarithmic and low > 0 and high / low < 6:
        scale.set_major_locator(MaxNLocator(ticks))
        scale.set_minor_locator(NullLocator())
    elif logarithmic:
        narrow = low > 0 and high / low < 150
        scale.set_major_locator(LogLocator(base=10, subs=(1, 2, 5) if narrow else (1,), numticks=12))
        scale.set_minor_locator(NullLocator() if narrow else LogLocator(base=10, subs=(2, 5), numticks=24))
        scale.set_minor_formatter(FuncFormatter(lambda *_: ""))
    else:
        scale.set_major_locator(MaxNLocator(ticks))
    scale.set_major_formatter(FuncFormatter(lambda value, _: tick_duration(value)))


def bytes_scale(axes: Any, values: Sequence[float], text: Callable[[float], str]) -> None:
    """Make the x axis one of bytes, base 2, with a tick at (some of) the values."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    axes.set_xscale("log", base=2)
    every = -(-len(values) // 11)
    axes.set_xticks(list(values)[::every])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axes.tick_params(axis="x", rotation=45 if len(values) > 6 else 0)


def thinned(values: Sequence[float], most: int) -> list[float]:
    """At most about that many of ascending positive values, the first among them, in equal ratios."""
    kept: list[float] = []
    for value in values:
        if not kept or value >= kept[-1] * (values[-1] / values[0]) ** (1 / most) * 0.9999:
            kept.append(value)
    return kept


def new_figure(width: float, height: float) -> Any:
    """A figure of that many inches, without a window system."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def save(figure: Any, file: Path, option: str) -> None:
    """Write a picture; `option`: which option asked for it, for messages.

    Raises
    ------
    SwapmeetError
        If the file cannot be written; then the picture that was there stays.
    """
    texts.write(file, _drawn(figure, file.suffix), option)


def as_svg(figure: Any) -> bytes:
    """The same picture as `save` writes, for a page."""
    return _drawn(figure, ".svg")


def _drawn(figure: Any, suffix: str) -> bytes:
    for text in figure.findobj(_is_text):
        text.set_parse_math(False)  # a spec may hold a $
    undated = {"Date": None} if suffix == ".svg" else None  # the same data, the same file
    dots = min(DOTS_PER_INCH, MOST_DOTS / max(figure.get_size_inches()))
    content = io.BytesIO()
    figure.savefig(content, format=suffix[1:], dpi=dots, metadata=undated)
    return content.getvalue()


def _is_text(artist: Any) -> bool:
    return hasattr(artist, "set_parse_math")
