"""The command `swapmeet model`: only reads its arguments and prints."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from swapmeet import _core, machines, model, output, plots, prices, varying_model
from swapmeet import regret as regrets
from swapmeet.arguments import RANKS, Nodes
from swapmeet.errors import SwapmeetError
from swapmeet.hockney import AlphaBeta
from swapmeet.output import TABLE, AsJson, tables_console
from swapmeet.prices import STANDARD_MODEL, Pricing
from swapmeet.specs import parse_ranks, parse_spec, ranges_text, require_nodes, require_schedule
from swapmeet.units import parse_bytes

MOST_CERTIFIED = 32  #: points whose bounds are exact; of more they are closed forms


def model_command(
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
    rounds: Annotated[bool, typer.Option("--rounds", help="Round by round.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="For other programs.")] = False,
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
    seed: Annotated[int | None, typer.Option(min=0, max=2**64 - 1, help="Of the sizes (0).")] = None,
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
        str | None, typer.Option("--model", metavar="MODEL", help="Of time: hockney, loggp or max-rate (the default).")
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
    """Count what schedules cost a rank, and bound what it holds. With --machine also the expected time.

    By closed forms, for any number of ranks. With --workload, what an Alltoallv costs, by following every block.
    """
    specs = specs or []
    form = output.form(as_json, as_csv)
    if block and ":" in block:
        raise SwapmeetError(f'-S "{block}": sizes drawn from a distribution are given by --workload now')
    if bound:
        others = {
            "SPEC": specs,
            "--radix": radix,
            "--nodes": nodes,
            "--rounds": rounds,
            "--plot": plot,
            "--workload": workload,
        }
        others |= {"--model": model_name, "--best": best, "--regret": regret}
        if unwanted := [option for option, given in others.items() if given]:
            raise SwapmeetError(f"--bound is of every exchange, by estimates: leave {unwanted[0]} out")
        _bound(machine_name, ranks, block, ports, form)
        return
    if ports:
        raise SwapmeetError("--ports says nothing without --bound")
    priced = _Priced(machine_name, model_name, best, regret)
    priced.require(specs, ranks, block, {"--workload": workload, "--plot": plot, "--radix": radix, "--rounds": rounds})
    if regret:
        _regret(specs, ranks, block, nodes, priced, form)
        return
    wanted = [parse_spec(spec, "SPEC") for spec in specs]
    assert ranks is not None
    if best:
        _best(wanted, specs, ranks, block or "", nodes, priced, form)
        return
    if workload is not None:
        if block is not None or rounds:
            raise SwapmeetError(f"--workload counts blocks of many sizes: leave {'--rounds' if rounds else '-S'} out")
        standard = AlphaBeta()
        machine = AlphaBeta(standard.alpha_us if alpha is None else alpha, standard.beta_ns if beta is None else beta)
        _unequal(wanted, specs, parse_ranks(ranks), ranks, nodes, radix, workload, seed or 0, machine, form, plot)
        return
    for option, given in (("--seed", seed), ("--alpha", alpha), ("--beta", beta)):
        if given is not None:
            raise SwapmeetError(
                f"{option} says nothing without --workload: `swapmeet model SPEC -P 64 --workload uniform:max=1KiB`"
            )
    for spec, text in zip(wanted, specs, strict=True):
        require_schedule(spec, text)
        if (radix is not None or plot is not None) and spec.family != "bruck":
            raise SwapmeetError(f'"{text}" has no radix: leave {"--plot" if radix is None else "--radix"} out')
    block_bytes = None if block is None else parse_bytes(block, "-S")
    values = parse_ranks(ranks)
    if plot is not None:
        plots.require_plotting(plot)
    pricing = priced.pricing()
    if pricing is not None:
        nodes = pricing.machine.nodes(nodes)
    served = list(_served(wanted, values, ranks, nodes))
    if plot is not None:
        lines = model.curves(served, radix or "2:P", nodes)
        plots.plot_radices(lines, block_bytes, plot)
        print(f"{plot}: K and D over the radix for {'; '.join(lines)}", file=sys.stderr)
        radix = "2,root,all" if form == TABLE else radix
    swept = (
        (model.with_radix(spec, r) if radix else spec, p)
        for spec, p in served
        for r in (model.parse_radices(radix, p) if radix else [0])
    )
    exact = None if rounds or plot is not None else radix is None and len(served) <= MOST_CERTIFIED
    points = (model.count(spec, p, nodes, rounds, pricing, block_bytes, exact) for spec, p in swept)
    if form != TABLE:
        columns = (*model.KEYS, *model.ROUND) if rounds else ()
        output.print_records("model", model.records(points, block_bytes), form, columns)
    else:
        tables_console().print(*model.tables(list(points), block_bytes, rounds, pricing), sep="\n")


@dataclass(frozen=True)
class _Priced:
    """The options of `swapmeet model` that are about time."""

    machine: str | None
    model: str | None
    best: bool
    regret: bool

    def require(self, specs: Sequence[str], ranks: str | None, block: str | None, others: Mapping[str, object]) -> None:
        """Refuse what does not go together."""
        if self.best and self.regret:
            raise SwapmeetError("--best and --regret are two questions: ask one at a time")
        if not specs and not (self.best or self.regret):
            raise SwapmeetError("SPEC is missing: what to count (`swapmeet algorithms`), or --best, or --regret")
        if ranks is None and not self.regret:
            raise SwapmeetError("-P is missing: numbers of ranks, as in 2:64,128")
        if self.machine is None and not self.regret and (self.best or self.model is not None):
            raise SwapmeetError(f"times need a machine: --machine {'|'.join(machines.names())}|FILE")
        if self.model is not None and self.model not in _core.models():
            raise SwapmeetError(f'--model "{self.model}": expected one of {", ".join(_core.models())}')
        if self.machine is not None and block is None and not self.regret:
            raise SwapmeetError("times need the size of a block: -S 64")
        for option in ("--workload", *(("--plot", "--radix", "--rounds") if self.best or self.regret else ())):
            if others[option] and (self.machine is not None or self.best or self.regret):
                raise SwapmeetError(f"{option} goes with neither --machine nor --best nor --regret: leave one out")

    def pricing(self) -> Pricing | None:
        return None if self.machine is None else Pricing(machines.load(self.machine), self.model or STANDARD_MODEL)


def _parse_sizes(text: str) -> list[int]:
    return sorted({parse_bytes(part, "-S") for part in text.split(",")})


def _best(
    wanted: Sequence[_core.Spec], texts: Sequence[str], ranks: str, block: str, nodes: str, priced: _Priced, form: str
) -> None:
    """`swapmeet model --best`."""
    pricing = priced.pricing()
    assert pricing is not None
    nodes, values, sizes = pricing.machine.nodes(nodes), parse_ranks(ranks), _parse_sizes(block)
    for spec, text in zip(wanted, texts, strict=True):
        require_schedule(spec, text)
    for spec in wanted or [_core.parse_spec("direct")]:
        require_nodes(spec, nodes, values)
    lists = (ranked for p in values for ranked in prices.best(wanted, p, sizes, pricing, nodes))
    if form != TABLE:
        output.print_records("model", prices.records(lists), form)
    else:
        tables_console().print(*prices.best_tables(lists, pricing), sep="\n")


def _bound(machine: str | None, ranks: str | None, block: str | None, ports: int, form: str) -> None:
    """`swapmeet model --bound`."""
    if machine is None or ranks is None or block is None:
        raise SwapmeetError(
            "--bound needs -P, -S and --machine: `swapmeet model --bound -P 64 -S 8,4KiB --machine theta`"
        )
    from swapmeet.limits import bounding
    from swapmeet.simulation.platform import platform

    bounds = [bounding.Bounds(platform(machine, p)) for p in parse_ranks(ranks)]
    found = [one.of(size, ports) for one in bounds for size in _parse_sizes(block)]
    if form != TABLE:
        output.print_records("model", bounding.records(found), form)
    else:
        tables_console().print(bounding.table(found), bounding.MEANING, sep="\n")


def _regret(texts: Sequence[str], ranks: str | None, block: str | None, nodes: str, priced: _Priced, form: str) -> None:
    """`swapmeet model --regret`."""
    if len(texts) > 1 or nodes:
        raise SwapmeetError("--regret looks at one SPEC on the nodes of each machine: leave others and --nodes out")
    text = texts[0] if texts else "tra"
    spec = parse_spec(text, "SPEC")
    if spec.family != "bruck" or dict(spec.parameters)["dims"] != "P":
        raise SwapmeetError(f'"{text}": --regret compares radices: a spec such as tra or bruck, in one dimension')
    values = regrets.RANKS if ranks is None else parse_ranks(ranks)
    if values[0] < 2 or values[-1] > regrets.MOST_RANKS:
        raise SwapmeetError(f'-P "{ranks}": --regret prices all radices: choose 2 to {regrets.MOST_RANKS} ranks')
    wanted = [machines.load(name) for name in (priced.machine or ",".join(regrets.MACHINES)).split(",")]
    sizes = regrets.SIZES if block is None else _parse_sizes(block)
    name = priced.model or STANDARD_MODEL
    found = list(regrets.cells(spec, wanted, values, sizes, name))
    if form != TABLE:
        output.print_records("model", regrets.records(found), form)
    else:
        tables_console().print(*regrets.tables(found, spec, name), sep="\n")


def _unequal(
    specs: Sequence[_core.Spec],
    texts: Sequence[str],
    values: Sequence[int],
    ranks: str,
    nodes: str,
    radix: str | None,
    sizes: str,
    seed: int,
    machine: AlphaBeta,
    form: str,
    plot: Path | None,
) -> None:
    """`swapmeet model --workload`."""
    workload = varying_model.parse_workload(sizes)
    for spec, text in zip(specs, texts, strict=True):
        if radix is not None and spec.family != "bruck":
            raise SwapmeetError(f'"{text}" has no radix: leave --radix out')
    if plot is not None:
        plots.require_plotting(plot)
    named = [
        (text if radix is None else f"{text}, r = {r}", model.with_radix(spec, r) if radix else spec, p)
        for text, point in zip(texts, specs, strict=True)
        for spec, p in _served([point], values, ranks, nodes, _core.varying_problem)
        for r in (model.parse_radices(radix, p) if radix else [0])
    ]
    if plot is not None:
        plots.plot_times(varying_model.curves(named, workload, seed, machine, nodes), str(workload), machine, plot)
        print(f"{plot}: time over the mean block for {'; '.join(name for name, *_ in named)}", file=sys.stderr)
    points = varying_model.count(((spec, p) for _, spec, p in named), workload, seed, machine, nodes)
    if form != TABLE:
        output.print_records("model", varying_model.records(points), form)
    else:
        tables_console().print(*varying_model.tables(list(points), workload, seed), sep="\n")


def _served(
    specs: Sequence[_core.Spec],
    values: Sequence[int],
    ranks: str,
    nodes: str,
    problem_of: Callable[[_core.Spec, int, str], str] = _core.Spec.unsuitable,
) -> Iterator[tuple[_core.Spec, int]]:
    """Each spec with each number of ranks that it can serve; the others are named on standard error."""
    for spec in specs:
        require_nodes(spec, nodes, values)
        skipped = {p: problem for p in values if (problem := problem_of(spec, p, nodes))}
        if len(skipped) == len(values):
            raise SwapmeetError(f'"{spec}" cannot serve P = {ranks}: {skipped[values[0]]}')
        if skipped:
            reason = next(iter(skipped.values()))
            print(f"swapmeet: {spec}: skipped P = {ranges_text(list(skipped))}: {reason}", file=sys.stderr)
        yield from ((spec, p) for p in values if p not in skipped)
