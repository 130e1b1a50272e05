"""The results as Markdown tables and as pictures: speed-ups over the host MPI."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from launches import AGAIN, AUTO, RAW, Case, Launch, Results, read
from ratios import Key, Speedup, geometric_mean, ratios, speedup
from settings import ONE_NODE
from usual import ALL_TO_ALLS, FORMS, LOOP, NEIGHBOURS, TYPED, benchmarks

from swapmeet.draw.plots.panels import Panels
from swapmeet.draw.plots.style import bytes_scale, dress, line_style, plain_numbers, save
from swapmeet.errors import SwapmeetError
from swapmeet.tables import between, markdown
from swapmeet.units import duration, size_text

BEGIN, END = "<!-- made by `python benchmarks/users page`: begin -->\n", "<!-- end -->\n"
SMALL = 4096  #: bytes; the largest small block
TARGET = 0.97
APPLICATION: tuple[Key, Key] = ((LOOP, None), (ALL_TO_ALLS, None))
PANEL = (2.5, 1.7)  #: inches
#: benchmarks that get a table of all cells
TABLED = {"Derived types": TYPED, "Forms of the call": FORMS, "Neighbours": NEIGHBOURS}
TITLES = {benchmark.name: benchmark.title for benchmark in benchmarks()}


@dataclass(frozen=True)
class Row:
    """One candidate in one case, of one collective: speed-ups turn by turn, for each size."""

    case: Case
    candidate: str
    what: str
    turns: dict[int, dict[int, float]]  #: bytes -> turn -> ratio

    @property
    def title(self) -> str:
        """As in OSU Alltoall."""
        return f"{TITLES[self.case.benchmark]} {self.what}"

    def mean(self, least: int = 1, most: float = math.inf) -> Speedup | None:
        """The geometric mean over sizes from `least` to `most`; None if there are none."""
        cells = [turns for size, turns in self.turns.items() if least <= size <= most]
        common = geometric_mean(cells) if cells else {}
        return speedup(common) if common else None

    def worst(self) -> tuple[int, Speedup]:
        """The size with the least speed-up."""
        cells = {size: speedup(turns) for size, turns in self.turns.items()}
        size = min(cells, key=lambda size: cells[size].median)
        return size, cells[size]


def rows(launches: Sequence[Launch]) -> list[Row]:
    """All of micro-benchmarks, from 1 B on, those of one benchmark and collective behind each other."""
    found = []
    for case, candidate in compared(launches):
        by_what: dict[str, dict[int, dict[int, float]]] = {}
        for (what, size), turns in ratios(launches, case, candidate).items():
            if size:
                by_what.setdefault(what, {})[size] = turns
        found += [Row(case, candidate, what, turns) for what, turns in by_what.items()]
    return sorted(found, key=lambda row: (list(TITLES).index(row.case.benchmark), row.what))


def compared(launches: Sequence[Launch]) -> list[tuple[Case, str]]:
    """Cases and what is compared with the host MPI in them, in the order of a turn."""
    return list(dict.fromkeys((launch.case, launch.candidate) for launch in launches if launch.candidate != RAW))


def with_interval(one: Speedup | None) -> str:
    """As in 1.25 (1.20-1.31)."""
    return f"{one.median:.2f} ({one.low:.2f}-{one.high:.2f})" if one else ""


def _ranks(case: Case) -> str:
    return f"{case.ranks}{' (cores shared)' if case.shared else ''}"


def _place(case: Case) -> list[str]:
    return [case.where, case.mpi, _ranks(case)]


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(markdown(heads, lines)) + "\n"


def micro_table(found: Sequence[Row]) -> str:
    """Geometric means over sizes and the worst size: of `auto`, and of the spec that is the fastest over all sizes."""
    lines, again = [], any(row.candidate == AGAIN for row in found)
    for key in dict.fromkeys((row.title, row.case) for row in found):
        here = {row.candidate: row for row in found if (row.title, row.case) == key}
        auto, line = [here.pop(AUTO, None)], [key[0], *_place(key[1])]
        auto += [here.pop(AGAIN, None)] if again else []
        best = max(here.values(), key=lambda row: mean.median if (mean := row.mean()) else 0, default=None)
        for row in (*auto, best):
            line += [f"`{row.candidate}`" if row else ""] if row is best else []
            line += [with_interval(row.mean(most=SMALL)), with_interval(row.mean(least=SMALL + 1))] if row else ["", ""]
            line.append(f"{row.worst()[1].median:.2f} at {size_text(row.worst()[0])}" if row else "")
        lines.append(line)
    sizes = [f"up to {size_text(SMALL)}", "above", "worst size"]
    heads = ["benchmark", "where", "MPI", "ranks", *(f"`auto`, {size}" for size in sizes)]
    heads += [f"`{AGAIN}`, {size}" for size in sizes] if again else []
    return _table([*heads, "best spec", *(f"best, {size}" for size in sizes)], lines)


def cell_table(found: Sequence[Row]) -> str:
    """A line for each exchange (a pair of types, a redistribution, a form) and size: speed-ups of all candidates."""
    cases = list(dict.fromkeys((row.case.mpi, row.case.ranks) for row in found))
    candidates = list(dict.fromkeys(row.candidate for row in found))
    heads = [f"{mpi}, P = {ranks}: `{candidate}`" for mpi, ranks in cases for candidate in candidates]
    by_line: dict[tuple[str, int], dict[str, str]] = {}
    for row in found:
        head = f"{row.case.mpi}, P = {row.case.ranks}: `{row.candidate}`"
        for size, turns in row.turns.items():
            by_line.setdefault((row.what, size), {})[head] = with_interval(speedup(turns))
    lines = [
        [what.replace("_", " "), size_text(size), *(cells.get(head, "") for head in heads)]
        for (what, size), cells in by_line.items()
    ]
    return _table(["exchange", "block", *heads], lines)


def slower(found: Sequence[Row]) -> str:
    """The cells in which `auto` is known to be slower than TARGET times the host MPI."""
    cells = [(row, size, speedup(turns)) for row in found if row.candidate == AUTO for size, turns in row.turns.items()]
    below = [(row, size, one) for row, size, one in cells if one.high < TARGET]
    if not below:
        return f"In none of {len(cells)} cells is `auto` below {TARGET} beyond its interval.\n"
    lines = [[row.title, *_place(row.case), size_text(size), with_interval(one)] for row, size, one in below]
    sentence = f"In {len(below)} of {len(cells)} cells `auto` is below {TARGET} beyond its interval:\n\n"
    return sentence + _table(["benchmark", "where", "MPI", "ranks", "block", "speed-up"], lines)


def application_table(launches: Sequence[Launch]) -> str:
    """What applications take by the host MPI, and how much faster they are: as a whole, and their all-to-alls."""
    lines = []
    for case, candidate in compared(launches):
        turns = ratios(launches, case, candidate)
        if (LOOP, None) in turns:
            speedups = [with_interval(speedup(turns[key])) if key in turns else "" for key in APPLICATION]
            times = [_raw(launches, case, key) for key in APPLICATION]
            lines.append([TITLES[case.benchmark], *_place(case), f"`{candidate}`", *times, *speedups])
    heads = ["application", "where", "MPI", "ranks", "by", "raw", "in all-to-alls", "speed-up", "of all-to-alls"]
    return _table(heads, lines) if lines else "None was run.\n"


def _raw(launches: Sequence[Launch], case: Case, key: Key) -> str:
    """The median time by the host MPI."""
    raw = [launch for launch in launches if (launch.case, launch.candidate) == (case, RAW)]
    times = [cell.mean_us for launch in raw for cell in launch.cells if (cell.what, cell.bytes) == key]
    return duration(median(times) / 1e6) if times else ""


def about(results: Results) -> str:
    """What was measured where, and how often."""
    head = results.header
    machine = head["machine"]
    turns: dict[Case, int] = {}
    for launch in results.launches:
        turns[launch.case] = max(launch.turn, turns.get(launch.case, 0))
    few, many = min(turns.values()), max(turns.values())
    often = str(few) if few == many else f"{few} to {many}"
    sentences = [
        f"{machine['processor']}, {machine['cores']} cores, Linux {machine['kernel']}, {head['created'][:10]};",
        f"Swapmeet {head['swapmeet']}, commit {head['commit']};",
        f"{len(results.launches)} launches in {often} turns, by `{head['command']}`.",
    ]
    ran = {launch.case for launch in results.launches}
    skipped = [
        f"Skipped: {TITLES[one.case.benchmark]}, {', '.join(_place(one.case))}: {one.why}"
        for one in dict.fromkeys(results.skipped)
        if one.case not in ran
    ]
    return "\n".join([" ".join(sentences), *(f"\n{line}" for line in skipped)]) + "\n"


def contents(results: Results, pictures: Sequence[str]) -> str:
    """What stands between BEGIN and END."""
    found = rows(results.launches)
    plain, tabled = ([row for row in found if _tabled(row) == wanted] for wanted in (False, True))
    parts = [about(results), *(f"![Speed-ups over sizes]({name})\n" for name in pictures)]
    if plain or not tabled:
        parts += ["## Micro-benchmarks\n", micro_table(plain), slower(plain)]
        parts += ["## Applications\n", application_table(results.launches)]
    for title, names in TABLED.items():
        if some := [row for row in tabled if row.case.benchmark in names]:
            parts += [f"## {title}\n", cell_table(some), slower(some)]
    return "\n".join(parts)


def _tabled(row: Row) -> bool:
    return any(row.case.benchmark in names for names in TABLED.values())


def picture(found: Sequence[Row], title: str, file: Path) -> None:
    """A panel for each case, speed-up over block size: medians, and intervals as bands."""
    from matplotlib.lines import Line2D

    specs = list(dict.fromkeys(row.candidate for row in found))
    cases = list(dict.fromkeys(row.case for row in found))
    handles = []
    for spec in specs:
        colour, _, marker = line_style(spec, specs)
        handles.append(Line2D([], [], color=colour, marker=marker, markersize=4, label=spec))
    handles.append(Line2D([], [], color="black", label="the host MPI without the library"))
    figure = Panels(
        f"{title}: speed-up over the host MPI",
        [f"{case.mpi}, P = {_ranks(case)}" + ("" if case.where == ONE_NODE else f"\n{case.where}") for case in cases],
        PANEL,
        handles=handles,
        note="Means over ranks; medians over turns, and their intervals. Above 1: faster.",
        left=0.5,
        legend_columns=3,
        most_across=max(1, min(3, len(cases) // len({case.mpi for case in cases}))),  # an MPI in a row
    )
    for case, axes in zip(cases, figure.axes, strict=True):
        _panel(axes, [row for row in found if row.case == case], specs)
    figure.label("block", "speed-up")
    save(figure.figure, file, "--pictures")


def _panel(axes: Any, found: Sequence[Row], specs: Sequence[str]) -> None:
    from matplotlib.ticker import FixedLocator

    axes.axhline(1, color="black", linewidth=0.9)
    medians = [1.0]
    for row in found:
        sizes = sorted(row.turns)
        points = [speedup(row.turns[size]) for size in sizes]
        colour, _, marker = line_style(row.candidate, specs)
        axes.fill_between(
            sizes, [p.low for p in points], [p.high for p in points], color=colour, alpha=0.2, linewidth=0
        )
        axes.plot(sizes, [p.median for p in points], color=colour, marker=marker, markersize=3, linewidth=1.1)
        medians += [p.median for p in points]
    dress(axes)
    bytes_scale(axes, sorted({size for row in found for size in row.turns}), size_text)
    axes.set_yscale("log")
    low, high = min(0.75, *medians) / 1.15, max(1.4, *medians) * 1.15  # wide intervals are cut off
    axes.set_ylim(low, high)
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if low <= tick <= high]
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    plain_numbers(axes.yaxis)


def write(file: Path, document: Path, folder: Path) -> None:
    """Make the tables of `document` and the pictures in `folder` anew; both are made where they are missing.

    Raises
    ------
    SwapmeetError
        If there are no results, or the page has no place for tables.
    """
    results = read(file)
    if not results.launches:
        raise SwapmeetError(f"{file} has no launches: python benchmarks/users measure")
    page = document.read_text() if document.exists() else BEGIN + END
    between(page, BEGIN, END, "")  # refused before pictures are drawn
    found, names = rows(results.launches), []
    for title in dict.fromkeys(row.title for row in found if not _tabled(row)):
        some = [row for row in found if row.title == title]
        path = folder / f"users-{title.lower().replace(' ', '-')}.svg"
        folder.mkdir(parents=True, exist_ok=True)
        picture(some, title, path)
        names.append(path)
    links = [os.path.relpath(path, document.parent) for path in names]
    document.write_text(between(page, BEGIN, END, contents(results, links)))
