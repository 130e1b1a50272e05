"""What exchanges hold at most, in words and tables: the certificates are the core's (docs/proofs.md)."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from swapmeet import _core
from swapmeet.tables import right

COLUMNS = ("requests", "peers", "early messages", "early blocks", "scratch blocks")
MEANING = (
    "Bounds hold in every execution, of a rank: requests outstanding at a time; ranks that it exchanges messages with; "
    "messages that have arrived while their receives are not posted, and the blocks in them. ≤: an upper bound, as "
    "that of scratch always is; without it, some execution gets there."
)
UNEQUAL = ("requests", "early messages", "x largest block", "x largest sum")
MEANING_OF_UNEQUAL = (
    "Where blocks have unequal sizes, early messages hold at most that many times the largest block, and that many "
    "times the most that a rank sends, or receives."
)


def certificate(spec: _core.Spec, ranks: int, nodes: str = "", exact: bool = True) -> _core.Certificate:
    """The certificate of `spec`: exact if wanted, where that takes no time. Requires that `spec` serves these ranks."""
    computed = dict(spec.parameters).get("order", "").startswith("topology")
    return (_core.certify if exact and not computed else _core.ceiling)(spec, ranks, nodes)


def of_unequal(spec: _core.Spec, ranks: int, nodes: str = "") -> _core.UnequalBounds:
    """The bounds of `spec` for blocks of unequal size. Requires that `spec` serves these ranks."""
    return _core.ceiling_of_unequal(spec, ranks, nodes)


def numbers_of_unequal(bounds: _core.UnequalBounds) -> tuple[int, int, int, int]:
    """In the order of `UNEQUAL`."""
    return bounds.rank.requests, bounds.rank.early_messages, bounds.rank.early_blocks, bounds.early_sums


def numbers(bounds: _core.Bounds) -> tuple[int, ...]:
    """In the order of `COLUMNS`."""
    return bounds.requests, bounds.peers, bounds.early_messages, bounds.early_blocks, bounds.scratch_blocks


def sentences(found: _core.Certificate, block_bytes: int | None = None) -> str:
    """What a rank holds at most, and a node."""
    both = (("A rank", found.rank), ("All ranks of a node", found.node))
    return "\n".join(_sentence(who, bounds, found.exact, block_bytes) for who, bounds in both)


def sentence_of_unequal(found: _core.UnequalBounds) -> str:
    """What a rank holds at most where blocks have unequal sizes."""
    requests, messages, blocks, sums = numbers_of_unequal(found)
    return (
        f"Blocks of unequal size: a rank has ≤ {requests:,} requests outstanding; ≤ {messages:,} messages may arrive "
        f"before their receives are posted, with ≤ {blocks:,} times the largest block and ≤ {sums:,} times the most "
        "that a rank sends, or receives"
    )


def _sentence(who: str, bounds: _core.Bounds, exact: bool, block_bytes: int | None) -> str:
    size = "" if block_bytes is None else f" ({bounds.early_bytes(block_bytes):,} B)"
    return (
        f"{who}: at most {bounds.requests:,} requests outstanding, {bounds.peers:,} peers, "
        f"{_enough(bounds.scratch_blocks)} scratch blocks; {'' if exact else '≤ '}{bounds.early_messages:,} messages "
        f"with {bounds.early_blocks:,} blocks may arrive before their receives are posted{size}"
    )


def _enough(blocks: int) -> str:
    return f"≤ {blocks:,}" if blocks else "0"


def table(
    rows: Iterable[tuple[str, int, _core.Certificate]], block_bytes: int | None = None, title: str | None = None
) -> Table:
    """A line for each (name, ranks, certificate)."""
    room = () if block_bytes is None else ("early bytes",)
    listing = Table(
        "spec",
        "P",
        *right(*COLUMNS[:4], *room, COLUMNS[4], "a node: requests", "early messages"),
        title=title,
        title_justify="left",
    )
    for name, ranks, found in rows:
        requests, peers, messages, blocks, scratch = numbers(found.rank)
        most = "" if found.exact else "≤ "
        size = [] if block_bytes is None else [f"{most}{found.rank.early_bytes(block_bytes):,}"]
        cells = [f"{most}{number:,}" for number in (requests, peers, messages, blocks)]
        ends = [f"{most}{number:,}" for number in (found.node.requests, found.node.early_messages)]
        listing.add_row(name, str(ranks), *cells, *size, _enough(scratch), *ends)
    return listing


def table_of_unequal(rows: Iterable[tuple[str, int, _core.UnequalBounds]], title: str | None = None) -> Table:
    """A line for each (name, ranks, bounds)."""
    listing = Table("spec", "P", *right(*UNEQUAL), title=title, title_justify="left")
    for name, ranks, found in rows:
        listing.add_row(name, str(ranks), *(f"≤ {number:,}" for number in numbers_of_unequal(found)))
    return listing


def of_aliases(ranks: int, per_node: int) -> tuple[Table, Table]:
    """Of each named algorithm, on that many ranks in nodes of `per_node`: for equal blocks, and for unequal ones."""
    rows, unequal = [], []
    for name, *_ in _core.aliases():
        spec = _core.parse_spec(name)
        if spec.family != "native" and not spec.unsuitable(ranks, str(per_node)):
            nodes = str(per_node)
            rows.append((name, ranks, certificate(spec, ranks, nodes)))
            unequal.append((name, ranks, of_unequal(spec, ranks, nodes)))
    title = f"At most, on {ranks} ranks in nodes of {per_node}"
    return table(rows, title=f"{title}:"), table_of_unequal(
        unequal, title=f"{title}, where blocks are of unequal size:"
    )
