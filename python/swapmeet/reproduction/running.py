"""Getting the numbers of figures: what takes seconds is computed, what is simulated is remembered."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.cells import Cell
from swapmeet.reproduction.figure import SIMULATION, Computed, Figure, Row
from swapmeet.reproduction.sources import Simulated, rounded
from swapmeet.simulate import estimate, simgrid
from swapmeet.simulate.campaign import require_memory, simulated
from swapmeet.simulate.job import Job, Outcome, Simulator, label
from swapmeet.simulate.platform import Platform, platform

NATIVE = "mpich"  #: the host MPI of simulations, as Cray's are based on it
Told = Callable[[Job, Outcome], None]


@dataclass(frozen=True)
class Task:
    """A simulation, and the row that it gives."""

    row: dict[str, Any]
    job: Job

    @property
    def name(self) -> tuple[object, ...]:
        """Equal for equal simulations."""
        return self.job.platform.key, self.job.cell, self.job.spec


@functools.lru_cache(maxsize=64)
def _platform(machine: str, ranks: int, topology: str | None, per_node: int | None) -> Platform:
    return platform(machine, ranks, topology, per_node)


def tasks(source: Simulated, version: str) -> Iterator[Task]:
    """All simulations of a source."""
    grid = source.grid
    for ranks, sizes, role, spec in grid.cells():
        where = _platform(grid.machine, ranks, source.topology, grid.per_node)
        cell = Cell(label(where, version), ranks, grid.collective, sizes, nodes=str(where.per_node))
        yield Task(grid.row(SIMULATION, ranks, sizes, role, spec), Job(where, cell, spec, NATIVE))


def tasks_of(figure: Figure, version: str) -> list[Task]:
    """All simulations of a figure."""
    sources = [source for source in figure.sources if isinstance(source, Simulated)]
    return [task for source in sources for task in tasks(source, version)]


def simgrid_version() -> str:
    """SimGrid's; "" if it is not installed."""
    try:
        return simgrid.find().version
    except SwapmeetError:
        return ""


def takes(figure: Figure) -> tuple[int, float]:
    """How many simulations there are, and how many seconds they take if none is known."""
    jobs = {task.name: task.job for task in tasks_of(figure, "")}
    return len(jobs), sum(estimate.of_job(job).seconds for job in jobs.values())


def computed(figure: Figure) -> list[Row]:
    """What of a figure's numbers takes seconds: all but simulations."""
    sources = [cast(Computed, source) for source in figure.sources if not isinstance(source, Simulated)]
    return [row for source in sources for row in source.rows()]


def rows_of(figure: Figure, simulator: Simulator | None, parallel: int, told: Told) -> list[Row]:
    """Get all numbers of a figure.

    Raises
    ------
    SwapmeetError
        If SimGrid is missing but needed, or there is too little memory.
    """
    rows = computed(figure)
    if any(isinstance(source, Simulated) for source in figure.sources):
        rows += _simulated_rows(tasks_of(figure, _needed(simulator).target.version), _needed(simulator), parallel, told)
    return rows


def _needed(simulator: Simulator | None) -> Simulator:
    if simulator is None:
        simgrid.find()  # says what to install
    assert simulator is not None
    return simulator


def _simulated_rows(some: Sequence[Task], simulator: Simulator, parallel: int, told: Told) -> Iterator[Row]:
    names = {task.name: task for task in some}
    outcomes = {name: simulator.known(task.job) for name, task in names.items()}
    todo = {id(task.job): (name, task.job) for name, task in names.items() if outcomes[name] is None}
    require_memory((job for _, job in todo.values()), parallel)
    for job, outcome in simulated(simulator, [job for _, job in todo.values()], parallel):
        outcomes[todo[id(job)][0]] = outcome
        told(job, outcome)
    for task in some:
        known = outcomes[task.name]
        assert known is not None
        found = {"problem": known.problem} if known.problem else {"us": rounded(1e6 * known.longest)}
        yield {**task.row, **found}
