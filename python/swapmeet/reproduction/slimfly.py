"""Randomised orders on networks of low diameter: the paper `slimfly`."""

from __future__ import annotations

from collections.abc import Iterator

from swapmeet import _core
from swapmeet.draw.plots import fit
from swapmeet.reproduction import drawing
from swapmeet.reproduction.figure import SIMULATION, Claim, Figure, Judgement, Row, Rows
from swapmeet.reproduction.judging import UP_TO, cells, faster, near, ratios, up_to
from swapmeet.reproduction.sources import Counted, Grid, Simulated
from swapmeet.reproduction.vendor import open_mpi_1
from swapmeet.specs import parse_spec
from swapmeet.units import digits

NODES = (14, 16, 28, 32, 56, 64)
SIZES = ("8", "64", "128", "256", "512", "1024", "4096", "16384", "32768", "65536", "131072")
SMALL, MEDIUM, LARGE = 512, 16384, 32768  #: bytes: footnotes 2 to 4; figure 3 is fitted from LARGE on
FEW_NODES = 16
THRESHOLDS = (256, 512)
SEEDS = 12
PLACES = (("", 0), ("block:1", 64), ("random:1:1", 64), ("random:2:1", 64), ("random:3:1", 64))  #: (placement, P)

RANDOM, ORDERED, OPEN_MPI = "random", "ordered", "Open MPI 1.10"


def randomised(ranks: int, block_bytes: int) -> str:
    """The paper's rule, randomised for small blocks, too; it does not state which number of ranks is small."""
    if block_bytes > MEDIUM:
        return "random-segmented"
    return "random-scatter" if ranks <= FEW_NODES else "random-sendrecv"


def ordered(ranks: int, block_bytes: int) -> str:
    """What differs from `randomised` in its order only."""
    segment = ",segment=8KiB" if block_bytes > MEDIUM else ""
    window = "all" if block_bytes <= MEDIUM and ranks <= FEW_NODES else "8"
    return f"direct(order=shift,window={window},complete=all,post=interleaved{segment})"


ROLES = {RANDOM: randomised, ORDERED: ordered, OPEN_MPI: open_mpi_1}
ONE = Simulated(Grid("cscs-slimfly", ROLES, NODES, SIZES, per_node=1))
TEN = Simulated(Grid("cscs-slimfly", ROLES, (140,), ("64", "128", "256", "512", "1024", "4096"), per_node=10))


def _loads() -> Iterator[Row]:
    network = _core.named_network("slim-fly(q=5,hosts=4)")
    for placement, ranks in PLACES:
        placed = _core.PlacedNetwork(network, placement=placement, ranks=ranks)
        place = {"P": len(placed.placement), "placement": placement or "all nodes", "bound": placed.bound()[0]}
        yield {**place, "role": ORDERED, "slots": _slots(placed, "direct(order=shift,window=1)")}
        for seed in range(SEEDS):
            slots = _slots(placed, f"direct(order=random,window=1,seed={seed})")
            yield {**place, "role": RANDOM, "seed": seed, "slots": slots}


def _slots(placed: _core.PlacedNetwork, spec: str) -> int:
    return sum(placed.order_load(parse_spec(spec))[0])


def _smoother(rows: Rows) -> Judgement:
    held, told = [], []
    for placement in rows.values("placement"):
        some = rows.where(placement=placement)
        shift = some.one("slots", role=ORDERED)
        random = [row["slots"] for row in some.where(role=RANDOM)]
        held += [(placement, slots < shift) for slots in random]
        ranks, bound = some.values("P")[0], some.values("bound")[0]
        told.append(
            f"{placement} ({ranks} ranks): {shift} ordered, {min(random)} to {max(random)} random, {bound} at least"
        )
    judgement = cells(held)
    good = sum(right for _, right in held)
    return Judgement(judgement.verdict, f"fewer in {good} of {len(held)} cells; {'; '.join(told)}")


def _threshold(rows: Rows) -> Judgement:
    """The smallest size from which on the randomised order is never slower."""
    held, told = [], []
    for (ranks, per_node), found in _speedups(rows).items():
        lost = [size for size, ratio in found if ratio < 1]
        at = next((size for size, _ in found if not lost or size > max(lost)), None)
        held.append((f"{ranks}", at in THRESHOLDS))
        told.append(f"{ranks // per_node} x {per_node}: {'never' if at is None else f'{at:,} B'}")
    return Judgement(cells(held).verdict, ", ".join(told))


def _speedups(rows: Rows) -> dict[tuple[int, int], list[tuple[int, float]]]:
    found: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for row, ratio in ratios(rows, RANDOM, OPEN_MPI):
        found.setdefault((row["P"], row["per_node"]), []).append((row["bytes"], ratio))
    return {place: sorted(some) for place, some in found.items()}


def _line(rows: Rows, role: str, ranks: int) -> fit.Fit | None:
    some = rows.where(role=role, P=ranks, per_node=1).having("us")
    return fit.fit([(row["bytes"], 1e-6 * row["us"]) for row in some if row["bytes"] >= LARGE])


def _linear(rows: Rows) -> Judgement:
    found = {f"{role}, {p} nodes": _line(rows, role, p) for role in (RANDOM, OPEN_MPI) for p in NODES}
    slopes = {name: line.exponent[0] for name, line in found.items() if line}
    judgement = cells((name, 0.9 <= slope <= 1.1) for name, slope in slopes.items())
    return Judgement(
        judgement.verdict, f"{judgement.finding}; K = {min(slopes.values()):.2f} to {max(slopes.values()):.2f}"
    )


