"""What a simulation is going to take, before it begins: time and memory."""

from __future__ import annotations

from dataclasses import dataclass

from swapmeet import _core
from swapmeet.measure.bench.cells import Cell, mean_block
from swapmeet.measure.bench.session import MATRIX, Session
from swapmeet.simulate.job import Job
from swapmeet.simulate.peers import SELECTORS, is_peer
from swapmeet.specs import parse_spec

CALLS = 2  #: that makes plans, and that is timed
START_S = 0.1
#: Fitted to simulations of 64 to 2048 ranks (docs/simulation.md): a message, and what each other in flight adds to it,
#: for SimGrid shares links anew when one ends. Small ones are mostly on their way alone.
MESSAGE_S = 2e-5
CROWDED_S = 2.5e-7
CROWDING_BYTES = 4096
RANK_BYTES = 600_000  #: stack, plan, and what SimGrid keeps
HOST_PAIR_BYTES = 1500  #: a route
MESSAGE_BYTES = 4000  #: in flight
SMALL_BYTES = 256  #: blocks that production MPIs exchange by Bruck's algorithm


@dataclass(frozen=True)
class Estimate:
    """Of one simulation, or of several."""

    messages: int
    seconds: float
    bytes: int  #: at the same time


@dataclass(frozen=True)
class Traffic:
    """Of one rank in one call."""

    messages: int
    blocks: float  #: in all of them
    window: int  #: messages in flight at a time; 0: all


def of_job(job: Job) -> Estimate:
    """What one simulation is going to take, within a factor of about three."""
    ranks, platform = job.platform.ranks, job.platform
    rank = _traffic(job.spec, job.cell, platform.per_node)
    in_flight = ranks * min(rank.window or rank.messages, rank.messages)
    block = 0.0 if job.cell.sizes.startswith(MATRIX) else mean_block(job.cell)
    crowding = min(1.0, block * rank.blocks / max(1, rank.messages) / CROWDING_BYTES)
    messages = CALLS * ranks * rank.messages
    seconds = START_S + messages * (MESSAGE_S + CROWDED_S * in_flight * crowding)
    buffers = ranks * 2 * Session.memory_bytes(job.cell)
    routes = len(platform.hosts) ** 2 * HOST_PAIR_BYTES
    return Estimate(messages, seconds, buffers + routes + ranks * RANK_BYTES + in_flight * MESSAGE_BYTES)


def _traffic(spec: str, cell: Cell, per_node: int) -> Traffic:
    ranks = cell.ranks
    direct = Traffic(ranks - 1, ranks - 1, 1)
    if is_peer(spec):
        name = spec.rpartition(":")[2]
        choosing = name == spec or name in SELECTORS
        if name == "bruck" or (choosing and cell.block_bytes is not None and cell.block_bytes <= SMALL_BYTES):
            return Traffic(ranks.bit_length(), ranks.bit_length() * ranks / 2, 1)
        return Traffic(ranks - 1, ranks - 1, 32) if choosing or name.endswith(("linear", "dest")) else direct
    try:
        point = parse_spec("direct(window=8)" if spec == "auto" else spec)
        counts = _core.count(point, ranks, str(per_node))
    except ValueError:
        return direct
    window = dict(point.parameters).get("window", "0")
    return Traffic(counts.messages, counts.blocks, int(window) if window.isdecimal() else 0)
