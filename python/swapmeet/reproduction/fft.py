"""MPI Advance's exchanges inside Fourier transforms: the paper `fft`."""

from __future__ import annotations

import math

from swapmeet.reproduction import drawing
from swapmeet.reproduction.figure import SIMULATION, Claim, Figure, Judgement, Row, Rows
from swapmeet.reproduction.judging import cell_name, cells, not_here, ratios
from swapmeet.reproduction.sources import Chooser, Grid, Simulated

RANKS = (8, 16, 32, 64)
OWN_BYTES = 8 << 20  #: of a rank's numbers; the paper: 256 MiB
PER_NODE, ONE_NODE = 8, 64
FIXED_BYTES = 16 << 10
PAIRWISE, ALL, ANY, TEST, STRAIGHT, OPEN_MPI = "pairwise", "waitall", "waitany", "testany", "non-blocking", "Open MPI"
ROLES: dict[str, Chooser | str] = {
    PAIRWISE: "pairwise",
    STRAIGHT: "nonblocking",
    ALL: "multipair-waitall(stride=5)",
    ANY: "multipair-waitany(stride=5)",
    OPEN_MPI: "native:ompi",
}
SIZES = tuple(str(OWN_BYTES // p) for p in RANKS)


def _weak(ranks: int, block_bytes: int) -> bool:
    return block_bytes == OWN_BYTES // ranks


NODES = Simulated(Grid("cluster", ROLES, RANKS, SIZES, per_node=PER_NODE, collective="alltoallv", wanted=_weak))
NODE = Simulated(Grid("cluster", ROLES, RANKS, SIZES, per_node=ONE_NODE, collective="alltoallv", wanted=_weak))
FIXED = Simulated(
    Grid(
        "cluster",
        {OPEN_MPI: "native:ompi"},
        RANKS,
        (str(FIXED_BYTES),),
        per_node=PER_NODE,
        collective="alltoallv",
    )
)


def _fastest(role: str, ranks: int, per_node: int) -> Claim:
    where = "8 nodes" if per_node == PER_NODE else "1 node"

    def judge(rows: Rows) -> Judgement:
        times = {row["role"]: row["us"] for row in rows.where(P=ranks, per_node=per_node).having("us")}
        order = sorted(times, key=lambda name: times[name])
        told = ", ".join(f"{name} {1e-3 * times[name]:.3g} ms" for name in order)
        return Judgement(cells([("", order[0] == role)]).verdict, told)

    return Claim(f"{where}, {ranks} processes: {role} is the fastest", "5.1", "it is", judge)


def _pairwise_falls_behind(rows: Rows) -> Judgement:
    held, told = [], []
    for per_node in (PER_NODE, ONE_NODE):
        found = {row["P"]: ratio for row, ratio in ratios(rows.where(per_node=per_node), PAIRWISE, ANY)}
        held.append((f"{per_node} a node", found[RANKS[-1]] < found[RANKS[0]]))
        told.append(f"{per_node} a node: " + ", ".join(f"{found[p]:.2f} at P = {p}" for p in RANKS))
    return Judgement(cells(held).verdict, f"waitany's time over pairwise's: {'; '.join(told)}")


def _superlinear(rows: Rows) -> Judgement:
    times = {row["P"]: row["us"] for row in rows.where(role=OPEN_MPI).having("us") if row["bytes"] == FIXED_BYTES}
    first, last = min(p for p in times if p > PER_NODE), max(times)
    slope = math.log(times[last] / times[first]) / math.log(last / first)
    return Judgement(cells([("", slope >= 1.1)]).verdict, f"time grows as P^{slope:.2f} from P = {first} to {last}")


def _close(row: Row) -> bool:
    return not (row["P"] == RANKS[0] and row["per_node"] == ONE_NODE)  # the same as 8 ranks on one of several nodes


FIGURES: tuple[Figure, ...] = (
    Figure(
        "fft:fig1",
        "Open MPI's MPI_Alltoallv over P",
        "figure 1, section 1",
        (FIXED,),
        (
            Claim(
                "the cost should grow linearly with P; with current MPIs it is far from that",
                "1",
                "blocks of 16 KiB: grows as P^1.1 or more",
                _superlinear,
            ),
        ),
        reduced="The paper gives no size. 8 ranks, on one node, do not count.",
    ),
    Figure(
        "fft:fig2",
        "MPI Advance's exchanges and Open MPI's",
        "figures 2 to 5, section 5",
        (NODES, NODE),
        (
            Claim(
                "multi-pair non-blocking (waitany) beats Open MPI's in 6 of 7 scenarios",
                "6",
                "in at least 6 of 7 cells; partly from half of them on",
                lambda rows: _six_of_seven(rows),
            ),
            _fastest(ANY, 64, PER_NODE),
            _fastest(ANY, 8, PER_NODE),
            _fastest(OPEN_MPI, 32, ONE_NODE),
            Claim(
                "pairwise does better with few processes than with many",
                "5.1",
                "falls behind waitany from P = 8 to 64, on one node and on several",
                _pairwise_falls_behind,
            ),
            not_here(
                "1 node, 64 processes: multi-pair test (testany) is the fastest",
                "5.1",
                "nothing polls in simulations, so testany is waitany there, and 64 real ranks do not fit on this "
                "machine",
            ),
            not_here(
                "they help because processes come late to an exchange",
                "2, 4",
                "all ranks of these simulations begin together, and the transform around them is not simulated",
            ),
        ),
        reduced="A rank has 8 MiB, not 256 MiB, in equal parts. SimGrid's rule of Open MPI stands for that of 4.1.0.",
        draw=lambda rows: _draw(rows),
    ),
)


def _six_of_seven(rows: Rows) -> Judgement:
    found = [
        (cell_name(row) + f", {row['per_node']} a node", ratio)
        for row, ratio in ratios(rows, ANY, OPEN_MPI)
        if _close(row)
    ]
    judgement = cells(((name, ratio > 1) for name, ratio in found), confirmed=6 / 7)
    told = f"{min(r for _, r in found):.2f} to {max(r for _, r in found):.2f} times as fast"
    return Judgement(judgement.verdict, f"{judgement.finding}; {told}")


def _draw(rows: Rows) -> object:
    panels = []
    for per_node, title in ((PER_NODE, "8 ranks a node"), (ONE_NODE, "one node")):
        some = rows.where(by=SIMULATION, per_node=per_node).having("us")
        lines = {role: [(row["P"], row["us"]) for row in some.where(role=role)] for role in some.values("role")}
        panels.append(drawing.Panel(title, lines))
    return drawing.lines("Alltoallv of 8 MiB a rank, simulated cluster", panels, "ranks P")
