"""What changed between two results files: `swapmeet compare`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from swapmeet.measure.bench import statistics
from swapmeet.measure.bench.cells import Cell, name, place, size
from swapmeet.measure.bench.records import Results
from swapmeet.measure.bench.statistics import Estimate
from swapmeet.tables import right
from swapmeet.units import microseconds

SLOWER, FASTER, SAME, UNKNOWN = "slower", "faster", "within noise", "one launch"


@dataclass(frozen=True)
class Change:
    """One spec on one cell, in both files."""

    cell: Cell
    spec: str
    before: Estimate  #: seconds
    after: Estimate  #: seconds
    speedup: Estimate  #: the time before over that after: above 1, it became faster
    verdict: str  #: SLOWER, FASTER, SAME or UNKNOWN


@dataclass(frozen=True)
class Comparison:
    """Two results files side by side."""

    changes: Sequence[Change]
    warnings: Sequence[str]  #: why a change need not be the library's
    only_before: Sequence[tuple[Cell, str]]
    only_after: Sequence[tuple[Cell, str]]
    tie: float  #: changes of less do not count

    @property
    def changed_for_worse(self) -> bool:
        """Whether anything became slower, beyond noise."""
        return any(change.verdict == SLOWER for change in self.changes)

    @property
    def overall(self) -> Estimate | None:
        """The geometric mean of all speed-ups; None if there are none."""
        return statistics.geometric_mean([change.speedup for change in self.changes]) if self.changes else None


def compare(before: Results, after: Results, tie: float = statistics.TIE) -> Comparison:
    """Compare all that both files hold.

    What is called changed differs by more than `tie` (0.01: 1 %) and beyond noise. Of all that is called so, at most
    5 % is expected to be noise all the same, however many cells there are.
    """
    old = {key: key for key in _keys(before)}
    renamed = _same_kind(before, after)
    new = {(replace(cell, mpi=renamed.get(cell.mpi, cell.mpi)), spec): (cell, spec) for cell, spec in _keys(after)}
    common = [key for key in old if key in new]
    speedups = [statistics.unpaired_ratio(before.samples(*key), after.samples(*new[key])) for key in common]
    known = [speedup for speedup in speedups if math.isfinite(speedup.high)]
    certain = iter(statistics.changed(known, tie))
    changes = []
    for (cell, spec), speedup in zip(common, speedups, strict=True):
        was = statistics.median([run.longest for run in before.samples(cell, spec)])
        became = statistics.median([run.longest for run in after.samples(*new[cell, spec])])
        is_certain = math.isfinite(speedup.high) and next(certain)
        changes.append(Change(cell, spec, was, became, speedup, _verdict(speedup, is_certain)))
    only_before = [key for key in old if key not in new]
    return Comparison(changes, _warnings(before, after), only_before, [new[key] for key in new if key not in old], tie)


def _same_kind(before: Results, after: Results) -> dict[str, str]:
    """MPIs of which the files hold one version each, and not the same: later to earlier version."""
    kinds: list[dict[str, set[str]]] = [{}, {}]
    for results, found in zip((before, after), kinds, strict=True):
        for cell in results.cells():
            found.setdefault(cell.mpi.split()[0], set()).add(cell.mpi)
    both = kinds[0].keys() & kinds[1].keys()
    single = [kind for kind in both if len(kinds[0][kind]) == len(kinds[1][kind]) == 1]
    return {new: old for kind in single for old in kinds[0][kind] for new in kinds[1][kind] if old != new}


def _keys(results: Results) -> list[tuple[Cell, str]]:
    return [(cell, spec) for cell in results.cells() for spec in results.specs(cell)]


def _verdict(speedup: Estimate, certain: bool) -> str:
    if not math.isfinite(speedup.high):
        return UNKNOWN
    return (FASTER if speedup.value > 1 else SLOWER) if certain else SAME


_MACHINE = {"host": "host", "processor": "processor", "cores": "cores", "memory_bytes": "memory", "kernel": "kernel"}
_LAUNCH = {"mpi": "MPI", "library": "path of MPI", "environment": "environment of the launches"}


def _warnings(before: Results, after: Results) -> list[str]:
    """All that differs besides the times."""
    files = (before, after)
    found = []
    for key, word in _MACHINE.items():
        found.append((word, [_texts(each.get("machine", {}).get(key) for each in file.campaigns) for file in files]))
    for key in ("swapmeet", "commit"):
        found.append((key, [_texts(each.get(key) for each in file.campaigns) for file in files]))
    for key, word in _LAUNCH.items():
        found.append((word, [_texts(_plain(getattr(each, key)) for each in file.launches) for file in files]))
    lines = [f"{word} differs: {old} before, {new} after" for word, (old, new) in found if old != new]
    for results in (before, after):
        if results.torn:
            lines.append(f"{results.path} ends in a line that was cut off: it is left out")
    return lines


def _plain(value: object) -> object:
    return " ".join(f"{key}={text}" for key, text in sorted(value.items())) if isinstance(value, dict) else value


def _texts(values: Any) -> str:
    """Each of them once."""
    return ", ".join(dict.fromkeys("none" if value in (None, "") else str(value) for value in values)) or "none"


# For people


def table(comparison: Comparison, everything: bool = False) -> Iterator[RenderableType]:
    """Warnings, what changed (or everything) with the largest changes first, and a summary."""
    for warning in comparison.warnings:
        yield Text(f"warning: {warning}", style="yellow")
    shown = [change for change in comparison.changes if everything or change.verdict in (SLOWER, FASTER)]
    groups: dict[str, list[Change]] = {}
    for change in shown:
        groups.setdefault(place(change.cell), []).append(change)
    for heading, changes in groups.items():
        yield Text(heading, style="bold")
        yield _table(changes)
    for when, keys in (("before", comparison.only_before), ("after", comparison.only_after)):
        if keys:
            some = ", ".join(f"{spec} on {name(cell)}" for cell, spec in keys[:3])
            more = f" and {len(keys) - 3} more" if len(keys) > 3 else ""
            yield Text(f"only {when}: {some}{more}")
    yield Text(summary(comparison))


def _table(changes: Sequence[Change]) -> Table:
    listing = Table("size", "spec", *right("before (µs)", "after (µs)", "speed-up", "95 % interval", no_wrap=True))
    listing.add_column("verdict", no_wrap=True)
    order = {SLOWER: 0, FASTER: 1, SAME: 2, UNKNOWN: 2}
    for change in sorted(changes, key=lambda c: (order[c.verdict], -abs(math.log(c.speedup.value)))):
        style = {SLOWER: "bold red", FASTER: "green"}.get(change.verdict, "")
        numbers = [microseconds(1e6 * each.value) for each in (change.before, change.after)]
        row = [*numbers, f"{change.speedup.value:.3f}", interval(change.speedup)]
        listing.add_row(*(Text(word) for word in [size(change.cell), change.spec, *row]), Text(change.verdict, style))
    return listing


def interval(estimate: Estimate) -> str:
    """As in "0.981 .. 1.020"."""
    return f"{estimate.low:.3f} .. {estimate.high:.3f}" if math.isfinite(estimate.high) else "unknown"


def summary(comparison: Comparison) -> str:
    """How many cells changed, the geometric mean, and how small a change could be seen at all."""
    counts = {kind: sum(c.verdict == kind for c in comparison.changes) for kind in (SLOWER, FASTER, SAME, UNKNOWN)}
    overall = comparison.overall
    if overall is None:
        return "Nothing was measured in both files."
    lines = [
        f"{counts[SLOWER]} slower, {counts[FASTER]} faster, {counts[SAME]} within noise, of {len(comparison.changes)}"
        f" (a cell with a spec); changes below {comparison.tie:.1%} do not count, and of those named 5 % may be noise.",
    ]
    if counts[UNKNOWN]:
        lines.append(
            f"{counts[UNKNOWN]} cannot be judged: one launch in each file does not show how launches differ; "
            "measure with more launches."
        )
    known = [c.speedup.half_width for c in comparison.changes if math.isfinite(c.speedup.high)]
    if known:
        lines.append(f"Geometric mean of the speed-ups, before over after: {overall.value:.3f} ({interval(overall)}).")
        lines.append(
            f"Half of the intervals are narrower than ± {float(np.median(known)):.1%}: smaller changes go unseen."
        )
    return "\n".join(lines)


# For machines


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Everything, for other programs; null where a bound is not known."""
    return {
        "changed_for_worse": comparison.changed_for_worse,
        "tie": comparison.tie,
        "warnings": list(comparison.warnings),
        "overall_speedup": comparison.overall.record() if comparison.overall else None,
        "changes": [
            {
                "cell": asdict(change.cell),
                "spec": change.spec,
                "verdict": change.verdict,
                "before_seconds": change.before.record(),
                "after_seconds": change.after.record(),
                "speedup": change.speedup.record(),
            }
            for change in comparison.changes
        ],
        "only_before": [{"cell": asdict(cell), "spec": spec} for cell, spec in comparison.only_before],
        "only_after": [{"cell": asdict(cell), "spec": spec} for cell, spec in comparison.only_after],
    }


def plain(comparison: Comparison) -> Iterator[str]:
    """Tab-separated lines, one for each cell and spec, with a header that begins with #."""
    yield from (f"# warning: {warning}" for warning in comparison.warnings)
    columns = ["verdict", "speedup", "low", "high", "before_us", "after_us", "spec", "cell"]
    yield "# " + "\t".join(columns)
    for c in comparison.changes:
        numbers = [c.speedup.value, c.speedup.low, c.speedup.high, c.before.value * 1e6, c.after.value * 1e6]
        yield "\t".join([c.verdict, *(f"{number:.6g}" for number in numbers), c.spec, name(c.cell)])
