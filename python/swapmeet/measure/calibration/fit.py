"""From times to the numbers of a machine's description: the equations of docs/models.md, backwards.

A number is what the first quartiles over all rounds make it; its interval holds what nine of ten rounds make it by
themselves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from swapmeet import _core
from swapmeet.machines import COPY_TIMES, LINKS, Number, parse
from swapmeet.measure.calibration.description import document, node_map
from swapmeet.measure.calibration.parts import (
    CROWDED,
    LIBRARY,
    LIBRARY_SIZES,
    MEANS,
    QUIET,
    SIZES,
    WINDOWS,
    Part,
    Taken,
)
from swapmeet.model.prices import STANDARD_MODEL
from swapmeet.quantiles import interpolated

Times = Mapping[Part, float]  #: of one round, seconds
SPREAD = (0.05, 0.95)  #: quantiles that an interval reaches to
SMALL = 1 << 10  #: bytes of blocks whose exchanges show what a call takes
SMALLEST = 1e-9  #: seconds of messages, where what is known besides takes all of the time
SWITCH = 0.7  #: times the squares that are left without a switch to rendezvous: with it there must be fewer


class Rounds:
    """What all rounds of all launches have timed: `each` of them, and the `quiet`, quartiles over all."""

    def __init__(self, launches: Sequence[Taken]) -> None:
        self.each: list[Times] = [
            {part: seconds[i] for part, seconds in taken.seconds.items()}
            for taken in launches
            for i in range(min(map(len, taken.seconds.values()), default=0))
        ]
        found = {part for times in self.each for part in times}
        self.each = [times for times in self.each if len(times) == len(found)]
        self.quiet: Times = {part: interpolated((times[part] for times in self.each), QUIET)[0] for part in found}


def numbers(rounds: Rounds, ranks: int, nodes: int) -> dict[str, Number]:
    """Every number of a description that these rounds give, by its place in it, as in "within.latency_us"."""
    found: dict[str, Number] = {}
    per_node = -(-ranks // nodes)
    for way in LINKS[1:]:
        if Part(way, SIZES[0]) in rounds.quiet:
            found |= _link(rounds, way)
            found |= _crowd(rounds, way, per_node if way == "between" else per_node // 2 * 2)
    if not found:
        return found
    for name, means in zip(("pack", "datatype"), MEANS, strict=True):
        found |= _named(name, COPY_TIMES, rounds, functools.partial(_copies, means=means), f"{means} of pieces")
    if Part(LIBRARY[1], 1) in rounds.quiet:
        machine = _machine(found)
        source = f"{LIBRARY[1]} of small blocks, beyond what the model expects of its messages"
        found |= _named("", ("call_us",), rounds, lambda times: (_call(times, machine, ranks, nodes),), source)
    if nodes == 1 and Part(LIBRARY[0], 1) in rounds.quiet and Part("flag") in rounds.quiet:
        found |= _shared(rounds, found, ranks)
    return found


def _named(
    place: str, names: Sequence[str], rounds: Rounds, values: Callable[[Times], Sequence[float]], source: str
) -> dict[str, Number]:
    """The numbers that `values` makes of times."""
    columns = zip(*(values(times) for times in rounds.each), strict=True)
    return {
        f"{place}.{name}".lstrip("."): Number(value, min(value, low), max(value, high), source)
        for name, value, (low, high) in zip(
            names, values(rounds.quiet), (interpolated(column, *SPREAD) for column in columns), strict=True
        )
    }


def solve(columns: Sequence[Sequence[float]], times: Sequence[float]) -> tuple[NDArray[np.float64], float]:
    """The factors, none negative, of columns that add up to the times, and the squares left; errors are relative."""
    from scipy import optimize  # type: ignore[import-untyped]  # importing it takes half a second

    matrix, wanted = np.array(columns, dtype=float).T, np.array(times)
    factors, left = optimize.nnls(matrix / wanted[:, None], np.ones(len(wanted)))
    return factors, float(left) ** 2


def _columns(samples: Sequence[tuple[int, int]], eager: int | None, start: bool) -> list[list[float]]:
    """What an exchange of w messages of s bytes has: one start, if that is not known; w; w s; perhaps a rendezvous."""
    columns = [[1.0] * len(samples)] if start else []
    columns += [[float(many) for _, many in samples], [float(many * size) for size, many in samples]]
    return columns if eager is None else [*columns, [float(size > eager) for size, _ in samples]]


def switch(samples: Sequence[tuple[int, int]], times: Sequence[float], start: bool = True) -> int | None:
    """The largest size that is sent at once, or None where no size shows a switch to rendezvous.

    Parameters
    ----------
    samples
        (bytes, messages in flight) of each time.
    times
        Of exchanges, in seconds.
    start
        Whether each of them also has a time that depends on neither.
    """
    sizes = sorted({size for size, _ in samples})
    left = {eager: solve(_columns(samples, eager, start), times)[1] for eager in sizes[1:-1]}
    best = min(left, key=lambda eager: left[eager])
    return best if left[best] < SWITCH * solve(_columns(samples, None, start), times)[1] else None


def _eager(place: str, eager: int | None, sizes: Sequence[int]) -> dict[str, Number]:
    if eager is None:
        return {}
    after = min(size for size in sizes if size > eager)  # a power of two: where messages have headers, just too large
    return {f"{place}.eager_bytes": Number(after - 1, eager, after - 1, f"{eager} B is sent at once, {after} B not")}


def _link(rounds: Rounds, way: str) -> dict[str, Number]:
    """L, o, g, G and the switch: T = L + w (2o + g) + w s G, and the rendezvous once."""
    samples = [(size, many) for size in SIZES for many in WINDOWS]
    eager = switch(samples, [rounds.quiet[Part(way, *sample)] for sample in samples])

    def values(times: Times) -> tuple[float, ...]:
        factors, _ = solve(_columns(samples, eager, True), [times[Part(way, *sample)] for sample in samples])
        start, each, byte, *rendezvous = (1e6 * factor for factor in factors)
        overhead = min(each, 1e6 * times[Part(f"posting {way}")]) / 2
        return start, overhead, each - 2 * overhead, 1e3 * byte, *rendezvous

    names = ("latency_us", "overhead_us", "gap_us", "byte_ns", *([] if eager is None else ["rendezvous_us"]))
    source = f"exchanges of {SIZES[0]} B to {SIZES[-1]} B by a pair of ranks, {WINDOWS[0]} and {WINDOWS[-1]} at once"
    return _named(way, names, rounds, values, source) | _eager(way, eager, SIZES)


def _crowd(rounds: Rounds, way: str, senders: int) -> dict[str, Number]:
    """What a byte, and a message, take where all ranks of a node send."""
    pairs = max(part.pairs for part in rounds.quiet if part.what == way)
    names = ("message_us", "byte_ns") if way == "between" else ("memory_byte_ns",)

    def values(times: Times) -> tuple[float, ...]:
        message, byte = per_unit(times, way, pairs, senders)
        return (1e6 * message, 1e9 * byte) if way == "between" else (1e9 * byte,)

    return _named("node", names, rounds, values, f"{senders} ranks of a node at once")


def per_unit(times: Times, way: str, pairs: int, senders: int) -> tuple[float, float]:
    """Seconds of a node for a message and for a byte, where that many pairs, so that many ranks of it, send."""
    (small, many), (large, few) = CROWDED
    message = times[Part(way, small, many, pairs)] / (senders * many)
    return message, times[Part(way, large, few, pairs)] / (senders * few * large)


def _copies(times: Times, means: str) -> tuple[float, float]:
    """Of a byte and of a piece."""
    some = [part for part in times if part.what == means]
    columns = [[float(part.many * part.bytes) for part in some], [float(part.many) for part in some]]
    (byte, piece), _ = solve(columns, [times[part] for part in some])
    return 1e9 * byte, 1e6 * piece


def _machine(found: Mapping[str, Number]) -> _core.MachineCosts:
    """What is known so far, for prices."""
    return parse(document("so far", "", None, found), "so far").costs


def _price(spec: str, ranks: int, nodes: int, machine: _core.MachineCosts, size: int) -> float:
    """Seconds, where each node has as many ranks."""
    work = _core.Work(_core.parse_spec(spec), ranks, node_map(ranks, nodes))
    return 1e-6 * work.price(machine, STANDARD_MODEL, size).total


def _call(times: Times, machine: _core.MachineCosts, ranks: int, nodes: int) -> float:
    """Microseconds."""
    sizes = [size for size in LIBRARY_SIZES if size <= SMALL]
    beyond = [times[Part(LIBRARY[1], size)] - _price(LIBRARY[1], ranks, nodes, machine, size) for size in sizes]
    return max(0.0, 1e6 * float(np.median(beyond)))


def _shared(rounds: Rounds, known: Mapping[str, Number], ranks: int) -> dict[str, Number]:
    """The library's own messages: what its all-to-all takes besides the call and the own block, over P - 1 messages."""
    many = ranks - 1
    sizes = sorted(part.bytes for part in rounds.quiet if part.what == LIBRARY[0])
    samples = [(size, many) for size in sizes]
    free = {place: number for place, number in known.items() if place.startswith(("pack", "call"))}
    free |= {f"within.{name}": Number(0, 0, 0) for name in ("latency_us", "byte_ns")}
    besides = [_price(LIBRARY[0], ranks, 1, _machine(free), size) for size in sizes]

    def left(times: Times) -> list[float]:
        return [max(SMALLEST, times[Part(LIBRARY[0], size)] - own) for size, own in zip(sizes, besides, strict=True)]

    eager = switch(samples, left(rounds.quiet), start=False)

    def values(times: Times) -> tuple[float, ...]:
        (each, byte, *rendezvous), _ = solve(_columns(samples, eager, False), left(times))
        flag = times[Part("flag")]
        return 1e6 * flag, 1e6 * max(0.0, each - flag / many) / 2, 1e9 * byte, *(1e6 * r for r in rendezvous)

    names = ("latency_us", "overhead_us", "byte_ns", *([] if eager is None else ["rendezvous_us"]))
    source = f"{LIBRARY[0]} on {ranks} ranks; the latency: a flag"
    return _named("shared", names, rounds, values, source) | _eager("shared", eager, sizes)
