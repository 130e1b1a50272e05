"""Configurable radix and two layers: the paper `tra`. Here what is counted; times are in tra_times."""

from __future__ import annotations

from collections.abc import Iterator

from swapmeet import _core
from swapmeet.reproduction import drawing, radices
from swapmeet.reproduction.figure import Claim, Figure, Judgement, Row, Rows
from swapmeet.reproduction.judging import cells
from swapmeet.reproduction.sources import Counted
from swapmeet.reproduction.tra_times import TIMES
from swapmeet.specs import parse_spec

FORMULA_RANKS = (*range(2, 65), 81, 100, 125, 128, 216, 243, 255, 256, 257)
POWERS = ((2, 16, 4), (2, 64, 8), (3, 81, 9), (4, 256, 16), (8, 512, 64), (2, 1024, 64))  #: (r, P, Q), powers of r


def _formulas() -> Iterator[Row]:
    for p in FORMULA_RANKS:
        right = {"K": 0, "D": 0, "h": 0}
        rounds = 0
        for r in range(2, max(3, p)):
            spec = parse_spec(f"tra(r={r})")
            counts, found = _core.count(spec, p), _core.count_rounds(spec, p)
            blocks = _blocks(p, r)
            right["K"] += counts.messages == _rounds(p, r)
            right["D"] += counts.blocks == sum(blocks)
            right["h"] += [row[5] for row in found] == [h for h in blocks if h]
            rounds += 1
        yield {"P": p, "radices": rounds, **right}


def _digits(p: int, r: int) -> int:
    w = 1
    while r**w < p:
        w += 1
    return w


def _rounds(p: int, r: int) -> int:
    """Proposition 3."""
    w = _digits(p, r)
    rounds: int = w * (r - 1) - (r**w - p) // r ** (w - 1)
    return rounds


