"""The page of figures in Markdown, made of results: docs/reproduction.md, or that of a single figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from swapmeet.reproduction.figure import COUNTS, MODEL, NOT_HERE, SIMULATION, VERDICTS, Claim, Figure, Judgement, Row
from swapmeet.reproduction.store import Results, read
from swapmeet.tables import markdown

PAPERS = {
    "tra": "Configurable Algorithms for All-to-all Collectives",
    "radix": "Parameterized Radix-r Bruck Algorithm for All-to-all Communication",
    "slimfly": "Optimized Alltoall Algorithm for Low-Diameter Network Topologies",
    "nonuniform": "Optimizing the Bruck Algorithm for Non-uniform All-to-all Communication",
    "fft": "Collective-Optimized FFTs",
}
PROBLEMS_TOLD = 3
WAYS = {COUNTS: "counted", MODEL: "modelled", SIMULATION: "simulated"}  #: to get numbers, and their columns
#: What the papers come to: in our words, and by which claim, found by its first words.
LESSONS = (
    ("the radix √P is a kink of messages and bytes", "tra:fig4", "both curves have a kink"),
    ("√P is near the best radix: Theta", "tra:fig8", "r = √P is the most effective"),
    ("the same: Polaris", "tra:fig11", "the best radix is √P"),
    ("TRA beats the vendor's MPI: Theta", "tra:fig10", "TRA outperforms"),
    ("the same: Polaris", "tra:fig12", "TRA outperforms"),
    ("two layers send fewer messages between nodes", "tra:fig5", "the first node sends"),
    ("two layers beat one: Theta", "tra:fig10", "TRA2 beats TRA"),
    ("radix-√P Bruck beats the vendor's MPI from 32 B on", "radix:fig3", "but for extremely short"),
    ("random orders even out a Slim Fly's links", "slimfly:links", "an ordered schedule"),
    ("they pay for larger blocks", "slimfly:fig2", "for medium and large"),
    ("they do not for small ones", "slimfly:fig2", "for small buffers"),
    ("Bruck without rotations is the fastest variant", "nonuniform:fig2", "zero rotation is"),
    ("two-phase Bruck beats the vendor's Alltoallv", "nonuniform:fig6", "two-phase Bruck consistently"),
    ("it beats padding from 256 B on", "nonuniform:fig6", "for larger blocks"),
    ("a throttled exchange beats Open MPI's", "fft:fig2", "multi-pair non-blocking"),
)


def judged(figure: Figure, results: Results) -> list[Judgement]:
    """The verdicts on a figure's claims."""
    if figure.sources and not len(results.rows):
        return [Judgement(NOT_HERE, "not run yet") for _ in figure.claims]
    return [claim.judge(results.rows) for claim in figure.claims]


def whole(figures: Sequence[Figure], folder: Path, pictures: str) -> Iterator[str]:
    """All figures that have results in `folder`; `pictures` is where it is as seen from the page."""
    found = [(figure, results) for figure in figures if (results := read(folder, figure)) is not None]
    yield (files(__package__) / "introduction.md").read_text(encoding="utf-8").strip()
    yield "## What was learnt"
    yield "\n".join(_lessons(found))
    yield "## Verdicts"
    yield "\n".join(_summary(found))
    for paper in dict.fromkeys(figure.paper for figure, _ in found):
        yield f"## `{paper}`: {PAPERS[paper]}"
        for figure, results in found:
            if figure.paper == paper:
                has_picture = (folder / f"{figure.stem}.png").exists()
                yield "\n".join(section(figure, results, f"{pictures}/{figure.stem}.png" if has_picture else ""))


def _lessons(found: Sequence[tuple[Figure, Results]]) -> Iterator[str]:
    """What holds, judged separately by each way to get numbers."""
    made = {figure.key: (figure, results) for figure, results in found}
    lines = []
    for lesson, key, words in LESSONS:
        if key in made:
            figure, results = made[key]
            where = f"[{lesson}](#{_anchor(figure)})"
            lines.append([where, *(_by(claim_of(figure, words), results, way) for way in WAYS)])
    yield from markdown(["", *WAYS.values()], lines)


