"""Where the time of a call goes: a stacked bar for each spec, as figure 2b of `nonuniform` has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swapmeet.draw.plots.measured import Measurements, Place, Setting
from swapmeet.draw.plots.panels import Panels
from swapmeet.draw.plots.pictures import LeftOut, Picture
from swapmeet.draw.plots.style import dress, seconds_scale, wrapped
from swapmeet.units import duration

KIND = "phases"
#: Fixed, so that pictures can be compared; neighbours differ in lightness, too.
PHASE_COLOURS = {
    "pack": "#E69F00",
    "transfer": "#0072B2",
    "wait": "#56B4E9",
    "unpack": "#D55E00",
    "copy": "#009E73",
    "metadata": "#CC79A7",
    "other": "#BBBBBB",
}
UNKNOWN_COLOURS = ("#F0E442", "#000000", "#777777")  #: of phases that a newer version has
LEAST_SHARE = 0.09  #: of the longest bar; larger parts have their share written on them


@dataclass(frozen=True)
class Bar:
    """One spec."""

    spec: str
    seconds: dict[str, float]  #: phase -> time of a call, the mean over ranks and launches
    ranks: int
    launches: int
    calls: int  #: in all launches

    @property
    def total(self) -> float:
        """Time of a call, the mean over ranks."""
        return sum(self.seconds.values())


@dataclass(frozen=True)
class Breakdown:
    """The bars of one cell."""

    place: Place
    label: str  #: of the sizes
    bars: Sequence[Bar]


def pictures(data: Measurements) -> Iterator[Picture | LeftOut]:
    """A picture for each setting and number of ranks with phases."""
    if not data.phases:
        yield LeftOut(KIND, "no phases were measured: swapmeet bench --phases")
        return
    measured = {(place.setting, place.cell.ranks) for place, _ in data.phases}
    for setting, ranks in sorted(measured):

        def made(setting: Setting = setting, ranks: int = ranks) -> list[Breakdown]:
            return breakdowns(data, setting, ranks)

        yield Picture(
            KIND,
            f"phases-{setting.stem}-P{ranks}",
            lambda made=made: draw(made()),  # type: ignore[misc]
        )


def breakdowns(data: Measurements, setting: Setting, ranks: int) -> list[Breakdown]:
    """The phases of each cell, small blocks first."""
    places = {place for place, _ in data.phases if place.setting == setting and place.cell.ranks == ranks}
    found = []
    for place in sorted(places, key=lambda place: data.size_key(place.cell)):
        bars = [_bar(data, place, spec) for other, spec in data.phases if other == place]
        order = data.specs([place]) + [bar.spec for bar in bars]
        found.append(Breakdown(place, data.size_label(place.cell), sorted(bars, key=lambda bar: order.index(bar.spec))))
    return found


def _bar(data: Measurements, place: Place, spec: str) -> Bar:
    runs = data.phases[place, spec]
    calls = sum(run.calls for run in runs)
    names = dict.fromkeys(phase for run in runs for phase in run.seconds)
    known = [phase for phase in PHASE_COLOURS if phase in names]
    seconds = {
        phase: sum(run.calls * float(np.mean(run.seconds[phase])) for run in runs if len(run.seconds.get(phase, ())))
        / calls
        for phase in [*known, *(name for name in names if name not in PHASE_COLOURS)]
    }
    return Bar(spec, seconds, place.cell.ranks, len({run.launch for run in runs}), calls)


def colour(phase: str, phases: Sequence[str]) -> str:
    """The colour of a phase; of a newer version's, one that the others do not have."""
    unknown = [name for name in phases if name not in PHASE_COLOURS]
    return PHASE_COLOURS.get(phase) or UNKNOWN_COLOURS[unknown.index(phase) % len(UNKNOWN_COLOURS)]


def _phases(breakdowns: Sequence[Breakdown]) -> list[str]:
    """All phases that took time, in the order of the stack."""
    there = dict.fromkeys(
        phase for one in breakdowns for bar in one.bars for phase, seconds in bar.seconds.items() if seconds > 0
    )
    return sorted(there, key=lambda phase: [*PHASE_COLOURS, *there].index(phase))


def draw(breakdowns: Sequence[Breakdown]) -> Any:
    """Draw a panel for each size."""
    from matplotlib.patches import Patch

    phases = _phases(breakdowns)
    specs = list(dict.fromkeys(bar.spec for one in breakdowns for bar in one.bars))
    names = [wrapped(spec, 34) for spec in specs]
    row = max(0.3, 0.15 * max(name.count("\n") + 1 for name in names) + 0.06)
    place = breakdowns[0].place
    panels = Panels(
        f"Time of a call by phase: {place.setting.title}, P = {place.cell.ranks:,}",
        [wrapped(one.label, 38) for one in breakdowns],
        (3.3, row * len(specs)),
        handles=[Patch(facecolor=colour(phase, phases), label=phase) for phase in phases],
        note="Means over ranks and launches; shares in per cent. Phases are measured apart from the latencies: "
        "their clock costs a little.",
        left=0.35 + 0.073 * max(len(line) for name in names for line in name.split("\n")),
        shared=True,
        legend_columns=len(phases) or 1,
    )
    for i, (axes, one) in enumerate(zip(panels.axes, breakdowns, strict=True)):
        _draw_bars(axes, one, specs, phases)
        axes.set_yticks(range(len(specs)), names if panels.first_column(i) else [""] * len(specs), fontsize=8)
    panels.label("mean time of a call")
    return panels.figure


def _draw_bars(axes: Any, one: Breakdown, specs: Sequence[str], phases: Sequence[str]) -> None:
    longest = max((bar.total for bar in one.bars), default=0) or 1e-9
    for bar in one.bars:
        start, y = 0.0, specs.index(bar.spec)
        for phase in phases:
            seconds = bar.seconds.get(phase, 0.0)
            if seconds <= 0:
                continue
            shade = colour(phase, phases)
            axes.barh(y, seconds, left=start, height=0.72, color=shade, edgecolor="white", linewidth=0.5, label=phase)
            if seconds >= LEAST_SHARE * longest:
                share = f"{100 * seconds / bar.total:.0f}"
                ink = "white" if phase in ("transfer", "unpack", "copy") else "black"
                axes.text(start + seconds / 2, y, share, ha="center", va="center", fontsize=7, color=ink)
            start += seconds
        axes.text(start + 0.015 * longest, y, duration(start), va="center", fontsize=7)
    axes.set_xlim(0, 1.28 * longest)
    axes.set_ylim(len(specs) - 0.5, -0.5)
    seconds_scale(axes, "x", logarithmic=False, ticks=4)
    dress(axes)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
