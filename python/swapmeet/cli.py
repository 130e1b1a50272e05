"""The command `swapmeet`. Each command only reads its arguments and prints; the work is done elsewhere."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from swapmeet import (
    __version__,
    _core,
    application,
    catalogue,
    conformance,
    launch,
    machines,
    model,
    plots,
    prices,
    show,
    varying_model,
    verification,
)
from swapmeet import mpi as mpis
from swapmeet import regret as regrets
from swapmeet.bench.command import bench, compare_command
from swapmeet.errors import SwapmeetError
from swapmeet.hockney import Machine
from swapmeet.library import built, library, source_tree
from swapmeet.network.command import topology
from swapmeet.plots.command import plot
from swapmeet.prices import STANDARD_MODEL, Pricing
from swapmeet.profiling.command import profile
from swapmeet.specs import parse_bytes, parse_ranks, parse_spec, ranges_text, require_nodes, require_schedule

INTERRUPTED = 130  #: exit status after Ctrl-C, as shells have it
FINDINGS = 1
BAD_INPUT = 2
MOST_RANKS_SHOWN = 1 << 20


class Commands(typer.core.TyperGroup):
    """A group whose commands report what the user can put right in one line."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except SwapmeetError as problem:
            print(f"swapmeet: {problem}", file=sys.stderr)
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            print("swapmeet: interrupted", file=sys.stderr, flush=True)
            os._exit(INTERRUPTED)  # a thread of the core may still run, and must not meet a dying interpreter
        except BrokenPipeError:  # `swapmeet show ... | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None


