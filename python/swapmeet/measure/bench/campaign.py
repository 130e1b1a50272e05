"""What is measured in which order, and until when.

A campaign consists of blocks: each launches every MPI on every number of ranks once, and visits every cell there, in
random order. In a visit the candidates take turns, in random order again, so that what disturbs one disturbs all; each
turn is a sample, a batch of calls. A visit ends when the median of every candidate is known well enough, or after so
many samples, or when its share of the time budget is spent. (hoefler2015; hunold2014)
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench import machine
from swapmeet.measure.bench.candidates import AUTO, candidates, unsuitable
from swapmeet.measure.bench.cells import NATIVE, Cell, name, size
from swapmeet.measure.bench.results import Results, Writer
from swapmeet.measure.bench.session import LaunchFailed, Refused, Sample, Session, Unavailable, WrongData
from swapmeet.measure.bench.statistics import LEAST_SAMPLES, TARGET, converged
from swapmeet.mpi.mpis import Mpi
from swapmeet.network.slot_tables import with_table

CHUNK_S = 0.5  #: samples are asked for in lists that take about so long
MOST_FAILURES = 3  #: launches of an MPI on so many ranks that may fail in a block, before the rest is left out
LEAST_ROUNDS = 6  #: in a visit, however little time is left: fewer have no interval
EARLY_CALLS = 10  #: the automatic choice sets shared memory up after some calls
TOO_SHORT = 1.5  #: times the budget that a campaign would take, before that is told
LEAST_OVERLAPPED, MOST_OVERLAPPED = 20, 2000  #: non-blocking exchanges with computing in them, in a launch
PHASE_S = 0.2  #: calls are profiled for about so long
WRONG = "wrong data: "  #: what a problem begins with, if an exchange delivered what was not sent
MEMORY_SHARE = 0.8  #: of what is available, that buffers may take


@dataclass(frozen=True)
class Settings:
    """What a campaign measures."""

    targets: tuple[Mpi, ...]
    ranks: tuple[int, ...]
    patterns: tuple[str, ...]  #: of candidates
    exchanges: tuple[tuple[str, str, int, str], ...]  #: collective, sizes, seed, datatype, as in a Cell
    nodes: str = ""
    launches: int = 5  #: blocks; fewer than three say little of how launches differ (docs/results.md)
    least: int = LEAST_SAMPLES  #: samples in a visit
    most: int = 300
    target: float = TARGET  #: relative half-width of the interval of a median
    budget_s: float | None = None
    budget_share: float = 1  #: that this is of what the user gave; 0: nobody is told that it is too short
    warm_up: int = 1  #: rounds that do not count, besides the calls that find out how long one takes
    validate: int = 50  #: every so many rounds, data are checked; 0: at the beginning of a visit only
    phases: bool = False
    limits: bool = False
    overlap: tuple[int, ...] = ()  #: numbers of MPI_Test calls, with each of which overlap is measured
    touch: bool = False
    pin: bool = False
    launcher: str | None = None
    timeout_s: float = 120
    seed: int = 1  #: of the order

    def cells(self, target: Mpi, ranks: int) -> list[Cell]:
        """The cells of one launch."""
        name = f"{target.kind} {target.version}"
        return [Cell(name, ranks, *exchange, self.nodes) for exchange in self.exchanges]


class Watch(Protocol):
    """What follows the progress of a campaign."""

    def begin(self, visits: int) -> None:
        """The number of visits to be made."""

    def visit(self, cell: Cell, fraction: float) -> None:
        """The share of a visit that is done."""

    def done(self) -> None:
        """A visit is over, or is left out."""

    def problem(self, message: str) -> None:
        """Something cannot be measured; all else goes on."""


@dataclass
class Campaign:
    """One run of a campaign, which may be the continuation of an interrupted one."""

    settings: Settings
    writer: Writer
    watch: Watch
    clock: Callable[[], float] = time.monotonic
    ends: dict[Cell, list[str]] = field(default_factory=dict)  #: why each visit ended
    _begun: float = 0
    _left: int = 0  # visits
    _made: int = 0
    _warned: bool = False

    def run(self) -> None:
        """Measure everything. Problems are written and told, and the rest goes on."""
        self._begun = self.clock()
        before = self.writer.before
        blocks = [
            (block, target, ranks, cells)
            for block in range(self.settings.launches)
            for target in self.settings.targets
            for ranks in self.settings.ranks
            if (
                cells := [
                    c for c in self.settings.cells(target, ranks) if not (before and self._done(before, block, c))
                ]
            )
        ]
        self._left = sum(len(cells) for *_, cells in blocks)
        self.watch.begin(self._left)
        for block, target, ranks, cells in blocks:
            draw = random.Random(f"{self.settings.seed} {block} {target.name} {ranks}")
            draw.shuffle(cells)
            self._block(block, target, ranks, cells, draw)
        for cell, ends in self.ends.items():
            self.writer.finished(cell, next((why for why in ("budget", "samples") if why in ends), "converged"))

    def _done(self, before: Results, block: int, cell: Cell) -> bool:
        """Whether all candidates have their samples of this cell in this block."""
        block_of = {launch.launch: launch.block for launch in before.launches}
        least = 1 if cell in before.finished else self.settings.least
        failed = {problem.spec for problem in before.problems if problem.cell == cell}
        for spec in candidates(self.settings.patterns, cell.ranks):
            runs = [run for run in before.samples(cell, spec) if block_of[run.launch] == block]
            if sum(len(run.longest) for run in runs) < least and spec not in failed:
                return False
        return True

    def _block(self, block: int, target: Mpi, ranks: int, cells: list[Cell], draw: random.Random) -> None:
        """Visit all cells; a launch that fails is replaced by another, without the cell that it failed at."""
        left = list(cells)
        for _ in range(MOST_FAILURES):
            try:
                self._launch(block, target, ranks, left, draw)
            except LaunchFailed as problem:
                self._problem(None, None, None, f"{target.name}, P = {ranks}: {problem}")
            if not left:
                return
        for cell in left:
            self._problem(None, cell, None, f"not measured in block {block}: launches failed")
            self._over()

    def _launch(self, block: int, target: Mpi, ranks: int, left: list[Cell], draw: random.Random) -> None:
        chosen = self.settings
        session = Session(
            target, ranks, nodes=chosen.nodes, launcher=chosen.launcher, pin=chosen.pin, touch=chosen.touch,
            timeout_s=chosen.timeout_s,
        )  # fmt: skip
        with session:
            launch = self.writer.launch(
                block=block,
                mpi=f"{target.kind} {target.version}",
                library=str(target.libmpi or ""),
                ranks=ranks,
                nodes=chosen.nodes,
                command=session.command,
                environment=machine.tuning({**os.environ, **session.environment}),
                started=machine.now(),
                load=os.getloadavg()[0],
                notes=[
                    *(f"{key}: {value}" for key, value in session.description.items()),
                    *(option for option in ("touch", "pin") if getattr(chosen, option)),
                ],
            )
            while left:
                cell = left.pop()
                try:
                    self._visit(Visit(self, session, launch, cell, draw))
                except Refused as problem:
                    self._problem(launch, cell, None, str(problem))
                except LaunchFailed as problem:
                    self._problem(launch, cell, None, str(problem))
                    raise
                finally:
                    self._over()

    def _visit(self, visit: Visit) -> None:
        share = None
        if self.settings.budget_s is not None:
            share = max(0.0, self._begun + self.settings.budget_s - self.clock()) / max(1, self._left)
        self.ends.setdefault(visit.cell, []).append(visit.run(share))

    def _over(self) -> None:
        self._left -= 1
        self._made += 1
        self.watch.done()
        budget, spent = self.settings.budget_s, self.clock() - self._begun
        told = self._warned or not self.settings.budget_share
        if budget is not None and not told and (wanted := spent / self._made * self._left) > TOO_SHORT * budget:
            self._warned = True  # a visit takes what it takes: data are checked, and every median gets an interval
            all_s, needed_s = (seconds / self.settings.budget_share for seconds in (budget, spent + wanted))
            self.watch.problem(f"the budget of {all_s:.3g} s is too short: about {needed_s:.0f} s are needed")

    def _problem(self, launch: int | None, cell: Cell | None, spec: str | None, message: str) -> None:
        self.writer.problem(launch, cell, spec, message)
        where = f"{name(cell)}: " if cell else ""
        self.watch.problem(f"{where}{spec + ': ' if spec else ''}{message}")


@dataclass
class Visit:
    """One cell in one launch."""

    campaign: Campaign
    session: Session
    launch: int
    cell: Cell
    draw: random.Random
    taken: dict[str, list[float]] = field(default_factory=dict)  #: the longest times of each candidate so far
    _numbers: dict[str, int] = field(default_factory=dict)
    _calls: dict[str, int] = field(default_factory=dict)

    def run(self, share_s: float | None) -> str:
        """Measure until enough is known, or `share_s` seconds are over. Returns why it ended."""
        chosen, begun = self.campaign.settings, self.campaign.clock()
        self.session.call(self.cell)
        round_s = self._prepare()
        if chosen.warm_up:
            self._rounds(chosen.warm_up)
        done, chunk, why = 0, max(1, min(chosen.least, int(CHUNK_S / round_s))), ""
        if share_s is not None:
            chunk = min(chunk, max(LEAST_ROUNDS, int(share_s / round_s)))
        while not why:
            chunk = min(chunk, chosen.most - done)
            if chosen.validate and done // chosen.validate != (done + chunk) // chosen.validate:
                self._check()
            self._keep(self._rounds(chunk), done)
            done += chunk
            why = self._why(done, None if share_s is None else begun + share_s)
            self.campaign.watch.visit(self.cell, min(1.0, done / chosen.most))
        self._besides()
        return why

    def _why(self, done: int, deadline: float | None) -> str:
        chosen = self.campaign.settings
        if deadline is not None and done >= LEAST_ROUNDS and self.campaign.clock() >= deadline:
            return "budget"
        if done >= chosen.least and all(
            converged([np.array(self.taken[spec])], chosen.target, chosen.least) for spec in self._numbers
        ):
            return "converged"
        return "samples" if done >= chosen.most else ""

    def _prepare(self) -> float:
        """Check every candidate's data and choose its batches. Returns the seconds of a round."""
        cell = self.cell
        total = 0.0
        for spec in candidates(self.campaign.settings.patterns, cell.ranks):
            reason = unsuitable(spec, cell.collective, cell.ranks, cell.nodes)
            try:
                if reason:
                    raise Refused(reason)
                number = self.session.candidate(with_table(spec, cell.ranks))
                self.session.check(number)
                if spec == AUTO:
                    self.session.measure([(number, EARLY_CALLS)])
                    self.session.check(number)
                seconds = self.session.seconds(number)
                ran = self.session.ran(number)
                if spec not in (NATIVE, AUTO) and ran.spec == NATIVE:
                    raise Refused(f"left to the host MPI: {ran.reason}")
            except (Refused, WrongData) as problem:
                wrong = WRONG if isinstance(problem, WrongData) else ""
                if spec == NATIVE:
                    raise Refused(f"the host MPI: {wrong}{problem}") from None
                self.campaign._problem(self.launch, cell, spec, f"{wrong}{problem}")
                continue
            self._numbers[spec], self._calls[spec] = number, self.session.batch(seconds)
            total += seconds * self._calls[spec]
        return max(total, 1e-6)

    def _check(self) -> None:
        for spec, number in list(self._numbers.items()):
            try:
                self.session.check(number)
            except WrongData as problem:
                self.campaign._problem(self.launch, self.cell, spec, f"{WRONG}{problem}")
                if spec == NATIVE:
                    raise Refused(f"the host MPI: {WRONG}{problem}") from None
                del self._numbers[spec]

    def _rounds(self, count: int) -> dict[str, list[Sample]]:
        """Samples of that many rounds, each candidate's in their order."""
        order: list[str] = []
        for _ in range(count):
            turns = list(self._numbers)
            self.draw.shuffle(turns)
            order += turns
        samples = self.session.measure([(self._numbers[spec], self._calls[spec]) for spec in order])
        found: dict[str, list[Sample]] = {spec: [] for spec in self._numbers}
        for spec, sample in zip(order, samples, strict=True):
            found[spec].append(sample)
        return found

    def _keep(self, found: dict[str, list[Sample]], first: int) -> None:
        for spec, samples in found.items():
            self.taken.setdefault(spec, []).extend(sample.longest for sample in samples)
            self.campaign.writer.samples(
                self.launch,
                self.cell,
                spec,
                calls=self._calls[spec],
                round=first,
                longest=[sample.longest for sample in samples],
                shortest=[sample.shortest for sample in samples],
                mean=[sample.mean for sample in samples],
            )

    def _besides(self) -> None:
        """Phases, overlap and limits, where they are asked for."""
        chosen, writer = self.campaign.settings, self.campaign.writer
        if chosen.phases:
            for spec, number in self._numbers.items():
                if spec == NATIVE:
                    continue
                calls = self.session.batch(min(self.taken[spec]), PHASE_S)
                try:
                    writer.phases(self.launch, self.cell, spec, calls=calls, seconds=self.session.phases(number, calls))
                except Unavailable as problem:
                    self.campaign._problem(self.launch, self.cell, spec, f"no phases: {problem}")
        for tests in chosen.overlap:
            for spec, number in self._numbers.items():
                calls = self.session.batch(min(self.taken[spec]), PHASE_S)
                calls = min(max(calls, LEAST_OVERLAPPED), MOST_OVERLAPPED)
                seconds = self.session.overlap(number, calls, tests)
                writer.overlap(self.launch, self.cell, spec, calls=calls, tests=tests, seconds=seconds)
        if chosen.limits:
            try:
                writer.limits(self.launch, self.cell, self.session.limits())
            except Refused as problem:
                self.campaign._problem(self.launch, self.cell, None, f"no limits: {problem}")


def require_memory(settings: Settings) -> None:
    """Refuse buffers that do not fit into this machine, before anything is launched.

    Raises
    ------
    SwapmeetError
        With the first cell that takes too much, or a size or workload that is none.
    """
    available = machine.available_bytes()
    for target in settings.targets[:1]:
        for ranks in settings.ranks:
            for cell in settings.cells(target, ranks):
                wanted = Session.memory_bytes(cell) * (1 if settings.launcher else ranks)
                if wanted > MEMORY_SHARE * available:
                    raise SwapmeetError(
                        f"{cell.collective} of {size(cell)} on {ranks} ranks takes buffers of {wanted / 2**30:.1f} "
                        f"GiB; {available / 2**30:.1f} GiB are available here: choose smaller blocks or fewer ranks"
                    )
