"""What the pictures show: the measurements of some results files, filtered and grouped, estimated where asked for."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench import statistics
from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.measure.bench.results import Phases, Results, Run, read
from swapmeet.measure.bench.statistics import Estimate
from swapmeet.units import mean_text, size_text

FILE_STRIDE = 1 << 40  #: launches of different files are different launches

EQUAL = "equal"  #: the kind of sizes whose blocks are all alike; the others are kinds of workloads


@dataclass(frozen=True)
class Filter:
    """What of the files is wanted; an empty part wants all."""

    specs: tuple[str, ...] = ()  #: globs; the host MPI is always wanted
    mpis: tuple[str, ...] = ()  #: globs of such as "openmpi 5.0.11"
    collective: str = ""
    ranks: tuple[int, ...] = ()
    sizes: tuple[str, ...] = ()  #: globs of bytes, or of workloads

    def wants_cell(self, cell: Cell) -> bool:
        """Whether a cell passes."""
        return (
            _matches(cell.mpi, self.mpis)
            and self.collective in ("", cell.collective)
            and (not self.ranks or cell.ranks in self.ranks)
            and _matches(cell.sizes, self.sizes)
        )

    def wants_spec(self, spec: str) -> bool:
        """Whether a spec passes."""
        return spec == NATIVE or _matches(spec, self.specs)


def _matches(text: str, globs: Sequence[str]) -> bool:
    return not globs or any(text == glob or fnmatch.fnmatchcase(text, glob) for glob in globs)


@dataclass(frozen=True, order=True)
class Setting:
    """What cells of one picture have in common: all but ranks and sizes."""

    mpi: str
    collective: str
    datatype: str
    seed: int
    nodes: str
    origin: str  #: machine or commit, where the files differ in it

    @property
    def title(self) -> str:
        """For people."""
        parts = [self.origin, self.mpi, f"MPI_{self.collective.capitalize()}"]
        parts.append({"byte": "", "strided": "strided type"}.get(self.datatype, self.datatype))
        parts.append(f"nodes {self.nodes}" if self.nodes else "")
        parts.append(f"seed {self.seed}" if self.seed else "")
        return ", ".join(filter(None, parts))

    @property
    def stem(self) -> str:
        """For names of files."""
        datatype = "" if self.datatype == "byte" else self.datatype
        nodes = f"nodes{self.nodes}" if self.nodes else ""
        seed = f"seed{self.seed}" if self.seed else ""
        words = filter(None, (self.origin, self.mpi, self.collective, datatype, nodes, seed))
        return "".join(c if c.isalnum() or c in ".+-" else "-" for c in "-".join(words))


@dataclass(frozen=True)
class Place:
    """One cell of one setting."""

    setting: Setting
    cell: Cell


class Measurements:
    """The samples of one or more results files.

    Parameters
    ----------
    files
        What was read; samples of the same cell in several files of one machine and commit are pooled.
    wanted
        What of it to look at.

    Raises
    ------
    SwapmeetError
        If nothing is left.
    """

    def __init__(self, files: Sequence[Results], wanted: Filter) -> None:
        self.files = files
        self.phases: dict[tuple[Place, str], list[Phases]] = {}
        self._samples: dict[Place, dict[str, list[Run]]] = {}
        self._medians: dict[tuple[Place, str], Estimate] = {}
        self._speedups: dict[tuple[Place, str], Estimate | None] = {}
        self._means: dict[tuple[str, int, int], float] = {}
        origins = _origins(files)
        for index, (results, origin) in enumerate(zip(files, origins, strict=True)):
            self._take(results, origin, wanted, index * FILE_STRIDE)
        if not self._samples:
            raise SwapmeetError(_nothing(files, wanted))

    def _take(self, results: Results, origin: str, wanted: Filter, first_launch: int) -> None:
        for cell in filter(wanted.wants_cell, results.cells()):
            specs = [spec for spec in results.specs(cell) if wanted.wants_spec(spec)]
            if wanted.specs and specs in ([], [NATIVE]) and not _matches(NATIVE, wanted.specs):
                continue  # the MPI alone is not what the glob asks for
            table = self._samples.setdefault(_place(cell, origin), {})
            for spec in specs:
                runs = [replace(run, launch=run.launch + first_launch) for run in results.samples(cell, spec)]
                table.setdefault(spec, []).extend(runs)
        for phases in results.phases:
            place = _place(phases.cell, origin)
            if wanted.wants_cell(phases.cell) and wanted.wants_spec(phases.spec):
                self.phases.setdefault((place, phases.spec), []).append(phases)

    def settings(self) -> list[Setting]:
        """All settings, sorted."""
        return sorted({place.setting for place in [*self._samples, *(place for place, _ in self.phases)]})

    def places(self, setting: Setting, ranks: int | None = None) -> list[Place]:
        """The cells of a setting with samples, by ranks, then small blocks first."""
        some = (place for place in self._samples if place.setting == setting and ranks in (None, place.cell.ranks))
        return sorted(some, key=lambda place: (place.cell.ranks, self.size_key(place.cell)))

    def specs(self, places: Iterable[Place]) -> list[str]:
        """The specs with samples of any of these cells: the host MPI first, then by name, numbers in order."""
        found = {spec for place in places for spec in self._samples.get(place, {})}
        return sorted(found, key=lambda spec: (spec != NATIVE, _natural(spec)))

    def runs(self, place: Place, spec: str) -> list[Run]:
        """The samples of a spec, a run for each launch."""
        return self._samples.get(place, {}).get(spec, [])

    def median(self, place: Place, spec: str) -> Estimate | None:
        """Median time of a call in seconds, the slowest rank's; None if it was not measured."""
        runs = self.runs(place, spec)
        if not runs:
            return None
        if (place, spec) not in self._medians:
            self._medians[place, spec] = statistics.median([run.longest for run in runs])
        return self._medians[place, spec]

    def speedup(self, place: Place, spec: str) -> Estimate | None:
        """Median time of the host MPI over that of the spec; None if one was not measured, or not beside it."""
        return self.ratio(place, NATIVE, spec) if spec != NATIVE else None

    def ratio(self, place: Place, above: str, below: str) -> Estimate | None:
        """Median time of `above` over that of `below`, from what was taken side by side in the same launches."""
        key = (place, f"{above} / {below}")
        if key not in self._speedups:
            theirs, ours = self.runs(place, above), self.runs(place, below)
            shared = {run.launch for run in theirs} & {run.launch for run in ours}
            self._speedups[key] = (
                statistics.ratio(
                    [run for run in theirs if run.launch in shared], [run for run in ours if run.launch in shared]
                )
                if shared
                else None
            )
        return self._speedups[key]

    def mean_bytes(self, cell: Cell) -> float:
        """Mean size of the blocks of a cell, in bytes; nan if a newer version's workload."""
        if cell.block_bytes is not None:
            return cell.block_bytes
        key = (cell.sizes, cell.seed, cell.ranks)
        if key not in self._means:
            try:
                workload = _core.parse_workload(cell.sizes)
            except ValueError:
                self._means[key] = float("nan")
            else:
                total = sum(workload.sent(cell.seed, cell.ranks, rank)[0] for rank in range(cell.ranks))
                self._means[key] = total / cell.ranks**2
        return self._means[key]

    def sizes_kind(self, cell: Cell) -> str:
        """EQUAL, or the kind of the workload."""
        return EQUAL if cell.block_bytes is not None else cell.sizes.partition(":")[0]

    def size_label(self, cell: Cell) -> str:
        """Sizes for people: 64 B, or a workload with its mean block."""
        if cell.block_bytes is not None:
            return size_text(cell.block_bytes)
        mean = self.mean_bytes(cell)
        return cell.sizes if mean != mean else f"{cell.sizes} (mean\u00a0{mean_text(mean)})"

    def size_key(self, cell: Cell) -> tuple[str, float, str]:
        """By which sizes are sorted: blocks that are all alike first, then kind by kind by their mean."""
        kind = self.sizes_kind(cell)
        mean = self.mean_bytes(cell)
        return ("" if kind == EQUAL else kind, mean if mean == mean else 0.0, cell.sizes)