def _blocks(p: int, r: int) -> list[int]:
    """Proposition 4: h of each round."""
    found = []
    for x in range(_digits(p, r)):
        group, some = p % r ** (x + 1), p // r ** (x + 1) * r**x
        for z in range(1, r):
            t = group - z * r**x
            found.append(some if t <= 0 else some + r**x if t // r**x > 0 else some + t % r**x)
    return found


def _formula(name: str) -> Claim:
    text = {"K": "K = w(r-1) - ⌊(r^w - P) / r^(w-1)⌋", "h": "a round (x, z) carries h blocks", "D": "D = Σ h"}[name]

    def judge(rows: Rows) -> Judgement:
        good, all_ = sum(row[name] for row in rows), sum(row["radices"] for row in rows)
        judgement = cells([(f"P = {row['P']}", row[name] == row["radices"]) for row in rows], confirmed=1.0)
        return Judgement(judgement.verdict, f"{good:,} of {all_:,} pairs (P, r)")

    place = "proposition 3" if name == "K" else "proposition 4"
    return Claim(text, f"III-A, {place}", "equal to what schedules send, for each pair", judge)


def _numbers(rows: Rows) -> Judgement:
    at = {r: rows.where(P=16384, r=r) for r in (2, 128, 16384)}
    return radices.equal(
        [
            ("K(√P)", at[128].one("K"), 254),
            ("K(P)", at[16384].one("K"), 16384),
            ("D(√P)", at[128].one("D"), 32512),
            ("D(2)", at[2].one("D"), 114688),
        ]
    )


def _trend(rows: Rows) -> Judgement:
    found = rows.having("rank_correlation")
    judgement = cells((f"{row['curve']}, P = {row['P']:,}", abs(row["rank_correlation"]) >= 0.9) for row in found)
    against = sum(row["steps"] - row["steps_with_trend"] for row in found)
    steps = sum(row["steps"] for row in found)
    return Judgement(
        judgement.verdict, f"{judgement.finding}; of single steps {against:,} of {steps:,} go the other way"
    )


def _kink(rows: Rows) -> Judgement:
    found = rows.having("slope_before")
    judgement = cells(
        (f"{row['curve']}, P = {row['P']:,}", abs(row["slope_before"]) >= 2 * abs(row["slope_after"])) for row in found
    )
    last = found.where(P=8192)
    slopes = ", ".join(f"{row['curve']} {row['slope_before']:+.2f} then {row['slope_after']:+.2f}" for row in last)
    return Judgement(judgement.verdict, f"{judgement.finding}; a radix at P = 8,192: {slopes}")


def _slow_after(rows: Rows) -> Judgement:
    found = rows.having("most_after")
    judgement = cells(((f"{row['curve']}, P = {row['P']:,}", row["most_after"] <= 1) for row in found), confirmed=1.0)
    return Judgement(judgement.verdict, f"{judgement.finding}; at most {max(row['most_after'] for row in found)}")


def _between_nodes() -> Iterator[Row]:
    for name, spec in (("TRA", "tra(r=2)"), ("TRA2", "tra2(r1=2,r2=2)")):
        sent = 0
        for rank in range(4):
            for *_, sends, _ in _core.generate(parse_spec(spec), 8, rank, "4").steps:
                sent += sum(peer >= 4 for peer, _ in sends)
        yield {"P": 8, "per_node": 4, "role": name, "messages": sent}


def _rounds_of_layers() -> Iterator[Row]:
    for r, p, q in POWERS:
        one, two = (_core.count(parse_spec(spec), p, str(q)) for spec in (f"tra(r={r})", f"tra2(r1={r},r2={r})"))
        yield {"P": p, "per_node": q, "r": r, "K_one": one.messages, "K_two": two.messages}


FIGURES: tuple[Figure, ...] = (
    Figure(
        "tra:formulas",
        "K and D by formula",
        "propositions 1 to 4",
        (Counted(f"schedules of `tra(r=2:P-1)`, P from 2 to {FORMULA_RANKS[-1]}", _formulas),),
        (_formula("K"), _formula("h"), _formula("D")),
    ),
    Figure(
        "tra:fig4",
        "K and D over the radix",
        "figure 4, section III-B",
        (
            Counted(
                "`tra(r=2:P)`, P = 1,024 to 16,384, all radices",
                lambda: radices.counted((1024, 2048, 4096, 8192, 16384)),
            ),
        ),
        (
            Claim(
                "with the radix K rises and D falls", "III-B", "rank correlation of at least 0.9, for each P", _trend
            ),
            Claim(
                "both curves have a kink at r = √P, beyond which they change much more slowly",
                "III-B",
                "over the √P/4 radices before √P a change at least twice that over the √P/4 after it, for each P",
                _kink,
            ),
            Claim("beyond √P they change by at most 1 from a radix to the next", "III-B", "for each P", _slow_after),
            Claim(
                "P = 16,384: K is 254 at √P, 16,384 at P; D is 32,512 at √P, 114,688 at 2",
                "III-B",
                "equal; partly: half",
                _numbers,
            ),
        ),
        draw=drawing.counts,
    ),
    Figure(
        "tra:fig5",
        "Messages between nodes, of one layer and of two",
        "figure 5, section IV",
        (
            Counted("schedules of `tra(r=2)` and `tra2(r1=2,r2=2)`, P = 8, 4 ranks a node", _between_nodes),
            Counted("the same for powers of r up to P = 1,024", _rounds_of_layers),
        ),
        (
            Claim(
                "the first node sends 7 messages to the other with TRA, 4 with TRA2",
                "IV",
                "equal",
                lambda rows: radices.equal(
                    (role, rows.one("messages", role=role), paper) for role, paper in (("TRA", 7), ("TRA2", 4))
                ),
            ),
            Claim(
                "with r = r1 = r2, and P, Q and N powers of r, TRA2 takes as many rounds as TRA",
                "IV",
                "equal in each case",
                lambda rows: cells(
                    ((f"P = {row['P']}", row["K_one"] == row["K_two"]) for row in rows.having("K_one")), confirmed=1.0
                ),
            ),
        ),
    ),
    *TIMES,
)
