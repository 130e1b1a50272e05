"""Figure 2 of `nonuniform`: the variants of Bruck's algorithm for equal blocks."""

from __future__ import annotations

import itertools

from swapmeet.reproduction import drawing
from swapmeet.reproduction.figure import MODEL, SIMULATION, Claim, Figure, Judgement, Rows
from swapmeet.reproduction.judging import cell_name, cells, fastest, model_and_simulation, not_here, ratios
from swapmeet.reproduction.sources import Chooser, Grid, Priced, Simulated

ROLES: dict[str, Chooser | str] = {
    "basic": "tra(r=2)",
    "modified": "bruck-modified",
    "zero rotation": "bruck-zero-rotation",
}
RANKS = (256, 512, 1024, 2048, 4096)
FASTER = {("basic", 256): 39.64, ("basic", 4096): 7.13, ("modified", 256): 18.80, ("modified", 4096): 0.83}  #: per cent
BOTH = model_and_simulation
CELLS = "in at least 90 % of cells; partly from half of them on"


def _rotations(rows: Rows, variant: str) -> dict[int, float]:
    """What per cent of a variant's time zero rotation saves, by number of ranks."""
    saved = {row["P"]: 100 * (ratio - 1) / ratio for row, ratio in ratios(rows, "zero rotation", variant)}
    return {p: saved[p] for p in sorted(saved)}


def _dearer(rows: Rows) -> Judgement:
    shares = _rotations(rows, "basic")
    judgement = cells(("", later > earlier) for earlier, later in itertools.pairwise(shares.values()))
    told = ", ".join(f"{share:.1f} % at P = {p:,}" for p, share in shares.items())
    return Judgement(judgement.verdict, f"of basic Bruck {told}")


def _percent(rows: Rows) -> Judgement:
    held, told = [], []
    for (other, ranks), paper in FASTER.items():
        for row, ratio in ratios(rows.where(by=MODEL, P=ranks), "zero rotation", other):
            ours = 100 * (1 - 1 / ratio)
            held.append((f"{other}, {cell_name(row)}", abs(ours - paper) <= 10))
            told.append(f"than {other}, P = {ranks:,}: {ours:.1f} % (paper: {paper} %)")
    return Judgement(cells(held).verdict, "; ".join(told))


def _draw(rows: Rows) -> object:
    panels = []
    for by in (MODEL, SIMULATION):
        shares = {name: list(_rotations(rows.where(by=by), name).items()) for name in ("basic", "modified")}
        panels.append(drawing.Panel(by, {name: line for name, line in shares.items() if line}))
    title = "Bruck's variants in radix 2, Theta: what rotations take of the time"
    return drawing.lines(title, panels, "ranks P", y="per cent", in_us=False)


VARIANTS = Figure(
    "nonuniform:fig2",
    "Bruck's variants, blocks of 32 B",
    "figure 2, section 2.2",
    (
        Priced(Grid("theta", ROLES, RANKS, ("32",))),
        Simulated(Grid("theta", ROLES, (256, 512, 1024), ("32",))),
    ),
    (
        Claim(
            "zero rotation is consistently the best", "2.2", CELLS, BOTH(lambda rows: fastest("zero rotation", rows))
        ),
        Claim(
            "it is 39.64 % (P = 256) and 7.13 % (4,096) faster than basic, 18.80 % and 0.83 % faster than "
            "modified Bruck",
            "2.2",
            f"model: within 10 points, {CELLS}",
            _percent,
        ),
        Claim(
            "the part of the time that rotations take grows with P",
            "2.2",
            "from each P to the next, all of them; partly: half",
            BOTH(_dearer),
        ),
        *(
            not_here(
                text,
                "2.2",
                "derived datatypes cost nothing in simulations, and what they cost on Theta is an assumption "
                "of the model",
            )
            for text in (
                "variants with datatypes are slower than those without",
                "zero copy with datatypes is the slowest",
            )
        ),
    ),
    reduced="The paper's gains fall with P, while it states that the rotations' part grows.",
    draw=_draw,
)
