"""What an exchange costs a rank: `swapmeet model`. The closed forms are the core's; here they are listed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.model import bounds
from swapmeet.model.prices import PARTS, Pricing, parts, time_fields
from swapmeet.specs import parse_range, parse_spec
from swapmeet.tables import right
from swapmeet.units import microseconds

MOST_POINTS = 4096  #: of a curve; longer ones are thinned out towards large radices
KEYS = ("spec", "P", "grid", "radices")
ROUND = ("dimension", "digit", "weight", "z", "messages", "blocks")
MOST_RADICES = 1 << 22  #: that are looked at at all


@dataclass(frozen=True)
class Point:
    """A spec at a number of ranks, counted. Numbers are of one rank; of the busiest where nodes are unequal."""

    spec: _core.Spec
    ranks: int
    counts: _core.Counts
    rounds: Sequence[tuple[int, int, int, int, int, int]] = ()  #: as _core.count_rounds() gives them
    with_rounds: bool = False
    price: _core.Price | None = None
    certificate: _core.Certificate | None = None
    unequal: _core.UnequalBounds | None = None  #: where there is a certificate

    @property
    def grid(self) -> str:
        """The sizes of its dimensions, as in 64x256."""
        return "x".join(map(str, self.counts.sizes))

    @property
    def radices(self) -> str:
        """The radices of its digits, as in 8-8/256: dimensions between slashes, least significant digit first."""
        return "/".join("-".join(map(str, row)) or "-" for row in self.counts.radices)


def count(
    spec: _core.Spec,
    ranks: int,
    nodes: str = "",
    with_rounds: bool = False,
    pricing: Pricing | None = None,
    block_bytes: int | None = None,
    exact: bool | None = None,
) -> Point:
    """Count `spec`; its rounds, its price and its bounds (exact or not) only if wanted.

    Requires spec.unsuitable(ranks, nodes) to be empty.
    """
    rounds = _core.count_rounds(spec, ranks, nodes) if with_rounds else ()
    price = None if pricing is None or block_bytes is None else pricing.price(spec, ranks, block_bytes, nodes)
    bound = None if exact is None else bounds.certificate(spec, ranks, nodes, exact)
    unequal = None if exact is None else bounds.of_unequal(spec, ranks, nodes)
    return Point(spec, ranks, _core.count(spec, ranks, nodes), rounds, with_rounds, price, bound, unequal)


def with_radix(spec: _core.Spec, radix: int) -> _core.Spec:
    """The same point of the family with another radix, in all dimensions."""
    parameters = dict(spec.parameters) | {"radix": str(radix)}
    text = f"{spec.family}({','.join(f'{key}={value}' for key, value in parameters.items())})"
    return parse_spec(text, f"--radix {radix}:")


def root(ranks: int) -> int:
    """The square root of P, rounded up: the radix that `tra` and `radix` recommend. At least 2."""
    return max(2, math.isqrt(ranks - 1) + 1)


def parse_radices(text: str, ranks: int) -> Sequence[int]:
    """Radices, ascending, each once; P stands for the number of ranks, `root` for its square root, `all` for P.

    Raises
    ------
    SwapmeetError
        If it is no list of NUMBER, FIRST:LAST or FIRST:LAST:STEP, or a radix is below 2.
    """
    names = {"root": str(root(ranks)), "all": str(max(2, ranks))}
    radices: set[int] = set()
    for part in text.split(","):
        word = names.get(part.strip(), part.strip().replace("P", names["all"]))
        some = parse_range(word, text, "--radix")
        if len(some) > MOST_RADICES:
            raise SwapmeetError(f'--radix "{text}": more than {MOST_RADICES} radices: give a step, as in 2:P:100')
        radices.update(some)
    if min(radices) < 2:
        raise SwapmeetError(f'--radix "{text}": a radix must be 2 or more')
    return sorted(radices)


def curves(
    served: Iterable[tuple[_core.Spec, int]], radices: str, nodes: str = ""
) -> dict[str, list[tuple[int, Point]]]:
    """For each spec and number of ranks, by a name for it: its points (radix, costs) over these radices.

    On K and D only the dimensions of a spec bear, so specs that differ elsewhere share a line.
    """
    lines: dict[str, list[tuple[int, Point]]] = {}
    for spec, ranks in served:
        name = f"P = {ranks:,}, dims = {dict(spec.parameters)['dims']}"
        if name not in lines:
            wanted = _thinned(parse_radices(radices, ranks), special_radices(ranks))
            lines[name] = [(radix, count(with_radix(spec, radix), ranks, nodes)) for radix in wanted]
    if all(name.endswith(", dims = P") for name in lines):
        return {name.removesuffix(", dims = P"): line for name, line in lines.items()}
    return lines


def _thinned(values: Sequence[int], kept: Iterable[int]) -> Sequence[int]:
    """At most about `MOST_POINTS`: the smaller half of them all, then in equal ratios; `kept` in any case."""
    if len(values) <= MOST_POINTS:
        return values
    half = MOST_POINTS // 2
    ratio = len(values) / half
    chosen = {values[i] for i in range(half)}
    chosen |= {values[min(len(values) - 1, int(half * ratio ** (i / half)))] for i in range(half + 1)}
    return sorted(chosen | (set(kept) & set(values)))


def special_radices(ranks: int) -> dict[int, str]:
    """The radices that the papers single out, and what they stand for."""
    return {2: "2: fewest messages", root(ranks): "√P", max(2, ranks): "P: fewest bytes"}


def price_table(points: Iterable[Point]) -> Table:
    """The expected time of each point, and its parts."""
    listing = Table("spec", "P", *right("time (µs)", *PARTS))
    for point in points:
        if point.price is not None:
            listing.add_row(str(point.spec), str(point.ranks), *map(microseconds, parts(point.price)))
    return listing


def table(points: Iterable[Point], block_bytes: int | None) -> Table:
    """One line for each point."""
    columns = ["K", "D", *([] if block_bytes is None else ["bytes sent"]), "batches", "scratch blocks"]
    listing = Table(
        "spec", "P", "grid", "radices", *right(*columns, *([] if block_bytes is None else ["scratch bytes"]))
    )
    for point in points:
        counts = point.counts
        cells = [counts.messages, counts.blocks, counts.batches, counts.scratch_blocks]
        if block_bytes is not None:
            cells = [*cells[:2], counts.blocks * block_bytes, *cells[2:], counts.scratch_blocks * block_bytes]
        listing.add_row(str(point.spec), str(point.ranks), point.grid, point.radices, *(f"{cell:,}" for cell in cells))
    return listing


def rounds_table(point: Point, block_bytes: int | None) -> Table:
    """One line for each round of a point."""
    listing = Table(
        "dimension",
        "digit",
        "weight",
        "z",
        *right("messages", "blocks", *([] if block_bytes is None else ["bytes sent"])),
    )
    for *key, messages, blocks in point.rounds:
        size = [] if block_bytes is None else [f"{blocks * block_bytes:,}"]
        listing.add_row(*map(str, key), f"{messages:,}", f"{blocks:,}", *size)
    return listing


def tables(
    points: Sequence[Point], block_bytes: int | None, rounds: bool, pricing: Pricing | None = None
) -> Iterator[Table | str]:
    """What `swapmeet model` prints."""
    if rounds:
        for point in points:
            yield f"{point.spec}, P = {point.ranks}: a rank in each round"
            yield rounds_table(point, block_bytes)
    yield table(points, block_bytes)
    yield "Each rank sends K messages with D blocks in them; scratch is the most that a rank can need."
    if any(point.counts.grants for point in points):
        yield "With post=granted a rank also sends an empty message for each one that it receives."
    reasons = {"leaders": "Leaders do more than other ranks", "bruck": "Nodes are unequal, so ranks differ"}
    for reason in dict.fromkeys(reasons[point.spec.family] for point in points if point.counts.ranks_differ):
        yield f"{reason}: each number is counted, and is the largest of any rank."
    certified = [(str(point.spec), point.ranks, point.certificate) for point in points if point.certificate is not None]
    if certified:
        yield bounds.table(certified, block_bytes)
        yield bounds.MEANING
        unequal = ((str(point.spec), point.ranks, point.unequal) for point in points if point.unequal is not None)
        yield bounds.table_of_unequal(unequal)
        yield bounds.MEANING_OF_UNEQUAL
    if pricing is not None:
        yield price_table(points)
        yield pricing.sentence()


def records(points: Iterable[Point], block_bytes: int | None) -> Iterator[dict[str, object]]:
    """The tables for other programs: a record for each point, or for each round where rounds were counted."""
    for point in points:
        key = dict(zip(KEYS, (str(point.spec), point.ranks, point.grid, point.radices), strict=True))
        if point.with_rounds:
            yield from (key | _round(row, block_bytes) for row in point.rounds)
        else:
            yield key | _totals(point, block_bytes)


def _round(row: tuple[int, int, int, int, int, int], block_bytes: int | None) -> dict[str, object]:
    found: dict[str, object] = dict(zip(ROUND, row, strict=True))
    return found if block_bytes is None else found | {"block_bytes": block_bytes, "bytes_sent": row[5] * block_bytes}


def _totals(point: Point, block_bytes: int | None) -> dict[str, object]:
    counts, most = point.counts, point.certificate
    found: dict[str, object] = {"K": counts.messages, "D": counts.blocks, "batches": counts.batches}
    found["scratch_blocks"] = counts.scratch_blocks
    if counts.grants:
        found["grants"] = counts.grants
    if most is not None:
        names = ("requests", "peers", "early_messages", "early_blocks")
        found |= dict(zip(names, bounds.numbers(most.rank), strict=False)) | {"bounds_exact": most.exact}
    if point.unequal is not None:
        names = ("unequal_requests", "unequal_early_messages", "unequal_early_blocks", "unequal_early_sums")
        found |= dict(zip(names, bounds.numbers_of_unequal(point.unequal), strict=True))
    if block_bytes is not None:
        found |= {"block_bytes": block_bytes, "bytes_sent": counts.blocks * block_bytes}
        found["scratch_bytes"] = counts.scratch_blocks * block_bytes
    return found if point.price is None else found | time_fields(point.price)
