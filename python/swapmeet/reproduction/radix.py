"""Bruck's algorithm in any radix: the paper `radix`."""

from __future__ import annotations

from collections.abc import Iterator

from swapmeet import _core
from swapmeet.reproduction import drawing, radices
from swapmeet.reproduction.figure import MODEL, SIMULATION, Claim, Figure, Judgement, Row, Rows
from swapmeet.reproduction.judging import UP_TO, cells, faster, model_and_simulation, near, ratios, together, up_to
from swapmeet.reproduction.sources import Chooser, Counted, Grid, Priced, RadixSweep, Simulated
from swapmeet.reproduction.vendor import mpich
from swapmeet.specs import parse_spec

ROLES: dict[str, Chooser | str] = {"basic": "tra", "modified": "radix", "radix 2": "radix(r=2)"}
SIZES = ("16", "32", "64", "128", "256", "512", "1024")
LARGE = 512  #: bytes of blocks that count as relatively large
FASTER = {(512, 64): 50.46, (512, 1024): 25.42, (4096, 64): 53.58, (4096, 1024): 39.85}  #: per cent, section III


def _examples() -> Iterator[Row]:
    for r in (2, 4, 5):
        yield {"P": 6, "r": r, "K": _core.count(parse_spec(f"radix(r={r})"), 6).messages}


def _at_the_root(rows: Rows) -> Judgement:
    k, d, straight = rows.one("K", r=64), rows.one("D", r=64), rows.one("D", r=4096)
    verdict = together([("", near(d / straight, 2)), ("", cells([("K", k <= straight / 10)]))]).verdict
    return Judgement(
        verdict, f"D = {d:,}, {d / straight:.2f} times {straight:,}; K = {k}, {k / straight:.1%} of {straight:,}"
    )


def _faster_by(rows: Rows) -> Judgement:
    found = []
    for row, ratio in ratios(rows.where(by=MODEL), "modified", "vendor"):
        if paper := FASTER.get((row["P"], row["bytes"])):
            found.append((f"P = {row['P']:,}, {row['sizes']}", 100 * (1 - 1 / ratio), paper))
    judgement = cells((name, ours >= paper - 10) for name, ours, paper in found)
    told = "; ".join(f"{name}: {ours:.0f} % (paper: {paper:g} %)" for name, ours, paper in found)
    return Judgement(judgement.verdict, told)


def _little(rows: Rows) -> Judgement:
    gains = [100 * (ratio - 1) for row, ratio in ratios(rows, "modified", "basic") if row["bytes"] >= LARGE]
    judgement = cells(("", 0 < gain <= 10) for gain in gains)
    return Judgement(
        judgement.verdict, f"modified is {min(gains):.1f} to {max(gains):.1f} % faster where S ≥ {LARGE} B"
    )


def _grid(by: str, ranks: tuple[int, ...]) -> Grid:
    vendor: Chooser | str = mpich if by == MODEL else "native:mpich"
    return Grid("theta", ROLES | {"vendor": vendor}, ranks, SIZES, wanted=lambda p, size: by == MODEL or quick(p, size))


def quick(ranks: int, block_bytes: int) -> bool:
    """Whether the vendor's exchange is simulated in seconds: larger blocks it sends directly."""
    return block_bytes in (16, 64, 256) or (ranks <= 128 and block_bytes == 1024)


COMPARED = (Priced(_grid(MODEL, (512, 1024, 2048, 4096))), Simulated(_grid(SIMULATION, (128, 256, 512))))
BOTH = model_and_simulation
MOST = "in at least 90 % of cells; partly from half of them on"

FIGURES: tuple[Figure, ...] = (
    Figure(
        "radix:fig1",
        "Steps of small examples",
        "figure 1",
        (Counted("`radix(r=2)`, `radix(r=4)`, `radix(r=5)`, P = 6", _examples),),
        (
            Claim(
                "P = 6 takes 3, 5 and 5 steps in radix 2, 4 and 5",
                "II",
                "equal; partly: half",
                lambda rows: radices.equal(
                    (f"K({r})", rows.one("K", r=r), paper) for r, paper in ((2, 3), (4, 5), (5, 5))
                ),
            ),
        ),
        reduced="The paper's equation 2 gives 4 for radix 4.",
    ),
    Figure(
        "radix:fig2a",
        "Steps and blocks over the radix",
        "figure 2a",
        (Counted("`tra(r=2:P)`, P = 4,096, all radices", lambda: radices.counted((4096,))),),
        (
            Claim(
                "at r = √P numD is about twice what direct exchange sends, numC much less than its steps",
                "II",
                "numD within 10 % of twice, numC at most a tenth",
                _at_the_root,
            ),
        ),
    ),
    Figure(
        "radix:fig2b",
        "Time over the radix, 2,048 ranks",
        "figure 2b",
        (RadixSweep("theta", "tra", (2048,), (512,)),),
        (
            Claim(
                "for N = 512 B r = 48, next to √P = 46, is the best of the radices 2 to 64 that are doubled",
                "II",
                "√P within 5 % of the best",
                radices.at_root(lambda _: True),
            ),
        ),
    ),
    Figure(
        "radix:fig3",
        "Radix 2, the square root of P and the vendor's MPI, Theta",
        "figures 3 and 4, section III",
        (RadixSweep("theta", "radix", (512, 4096), (64, 1024)), *COMPARED),
        (
            Claim(
                "radix 2 does not perform well in most cases",
                "III",
                f"slower than √P by more than 5 % {MOST}",
                BOTH(faster("modified", "radix 2", least=1.05)),
            ),
            Claim(
                "modified Bruck is faster than basic Bruck for large N, but by extremely little",
                "III",
                f"N ≥ {LARGE} B: by 0 to 10 % {MOST}",
                BOTH(_little),
            ),
            Claim(
                "r near √P works well in most cases",
                "III",
                "figure 3's cells: within 5 % of the best radix in at least half; partly from a quarter on",
                radices.at_root(lambda _: True, confirmed=0.5, partly=0.25),
            ),
            Claim(
                "P = 512 and 4,096: modified Bruck in radix √P is 25 to 54 % faster than MPI_Alltoall",
                "III",
                f"model: as much, or at most 10 points less, {MOST}",
                _faster_by,
            ),
            Claim(
                "but for extremely short messages Bruck of radix √P beats MPI_Alltoall, for all N and P",
                "III, figure 4",
                f"N ≥ 32 B: {MOST}",
                BOTH(faster("modified", "vendor", lambda row: row["bytes"] >= 32)),
            ),
            Claim(
                "it is up to 57 % faster",
                "IV",
                f"2.33 times as fast: {UP_TO}",
                BOTH(up_to("modified", "vendor", 2.33)),
            ),
        ),
        draw=lambda rows: drawing.over_sizes(
            rows,
            "Bruck of radix √P, radix 2 and the vendor's choice, Theta",
            [(MODEL, 512), (MODEL, 4096), (SIMULATION, 128), (SIMULATION, 512)],
        ),
    ),
)