def load(paths: Sequence[Path], wanted: Filter) -> Measurements:
    """Read results files.

    Raises
    ------
    SwapmeetError
        If one cannot be read, or nothing in them is wanted.
    """
    return Measurements([read(path) for path in paths], wanted)


def interval(estimate: Estimate) -> tuple[float, float] | None:
    """The 95 % interval; None while there are too few samples for one."""
    low, high = estimate.low, estimate.high
    return (low, high) if 0 <= low <= high < float("inf") else None


def _natural(text: str) -> list[str | int]:
    return [int(part) if i % 2 else part for i, part in enumerate(re.split(r"([0-9]+)", text))]


def _place(cell: Cell, origin: str) -> Place:
    return Place(Setting(cell.mpi, cell.collective, cell.datatype, cell.seed, cell.nodes, origin), cell)


def _origins(files: Sequence[Results]) -> list[str]:
    """In what files differ whose samples must not be pooled: machines, commits; "" where they agree."""
    hosts = [str(results.header.get("machine", {}).get("host", "")) for results in files]
    commits = [str(results.header.get("commit", ""))[:10] for results in files]
    columns = [values for values in (hosts, commits) if len(set(values)) > 1]
    return [" ".join(values) for values in zip(*columns, strict=True)] if columns else [""] * len(files)


def _nothing(files: Sequence[Results], wanted: Filter) -> str:
    names = ", ".join(str(results.path) for results in files)
    cells = [cell for results in files for cell in results.cells()]
    if not cells:
        return f"{names}: holds no samples yet: continue it by `swapmeet bench --resume`, or measure anew"
    for option, given, there in (
        ("--mpi", wanted.mpis, {cell.mpi for cell in cells}),
        ("--collective", (wanted.collective,) if wanted.collective else (), {cell.collective for cell in cells}),
        ("--sizes", wanted.sizes, {cell.sizes for cell in cells}),
        (
            "--spec",
            wanted.specs,
            {spec for results in files for cell in results.cells() for spec in results.specs(cell)},
        ),
    ):
        if given and not any(_matches(text, given) for text in there):
            return f'{option} "{given[0]}": nothing in {names} matches; there are {_some(sorted(there))}'
    there = {str(ranks) for ranks in sorted({cell.ranks for cell in cells})}
    if wanted.ranks and not {cell.ranks for cell in cells} & set(wanted.ranks):
        return f"-P: nothing in {names} was measured with that many ranks; there are {_some(sorted(there, key=int))}"
    return f"nothing in {names} matches all of the filters together: leave one out"


def _some(texts: Sequence[str]) -> str:
    return ", ".join(texts[:6]) + (f" and {len(texts) - 6} more" if len(texts) > 6 else "")