app = typer.Typer(
    cls=Commands,
    help="All-to-all collectives of MPI, as fast as the machine allows.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
PASSING = {"allow_interspersed_args": False}  # what follows the program is the program's

MpiName = Annotated[str, typer.Option("--mpi", help="A name of `swapmeet info`, or the path of an mpicc.")]
Algorithm = Annotated[str | None, typer.Option(help="A spec (see `swapmeet algorithms`), or auto.")]

Ranks = Annotated[str, typer.Option("-P", "--ranks", metavar="RANKS", help="Numbers of ranks, as in 2:64,128.")]
Nodes = Annotated[
    str,
    typer.Option(
        metavar="MAP",
        help="Ranks of each node, as in 8 or 4+2 (the last is repeated); cyclic:3; or each rank's node, as in 0,1,0,2. "
        "Or several such levels, the innermost first, as in 2/8.",
    ),
]


def _console() -> Console:
    """Where tables go: as wide as the terminal; not folded to 80 columns where there is none."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False, markup=False, emoji=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"swapmeet {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """All-to-all collectives of MPI, as fast as the machine allows."""


@app.command(context_settings=PASSING)
def run(
    argv: Annotated[list[str], typer.Argument(metavar="APP [ARGS]...", help="The program, behind `--`.")],
    ranks: Annotated[int, typer.Option("-n", "--ranks", min=1, help="Number of ranks.")],
    mpi: Annotated[
        str | None,
        typer.Option(help="A name of `swapmeet info`, or the path of an mpicc. Default: what APP uses."),
    ] = None,
    algorithm: Algorithm = None,
    explain: Annotated[bool, typer.Option("--explain", help="Print which algorithm runs, and why.")] = False,
    stats: Annotated[str | None, typer.Option(metavar="FILE", help="Write statistics as JSON; - prints them.")] = None,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE[,call=N]", help="Trace one all-to-all, for ui.perfetto.dev.")
    ] = None,
    native: Annotated[bool, typer.Option("--native", help="Without Swapmeet, to compare.")] = False,
) -> None:
    """Run an MPI program with its all-to-alls served by Swapmeet."""
    if algorithm not in (None, "auto"):
        parse_spec(algorithm or "", "--algorithm")
    launch.require_program(argv[0])
    chosen = application.choose_mpi(argv, mpi)
    preload = None if native else library(chosen)
    variables = {} if native else launch.library_variables(algorithm, explain, stats, trace)
    launch.replace_process(chosen, ranks, launch.command(chosen, ranks, argv, preload, variables))


@app.command("show")
def show_command(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="What to show: see `swapmeet algorithms`.")],
    ranks: Annotated[int, typer.Option("-P", "--ranks", min=1, help="Number of ranks.")],
    rank: Annotated[int | None, typer.Option(min=0, help="Only this rank, with its blocks.")] = None,
    plain: Annotated[bool, typer.Option("--plain", help="The text form, which parses back.")] = False,
    nodes: Nodes = "",
) -> None:
    """Print a schedule."""
    point = parse_spec(spec, "SPEC")
    require_schedule(point, spec)
    require_nodes(point, nodes, [ranks])
    if problem := point.unsuitable(ranks, nodes):
        raise SwapmeetError(f'"{spec}" cannot serve P = {ranks}: {problem}')
    if ranks > MOST_RANKS_SHOWN:
        raise SwapmeetError(f"-P {ranks}: a schedule of more than {MOST_RANKS_SHOWN} ranks is too long to print")
    if rank is not None and rank >= ranks:
        raise SwapmeetError(f"--rank {rank} is not one of {ranks}: choose 0 to {ranks - 1}")
    if plain:
        for text in show.plain(point, ranks, rank, nodes):
            sys.stdout.write(text)
    elif rank is None:
        _console().print(show.all_ranks(point, ranks, nodes))
    else:
        _console().print(show.one_rank(point, ranks, rank, nodes))


@app.command()
def verify(
    specs: Annotated[list[str], typer.Argument(metavar="SPEC...", help="What to verify: see `swapmeet algorithms`.")],
    ranks: Ranks,
    nodes: Nodes = "",
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
        with _progress(str(point), values) as progress:
            reports.append(verification.verify(point, values, progress, nodes))
        print("\n".join(reports[-1].lines()), flush=True)
    if any(report.findings for report in reports):
        raise typer.Exit(FINDINGS)
    if not any(report.proved for report in reports):
        raise SwapmeetError(f"nothing was verified: no spec can serve any P of {ranks}")


@app.command("model")
def model_command(
    specs: Annotated[
        list[str] | None, typer.Argument(metavar="SPEC...", help="What to count: see `swapmeet algorithms`.")
    ] = None,
    ranks: Annotated[
        str | None, typer.Option("-P", "--ranks", metavar="RANKS", help="Numbers of ranks, as in 2:64,128.")
    ] = None,
    block: Annotated[
        str | None,
        typer.Option("-S", "--block", metavar="BYTES", help="Size of a block: 64, 8KiB; --best and --regret: a list."),
    ] = None,
    radix: Annotated[
        str | None,
        typer.Option(metavar="RADICES", help="Instead of the spec's radix: as in 2:P (all), 2,root,all or 2:64:2."),
    ] = None,
    nodes: Nodes = "",
    rounds: Annotated[bool, typer.Option("--rounds", help="Round by round.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="For other programs.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw K and D over the radix (2:P) as PNG, SVG or PDF; with --sizes the time over the mean block.",
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="WORKLOAD", help="Count an Alltoallv instead: uniform:max=1KiB, sparse:density=0.1,..."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**64 - 1, help="Of the sizes (0).")] = None,
    alpha: Annotated[
        float | None, typer.Option(metavar="US", help="With --sizes: time of a message in microseconds (1).")
    ] = None,
    beta: Annotated[
        float | None, typer.Option(metavar="NS", help="With --sizes: time of a byte in nanoseconds (0.125: 8 GB/s).")
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
) -> None:
    """Count what schedules cost a rank: messages K, blocks D, scratch. With --machine also the expected time.

    By closed forms, for any number of ranks. With --sizes, what an Alltoallv costs, by following every block.
    """
    specs = specs or []
    priced = _Priced(machine_name, model_name, best, regret)
    priced.require(specs, ranks, block, {"--sizes": sizes, "--plot": plot, "--radix": radix, "--rounds": rounds})
    if regret:
        _model_regret(specs, ranks, block, nodes, priced, csv)
        return
    wanted = [parse_spec(spec, "SPEC") for spec in specs]
    assert ranks is not None
    if best:
        _model_best(wanted, specs, ranks, block or "", nodes, priced, csv)
        return
    if sizes is not None:
        if block is not None or rounds:
            raise SwapmeetError(f"--sizes counts blocks of many sizes: leave {'--rounds' if rounds else '-S'} out")
        standard = Machine()
        machine = Machine(standard.alpha_us if alpha is None else alpha, standard.beta_ns if beta is None else beta)
        _model_sizes(wanted, specs, parse_ranks(ranks), ranks, nodes, radix, sizes, seed or 0, machine, csv, plot)
        return
    for option, given in (("--seed", seed), ("--alpha", alpha), ("--beta", beta)):
        if given is not None:
            raise SwapmeetError(
                f"{option} says nothing without --sizes: `swapmeet model SPEC -P 64 --sizes uniform:max=1KiB`"
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
        radix = radix if csv else "2,root,all"
    swept = (
        (model.with_radix(spec, r) if radix else spec, p)
        for spec, p in served
        for r in (model.parse_radices(radix, p) if radix else [0])
    )
    points = (model.count(spec, p, nodes, rounds, pricing, block_bytes) for spec, p in swept)
    if csv:
        sys.stdout.writelines(model.csv_text(points, block_bytes))
    else:
        _console().print(*model.tables(list(points), block_bytes, rounds, pricing), sep="\n")


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
        for option in ("--sizes", *(("--plot", "--radix", "--rounds") if self.best or self.regret else ())):
            if others[option] and (self.machine is not None or self.best or self.regret):
                raise SwapmeetError(f"{option} goes with neither --machine nor --best nor --regret: leave one out")

    def pricing(self) -> Pricing | None:
        return None if self.machine is None else Pricing(machines.load(self.machine), self.model or STANDARD_MODEL)


def _parse_sizes(text: str) -> list[int]:
    return sorted({parse_bytes(part, "-S") for part in text.split(",")})


def _model_best(
    wanted: Sequence[_core.Spec], texts: Sequence[str], ranks: str, block: str, nodes: str, priced: _Priced, csv: bool
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
    if csv:
        sys.stdout.writelines(prices.best_csv(lists))
    else:
        _console().print(*prices.best_tables(lists, pricing), sep="\n")


def _model_regret(
    texts: Sequence[str], ranks: str | None, block: str | None, nodes: str, priced: _Priced, csv: bool
) -> None:
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
    if csv:
        sys.stdout.writelines(regrets.csv_text(found))
    else:
        _console().print(*regrets.tables(found, spec, name), sep="\n")


def _model_sizes(
    specs: Sequence[_core.Spec],
    texts: Sequence[str],
    values: Sequence[int],
    ranks: str,
    nodes: str,
    radix: str | None,
    sizes: str,
    seed: int,
    machine: Machine,
    csv: bool,
    plot: Path | None,
) -> None:
    """`swapmeet model --sizes`."""
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
    if csv:
        sys.stdout.writelines(varying_model.csv_text(points))
    else:
        _console().print(*varying_model.tables(list(points), workload, seed), sep="\n")


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


@contextmanager
def _progress(title: str, values: Sequence[int]) -> Iterator[verification.Progress]:
    """A bar on a terminal, nothing elsewhere. A verification of P ranks counts as P² of work."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("P = {task.fields[ranks]}"),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    before = dict(zip(values, itertools.accumulate((p * p for p in values), initial=0), strict=False))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=sum(p * p for p in values), ranks="")

        def progress(ranks: int, fraction: float) -> None:
            bar.update(task, completed=before[ranks] + fraction * ranks * ranks, ranks=ranks)

        yield progress


app.command()(bench)
app.command("compare")(compare_command)
app.command()(plot)
app.command(context_settings=PASSING)(profile)
app.command()(topology)


@app.command()
def lib(
    mpi: MpiName = "mpich",
    fortran: Annotated[
        bool, typer.Option("--fortran", help="The source of the Fortran module instead, to compile with the program.")
    ] = False,
) -> None:
    """Print the path of libswapmeet.so, built if need be."""
    print(source_tree() / "fortran" / "swapmeet.f90" if fortran else library(mpis.find(mpi)))


@app.command()
def options(
    markdown: Annotated[bool, typer.Option("--markdown", help="As a page of the documentation has it.")] = False,
) -> None:
    """List the options (environment variables) of the library."""
    if markdown:
        print(catalogue.options_markdown())
    else:
        _console().print(catalogue.options_table())


@app.command()
def algorithms() -> None:
    """List what a spec can say: families, aliases and parameters."""
    _console().print(*catalogue.algorithm_tables(), sep="\n")


@app.command()
def info(
    mpi: Annotated[str | None, typer.Option(help="A name of this list, or the path of an mpicc.")] = None,
    field: Annotated[str | None, typer.Option(help=f"Only this: {', '.join(catalogue.FIELDS)}.")] = None,
) -> None:
    """List the MPIs that were found, or tell about one."""
    if mpi is None and field is None:
        usable, problems = mpis.found()
        _console().print(catalogue.mpi_table(usable))
        for problem in problems:
            print(f"swapmeet: not usable: {problem}", file=sys.stderr)
        return
    chosen = mpis.default() if mpi is None else mpis.find(mpi)
    if field is not None:
        print(catalogue.mpi_field(chosen, field))
        return
    for name in catalogue.FIELDS:
        if name != "library":
            print(f"{name + ':':9}{catalogue.mpi_field(chosen, name)}")
    print(f"library: {built(chosen) or 'not built yet: `swapmeet lib --mpi ' + chosen.name + '`'}")


@app.command("conformance", context_settings=PASSING)
def conformance_command(
    mpi: MpiName = "mpich",
    ranks: Annotated[str, typer.Option("-n", "--ranks", metavar="RANKS", help="Numbers of ranks.")] = "1:5,7,8,16",
    algorithm: Annotated[
        list[str] | None, typer.Option(help="A spec, or auto; may be repeated. Default: all aliases.")
    ] = None,
    native: Annotated[bool, typer.Option("--native", help="The MPI underneath alone, without Swapmeet.")] = False,
    timeout: Annotated[float, typer.Option(min=1, metavar="SECONDS", help="Limit of each run.")] = 600,
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGS]...", help="For the suite, behind `--`.")
    ] = None,
) -> None:
    """Run the conformance suite with an MPI.

    Once for each algorithm and number of ranks.
    """
    if native and algorithm:
        raise SwapmeetError("--native runs no algorithm of Swapmeet: leave --algorithm out")
    wanted = algorithm or catalogue.alias_names()
    for spec in wanted:
        if spec != "auto":
            parse_spec(spec, "--algorithm")
    values = parse_ranks(ranks, "-n")
    outcomes = []
    for outcome in conformance.run(mpis.find(mpi), wanted, values, native, arguments or [], timeout):
        outcomes.append(outcome)
        print(f"{outcome.algorithm}, P = {outcome.ranks}: {outcome.summary}", file=sys.stderr, flush=True)
        if outcome.details:
            print(outcome.details, file=sys.stderr, flush=True)
    _console().print(conformance.table(outcomes))
    if not all(outcome.passed for outcome in outcomes):
        raise typer.Exit(FINDINGS)
