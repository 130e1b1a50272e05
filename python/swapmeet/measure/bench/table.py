"""Results as tables in a terminal: each candidate beside the host MPI."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from swapmeet.measure.bench.cells import NATIVE, OVERLAP, Cell, name, place, size
from swapmeet.measure.bench.records import Overlap
from swapmeet.measure.bench.results import Results
from swapmeet.measure.bench.statistics import Estimate, Samples, differs, drift, geometric_mean, median, ratio, verdict
from swapmeet.tables import right
from swapmeet.units import short_microseconds

COLOURS = {"faster": "green", "slower": "red", "tie": "", "unclear": "yellow"}
LIMITS = ("memcpy", "memcpy-shared", "flag")  #: what no exchange inside a node can beat: benchmarks/measure/limits.h
MARK = "~"
MOST_SPREAD = 100  #: an interval whose ends are further apart says nothing
FEW_LAUNCHES = 3
DRIFT = 0.05  #: a median that changes by so much during a visit is marked
Ratios = dict[str, list[tuple[Cell, Estimate]]]  #: spec -> speed-up over the host MPI, cell by cell


def tables(results: Results) -> Iterator[Table | str]:
    """For each MPI, number of ranks and collective a table with a row for each size and spec; then the means."""
    groups: dict[str, list[Cell]] = {}
    for cell in results.cells():
        groups.setdefault(place(cell), []).append(cell)
    ratios: Ratios = {}
    for heading, cells in groups.items():
        table = Table(title=heading, title_justify="left")
        limits = {limit.cell: limit.seconds for limit in results.limits}
        columns = ["block", "spec", "µs a call (95 %)", "speed-up (95 %)", "", "samples"]
        columns = columns if results.measured else ["block", "spec", "µs a call", "speed-up", ""]
        beside = any(results.samples(cell, NATIVE) for cell in cells)  # estimates have nothing to compare with
        columns = columns if beside else [*columns[:3], *columns[5:]]
        columns += [*LIMITS, "over limit"] if any(cell in limits for cell in cells) else []
        for column in columns:
            table.add_column(column, justify="left" if column in ("spec", "") else "right", no_wrap=column != "spec")
        for cell in cells:
            for row in _rows(results, cell, ratios, limits.get(cell)):
                table.add_row(*(row if beside else [*row[:3], *row[5:]]))
                if MARK in row[2]:
                    table.caption = f"{MARK} times changed by more than {DRIFT:.0%} within launches"
            table.add_section()
        yield table
    if results.overlaps:
        yield _overlaps(results)
    if any(len(pairs) > 1 for pairs in ratios.values()):
        yield _means(ratios)
    launches = [len(runs) for cell in results.cells() if (runs := results.samples(cell, NATIVE))]
    if launches and min(launches) < FEW_LAUNCHES:
        yield "Few launches (`bench --launches`): intervals of one are about that one only, those of two are very wide."
    yield from (f"not measured: {escape(problem.message)}" for problem in results.problems if problem.cell is None)


def _rows(results: Results, cell: Cell, ratios: Ratios, limits: Mapping[str, float] | None) -> Iterator[list[str]]:
    base = results.samples(cell, NATIVE)
    for i, spec in enumerate(results.specs(cell)):
        runs = results.samples(cell, spec)
        times = [run.longest for run in runs]
        found = median(times)
        row = [size(cell) if i == 0 else "", escape(spec), f"{microseconds(found)}{MARK if _drifts(times) else ''}"]
        if spec == NATIVE or not base:
            row += ["", ""]
        else:
            speedup = ratio(base, runs)
            ratios.setdefault(spec, []).append((cell, speedup))
            word = verdict(speedup)
            row += [factor(speedup), coloured(word)]
        if results.measured:
            row += [f"{found.samples} in {len(runs)}" if len(runs) > 1 else str(found.samples)]
        yield [*row, *(_over(found, limits) if limits else [])]


def _over(found: Estimate, limits: Mapping[str, float]) -> list[str]:
    """The limits in µs, and how often the larger of those that hold for any exchange fits into a time."""
    bound = max(limits.get("memcpy", 0), limits.get("flag", 0))
    shown = [short_microseconds(1e6 * limits[limit]) if limit in limits else "" for limit in LIMITS]
    return [*shown, f"{found.value / bound:.2f}" if bound else ""]


def _drifts(times: Sequence[Samples]) -> bool:
    return differs(drift(times), DRIFT)


def _overlaps(results: Results) -> Table:
    """Medians over launches: what a program that computes meanwhile loses by an exchange."""
    table = Table(title="non-blocking exchanges with as much computing in them, µs a call", title_justify="left")
    left = ("cell", "spec")
    for column in (*left, "tests", "alone", "start", "in tests", "wait", "lost", "overlap (OSU)", "overlap (IMB)"):
        table.add_column(column, justify="left" if column in left else "right", no_wrap=column not in left)
    found: dict[tuple[Cell, int, str], list[Overlap]] = {}
    for one in results.overlaps:
        found.setdefault((one.cell, one.tests, one.spec), []).append(one)
    for (cell, tests, spec), runs in found.items():
        times = {key: short_microseconds(1e6 * statistics.median(run.seconds[key] for run in runs)) for key in OVERLAP}
        lost = short_microseconds(1e6 * statistics.median(run.lost for run in runs))
        shares = [f"{statistics.median(share):.0%}" for share in ([r.osu for r in runs], [r.imb for r in runs])]
        first = (times["pure"], times["start"], times["tests"], times["wait"], lost)
        table.add_row(name(cell), escape(spec), str(tests), *first, *shares)
    return table


def _means(ratios: Ratios) -> Table:
    title = "speed-up over the host MPI: geometric mean over cells"
    numbers = right("cells", "mean (95 %)", "faster", "ties", "unclear", "slower")
    table = Table("spec", *numbers, "worst cell", title=title, title_justify="left")
    for spec, pairs in ratios.items():
        words = [verdict(speedup) for _, speedup in pairs]
        counts = [str(words.count(word)) for word in ("faster", "tie", "unclear", "slower")]
        cell, worst = min(pairs, key=lambda pair: pair[1].value)
        where = f"{factor(worst)}: {name(cell)}"
        mean = geometric_mean([speedup for _, speedup in pairs])
        table.add_row(escape(spec), str(len(pairs)), factor(mean), *counts, where)
    return table


def coloured(word: str) -> str:
    """A verdict, for rich."""
    return f"[{COLOURS[word]}]{word}[/]" if COLOURS[word] else word


def microseconds(seconds: Estimate) -> str:
    """A time and its interval, if it has one: simulated times are the same every time."""
    value, low, high = (short_microseconds(1e6 * number) for number in (seconds.value, seconds.low, seconds.high))
    return value if _exact(seconds) else f"{value} ({low}-{high})" if _known(seconds) else f"{value} (?)"


def factor(speedup: Estimate) -> str:
    """A ratio and its interval, if it has one."""
    value = f"{speedup.value:.2f}"
    if _exact(speedup):
        return value
    return f"{value} ({speedup.low:.2f}-{speedup.high:.2f})" if _known(speedup) else f"{value} (?)"


def _exact(estimate: Estimate) -> bool:
    """Whether its interval has no width, but for rounding."""
    return estimate.high <= estimate.low * (1 + 1e-9)


def _known(estimate: Estimate) -> bool:
    """Whether its interval is of use."""
    return estimate.high <= MOST_SPREAD * estimate.low
