"""Bruck's variants, and blocks of unequal size: the paper `nonuniform`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from swapmeet import _core, machines
from swapmeet.model import hockney
from swapmeet.reproduction import drawing
from swapmeet.reproduction.figure import MODEL, SIMULATION, Claim, Figure, Judgement, Row, Rows
from swapmeet.reproduction.judging import UP_TO, cells, faster, fastest, model_and_simulation, not_here, ratios, up_to
from swapmeet.reproduction.sources import Chooser, Counted, Grid, Simulated, rounded
from swapmeet.reproduction.variants import VARIANTS
from swapmeet.specs import parse_spec

PADDED, TWO_PHASE, SLOAV, VENDOR, PADDED_VENDOR = "padded", "two-phase", "SLOAV", "vendor", "padded Alltoall"
V_ROLES: dict[str, Chooser | str] = {
    PADDED: "padded-bruck",
    TWO_PHASE: "two-phase-bruck",
    SLOAV: "sloav",
    PADDED_VENDOR: "padded-alltoall",
    VENDOR: "native:mpich",
}
LARGEST = (16, 64, 128, 256, 512, 1024, 2048)
MODEL_RANKS = tuple(2**k for k in range(7, 16))
BOTH = model_and_simulation
CELLS = "in at least 90 % of cells; partly from half of them on"
DISTRIBUTIONS = (
    "uniform:max=512",
    "normal:mean=256,deviation=64",
    "power-law:exponent=0.99,max=512",
    "power-law:exponent=0.99,max=4KiB",
)


def _equations() -> Iterator[Row]:
    machines_ = [hockney.AlphaBeta(*costs) for costs in itertools.product((0.5, 3, 22.9), (0.1, 1, 11))]
    for p, n in itertools.product((2, 16, 256, 1000, 4096, 32768), (1, 4, 7, 8, 9, 16, 64, 512, 2048)):
        cheaper = [hockney.padded_bruck_us(m, p, n) < hockney.two_phase_bruck_us(m, p, n / 2) for m in machines_]
        printed = [(n - 8) * (p + 1) * m.beta_ns < 4000 * m.alpha_us for m in machines_]
        same = sum(one == other for one, other in zip(cheaper, printed, strict=True))
        yield {"P": p, "bytes": n, "machines": len(machines_), "padded_cheaper": sum(cheaper), "as_printed": same}


def _case(row: Row) -> str:
    return f"P = {row['P']:,}, N = {row['bytes']}"


def _blocks() -> Iterator[Row]:
    spec = parse_spec("padded-bruck")
    for p in (*range(2, 130), *(2**k + d for k in range(8, 17) for d in (-1, 0, 1))):
        yield {"P": p, "D": _core.count(spec, p).blocks, "bound": hockney.steps(p) * (p + 1) / 2}


def _priced() -> Iterator[Row]:
    """Equations 1 and 2, and P - 1 messages of the mean size, with the numbers that fit Theta."""
    machine = hockney.AlphaBeta.of(machines.load("theta-fit"))
    for p, n in itertools.product(MODEL_RANKS, LARGEST):
        row = {"machine": "theta-fit", "P": p, "sizes": f"uniform:max={n}", "bytes": n}
        for role, us in (
            (PADDED, hockney.padded_bruck_us(machine, p, n)),
            (TWO_PHASE, hockney.two_phase_bruck_us(machine, p, n / 2)),
            (VENDOR, machine.time_us(p - 1, (p - 1) * n / 2)),
        ):
            yield {"by": MODEL, **row, "role": role, "us": rounded(us)}


def _numbers(rows: Rows) -> Judgement:
    held, told = [], []
    for other, paper in ((TWO_PHASE, 28.7), (VENDOR, 60.0)):
        for _, ratio in ratios(rows.where(by=MODEL, P=1024, bytes=16), PADDED, other):
            ours = 100 * (1 - 1 / ratio)
            held.append((other, abs(ours - paper) <= 10))
            told.append(f"than {other}: {ours:.1f} % (paper: {paper} %)")
    return Judgement(cells(held).verdict, f"model: {'; '.join(told)}")


def quick(ranks: int, block_bytes: int) -> bool:
    """Whether the vendor's exchange can be simulated in a minute."""
    return ranks <= 128 or block_bytes <= 128


