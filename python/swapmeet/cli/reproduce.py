"""The command `swapmeet reproduce`: its options, and what it prints."""

from __future__ import annotations

import importlib.util
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from swapmeet import progress, texts
from swapmeet.cli.arguments import AsJson
from swapmeet.errors import SwapmeetError
from swapmeet.output import print_json, tables_console
from swapmeet.units import long_duration

if TYPE_CHECKING:
    from swapmeet.reproduction.figure import Figure, Row
    from swapmeet.simulate.job import Simulator

NEEDED = ("numpy", "scipy", "matplotlib")


def require_source(command: str) -> None:
    """Refuse what an installed package leaves out: the papers' figures are in a checkout of the source only.

    Raises
    ------
    SwapmeetError
        With what to do.
    """
    if importlib.util.find_spec("swapmeet.reproduction") is None:
        raise SwapmeetError(f"{command} needs Swapmeet's source: run it there, by `make build` and .venv/bin/swapmeet")


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIGURE]...", help="As in tra:fig8, 'tra:*' or tra. Without: the list of all."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All figures.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Run nothing: print the page of the results in the folder.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only what takes seconds; simulations that are in the folder stay.")
    ] = False,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="Where results go.")] = Path(
        "reproduction"
    ),
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", min=1, help="Simulations side by side. Default: the cores.")
    ] = None,
    limit: Annotated[str, typer.Option("--time-limit", metavar="TIME", help="For each simulation: 90s, 15m.")] = "10m",
    as_json: AsJson = False,
) -> None:
    """Reproduce figures of the papers, and judge their claims.

    Of each figure the folder gets its results, a page and perhaps a picture. What was simulated once is remembered
    (docs/reproduction.md).
    """
    require_source("swapmeet reproduce")
    for name in NEEDED:
        if importlib.util.find_spec(name) is None:
            raise SwapmeetError(f"swapmeet reproduce needs {name}: `pip install 'swapmeet[bench,plot]'`")
    from swapmeet.reproduction import page, registry
    from swapmeet.units import parse_duration

    wanted = registry.find(figures or ())
    if everything and figures:
        raise SwapmeetError("--all and FIGURE both name figures: leave one out")
    if markdown:
        if not output.is_dir():
            raise SwapmeetError(
                f"-o {output}: no such folder: `swapmeet reproduce --all -o {output}` makes the results"
            )
        print("\n\n".join(page.whole(wanted or registry.FIGURES, output, output.name)))
        return
    limit_s = parse_duration(limit, "--time-limit")
    if not wanted and not everything:
        if as_json:
            print_json("reproduce", figures=list(map(_record, registry.FIGURES)))
        else:
            tables_console().print(_list(registry.FIGURES))
        return
    some = wanted or registry.FIGURES
    simulator = None if quick else _simulator(limit_s, some)
    results = []
    for figure in some:
        rows = _kept_and_computed(figure, output) if quick else _all(figure, simulator, jobs)
        results.append(_write(figure, rows, output))
        if not as_json:
            print(_sentence(results[-1]), flush=True)
    if as_json:
        print_json("reproduce", figures=results)


def _simulator(limit_s: float, figures: Sequence[Figure]) -> Simulator | None:
    """None where SimGrid is missing, or nothing is simulated."""
    from swapmeet.reproduction import running, sources
    from swapmeet.simulate import simgrid
    from swapmeet.simulate.job import Simulator

    simulated = any(isinstance(source, sources.Simulated) for figure in figures for source in figure.sources)
    return Simulator(simgrid.find(), limit_s) if simulated and running.simgrid_version() else None


def _list(figures: Sequence[Figure]) -> Table:
    from swapmeet.reproduction import running, sources

    table = Table("figure", "of", "place in the paper", "takes")
    for figure in figures:
        kinds = list(dict.fromkeys(source.by for source in figure.sources if not isinstance(source, sources.Simulated)))
        words = [f"{' and '.join(kinds)}: seconds"] if kinds else []
        number, seconds = running.takes(figure)
        words += [f"{number} simulations: about {long_duration(seconds)}"] if number else []
        table.add_row(figure.key, figure.title, figure.place, "; ".join(words) or "nothing")
    without = "SimGrid is not installed, so of these only what takes seconds can be run: --quick"
    table.caption = None if running.simgrid_version() else without
    return table


def _record(figure: Figure) -> dict[str, object]:
    """A line of the list for other programs."""
    from swapmeet.reproduction import running

    number, seconds = running.takes(figure)
    what = {"figure": figure.key, "of": figure.title, "place": figure.place}
    return what | {"simulations": number, "simulations_seconds": seconds}


def _all(figure: Figure, simulator: Simulator | None, jobs: int | None) -> list[Row]:
    from swapmeet.reproduction import running
    from swapmeet.simulate.job import Job, Outcome

    def told(job: Job, outcome: Outcome) -> None:
        word = outcome.problem or f"{1e3 * outcome.longest:.4g} ms"
        cell = f"{figure.key}: P = {job.cell.ranks}, {job.cell.sizes}, {job.spec}"
        progress.note(f"{cell}: {word}")

    return running.rows_of(figure, simulator, jobs or len(os.sched_getaffinity(0)), told)


def _kept_and_computed(figure: Figure, folder: Path) -> list[Row]:
    from swapmeet.reproduction import running, store
    from swapmeet.reproduction.figure import SIMULATION

    before = store.read(folder, figure)
    return [*running.computed(figure), *(before.rows.where(by=SIMULATION) if before else ())]


def _write(figure: Figure, rows: Sequence[Row], folder: Path) -> dict[str, Any]:
    """Write results, picture and page of a figure; what they are, and how it was judged."""
    from swapmeet.draw.plots.style import save
    from swapmeet.reproduction import page, running, store
    from swapmeet.reproduction.drawing import compact
    from swapmeet.reproduction.figure import SIMULATION

    simulated = any(row["by"] == SIMULATION for row in rows)
    store.write(folder, figure, rows, running.simgrid_version() if simulated else "")
    results = store.read(folder, figure)
    assert results is not None
    picture = folder / f"{figure.stem}.png"
    if figure.draw is not None and rows:
        save(figure.draw(results.rows), picture, "-o")
        compact(picture)
    text = "\n".join(page.section(figure, results, picture.name if picture.exists() else ""))
    written = folder / f"{figure.stem}.md"
    texts.write(written, text + "\n")
    return {
        "figure": figure.key,
        "run": bool(rows or not figure.sources),
        "verdicts": dict(Counter(judgement.verdict for judgement in page.judged(figure, results))),
        "page": written,
        "picture": picture if picture.exists() else None,
    }


def _sentence(result: dict[str, Any]) -> str:
    """How a figure was judged, and the files that show it."""
    verdicts = (
        [f"{count} {verdict}" for verdict, count in result["verdicts"].items()] if result["run"] else ["not run yet"]
    )
    files = [str(file) for file in (result["page"], result["picture"]) if file]
    return f"{result['figure']}: {', '.join(verdicts)}: {', '.join(files)}"
