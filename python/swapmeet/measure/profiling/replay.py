"""Replaying recorded exchanges: those that cost most, by the host MPI and by candidates, side by side."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench import machine
from swapmeet.measure.bench.campaign import Campaign, Settings, Watch
from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.measure.bench.results import Writer, read
from swapmeet.measure.bench.session import MATRIX
from swapmeet.measure.bench.statistics import Estimate, median, ratio
from swapmeet.measure.profiling.exchanges import Distinct, Found
from swapmeet.mpi.mpis import Mpi

CANDIDATES = ("auto", "shared-memory", "pairwise", "spread-out", "multipair-waitany", "tra", "two-phase-bruck")
COVERAGE = 0.95  #: of the time in all-to-alls, that is replayed if the budget allows
LAUNCHES = 3
VISIT_S = 1.0  #: for an exchange in one launch, at least
CROWD = 16  #: ranks a core; more are not replayed on this machine


@dataclass
class Gain:
    """What a candidate would save, in seconds of a rank and of a run, with its 95 % interval."""

    value: float
    low: float
    high: float

    def __add__(self, other: Gain) -> Gain:
        """Their sum. Exchanges of one launch err together, so their errors are added, too."""
        return Gain(self.value + other.value, self.low + other.low, self.high + other.high)


@dataclass
class Replayed:
    """One exchange and what was measured of it."""

    exchange: Distinct
    cell: Cell
    world_ranks: int
    native: Estimate  #: seconds of a call
    candidates: dict[str, tuple[Estimate, Estimate]]  #: seconds of a call, and how many times faster than native

    def gain(self, spec: str) -> Gain:
        """Of all calls in the run. A candidate that could not run saves nothing: its calls stay native.

        No more than the share of the recorded time that the replay shows: a replay may be slower than the application.
        """
        if spec not in self.candidates:
            return Gain(0.0, 0.0, 0.0)
        faster = self.candidates[spec][1]
        per_rank = self.exchange.calls * self.exchange.ranks / self.world_ranks
        spent = min(self.native.value * per_rank, self.exchange.rank_seconds / self.world_ranks)
        return Gain(*(spent * _saved(times) for times in (faster.value, faster.low, faster.high)))

    @property
    def best(self) -> str:
        """The fastest candidate; NATIVE if none is faster."""
        fastest = max(self.candidates, key=lambda spec: self.candidates[spec][1].value, default=NATIVE)
        return fastest if fastest != NATIVE and self.candidates[fastest][1].value > 1 else NATIVE


def _saved(times_faster: float) -> float:
    return 1 - 1 / times_faster if times_faster > 0 else float("-inf")


@dataclass
class Replay:
    """All that was replayed."""

    replayed: list[Replayed] = field(default_factory=list)
    left: dict[str, float] = field(default_factory=dict)  #: seconds of ranks that were not replayed, by reason
    notes: list[str] = field(default_factory=list)

    def by_spec(self) -> dict[str, Gain]:
        """What each candidate would save as SWAPMEET_ALGORITHM; the best first."""
        specs = dict.fromkeys(spec for one in self.replayed for spec in one.candidates)
        gains = {spec: sum((one.gain(spec) for one in self.replayed), Gain(0.0, 0.0, 0.0)) for spec in specs}
        return dict(sorted(gains.items(), key=lambda item: -item[1].value))

    @property
    def best_of_each(self) -> Gain:
        """What would be saved if each exchange had its best candidate."""
        return sum((one.gain(one.best) for one in self.replayed), Gain(0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Request:
    """How to replay."""

    target: Mpi
    candidates: tuple[str, ...]
    budget_s: float
    launcher: str | None = None
    nodes: str = ""


def choose(found: Found, request: Request) -> tuple[list[Distinct], dict[str, float]]:
    """Choose the exchanges that are replayed; and report why others are not, in seconds of ranks."""
    most = max(1, int(request.budget_s / (LAUNCHES * VISIT_S)))
    crowd = CROWD * len(os.sched_getaffinity(0))
    chosen: list[Distinct] = []
    left = dict(found.lost)
    covered = 0.0
    for one in found.distinct:
        if one.ranks == 1:
            why = "communicators of one rank"
        elif not one.total_bytes:
            why = "empty exchanges"
        elif request.launcher is None and one.ranks > crowd:
            why = f"more than {crowd} ranks, too many for this machine: give --launcher"
        elif covered >= COVERAGE * found.total:
            why = f"beyond {COVERAGE:.0%} of the time"
        elif len(chosen) == most:
            why = "beyond the budget: give a larger --budget"
        else:
            chosen.append(one)
            covered += one.rank_seconds
            continue
        left[why] = left.get(why, 0.0) + one.rank_seconds
    return chosen, left


def replay(found: Found, world_ranks: int, request: Request, folder: Path, watch: Watch) -> Replay:
    """Replay exchanges; those with the same number of ranks share launches.

    Parameters
    ----------
    folder
        For the samples, `samples.jsonl` (docs/results.md), and the sizes.

    Raises
    ------
    SwapmeetError
        If nothing can be launched at all.
    """
    chosen, left = choose(found, request)
    done = Replay(left=left)
    total = sum(one.rank_seconds for one in chosen)
    samples = folder / "samples.jsonl"
    problems = _Problems(watch)
    for ranks in sorted({one.ranks for one in chosen}):
        cells = {cell_of(one, number, request, folder): one for number, one in enumerate(chosen) if one.ranks == ranks}
        share = sum(one.rank_seconds for one in cells.values()) / total if total else 1
        settings = Settings(
            targets=(request.target,),
            ranks=(ranks,),
            patterns=request.candidates,
            exchanges=tuple((c.collective, c.sizes, c.seed, c.datatype) for c in cells),
            nodes=request.nodes,
            launches=LAUNCHES,
            budget_s=max(share * request.budget_s, LAUNCHES * VISIT_S),
            launcher=request.launcher,
        )
        with _unrecorded(), Writer(samples, machine.header({}), resume=samples.exists()) as writer:
            Campaign(settings, writer, problems).run()
        results = read(samples)
        for cell, one in cells.items():
            native = results.samples(cell, NATIVE)
            if not native:
                why = "the replay failed"
                done.left[why] = done.left.get(why, 0.0) + one.rank_seconds
                continue
            candidates = {
                spec: (median([run.longest for run in runs]), ratio(native, runs))
                for spec in results.specs(cell)
                if spec != NATIVE and (runs := results.samples(cell, spec))
            }
            done.replayed.append(Replayed(one, cell, world_ranks, median([r.longest for r in native]), candidates))
    done.replayed.sort(key=lambda one: -one.exchange.rank_seconds)
    done.notes = problems.messages
    if chosen and not done.replayed:
        raise SwapmeetError(f"nothing could be replayed: {next(iter(problems.messages), 'no reason is known')}")
    return done


def cell_of(one: Distinct, number: int, request: Request, folder: Path) -> Cell:
    """What is measured for an exchange. Writes its sizes into `folder` if they differ."""
    multiple = 8 if one.derived else 1  # strided items are doubles
    if isinstance(one.bytes, int):
        sizes, whole = str(one.bytes), one.bytes % multiple == 0
    else:
        path = folder / f"sizes-{number}.i64"
        one.bytes.astype("=i8").tofile(path)
        sizes, whole = f"{MATRIX}{path}", not (one.bytes % multiple).any()
    datatype = "strided" if one.derived and whole else "byte"
    name = f"{request.target.kind} {request.target.version}"
    collective = "alltoall" if one.collective == "alltoall" else "alltoallv"  # Alltoallw's types are not known
    return Cell(name, one.ranks, collective, sizes, 0, datatype, request.nodes)


@dataclass
class _Problems:
    """Passes on how the replay goes, and keeps what could not be measured, each sentence once."""

    watch: Watch
    messages: list[str] = field(default_factory=list)

    def begin(self, visits: int) -> None:
        self.watch.begin(visits)

    def visit(self, cell: Cell, fraction: float) -> None:
        self.watch.visit(cell, fraction)

    def done(self) -> None:
        self.watch.done()

    def problem(self, message: str) -> None:
        if message not in self.messages:
            self.messages.append(message)


@contextmanager
def _unrecorded() -> Iterator[None]:
    """The replay is not to be recorded, nor to overwrite a recording."""
    kept = os.environ.pop("SWAPMEET_RECORD", None)
    try:
        yield
    finally:
        if kept is not None:
            os.environ["SWAPMEET_RECORD"] = kept