FIGURES: tuple[Figure, ...] = (
    VARIANTS,
    Figure(
        "nonuniform:eq3",
        "The model of padded and two-phase Bruck",
        "equations 1 to 3, section 3.3",
        (
            Counted("equations 1 to 3 for 6 P, 9 N and 9 pairs of α and β", _equations),
            Counted("schedules of `padded-bruck`, P from 2 to 129, and 2^k and beside it to 65,537", _blocks),
        ),
        (
            Claim(
                "padded Bruck is the faster exactly where (N - 8)(P + 1)β < 4α",
                "3.3",
                "equations 1 and 2 agree, for each P and N",
                lambda rows: cells(
                    ((_case(r), r["as_printed"] == r["machines"]) for r in rows.having("machines")), 1.0
                ),
            ),
            Claim(
                "which is so whenever N < 8 B",
                "3.3",
                "for each P and N",
                lambda rows: cells(
                    (
                        (_case(row), row["padded_cheaper"] == row["machines"])
                        for row in rows.having("machines")
                        if row["bytes"] < 8
                    ),
                    1.0,
                ),
            ),
            Claim(
                "at most log P · (P + 1) / 2 blocks are sent",
                "3.3",
                "D of schedules, for each P, log P rounded up",
                lambda rows: cells(((f"P = {r['P']}", r["D"] <= r["bound"]) for r in rows.having("bound")), 1.0),
            ),
        ),
    ),
    Figure(
        "nonuniform:fig6",
        "Padded and two-phase Bruck and the vendor's MPI_Alltoallv, Theta",
        "figure 6, section 4.1",
        (
            Counted(
                "equations 1 and 2 on `theta-fit`, and P - 1 messages: uniform sizes up to N = 16 to 2,048 B, P "
                "= 128 to 32,768",
                _priced,
                MODEL,
            ),
            Simulated(
                Grid(
                    "theta",
                    V_ROLES,
                    (128, 256),
                    tuple(f"uniform:max={n}" for n in LARGEST),
                    collective="alltoallv",
                    wanted=quick,
                )
            ),
        ),
        (
            Claim(
                "two-phase Bruck consistently outperforms MPI_Alltoallv for all P",
                "4.1",
                CELLS,
                BOTH(faster(TWO_PHASE, VENDOR)),
            ),
            Claim(
                "padded Bruck is the fastest for N = 16 B at most P",
                "4.1",
                "in at least half of the cells; partly from a quarter on",
                BOTH(lambda rows: fastest(PADDED, Rows(row for row in rows if row["bytes"] == 16))),
            ),
            Claim(
                "for larger blocks two-phase is faster than padded",
                "4.1",
                f"N ≥ 256 B: {CELLS}",
                BOTH(faster(TWO_PHASE, PADDED, lambda row: row["bytes"] >= 256)),
            ),
            Claim(
                "P = 1,024, N = 16 B: padded is 28.7 % faster than two-phase, 60.0 % faster than MPI_Alltoallv",
                "4.1",
                "model: within 10 points; partly: one of them",
                _numbers,
            ),
            Claim(
                "up to 50 % faster than MPI_Alltoallv",
                "abstract",
                f"twice as fast: {UP_TO}",
                BOTH(up_to(TWO_PHASE, VENDOR, 2, PADDED)),
            ),
            Claim(
                "two-phase Bruck improves on SLOAV",
                "1",
                f"simulation: faster {CELLS}",
                lambda rows: faster(TWO_PHASE, SLOAV)(rows.where(by=SIMULATION)),
            ),
        ),
        draw=lambda rows: drawing.over_sizes(
            rows,
            "Alltoallv of uniform sizes, Theta",
            [(MODEL, 1024), (MODEL, 8192), (SIMULATION, 128), (SIMULATION, 256)],
        ),
    ),
    Figure(
        "nonuniform:distributions",
        "Distributions of sizes",
        "abstract, section 4.3",
        (Simulated(Grid("theta", V_ROLES, (128,), DISTRIBUTIONS, collective="alltoallv")),),
        (
            Claim(
                "for uniform, normal and power-law sizes two-phase Bruck outperforms MPI_Alltoallv",
                "abstract, 1",
                CELLS,
                faster(TWO_PHASE, VENDOR),
            ),
            Claim("and padded Bruck does", "abstract, 1", CELLS, faster(PADDED, VENDOR)),
        ),
        reduced="The parameters of the distributions are ours: our text ends in section 4.1.",
    ),
    Figure(
        "nonuniform:applications",
        "Graph mining and program analysis",
        "abstract, section 5",
        (),
        (
            not_here(
                "applications are up to 15 % faster",
                "abstract",
                "the text that we have ends in section 4.1, without programs, data and scale. `examples/closure` and "
                "`examples/points_to` are of their kind",
            ),
        ),
    ),
)
