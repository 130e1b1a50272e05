"""The command `swapmeet verify`: schedules proved correct."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from swapmeet import progress
from swapmeet.cli.arguments import FINDINGS, RANKS, AsJson, Nodes
from swapmeet.errors import SwapmeetError
from swapmeet.model import verification
from swapmeet.output import print_json
from swapmeet.specs import parse_ranks, parse_spec, require_nodes, require_schedule


def verify(
    specs: Annotated[list[str], typer.Argument(metavar="SPEC...", help="What to verify: see `swapmeet algorithms`.")],
    ranks: Annotated[str, typer.Option(*RANKS, metavar="RANKS", help="Numbers of ranks, as in 2:64,128.")],
    nodes: Nodes = "",
    as_json: AsJson = False,
) -> None:
    """Prove schedules correct and free of deadlock.

    Proved are delivery, lifetime of buffers, matching of messages, progress and bounds, for every size of block.
    """
    points = [parse_spec(spec, "SPEC") for spec in specs]
    for point, spec in zip(points, specs, strict=True):
        require_schedule(point, spec)
    values = parse_ranks(ranks)
    verification.require_memory(values[-1])
    for point in points:
        require_nodes(point, nodes, values)
    reports = []
    for point in points:
        with _progress(str(point), values) as advance:
            reports.append(verification.verify(point, values, advance, nodes))
        if not as_json:
            print("\n".join(reports[-1].lines()), flush=True)
    if as_json:
        print_json("verify", reports=[report.record() for report in reports])
    if any(report.findings for report in reports):
        raise typer.Exit(FINDINGS)
    if not any(report.proved for report in reports):
        raise SwapmeetError(f"nothing was verified: no spec can serve any P of {ranks}")


@contextmanager
def _progress(title: str, values: Sequence[int]) -> Iterator[verification.Progress]:
    """A bar on a terminal, nothing elsewhere. A verification of P ranks counts as P² of work."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("P = {task.fields[ranks]}"),
        TimeElapsedColumn(),
    )
    before = dict(zip(values, itertools.accumulate((p * p for p in values), initial=0), strict=False))
    with progress.bar(*columns) as shown:
        task = shown.add_task(title, total=sum(p * p for p in values), ranks="")

        def advance(ranks: int, fraction: float) -> None:
            shown.update(task, completed=before[ranks] + fraction * ranks * ranks, ranks=ranks)

        yield advance
