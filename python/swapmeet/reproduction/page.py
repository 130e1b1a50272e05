"""The page of figures in Markdown, made of results: docs/reproduction.md, or that of a single figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from swapmeet.reproduction.figure import NOT_HERE, SIMULATION, VERDICTS, Figure, Judgement
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

INTRODUCTION = """# The papers' figures, reproduced

    swapmeet reproduce                    # lists the figures, and what each takes
    swapmeet reproduce tra:fig8 radix     # one figure, and all of a paper: results, pictures and pages, in a folder
    swapmeet reproduce --all -o docs/reproduction
    swapmeet reproduce --markdown -o docs/reproduction > docs/reproduction.md

The last line makes this page from the results in docs/reproduction; python/swapmeet/reproduction declares figures,
claims and criteria. Verdicts are computed:

- **confirmed**, **partly** or **refuted**, by the criterion beside the claim, *here*: schedules are exact; times are
  of a model (docs/models.md) or a simulation (docs/simulation.md) of machines most of whose parameters are assumptions,
  so a refuted claim may have been measured. Where the two disagree the verdict is "partly". docs/validation.md lists
  verdicts that change with parameters of two measured supercomputers.
- **exceeded**: the paper claims a maximum ("up to 3 times"), and the maximum here is more than 10 % larger. This
  confirms the direction, but not the number: the base of the comparison may be slower here.
- **not reproducible here**, with the reason.

A *cell* is a number of ranks with a size of blocks. Times are of the slowest rank. Where MPICH's rule stands for Cray's
MPI, that is SimGrid's `native:mpich` in simulations, whose copies are free, and our specs in models: radix 2 up to 256
B, then direct with 32 in flight, then pairwise. Nothing on this page is timed on a real network."""


def judged(figure: Figure, results: Results) -> list[Judgement]:
    """The verdicts on a figure's claims."""
    if figure.sources and not len(results.rows):
        return [Judgement(NOT_HERE, "not run yet") for _ in figure.claims]
    return [claim.judge(results.rows) for claim in figure.claims]


def whole(figures: Sequence[Figure], folder: Path, pictures: str) -> Iterator[str]:
    """All figures that have results in `folder`; `pictures` is where it is as seen from the page."""
    found = [(figure, results) for figure in figures if (results := read(folder, figure)) is not None]
    yield INTRODUCTION
    yield "\n".join(_summary(found))
    for paper in dict.fromkeys(figure.paper for figure, _ in found):
        yield f"## `{paper}`: {PAPERS[paper]}"
        for figure, results in found:
            if figure.paper == paper:
                has_picture = (folder / f"{figure.stem}.png").exists()
                yield "\n".join(section(figure, results, f"{pictures}/{figure.stem}.png" if has_picture else ""))


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
    """What there is to say of one figure, in lines."""
    yield f"### {_heading(figure)}\n"
    yield f"{figure.place[0].upper()}{figure.place[1:]}. {_how(figure, results)}\n"
    if figure.reduced:
        yield f"{figure.reduced}\n"
    lines = []
    for claim, judgement in zip(figure.claims, judged(figure, results), strict=True):
        said = f"{claim.statement} ({claim.section})"
        lines.append([said, claim.criterion, judgement.finding, f"**{judgement.verdict}**"])
    yield from markdown(("claim of the paper", "judged by", "here", "verdict"), lines)
    problems = list(results.rows.having("problem"))
    if problems:
        names = [f"{row['spec']}, P = {row['P']:,}, {row['sizes']}: {row['problem']}" for row in problems]
        more = f" and {len(names) - PROBLEMS_TOLD} more" if len(names) > PROBLEMS_TOLD else ""
        yield f"\nNot simulated: {'; '.join(names[:PROBLEMS_TOLD])}{more}."
    if picture:
        yield f"\n![{figure.title}]({picture})"


def _how(figure: Figure, results: Results) -> str:
    if not figure.sources:
        return "Nothing to run."
    simgrid = f" (SimGrid {results.header['simgrid']})" if "simgrid" in results.header else ""
    has_times = bool(len(results.rows.where(by=SIMULATION)))
    used = [source.words for source in figure.sources if source.by != SIMULATION or has_times]
    missing = "" if len(used) == len(figure.sources) else "Simulations: not made yet."
    return " ".join(filter(None, (f"From {'; '.join(used)}{simgrid}." if used else "", missing)))
