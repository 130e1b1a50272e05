"""What a simulation is going to take, before it begins: time and memory."""

from __future__ import annotations

from dataclasses import dataclass

from swapmeet import _core
from swapmeet.bench.cells import Cell
from swapmeet.bench.session import Session
from swapmeet.simulation.job import Job
from swapmeet.simulation.peers import is_peer
from swapmeet.specs import parse_spec

CALLS = 2  #: that makes plans, and that is timed
START_S = 0.1
#: Fitted to simulations (docs/simulation.md): a message alone, and for each other that is in flight.
MESSAGE_S = 1.0e-4
CROWDED_S = 6.0e-8
RANK_BYTES = 600_000  #: stack, plan, and what SimGrid keeps
HOST_PAIR_BYTES = 1500  #: a route
MESSAGE_BYTES = 4000  #: in flight


@dataclass(frozen=True)
class Estimate:
    """Of one simulation, or of several."""

    messages: int
    seconds: float
    bytes: int  #: at the same time


def of_job(job: Job) -> Estimate:
    """What one simulation is going to take, within a factor of about three."""
    ranks, platform = job.platform.ranks, job.platform
    per_rank, window = _messages(job.spec, job.cell, platform.per_node)
    in_flight = ranks * min(window or per_rank, per_rank)
    messages = CALLS * ranks * per_rank
    seconds = START_S + messages * (MESSAGE_S + CROWDED_S * in_flight)
    buffers = ranks * 2 * Session.memory_bytes(job.cell)
    routes = len(platform.hosts) ** 2 * HOST_PAIR_BYTES
    return Estimate(messages, seconds, buffers + routes + ranks * RANK_BYTES + in_flight * MESSAGE_BYTES)


def _messages(spec: str, cell: Cell, per_node: int) -> tuple[int, int]:
    """Messages of a rank, and how many it has in flight at a time; 0: all."""
    ranks = cell.ranks
    if is_peer(spec):
        small = cell.block_bytes is not None and cell.block_bytes <= 256
        if spec.endswith("bruck") or (small and ":" not in spec):
            return ranks.bit_length(), 1
        everything = spec.endswith(("linear", "dest", "ompi", "mpich", "mvapich2", "impi", "native"))
        return ranks - 1, 32 if everything else 1
    try:
        point = parse_spec("direct(window=8)" if spec == "auto" else spec)
        window = dict(point.parameters).get("window", "0")
        messages = _core.count(point, ranks, str(per_node)).messages
    except ValueError:
        return ranks - 1, 0
    return messages, int(window) if window.isdecimal() else 0
