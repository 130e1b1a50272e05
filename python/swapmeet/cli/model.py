"""The command `swapmeet model`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swapmeet import machines, output
from swapmeet.cli.arguments import RANKS, AsJson, Nodes
from swapmeet.cli.model_question import Question, answer


def model(
    specs: Annotated[
        list[str] | None, typer.Argument(metavar="SPEC...", help="What to count: see `swapmeet algorithms`.")
    ] = None,
    ranks: Annotated[
        str | None, typer.Option(*RANKS, metavar="RANKS", help="Numbers of ranks, as in 2:64,128.")
    ] = None,
    block: Annotated[
        str | None,
        typer.Option("-S", "--sizes", metavar="BYTES", help="Size of a block: 64, 8KiB; --best and --regret: a list."),
    ] = None,
    radix: Annotated[
        str | None,
        typer.Option(metavar="RADICES", help="Instead of the spec's radix: as in 2:P (all), 2,root,all or 2:64:2."),
    ] = None,
    nodes: Nodes = "",
    rounds: Annotated[bool, typer.Option("--rounds", help="Count round by round.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw K and D over the radix (2:P) as PNG, SVG or PDF; with --workload the time over the mean block.",
        ),
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(metavar="WORKLOAD", help="Count an Alltoallv instead: uniform:max=1KiB, sparse:density=0.1,..."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**64 - 1, help="Random seed of the workload (0).")] = None,
    alpha: Annotated[
        float | None, typer.Option(metavar="US", help="With --workload: time of a message in microseconds (1).")
    ] = None,
    beta: Annotated[
        float | None, typer.Option(metavar="NS", help="With --workload: time of a byte in nanoseconds (0.125: 8 GB/s).")
    ] = None,
    machine_name: Annotated[
        str | None,
        typer.Option(
            "--machine",
            metavar="NAME|FILE",
            help=f"Expected times as well, with -S: {', '.join(machines.names())}, or a description (docs/models.md).",
        ),
    ] = None,
    model_name: Annotated[
        str | None,
        typer.Option("--model", metavar="MODEL", help="Model of time: hockney, loggp, max-rate (default), pipelined."),
    ] = None,
    best: Annotated[bool, typer.Option("--best", help="Which of many candidates is likely the fastest.")] = False,
    regret: Annotated[
        bool, typer.Option("--regret", help="What rules for the radix lose against the best of all radices.")
    ] = False,
    bound: Annotated[
        bool, typer.Option("--bound", help="What no exchange is estimated to be faster than, with --machine and -S.")
    ] = False,
    ports: Annotated[
        int,
        typer.Option(min=0, max=1 << 20, help="With --bound: messages of a rank in a round at most; 0: any number."),
    ] = 0,
) -> None:
    """Count what schedules cost a rank, and bound what it holds.

    With --machine also the expected time. By closed forms, for any number of ranks. With --workload, what an Alltoallv
    costs, by following every block.
    """
    answer(
        Question(
            specs=specs or [],
            ranks=ranks,
            block=block,
            radix=radix,
            nodes=nodes,
            rounds=rounds,
            form=output.form(as_json, as_csv),
            plot=plot,
            workload=workload,
            seed=seed,
            alpha=alpha,
            beta=beta,
            machine=machine_name,
            model=model_name,
            best=best,
            regret=regret,
            bound=bound,
            ports=ports,
        )
    )
