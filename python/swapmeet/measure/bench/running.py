"""What `swapmeet bench` and `swapmeet compare` do once their options are read: progress, and what is printed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from swapmeet import progress
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench import compare as comparing
from swapmeet.measure.bench import machine, osu, summary, table
from swapmeet.measure.bench.campaign import WRONG, Campaign, Watch
from swapmeet.measure.bench.cells import Cell, name
from swapmeet.measure.bench.request import Request
from swapmeet.measure.bench.results import Results, Writer, read
from swapmeet.output import JSON, TABLE, print_json, tables_console


def measure(request: Request, file: Path, resume: bool, columns: osu.Columns | None = None, form: str = TABLE) -> bool:
    """Measure into `file` and print the results: as OSU's benchmarks do if `columns` are given, or in a form.

    Returns
    -------
    bool
        Whether all data were right.
    """
    try:
        campaign(request, file, resume)
    except KeyboardInterrupt:
        with suppress(SwapmeetError):  # there may be nothing yet
            report(file, columns, form)
        progress.note(f"go on by `swapmeet bench --resume {file}`")
        raise
    return report(file, columns, form)


def campaign(request: Request, file: Path, resume: bool, budget_share: float = 1) -> None:
    """Measure into `file`.

    Parameters
    ----------
    request
        What.
    file
        Where to.
    resume
        Continue the file that is there.
    budget_share
        The request's budget as a share of the one that the user gave, for what is printed; 0: nothing is printed.

    Raises
    ------
    SwapmeetError
        If nothing can be measured.
    """
    if resume:
        request = _resumed(request, read(file))
    settings = replace(request.settings(), budget_share=budget_share)
    new = not file.exists()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the end of a batch job, say
    with Writer(file, machine.header(request.given()), resume) as writer, _progress() as watch:
        if budget_share:
            named = "" if request.mpi else ", the default; --mpi names others"
            progress.note(f"measuring {', '.join(map(str, settings.targets))}{named}")
        Campaign(settings, writer, watch).run()
    if new and not read(file).cells():
        problems = read(file).problems
        file.unlink()
        raise SwapmeetError(f"nothing was measured{': ' + problems[0].message if problems else ''}")


def compare(before: Path, after: Path, tie: float, everything: bool, form: str) -> bool:
    """Print what has changed, as a table, as plain lines or as JSON.

    Returns
    -------
    bool
        Whether nothing became slower.
    """
    comparison = comparing.compare(read(before), read(after), tie)
    if form == JSON:
        print_json("compare", **comparing.as_json(comparison))
    elif form == "plain":
        print(*comparing.plain(comparison), sep="\n")
    else:
        for part in comparing.table(comparison, everything):
            tables_console(markup=True).print(part)
    return not comparison.changed_for_worse


def _resumed(request: Request, before: Results) -> Request:
    host, here = before.header.get("machine", {}).get("host"), machine.header({})
    if host != here["machine"]["host"]:
        raise SwapmeetError(f"{before.path} was measured on {host}: give another file here, and compare the two")
    if before.campaigns[-1].get("commit") != here["commit"]:
        print(f"swapmeet: warning: {before.path} was begun with other sources of Swapmeet", file=sys.stderr)
    return request.after(before.header.get("options", {}))


def report(
    file: Path,
    columns: osu.Columns | None = None,
    form: str = TABLE,
    command: str = "bench",
    more: Mapping[str, object] | None = None,
) -> bool:
    """Print results: as OSU's benchmarks do if `columns` are given, or as a table, or as JSON with `more` fields.

    Returns
    -------
    bool
        Whether all data were right.

    Raises
    ------
    SwapmeetError
        If there are none.
    """
    results = read(file)
    if not results.cells():
        why = f": {results.problems[0].message}" if results.problems else ""
        raise SwapmeetError(f"nothing was measured{why}")
    if form == JSON:
        print_json(command, **summary.record(results), **(more or {}))
    elif columns:
        print(*osu.text(results, columns), sep="\n", flush=True)
    else:
        tables_console(markup=True).print(*table.tables(results), sep="\n")
    progress.note(f"{file} has all samples: `swapmeet plot {file}`")
    return not any(problem.message.startswith(WRONG) for problem in results.problems)


class _Bar:
    """Progress on a terminal; problems on standard error everywhere."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("launching", total=None)
        self._over = 0

    def begin(self, visits: int) -> None:
        self._bar.update(self._task, total=max(visits, 1))

    def visit(self, cell: Cell, fraction: float) -> None:
        self._bar.update(self._task, completed=self._over + min(fraction, 0.99), description=name(cell))

    def done(self) -> None:
        self._over += 1
        self._bar.update(self._task, completed=self._over)

    def problem(self, message: str) -> None:
        print(f"swapmeet: {message}", file=sys.stderr, flush=True)


@contextmanager
def _progress() -> Iterator[Watch]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with progress.bar(*columns) as bar:
        yield _Bar(bar)
