"""Claims about the radix: what the papers `tra` and `radix` claim of the square root of P."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from swapmeet import _core
from swapmeet.model.costs import root
from swapmeet.reproduction.figure import MODEL, SIMULATION, Judgement, Row, Rows
from swapmeet.reproduction.judging import HALF, NEAR, NEARLY_ALL, Judge, cell_name, cells, together
from swapmeet.reproduction.sources import Chooser, kept_radices, standing
from swapmeet.specs import parse_spec
from swapmeet.units import digits

Wanted = Callable[[int], bool]  #: of bytes of a block
FEW_RADICES = (2, 3, 4, 8, 12, 32, 64, 128)  #: that are simulated, with the square root of P
CURVE = "r="  #: what the parts of simulated radices begin with


def roles(alias: str = "tra") -> dict[str, Chooser]:
    """A part for each radix that is simulated."""

    def of(radix: int) -> Chooser:
        return lambda ranks, _: f"{alias}(r={radix})" if radix < ranks and radix != root(ranks) else ""

    return {f"{CURVE}{r}": of(r) for r in FEW_RADICES} | {f"{CURVE}√P": lambda ranks, _: f"{alias}(r={root(ranks)})"}


def radix_of(row: Row) -> int | None:
    """The radix of a row of a curve."""
    if "r" in row:
        return int(row["r"])
    word = str(row.get("role", ""))
    if not word.startswith(CURVE):
        return None
    return root(row["P"]) if word == f"{CURVE}√P" else int(word.removeprefix(CURVE))


def curves(rows: Rows) -> dict[tuple[str, int, int], dict[int, float]]:
    """Microseconds by radix, for each (by, P, bytes)."""
    found: dict[tuple[str, int, int], dict[int, float]] = {}
    for row in rows.having("us"):
        if (radix := radix_of(row)) is not None:
            found.setdefault((row["by"], row["P"], row["bytes"]), {})[radix] = row["us"]
    return found


def standings(rows: Rows) -> Rows:
    """How the square root of P does in each cell: of all radices in models, of those that there are in simulations."""
    modelled = list(rows.where(by=MODEL).having("root_over_best"))
    found: list[Row] = []
    for (by, ranks, size), times in curves(rows.where(by=SIMULATION)).items():
        place = rows.where(by=by, P=ranks, bytes=size).values("sizes")[0]
        found.append({"by": by, "P": ranks, "bytes": size, "sizes": place, **standing(times, ranks)})
    return Rows([*modelled, *found])


def at_root(wanted: Wanted, near: float = NEAR, confirmed: float = NEARLY_ALL, partly: float = HALF) -> Judge:
    """In how many cells the square root of P takes at most that much longer than the best radix."""

    def judge(rows: Rows) -> Judgement:
        found = [row for row in rows if wanted(row["bytes"])]
        judgement = cells(((cell_name(row), row["root_over_best"] <= 1 + near) for row in found), confirmed, partly)
        ranks = sorted(row["root_rank"] for row in found)
        first = sum(rank == 1 for rank in ranks)
        worst = max((row["root_over_best"] for row in found), default=1)
        told = f"; the best of all in {first}, rank {ranks[len(ranks) // 2]} at the median" if found else ""
        return Judgement(judgement.verdict, f"{judgement.finding}{told}, at worst {digits(worst)} times the best")

    return _each(judge)


def below_root(wanted: Wanted, factor: float) -> Judge:
    """In how many cells the best radix is that many times smaller than the square root of P."""

    def judge(rows: Rows) -> Judgement:
        found = [row for row in rows if wanted(row["bytes"])]
        return cells(
            (f"{cell_name(row)}: r = {row['best_r']}", factor * row["best_r"] <= row["root_r"]) for row in found
        )

    return _each(judge)


def two_is_not_best(wanted: Wanted, near: float = NEAR) -> Judge:
    """In how many cells radix 2 takes longer than the best by more than `near`."""

    def judge(rows: Rows) -> Judgement:
        found = [row for row in rows if wanted(row["bytes"])]
        return cells((cell_name(row), row["two_over_best"] > 1 + near) for row in found)

    return _each(judge)


def _each(judge: Judge) -> Judge:
    def judged(rows: Rows) -> Judgement:
        found = standings(rows)
        return together([(by, judge(found.where(by=by))) for by in (MODEL, SIMULATION) if len(found.where(by=by))])

    return judged


# K and D


def counted(ranks: Sequence[int]) -> Iterator[Row]:
    """K and D over the radix; and how much they change from each radix to the next, on both sides of √P."""
    for p in ranks:
        counts = {r: _core.count(parse_spec(f"tra(r={r})"), p) for r in range(2, p + 1)}
        for r in kept_radices(p):
            yield {"P": p, "r": r, "K": counts[r].messages, "D": counts[r].blocks}
        middle, near = root(p), max(2, root(p) // 4)
        for name, values in (
            ("K", {r: count.messages for r, count in counts.items()}),
            ("D", {r: count.blocks for r, count in counts.items()}),
        ):
            sign = 1 if name == "K" else -1
            yield {
                "P": p,
                "curve": name,
                "steps": p - 2,
                "steps_with_trend": sum(sign * (values[r + 1] - values[r]) >= 0 for r in range(2, p)),
                "rank_correlation": round(_spearman(values), 4),
                "slope_before": (values[middle] - values[middle - near]) / near,
                "slope_after": (values[middle + near] - values[middle]) / near,
                "most_after": max(abs(values[r + 1] - values[r]) for r in range(middle, p)),
            }


def _spearman(values: dict[int, int]) -> float:
    from scipy import stats  # type: ignore[import-untyped]

    return float(stats.spearmanr(list(values), list(values.values())).statistic)


def equal(numbers: Iterable[tuple[str, int, int]]) -> Judgement:
    """Whether numbers are the paper's: (what, ours, the paper's) of each."""
    found = list(numbers)
    judgement = cells([(what, ours == paper) for what, ours, paper in found], confirmed=1.0)
    told = ", ".join(
        f"{what} = {ours:,}" + ("" if ours == paper else f" (paper: {paper:,})") for what, ours, paper in found
    )
    return Judgement(judgement.verdict, told)
