"""What `swapmeet simulate --estimate` does instead of simulating: the core's estimate (docs/estimates.md)."""

from __future__ import annotations

import threading

from swapmeet import __version__, _core
from swapmeet.measure.bench.cells import NATIVE
from swapmeet.simulate.job import Job, Outcome
from swapmeet.simulate.platform import Platform, message_us
from swapmeet.specs import parse_spec


def costs_of(platform: Platform) -> _core.NetworkCosts:
    """What SimGrid would be told of the platform, as numbers; and what it cannot be told.

    That is what a description has on handshakes, first fragments, peers, datatypes, the cache, contention and overlap.
    """
    machine, costs = platform.machine, _core.NetworkCosts()
    costs.between, within = machine.costs.between, machine.costs.within
    costs.message_us = message_us(machine, platform.per_node)
    costs.node_byte_ns = machine.costs.node_byte_ns
    costs.within_latency_us, costs.within_byte_ns = within.latency_us, within.byte_ns
    costs.memory_byte_ns = machine.costs.memory_byte_ns
    costs.copying, costs.datatype = machine.costs.pack, machine.costs.datatype
    costs.datatype_us, costs.cache_bytes = machine.costs.datatype_us, machine.costs.cache_bytes
    costs.link_byte_ns = machine.costs.node_byte_ns
    if machine.network is not None:
        for key in ("link_byte_ns", "hop_us", "contention", "overlap", "call_us"):
            setattr(costs, key, getattr(machine.network, key))
    return costs


def estimate(platform: Platform, spec: str) -> _core.NetworkEstimate:
    """Of a schedule, for any size of a block. Requires that it can serve the ranks.

    Raises
    ------
    ValueError
        If it is too long.
    """
    return _core.NetworkEstimate(
        parse_spec(spec),
        platform.ranks,
        platform.per_node,
        platform.network,
        costs_of(platform),
    )


def unsuitable(job: Job) -> str:
    """Why a job cannot be estimated; "" if it can."""
    if job.cell.block_bytes is None or job.cell.datatype != "byte":
        return "only blocks of one size, of bytes, are estimated"
    point = parse_spec(job.spec)
    if point.family == NATIVE:
        return "only schedules of ours are estimated"
    if dict(point.parameters).get("intra", "mpi") != "mpi":
        return "messages within nodes are estimated only as MPI's: intra=mpi"
    return ""


class Estimator:
    """Estimates jobs; the load of a spec on a platform is computed once for all sizes of blocks."""

    def __init__(self) -> None:
        self._loads: dict[tuple[int, str], _core.NetworkEstimate] = {}
        self._locks: dict[tuple[int, str], threading.Lock] = {}
        self._lock = threading.Lock()

    def label(self, platform: Platform) -> str:
        """What stands for the MPI in results."""
        return f"{platform.name} (estimate)"

    def notes(self, platform: Platform) -> list[str]:
        """The description of a launch in results."""
        return [f"estimated by swapmeet {__version__}, not measured and not simulated (docs/estimates.md)"]

    def known(self, job: Job) -> Outcome | None:
        """Nothing is remembered."""
        return None

    def stop(self) -> None:
        """What is under way ends by itself."""

    def run(self, job: Job) -> Outcome:
        """Estimate one job."""
        if why := unsuitable(job):
            return Outcome(problem=why, spec=job.spec)
        try:
            seconds = 1e-6 * self._load(job).time_us(job.cell.block_bytes or 0)
        except ValueError as problem:
            return Outcome(problem=str(problem), spec=job.spec)
        return Outcome(seconds, seconds, seconds, spec=job.spec)

    def _load(self, job: Job) -> _core.NetworkEstimate:
        key = (id(job.platform), job.spec)  # jobs keep their platforms
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._loads:
                self._loads[key] = estimate(job.platform, job.spec)
            return self._loads[key]