def _constants(rows: Rows) -> Judgement:
    found = []
    for ranks in NODES:
        ours, theirs = _line(rows, RANDOM, ranks), _line(rows, OPEN_MPI, ranks)
        if ours and theirs and (ratio := fit.ratio(ours, theirs)):
            found.append(ratio[0])
    mean = sum(found) / len(found)
    judgement = near(mean, 0.6)
    return Judgement(
        judgement.verdict, f"mean {digits(mean)} (paper: 0.6), {min(found):.2f} to {max(found):.2f} by numbers of nodes"
    )


def _few_nodes(rows: Rows) -> Judgement:
    found = [(row, ratio) for row, ratio in ratios(rows, RANDOM, OPEN_MPI) if row["P"] // row["per_node"] <= FEW_NODES]
    judgement = cells(
        (f"{row['P']} ranks, {row['sizes']}", ratio < 1.05) for row, ratio in found if row["bytes"] >= SMALL
    )
    return judgement


def _and_by_order(claimed: Claim, least: float) -> Claim:
    """The same claim, and what of it is due to the order alone."""

    def judge(rows: Rows) -> Judgement:
        found = claimed.judge(rows)
        some = [ratio for row, ratio in ratios(rows, RANDOM, ORDERED) if row["bytes"] >= SMALL]
        alone = (
            f"against the same with ordered ranks {digits(min(some))} to {digits(max(some))} times as fast"
            if some
            else ""
        )
        return Judgement(found.verdict, "; ".join(filter(None, (found.finding, alone))))

    return Claim(claimed.statement, claimed.section, claimed.criterion, judge)


FIGURES: tuple[Figure, ...] = (
    Figure(
        "slimfly:links",
        "Congestion by ordered communication",
        "section 1",
        (
            Counted(
                "load of links, Slim Fly of 50 switches and 200 nodes, static minimal routes, a message at a time",
                _loads,
            ),
        ),
        (
            Claim(
                "an ordered schedule makes paths alternate between idleness and congestion, a randomised one "
                "uses them evenly",
                "1",
                f"slots (sum over rounds of the largest load): fewer than ordered, in at least 90 % of {SEEDS} "
                "seeds and all "
                "placements; partly from half of them on",
                _smoother,
            ),
        ),
    ),
    Figure(
        "slimfly:fig2",
        "Randomised orders and Open MPI, Slim Fly",
        "figure 2, section 3.2",
        (ONE, TEN),
        (
            _and_by_order(
                Claim(
                    "up to 3 times as fast as Open MPI",
                    "abstract, 3.2",
                    UP_TO,
                    up_to(RANDOM, OPEN_MPI, 3),
                ),
                1,
            ),
            Claim(
                "for medium and large buffers consistently and significantly faster",
                "3.2",
                "S ≥ 512 B, more than 16 nodes: by more than 5 % in at least 90 % of cells; partly from half of "
                "them on",
                faster(
                    RANDOM,
                    OPEN_MPI,
                    lambda row: row["bytes"] >= SMALL and row["P"] // row["per_node"] > FEW_NODES,
                    1.05,
                ),
            ),
            Claim(
                "for small buffers it is not beneficial",
                "3.2",
                "S ≤ 128 B: Open MPI is faster, cells as above",
                faster(OPEN_MPI, RANDOM, lambda row: row["bytes"] <= 128),
            ),
            Claim(
                "it pays from 256 or 512 B on, whatever the numbers of nodes and of ranks on each",
                "3.2",
                "the smallest size from which on it is never slower is one of these, for at least 90 % of the jobs",
                _threshold,
            ),
            Claim(
                "jobs with few nodes gain nothing",
                "3.2",
                "up to 16 nodes, S ≥ 512 B: less than 5 % faster in at least 90 % of cells; partly from half of "
                "them on",
                _few_nodes,
            ),
        ),
        reduced="Blocks up to 128 KiB; one seed; static routes; the cluster's first nodes, as the paper names none. "
        "Open MPI 1.10's rule (below 200 B Bruck, below 3,000 B all at once, then pairwise) is SimGrid's `bruck`, "
        "`basic_linear` and `ring`.",
        draw=lambda rows: drawing.over_sizes(
            rows,
            "Randomised, ordered and Open MPI's exchange, Slim Fly, one rank a node",
            [(SIMULATION, p) for p in (14, 28, 56, 64)],
            per_node=1,
        ),  # fmt: skip
    ),
    Figure(
        "slimfly:fig3",
        "How latency grows with the size, Slim Fly",
        "figure 3, section 3.2",
        (Simulated(Grid("cscs-slimfly", {r: ROLES[r] for r in (RANDOM, OPEN_MPI)}, NODES, SIZES[-3:], per_node=1)),),
        (
            Claim(
                "latency is C · s^K with K ≈ 1 for large blocks",
                "3.2",
                "K from 0.9 to 1.1 in at least 90 % of lines",
                _linear,
            ),
            Claim(
                "the constants' ratio is R ≈ 0.6", "3.2", "mean within 10 %; partly: within a factor of 1.5", _constants
            ),
        ),
        reduced="Fitted to 32, 64 and 128 KiB.",
    ),
)
