"""Times of one layer and of two: the second half of the paper `tra`."""

from __future__ import annotations

from swapmeet.reproduction import drawing, radices, two_layers
from swapmeet.reproduction.figure import MODEL, NOT_HERE, SIMULATION, Claim, Figure, Judgement, Rows
from swapmeet.reproduction.judging import (
    UP_TO,
    Judge,
    cells,
    faster,
    model_and_simulation,
    not_here,
    ratios,
    together,
    up_to,
)
from swapmeet.reproduction.sources import Grid, Priced, RadixSweep, Simulated
from swapmeet.reproduction.vendor import mpich

SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
FEWER = 16  #: ranks on a node of small simulations, so that there are several nodes
DRAWN = (512, 8192)
RANKS = (512, 1024, 2048, 4096, 8192, 16384)
SMALL, LARGE = 64, 512  #: bytes of blocks that the paper calls so


def compared(machine: str, ranks: tuple[int, ...], sizes: tuple[int, ...], by: str, **more: object) -> Grid:
    """TRA and TRA2, as the paper recommends them, and the vendor's choice."""
    vendor = mpich if by == MODEL else "native:mpich"
    roles = {"TRA": "tra", "TRA2": "tra2", "vendor": vendor}
    return Grid(machine, roles, ranks, tuple(map(str, sizes)), **more)  # type: ignore[arg-type]


def quick(ranks: int, block_bytes: int) -> bool:
    """Whether the vendor's exchange is simulated in seconds: larger blocks it sends directly."""
    return ranks <= 128 or block_bytes <= 256


def _on(machine: str, claim: Claim) -> Judge:
    return lambda rows: claim.judge(rows.where(machine=machine))


def _at(paper: float, role: str) -> Claim:
    def judge(rows: Rows) -> Judgement:
        (ratio,) = [
            r for row, r in ratios(rows.where(by=MODEL), role, "vendor") if (row["P"], row["bytes"]) == (2048, 32)
        ]
        verdict = cells([("", ratio >= paper / 1.5)]).verdict
        return Judgement(verdict, f"model: {ratio:.2f} times as fast (paper: {paper})")

    return Claim(
        f"P = 2,048, S = 32 B: {role} {paper} times as fast as MPI_Alltoall",
        "V-C",
        f"at least {paper / 1.5:.2f}",
        judge,
    )


def _less_pronounced(rows: Rows) -> Judgement:
    held = []
    for by in (MODEL, SIMULATION):
        means = {}
        for machine in ("theta", "polaris"):
            found = [ratio for _, ratio in ratios(rows.where(by=by, machine=machine), "TRA2", "TRA")]
            means[machine] = sum(found) / len(found) if found else 0.0
        if all(means.values()):
            good = cells([("", means["polaris"] < means["theta"])])
            told = (
                f"TRA2 on average {means['polaris']:.2f} times as fast as TRA on Polaris, {means['theta']:.2f} on Theta"
            )
            held.append((by, Judgement(good.verdict, told)))
    return together(held) if held else Judgement(NOT_HERE, "no results")


def _versus(extra: tuple[Claim, ...], section: str) -> tuple[Claim, ...]:
    both = model_and_simulation
    almost = "in at least 90 % of cells; partly from half of them on"
    return (
        Claim("TRA outperforms MPI_Alltoall for almost all P and S", section, almost, both(faster("TRA", "vendor"))),
        Claim("TRA2 outperforms MPI_Alltoall for almost all P and S", section, almost, both(faster("TRA2", "vendor"))),
        Claim("TRA2 beats TRA for almost all P and S", section, almost, both(faster("TRA2", "TRA"))),
        *extra,
    )


FFT_RANKS = {"theta": (512, 1024, 2048, 4096), "polaris": (32, 64, 128, 256, 512, 1024)}
FFT_SIZES = (16, 1024)


def _both_faster(rows: Rows) -> Judgement:
    return together([(role, faster(role, "vendor")(rows)) for role in ("TRA", "TRA2")])


def _wins(machine: str, least: int, most: int | None = None) -> Judge:
    def judge(rows: Rows) -> Judgement:
        found = [ratio > 1 for _, ratio in ratios(rows.where(by=MODEL, machine=machine), "TRA2", "TRA")]
        right = least <= sum(found) <= (most or len(found))
        return Judgement(cells([("", right)]).verdict, f"in {sum(found)} of {len(found)}")

    return judge


def _fastest(machine: str, paper: float) -> Judge:
    return lambda rows: up_to("TRA", "vendor", paper, "TRA2")(rows.where(machine=machine))


