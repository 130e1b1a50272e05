"""How claims are judged: the criteria that several of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from swapmeet.reproduction.figure import (
    CONFIRMED,
    EXCEEDED,
    MODEL,
    NOT_HERE,
    PARTLY,
    REFUTED,
    SIMULATION,
    Claim,
    Judgement,
    Row,
    Rows,
)
from swapmeet.units import digits

NEARLY_ALL, HALF = 0.9, 0.5
NEAR = 0.05  #: times that differ by less are as good as each other
AT_MOST = 1.1  #: factor between our maximum and that of the paper within which it is the same
UP_TO = f"the maximum is within {100 * (AT_MOST - 1):.0f} % of that; exceeded beyond; partly from half that gain on"
MOST_NAMED = 4

Judge = Callable[[Rows], Judgement]
Held = Iterable[tuple[str, bool]]  #: (name of a cell, whether the claim holds in it)


def not_here(statement: str, section: str, why: str) -> Claim:
    """A claim that cannot be tested here."""
    return Claim(statement, section, "", lambda _: Judgement(NOT_HERE, why))


def cells(held: Held, confirmed: float = NEARLY_ALL, partly: float = HALF) -> Judgement:
    """By the share of cells in which it holds."""
    found = list(held)
    if not found:
        return Judgement(NOT_HERE, "no results")
    good = sum(right for _, right in found)
    share = good / len(found)
    verdict = CONFIRMED if share >= confirmed else PARTLY if share >= partly else REFUTED
    other = [name for name, right in found if right != (2 * good >= len(found))]
    named = ", ".join(other[:MOST_NAMED]) + (f" and {len(other) - MOST_NAMED} more" if len(other) > MOST_NAMED else "")
    which = "" if not other else f" ({'not in' if 2 * good >= len(found) else 'in'} {named})"
    return Judgement(verdict, f"in {good} of {len(found)} cells{which}")


def near(value: float, paper: float, unit: str = "", confirmed: float = 1.1, partly: float = 1.5) -> Judgement:
    """By the factor between our number and the paper's."""
    factor = max(value / paper, paper / value)
    verdict = CONFIRMED if factor <= confirmed else PARTLY if factor <= partly else REFUTED
    return Judgement(verdict, f"{digits(value)}{unit} (paper: {digits(paper)}{unit})")


def together(found: Sequence[tuple[str, Judgement]]) -> Judgement:
    """Several judgements as one: the same verdict if they agree, else "partly". What is not known does not count."""
    verdicts = {judgement.verdict for _, judgement in found} - {NOT_HERE}
    verdict = NOT_HERE if not verdicts else verdicts.pop() if len(verdicts) == 1 else PARTLY
    told = [(name, judgement) for name, judgement in found if judgement.verdict != NOT_HERE] or found
    return Judgement(
        verdict, "; ".join(f"{name}: {judgement.finding}" if name else judgement.finding for name, judgement in told)
    )


def model_and_simulation(judge: Judge) -> Judge:
    """Ask the same of the model's rows and of the simulation's."""

    def judged(rows: Rows) -> Judgement:
        return together([(by, judge(rows.where(by=by))) for by in (MODEL, SIMULATION) if len(rows.where(by=by))])

    return judged


def cell_name(row: Row) -> str:
    """Where a time was got, in short."""
    return f"P = {row['P']:,}, {row['sizes']}"


def ratios(rows: Rows, role: str, other: str) -> list[tuple[Row, float]]:
    """Time of `other` over that of `role`, in each cell that has both: above 1, `role` is faster."""
    times = {(*_cell(row), row["role"]): row["us"] for row in rows.having("us").having("role")}
    found = []
    for row in rows.where(role=role).having("us"):
        reference = times.get((*_cell(row), other))
        if reference is not None:
            found.append((row, reference / row["us"]))
    return found


def _cell(row: Row) -> tuple[object, ...]:
    return row["by"], row["machine"], row["P"], row.get("per_node"), row["sizes"]


def faster(role: str, other: str, wanted: Callable[[Row], bool] = lambda _: True, least: float = 1.0) -> Judge:
    """In how many cells `role` is at least that many times as fast as `other`."""

    def judge(rows: Rows) -> Judgement:
        found = [(row, ratio) for row, ratio in ratios(rows, role, other) if wanted(row)]
        judgement = cells((cell_name(row), ratio >= least) for row, ratio in found)
        if not found:
            return judgement
        low, high = min(ratio for _, ratio in found), max(ratio for _, ratio in found)
        return Judgement(
            judgement.verdict, f"{judgement.finding}; {role} {digits(low)} to {digits(high)} times as fast as {other}"
        )

    return judge


def fastest(role: str, rows: Rows) -> Judgement:
    """In how many cells `role` is the fastest of all."""
    found: dict[tuple[int, str, str], dict[str, float]] = {}
    for row in rows.having("us"):
        found.setdefault((row["P"], row["sizes"], cell_name(row)), {})[row["role"]] = row["us"]
    return cells(
        (key[2], min(times, key=lambda name: times[name]) == role) for key, times in found.items() if role in times
    )


def up_to(role: str, other: str, paper: float, *others: str) -> Judge:
    """Whether the largest gain of `role` (or of one of `others`) over `other` is the paper's.

    A claim of a maximum is not confirmed by results far above it, which are as wrong about the maximum as those below.
    """

    def judge(rows: Rows) -> Judgement:
        found = [(ratio, name, row) for name in (role, *others) for row, ratio in ratios(rows, name, other)]
        if not found:
            return Judgement(NOT_HERE, "no results")
        ratio, name, row = max(found, key=lambda one: one[0])
        verdict = _of_maximum(ratio, paper)
        mark = ", exceeded" if verdict == EXCEEDED else ""
        text = f"{name} at most {digits(ratio)} times as fast ({cell_name(row)}; paper: {paper:g}{mark})"
        return Judgement(verdict, text)

    return judge


def _of_maximum(ratio: float, paper: float) -> str:
    if ratio > paper * AT_MOST:
        return EXCEEDED
    if ratio >= paper / AT_MOST:
        return CONFIRMED
    return PARTLY if ratio - 1 >= (paper - 1) / 2 else REFUTED