def claim_of(figure: Figure, words: str) -> Claim:
    """The one that begins so."""
    (claim,) = (claim for claim in figure.claims if claim.statement.startswith(words))
    return claim


def _by(claim: Claim, results: Results, way: str) -> str:
    """The verdict by numbers got in one way, and in how many cells it holds."""
    rows = results.rows.where(by=way)
    judgement = claim.judge(rows) if len(rows) else Judgement(NOT_HERE, "")
    if judgement.verdict == NOT_HERE:
        return ""
    finding = judgement.finding.removeprefix(f"{way}: ")
    cells = finding.partition(";")[0].partition(" (")[0]
    return f"**{judgement.verdict}**: {cells}"


def _summary(found: Sequence[tuple[Figure, Results]]) -> Iterator[str]:
    columns = (*VERDICTS[:-1], "not here")
    total: Counter[str] = Counter()
    lines = []
    for figure, results in found:
        counts = Counter(judgement.verdict for judgement in judged(figure, results))
        total += counts
        lines.append([f"[{figure.key}](#{_anchor(figure)})", figure.title, *_numbers(counts)])
    yield from markdown(["figure", "of", *columns], [*lines, ["all", "", *_numbers(total)]])


def _numbers(counts: Counter[str]) -> list[str]:
    return [str(counts[verdict] or "") for verdict in VERDICTS]


def _heading(figure: Figure) -> str:
    return f"{figure.key}: {figure.title}"


def _anchor(figure: Figure) -> str:
    """As GitHub makes it of the heading."""
    kept = (c for c in _heading(figure).lower().replace(" ", "-") if c.isalnum() or c in "-_")
    return "".join(kept)


def section(figure: Figure, results: Results, picture: str) -> Iterator[str]:
    """The text on one figure, in lines."""
    yield f"### {_heading(figure)}\n"
    first, *others = [*_made_from(figure, results)] or ["nothing to run"]
    yield from markdown(("of the paper", "made here from"), [(figure.place, first), *(("", other) for other in others)])
    yield ""
    if figure.reduced:
        yield f"{figure.reduced}\n"
    lines = []
    for claim, judgement in zip(figure.claims, judged(figure, results), strict=True):
        said = f"{claim.statement} ({claim.section})"
        lines.append([said, claim.criterion, judgement.finding, f"**{judgement.verdict}**"])
    yield from markdown(("claim of the paper", "judged by", "here", "verdict"), lines)
    problems = list(results.rows.having("problem"))
    if problems:
        yield f"\nNot simulated: {'; '.join(_not_simulated(problems))}."
    if picture:
        yield f"\n![{figure.title}]({picture})"


def _made_from(figure: Figure, results: Results) -> Iterator[str]:
    """The configuration of each source, and what is missing."""
    has_times = bool(len(results.rows.where(by=SIMULATION)))
    used = [source for source in figure.sources if source.by != SIMULATION or has_times]
    simgrid = f" (SimGrid {results.header['simgrid']})" if "simgrid" in results.header else ""
    for source in used:
        yield source.words + (simgrid if source.by == SIMULATION else "")
    if len(used) < len(figure.sources):
        yield "simulations: not made yet"


def _not_simulated(problems: Sequence[Row]) -> Iterator[str]:
    """Each reason once, with its cells."""
    cells: dict[str, list[str]] = {}
    for row in problems:
        cells.setdefault(row["problem"], []).append(f"`{row['spec']}` with P = {row['P']:,} and {row['sizes']}")
    for reason, where in list(cells.items())[:PROBLEMS_TOLD]:
        yield f"{', '.join(where)} ({reason})"
    if len(cells) > PROBLEMS_TOLD:
        yield f"{len(cells) - PROBLEMS_TOLD} more"