TIMES: tuple[Figure, ...] = (
    Figure(
        "tra:fig8",
        "Time of TRA over the radix, Theta",
        "figure 8, section V-A",
        (
            RadixSweep("theta", "tra", RANKS, SIZES, DRAWN),
            Simulated(Grid("theta", radices.roles(), (256, 512), ("16", "128", "1024"))),
        ),
        (
            Claim(
                "for S ≥ 512 B r ≈ √P outperforms all other radices, for all P",
                "V-A",
                "√P within 5 % of the best radix in at least 90 % of cells; partly from half of them on",
                radices.at_root(lambda size: size >= LARGE),
            ),
            Claim(
                "for small blocks the best radix is many times smaller than √P",
                "V-A",
                f"S ≤ {SMALL} B: at most half of √P in at least 90 % of cells; partly from half of them on",
                radices.below_root(lambda size: size <= SMALL, 2),
            ),
            Claim(
                "radix 2 is not the best for small blocks either",
                "V-A",
                f"S ≤ {SMALL} B: more than 5 % slower than the best, cells as above",
                radices.two_is_not_best(lambda size: size <= SMALL),
            ),
            Claim(
                "r = √P is the most effective in most cases",
                "VIII",
                "all S: within 5 % of the best in at least half of the cells; partly from a quarter on",
                radices.at_root(lambda _: True, confirmed=0.5, partly=0.25),
            ),
            not_here(
                "P = 2,048, S = 128 B: 16.17 ms at r = 2, 7.699 ms at r = 46, more than twice as fast",
                "V-A",
                "the machine's description is fitted to these two times, so agreement would show nothing",
            ),
        ),
        reduced="Theta's numbers are fitted to two times of the paper (docs/simulation.md), for the rest assumptions.",
        draw=lambda rows: drawing.radix_times(rows, "Theta"),
    ),
    Figure(
        "tra:fig9",
        "Radices within and between nodes of TRA2, Theta",
        "figure 9, section V-B",
        two_layers.SOURCES,
        two_layers.CLAIMS,
        reduced="16 ranks a simulated node, not 64, give enough nodes.",
        draw=two_layers.draw,
    ),
    Figure(
        "tra:fig10",
        "TRA, TRA2 and the vendor's MPI, Theta",
        "figure 10, section V-C",
        (
            Priced(compared("theta", RANKS, SIZES[:-1], MODEL)),
            Simulated(compared("theta", (128, 256, 512), (16, 64, 256, 1024), SIMULATION, wanted=quick)),
        ),
        _versus((_at(3.98, "TRA"), _at(5.02, "TRA2")), "V-C"),
        draw=lambda rows: drawing.over_sizes(
            rows,
            "TRA, TRA2 and the vendor's choice, Theta",
            [(MODEL, 2048), (MODEL, 16384), (SIMULATION, 128), (SIMULATION, 256)],
        ),
    ),
    Figure(
        "tra:fig11",
        "Time of TRA over the radix, Polaris",
        "figure 11, section V-D",
        (
            RadixSweep("polaris", "tra", (512, 1024, 2048), SIZES),
            Simulated(Grid("polaris", radices.roles(), (256,), ("16", "128", "1024"))),
        ),
        (
            Claim(
                "the best radix is √P in most cases",
                "V-D",
                "within 5 % of the best in at least half of the cells; partly from a quarter on",
                radices.at_root(lambda _: True, confirmed=0.5, partly=0.25),
            ),
        ),
        reduced="All numbers of Polaris are assumptions (docs/models.md).",
    ),
    Figure(
        "tra:fig12",
        "TRA, TRA2 and the vendor's MPI, Polaris",
        "figure 12, section V-D",
        (
            Priced(compared("polaris", (512, 1024, 2048), SIZES[:-1], MODEL)),
            Priced(compared("theta", (512, 1024, 2048), SIZES[:-1], MODEL)),
            Simulated(compared("polaris", (128,), (16, 64, 256, 1024), SIMULATION, per_node=FEWER)),
            Simulated(compared("theta", (128,), (16, 64, 256, 1024), SIMULATION, per_node=FEWER)),
        ),
        tuple(
            Claim(claim.statement, claim.section, claim.criterion, _on("polaris", claim))
            for claim in _versus((), "V-D")[:2]
        )
        + (Claim("TRA and TRA2 differ less than on Theta", "V-D", "mean of TRA's time over TRA2's", _less_pronounced),),
    ),
    Figure(
        "tra:fig13",
        "The all-to-alls of a parallel FFT",
        "figure 13, section VI",
        tuple(
            source
            for machine, ranks in FFT_RANKS.items()
            for source in (
                Priced(compared(machine, ranks, FFT_SIZES, MODEL)),
                Simulated(compared(machine, (64, 128), FFT_SIZES, SIMULATION, per_node=FEWER)),
            )
        ),
        (
            Claim(
                "TRA and TRA2 outperform the default strategy at all scales",
                "VI",
                "the all-to-alls, in at least 90 % of cells of both; partly from half of them on",
                model_and_simulation(_both_faster),
            ),
            Claim(
                "TRA2 outperforms TRA in 10 of 12 runs on Polaris",
                "VI",
                "model: in at least 9 of 12",
                _wins("polaris", 9),
            ),
            Claim("TRA2 outperforms TRA in 4 of 8 runs on Theta", "VI", "model: in 3 to 5 of 8", _wins("theta", 3, 5)),
            Claim(
                "the FFT is up to 3.8 times as fast on Theta",
                "abstract",
                f"of its all-to-alls {UP_TO}",
                model_and_simulation(_fastest("theta", 3.8)),
            ),
            Claim(
                "and up to 4.2 times on Polaris",
                "abstract",
                "the same",
                model_and_simulation(_fastest("polaris", 4.2)),
            ),
        ),
        reduced="Only the three equal all-to-alls: neither model nor simulation knows the time of computing.",
    ),
)
