"""Cells and candidates, simulated side by side, into a results file as `swapmeet bench` writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Protocol

from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench import machine
from swapmeet.measure.bench.campaign import WRONG
from swapmeet.measure.bench.candidates import candidates, unsuitable
from swapmeet.measure.bench.cells import Cell, name
from swapmeet.measure.bench.results import Writer
from swapmeet.measure.bench.statistics import LEAST_IN_LAUNCH
from swapmeet.measure.bench.table import FEW_LAUNCHES
from swapmeet.simulate import estimate, peers
from swapmeet.simulate.job import Job, Outcome
from swapmeet.simulate.platform import Platform

#: A simulation is the same every time: its time is written down as often as statistics ask for launches and samples.
LAUNCHES = FEW_LAUNCHES
SAMPLES = LEAST_IN_LAUNCH
MEMORY_SHARE = 0.8  #: of what is available, that simulations may take


class Runner(Protocol):
    """What finds out how long jobs take: a Simulator, or an Estimator."""

    def label(self, platform: Platform) -> str:
        """What stands for the MPI in results."""

    def notes(self, platform: Platform) -> list[str]:
        """The description of a launch in results."""

    def known(self, job: Job) -> Outcome | None:
        """What came of it before."""

    def run(self, job: Job) -> Outcome:
        """Find out. Called by several threads."""

    def stop(self) -> None:
        """Give up all that is under way."""


@dataclass(frozen=True)
class Settings:
    """What is simulated."""

    platforms: tuple[Platform, ...]  #: each with a number of ranks
    patterns: tuple[str, ...]  #: of candidates
    exchanges: tuple[tuple[str, str, int, str], ...]  #: collective, sizes, seed, datatype, as in a Cell
    native: str
    label: Callable[[Platform], str]

    def jobs(self) -> tuple[list[Job], list[tuple[Job, str]]]:
        """All jobs, cell by cell; and those that cannot be, with why."""
        found: list[Job] = []
        impossible: list[tuple[Job, str]] = []
        for platform in self.platforms:
            ours = [pattern for pattern in self.patterns if not pattern.startswith(peers.PREFIX)]
            theirs = [pattern for pattern in self.patterns if pattern.startswith(peers.PREFIX)]
            specs = dict.fromkeys([*candidates(ours, platform.ranks), *theirs])
            for exchange in self.exchanges:
                cell = Cell(self.label(platform), platform.ranks, *exchange, str(platform.per_node))
                for spec in specs:
                    job = Job(platform, cell, spec, self.native)
                    why = _unsuitable(spec, cell)
                    impossible += [(job, why)] if why else []
                    found += [] if why else [job]
        return found, impossible


def _unsuitable(spec: str, cell: Cell) -> str:
    if peers.is_peer(spec):
        return peers.unsuitable(spec, cell.collective)
    return unsuitable(spec, cell.collective, cell.ranks, cell.nodes)


def require_memory(jobs: Iterable[Job], parallel: int) -> None:
    """Refuse simulations that do not fit into this machine, before any begins.

    Raises
    ------
    SwapmeetError
        With the largest one.
    """
    available = machine.available_bytes()
    largest = sorted(((estimate.of_job(job).bytes, i, job) for i, job in enumerate(jobs)), reverse=True)[:parallel]
    wanted = sum(size for size, *_ in largest)
    if largest and wanted > MEMORY_SHARE * available:
        raise SwapmeetError(
            f"simulating {name(largest[0][2].cell)} takes about {largest[0][0] / 2**30:.1f} GiB, {len(largest)} side "
            f"by side {wanted / 2**30:.1f} GiB; {available / 2**30:.1f} GiB are available: choose fewer --jobs, "
            "smaller blocks or fewer ranks"
        )


def simulated(simulator: Runner, jobs: Iterable[Job], parallel: int) -> Iterator[tuple[Job, Outcome]]:
    """Simulate `parallel` jobs at a time, long ones first; what comes of each, as it comes."""
    with ThreadPoolExecutor(parallel) as pool:
        longest_first = sorted(jobs, key=lambda job: -estimate.of_job(job).seconds)
        running = {pool.submit(simulator.run, job): job for job in longest_first}
        try:
            for done in as_completed(running):
                yield running[done], done.result()
        except BaseException:
            simulator.stop()
            pool.shutdown(cancel_futures=True)
            raise


class Campaign:
    """Simulates jobs and writes down what comes of them, cell by cell.

    Parameters
    ----------
    told : callable
        Of each job that is done, known before or not.
    """

    def __init__(self, simulator: Runner, writer: Writer, told: Callable[[Job, Outcome], None]) -> None:
        self._simulator, self._writer, self._told = simulator, writer, told
        self._launches: dict[str, list[int]] = {}

    def run(self, jobs: Sequence[Job], parallel: int) -> None:
        """Simulate `parallel` jobs at a time, long ones first. An interruption loses those that run."""
        todo = []
        for job in jobs:
            known = self._simulator.known(job)
            if known:
                self._write(job, known)
            else:
                todo.append(job)
        for job, outcome in simulated(self._simulator, todo, parallel):
            self._write(job, outcome)
        for cell in dict.fromkeys(job.cell for job in jobs):
            self._writer.finished(cell, "samples")

    def _write(self, job: Job, outcome: Outcome) -> None:
        launches = self._launches_of(job.platform)
        if outcome.problem:
            wrong = WRONG if outcome.wrong else ""
            self._writer.problem(launches[0], job.cell, job.spec, f"{wrong}{outcome.problem}")
        else:
            longest, shortest, mean = ([s] * SAMPLES for s in (outcome.longest, outcome.shortest, outcome.mean))
            for launch in launches:
                self._writer.samples(
                    launch, job.cell, job.spec, calls=1, round=0, longest=longest, shortest=shortest, mean=mean
                )
        self._told(job, outcome)

    def _launches_of(self, platform: Platform) -> list[int]:
        key = f"{platform.name}, {platform.ranks} ranks"
        if key not in self._launches:
            notes = [
                *self._simulator.notes(platform),
                f"one time is written down as {LAUNCHES} launches of {SAMPLES} samples",
                f"platform: {platform.machine.name}, {platform.machine.note}",
                f"network: {platform.topology}, {platform.per_node} ranks a node, {len(platform.hosts)} nodes used",
            ]
            self._launches[key] = [
                self._writer.launch(
                    block=block,
                    mpi=self._simulator.label(platform),
                    library="",
                    ranks=platform.ranks,
                    nodes=str(platform.per_node),
                    command=["swapmeet", "simulate"],
                    environment={},
                    started=machine.now(),
                    load=None,
                    notes=notes,
                )
                for block in range(LAUNCHES)
            ]
        return self._launches[key]
