"""What `swapmeet model` is asked, and its answers: counts, times, the best of many, what rules lose, bounds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from swapmeet import _core, machines, output
from swapmeet.choose import regret as regrets
from swapmeet.draw.plots import model as plots
from swapmeet.errors import SwapmeetError
from swapmeet.model import costs as model
from swapmeet.model import memory, prices
from swapmeet.model import varying as varying_model
from swapmeet.model.hockney import AlphaBeta
from swapmeet.model.prices import STANDARD_MODEL, Pricing
from swapmeet.output import TABLE, tables_console
from swapmeet.specs import parse_ranks, parse_spec, ranges_text, require_nodes, require_schedule
from swapmeet.units import parse_bytes

MOST_CERTIFIED = 32  #: points whose bounds are exact; of more they are closed forms


@dataclass(frozen=True)
class Question:
    """The options of `swapmeet model`; None where one was not given."""

    specs: Sequence[str]
    ranks: str | None
    block: str | None  #: -S
    radix: str | None
    nodes: str
    rounds: bool
    form: str  #: of output.form()
    plot: Path | None
    workload: str | None
    seed: int | None
    alpha: float | None
    beta: float | None
    machine: str | None
    model: str | None
    best: bool
    regret: bool
    bound: bool
    ports: int

    def parsed(self) -> list[_core.Spec]:
        """The specs that it is about."""
        return [parse_spec(spec, "SPEC") for spec in self.specs]

    def sizes(self) -> list[int]:
        """Of -S as a list."""
        return sorted({parse_bytes(part, "-S") for part in (self.block or "").split(",")})

    def pricing(self) -> Pricing | None:
        """How times are expected, if they are asked for."""
        return None if self.machine is None else Pricing(machines.load(self.machine), self.model or STANDARD_MODEL)


def answer(asked: Question) -> None:
    """Print what was asked.

    Raises
    ------
    SwapmeetError
        If options do not go together, or one cannot be used.
    """
    if asked.block and ":" in asked.block:
        raise SwapmeetError(f'-S "{asked.block}": sizes drawn from a distribution are given by --workload now')
    if asked.ports and not asked.bound:
        raise SwapmeetError("--ports has no effect without --bound")
    if asked.bound:
        _bound(asked)
        return
    _require(asked)
    if asked.regret:
        _regret(asked)
    elif asked.best:
        _best(asked)
    elif asked.workload is not None:
        _unequal(asked, asked.workload)
    else:
        _counted(asked)


def _require(asked: Question) -> None:
    """Refuse what does not go together."""
    chosen = asked.best or asked.regret
    if asked.best and asked.regret:
        raise SwapmeetError("--best and --regret are two questions: ask one at a time")
    if not asked.specs and not chosen:
        raise SwapmeetError("SPEC is missing: what to count (`swapmeet algorithms`), or --best, or --regret")
    if asked.ranks is None and not asked.regret:
        raise SwapmeetError("-P is missing: numbers of ranks, as in 2:64,128")
    if asked.machine is None and not asked.regret and (asked.best or asked.model is not None):
        raise SwapmeetError(f"times need a machine: --machine {'|'.join(machines.names())}|FILE")
    if asked.model is not None and asked.model not in _core.models():
        raise SwapmeetError(f'--model "{asked.model}": expected one of {", ".join(_core.models())}')
    if asked.machine is not None and asked.block is None and not asked.regret:
        raise SwapmeetError("times need the size of a block: -S 64")
    others = {"--plot": asked.plot, "--radix": asked.radix, "--rounds": asked.rounds} if chosen else {}
    for option, given in {"--workload": asked.workload, **others}.items():
        if given and (asked.machine is not None or chosen):
            raise SwapmeetError(f"{option} goes with neither --machine nor --best nor --regret: leave one out")


def _counted(asked: Question) -> None:
    """`swapmeet model` as such."""
    wanted, ranks, radix, nodes = asked.parsed(), asked.ranks or "", asked.radix, asked.nodes
    for option, given in (("--seed", asked.seed), ("--alpha", asked.alpha), ("--beta", asked.beta)):
        if given is not None:
            raise SwapmeetError(
                f"{option} has no effect without --workload: `swapmeet model SPEC -P 64 --workload uniform:max=1KiB`"
            )
    for spec, text in zip(wanted, asked.specs, strict=True):
        require_schedule(spec, text)
        if (radix is not None or asked.plot is not None) and spec.family != "bruck":
            raise SwapmeetError(f'"{text}" has no radix: leave {"--plot" if radix is None else "--radix"} out')
    block_bytes = None if asked.block is None else parse_bytes(asked.block, "-S")
    values = parse_ranks(ranks)
    if asked.plot is not None:
        plots.require_plotting(asked.plot)
    pricing = asked.pricing()
    if pricing is not None:
        nodes = pricing.machine.nodes(nodes)
    bounded = not asked.rounds and asked.plot is None
    memory.require_for_counts(values[-1], nodes, bounded, pricing is not None)
    served = list(_served(wanted, values, ranks, nodes))
    if asked.plot is not None:
        lines = model.curves(served, radix or "2:P", nodes)
        plots.plot_radices(lines, block_bytes, asked.plot)
        print(f"{asked.plot}: K and D over the radix for {'; '.join(lines)}", file=sys.stderr)
        radix = "2,root,all" if asked.form == TABLE else radix
    swept = (
        (model.with_radix(spec, r) if radix else spec, p)
        for spec, p in served
        for r in (model.parse_radices(radix, p) if radix else [0])
    )
    exact = radix is None and len(served) <= MOST_CERTIFIED if bounded else None
    points = (model.count(spec, p, nodes, asked.rounds, pricing, block_bytes, exact) for spec, p in swept)
    if asked.form != TABLE:
        columns = (*model.KEYS, *model.ROUND) if asked.rounds else ()
        output.print_records("model", model.records(points, block_bytes), asked.form, columns)
    else:
        tables_console().print(*model.tables(list(points), block_bytes, asked.rounds, pricing), sep="\n")


def _best(asked: Question) -> None:
    """`swapmeet model --best`."""
    wanted, pricing = asked.parsed(), asked.pricing()
    assert pricing is not None
    nodes, values, sizes = pricing.machine.nodes(asked.nodes), parse_ranks(asked.ranks or ""), asked.sizes()
    for spec, text in zip(wanted, asked.specs, strict=True):
        require_schedule(spec, text)
    memory.require_for_counts(values[-1], nodes, bounded=False, priced=True)
    for spec in wanted or [_core.parse_spec("direct")]:
        require_nodes(spec, nodes, values)
    lists = (ranked for p in values for ranked in prices.best(wanted, p, sizes, pricing, nodes))
    if asked.form != TABLE:
        output.print_records("model", prices.records(lists), asked.form)
    else:
        tables_console().print(*prices.best_tables(lists, pricing), sep="\n")


def _bound(asked: Question) -> None:
    """`swapmeet model --bound`."""
    others = {
        "SPEC": asked.specs,
        "--radix": asked.radix,
        "--nodes": asked.nodes,
        "--rounds": asked.rounds,
        "--plot": asked.plot,
        "--workload": asked.workload,
        "--seed": asked.seed is not None,
        "--alpha": asked.alpha is not None,
        "--beta": asked.beta is not None,
        "--model": asked.model,
        "--best": asked.best,
        "--regret": asked.regret,
    }
    if unwanted := [option for option, given in others.items() if given]:
        raise SwapmeetError(f"--bound is of every exchange, by estimates: leave {unwanted[0]} out")
    if asked.machine is None or asked.ranks is None or asked.block is None:
        raise SwapmeetError(
            "--bound needs -P, -S and --machine: `swapmeet model --bound -P 64 -S 8,4KiB --machine theta`"
        )
    from swapmeet.limits import bounding
    from swapmeet.simulate.platform import platform

    bounds = [bounding.Bounds(platform(asked.machine, p)) for p in parse_ranks(asked.ranks)]
    found = [one.of(size, asked.ports) for one in bounds for size in asked.sizes()]
    if asked.form != TABLE:
        output.print_records("model", bounding.records(found), asked.form)
    else:
        tables_console().print(bounding.table(found), bounding.MEANING, sep="\n")


def _regret(asked: Question) -> None:
    """`swapmeet model --regret`."""
    if len(asked.specs) > 1 or asked.nodes:
        raise SwapmeetError("--regret looks at one SPEC on the nodes of each machine: leave others and --nodes out")
    text = asked.specs[0] if asked.specs else "tra"
    spec = parse_spec(text, "SPEC")
    if spec.family != "bruck" or dict(spec.parameters)["dims"] != "P":
        raise SwapmeetError(f'"{text}": --regret compares radices: a spec such as tra or bruck, in one dimension')
    values = regrets.RANKS if asked.ranks is None else parse_ranks(asked.ranks)
    if values[0] < 2 or values[-1] > regrets.MOST_RANKS:
        raise SwapmeetError(f'-P "{asked.ranks}": --regret prices all radices: choose 2 to {regrets.MOST_RANKS} ranks')
    wanted = [machines.load(name) for name in (asked.machine or ",".join(regrets.MACHINES)).split(",")]
    sizes = regrets.SIZES if asked.block is None else asked.sizes()
    name = asked.model or STANDARD_MODEL
    found = list(regrets.cells(spec, wanted, values, sizes, name))
    if asked.form != TABLE:
        output.print_records("model", regrets.records(found), asked.form)
    else:
        tables_console().print(*regrets.tables(found, spec, name), sep="\n")


def _unequal(asked: Question, sizes: str) -> None:
    """`swapmeet model --workload`."""
    specs, radix, nodes, ranks, plot = asked.parsed(), asked.radix, asked.nodes, asked.ranks or "", asked.plot
    if asked.block is not None or asked.rounds:
        unwanted = "--rounds" if asked.rounds else "-S"
        raise SwapmeetError(f"--workload counts blocks of many sizes: leave {unwanted} out")
    standard, seed = AlphaBeta(), asked.seed or 0
    alpha_us = standard.alpha_us if asked.alpha is None else asked.alpha
    machine = AlphaBeta(alpha_us, standard.beta_ns if asked.beta is None else asked.beta)
    values, workload = parse_ranks(ranks), varying_model.parse_workload(sizes)
    for spec, text in zip(specs, asked.specs, strict=True):
        if radix is not None and spec.family != "bruck":
            raise SwapmeetError(f'"{text}" has no radix: leave --radix out')
    if plot is not None:
        plots.require_plotting(plot)
    named = [
        (text if radix is None else f"{text}, r = {r}", model.with_radix(spec, r) if radix else spec, p)
        for text, point in zip(asked.specs, specs, strict=True)
        for spec, p in _served([point], values, ranks, nodes, _core.varying_problem)
        for r in (model.parse_radices(radix, p) if radix else [0])
    ]
    if plot is not None:
        plots.plot_times(varying_model.curves(named, workload, seed, machine, nodes), str(workload), machine, plot)
        print(f"{plot}: time over the mean block for {'; '.join(name for name, *_ in named)}", file=sys.stderr)
    points = varying_model.count(((spec, p) for _, spec, p in named), workload, seed, machine, nodes)
    if asked.form != TABLE:
        output.print_records("model", varying_model.records(points), asked.form)
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
