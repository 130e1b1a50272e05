"""The command `swapmeet`. Each command only reads its arguments and prints; the work is done elsewhere."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from swapmeet import __version__, progress
from swapmeet.cli import catalogue
from swapmeet.cli.arguments import FINDINGS, PASSING, RANKS, Nodes, mpi_names
from swapmeet.cli.bench import bench, compare_command
from swapmeet.cli.calibrate import calibrate
from swapmeet.cli.cluster import cluster
from swapmeet.cli.doctor import doctor
from swapmeet.cli.draw import draw
from swapmeet.cli.explain import explain
from swapmeet.cli.goal import goal
from swapmeet.cli.limits import limits
from swapmeet.cli.model import model_command
from swapmeet.cli.parsing import App
from swapmeet.cli.plot import plot
from swapmeet.cli.profile import profile
from swapmeet.cli.regret import regret
from swapmeet.cli.reproduce import reproduce
from swapmeet.cli.run import env, run
from swapmeet.cli.simulate import simulate
from swapmeet.cli.topology import topology
from swapmeet.cli.tune import tune
from swapmeet.cli.tuning import tuning
from swapmeet.cli.validate import validate
from swapmeet.errors import SwapmeetError
from swapmeet.model import show, verification
from swapmeet.mpi import conformance, mpis, site
from swapmeet.mpi.library import built, component, library, source_tree
from swapmeet.output import AsJson, print_json, tables_console
from swapmeet.specs import parse_ranks, parse_spec, require_nodes, require_schedule

INTERRUPTED = 130  #: exit status after Ctrl-C, as shells have it
BAD_INPUT = 2
MOST_RANKS_SHOWN = 1 << 20


#: What options of earlier versions are called now.
RENAMED = {
    "--platform": "--machine",
    "--per-node": "--ranks-per-node",
    "--block": "--sizes",
    "--size": "--sizes",
    "--limit": "--time-limit",
    "--timeout": "--time-limit",
    "--seconds": "--budget",
    "--seeds": "--seed",
    "--weights": "--workload",
}
#: The parts of the help, in its order.
PARTS = {
    "Use": "run env doctor explain info lib options algorithms",
    "Measure": "bench tune tuning calibrate profile compare plot",
    "Study": "show draw verify model topology simulate goal limits validate regret reproduce cluster conformance",
}


class Commands(typer.core.TyperGroup):
    """A group whose commands report what the user can put right in one line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Print the commands in parts: to use the library, to measure, to study."""
        width = max(map(len, self.commands))
        room = max(formatter.width - 6 - width, 20)
        for part, names in PARTS.items():
            listed = [(name.ljust(width), self.commands[name].get_short_help_str(room)) for name in names.split()]
            with formatter.section(part):
                formatter.write_dl(listed)

    def make_context(self, *words: Any, **options: Any) -> Any:
        """Read the command line."""
        with _reporting():
            return super().make_context(*words, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with _reporting():
            return super().invoke(ctx)


@contextmanager
def _reporting() -> Iterator[None]:
    try:
        yield
    except SwapmeetError as problem:
        print(f"swapmeet: {problem}", file=sys.stderr)
        raise typer.Exit(BAD_INPUT) from None
    except Exception as problem:
        line = _usage_error(problem)
        if line is None:
            raise
        print(f"swapmeet: {line}", file=sys.stderr)
        raise typer.Exit(BAD_INPUT) from None
    except KeyboardInterrupt:
        print("swapmeet: interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # a thread of the core may still run, and must not meet a dying interpreter
    except BrokenPipeError:  # `swapmeet show ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None


def _usage_error(problem: Any) -> str | None:
    """One line for what the parser refuses, with the next step; None: it is something else, or the help."""
    name = getattr(problem, "option_name", "")  # of "no such option", whose class is not public
    if name in RENAMED:
        return f"{name} is called {RENAMED[name]} now"
    context, text = getattr(problem, "ctx", None), getattr(problem, "format_message", None)
    if context is None or text is None or type(problem).__name__ == "NoArgsIsHelpError":
        return None
    where = context.command_path.partition(" ")[2]
    what = " ".join(text().split()).rstrip(".")
    help_of = f"swapmeet {where}".rstrip()
    return f"{where}{': ' if where else ''}{what[:1].lower()}{what[1:]}; `{help_of} -h` lists what there is"


app = App(
    cls=Commands,
    help="All-to-all collectives of MPI, as fast as the machine allows.",
    epilog="Exit status: 0, all is well; 1, something is wrong, slower or not served, as in the command's help; 2, "
    "the command cannot do what was asked for, and prints why; 130, interrupted. `run`, `cluster run` and `profile` "
    "end with their launcher's.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
MpiName = Annotated[
    str,
    typer.Option("--mpi", help="A name of `swapmeet info`, or the path of an mpicc.", autocompletion=mpi_names),
]

Ranks = Annotated[str, typer.Option(*RANKS, metavar="RANKS", help="Numbers of ranks, as in 2:64,128.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"swapmeet {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="No bars and no notes on standard error: results, warnings and errors."),
    ] = False,
) -> None:
    """All-to-all collectives of MPI, as fast as the machine allows."""
    progress.SETTINGS.quiet = quiet


app.command(context_settings=PASSING)(run)
app.command(context_settings=PASSING)(env)
app.command(context_settings=PASSING)(doctor)


@app.command("show")
def show_command(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="What to show: see `swapmeet algorithms`.")],
    ranks: Annotated[int, typer.Option(*RANKS, min=1, help="Number of ranks.")],
    rank: Annotated[int | None, typer.Option(min=0, help="Only this rank, with its blocks.")] = None,
    plain: Annotated[bool, typer.Option("--plain", help="The text form, which parses back.")] = False,
    nodes: Nodes = "",
    as_json: AsJson = False,
) -> None:
    """Print a schedule."""
    if plain and as_json:
        raise SwapmeetError("--plain and --json are two forms of the same: leave one out")
    point = parse_spec(spec, "SPEC")
    require_schedule(point, spec)
    require_nodes(point, nodes, [ranks])
    if problem := point.unsuitable(ranks, nodes):
        raise SwapmeetError(f'"{spec}" cannot serve P = {ranks}: {problem}')
    if ranks > MOST_RANKS_SHOWN:
        raise SwapmeetError(f"-P {ranks}: a schedule of more than {MOST_RANKS_SHOWN} ranks is too long to print")
    if rank is not None and rank >= ranks:
        raise SwapmeetError(f"--rank {rank} is not one of {ranks}: choose 0 to {ranks - 1}")
    if as_json:
        print_json("show", **show.record(point, ranks, rank, nodes))
    elif plain:
        for text in show.plain(point, ranks, rank, nodes):
            sys.stdout.write(text)
    elif rank is None:
        tables_console().print(show.all_ranks(point, ranks, nodes))
    else:
        tables_console().print(show.one_rank(point, ranks, rank, nodes))


@app.command()
def verify(
    specs: Annotated[list[str], typer.Argument(metavar="SPEC...", help="What to verify: see `swapmeet algorithms`.")],
    ranks: Ranks,
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


app.add_typer(cluster, name="cluster")
app.command()(bench)
app.command("compare")(compare_command)
app.command()(plot)
app.command()(draw)
app.command(context_settings=PASSING)(profile)
app.command()(topology)
app.command()(goal)
app.command()(calibrate)
app.command()(simulate)
app.command()(reproduce)
app.command()(tune)
app.add_typer(tuning, name="tuning")
app.command()(regret)
app.command()(validate)
app.command()(limits)
app.command()(explain)
app.command("model")(model_command)


@app.command()
def lib(
    mpi: MpiName = "mpich",
    fortran: Annotated[
        bool, typer.Option("--fortran", help="The source of the Fortran module instead, to compile with the program.")
    ] = False,
    without_preloading: Annotated[
        bool,
        typer.Option("--component", help="Open MPI's component coll/swapmeet instead, for use without preloading."),
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="The one for every MPI instead, with the libraries that it loads beside it.")
    ] = False,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FOLDER", help="With --all: put them there, for all users.")
    ] = None,
) -> None:
    """Print the path of libswapmeet.so, built if need be."""
    if to is not None and not every:
        raise SwapmeetError("--to is of --all: one library is copied by `cp`")
    if fortran:
        print(source_tree() / "fortran" / "swapmeet.f90")
    elif without_preloading:
        print(component(mpis.find(mpi)))
    else:
        print(site.deploy(to) if every else library(mpis.find(mpi)))


def _one_form(markdown: bool, as_json: bool) -> None:
    if markdown and as_json:
        raise SwapmeetError("--markdown and --json are two forms of the same: leave one out")


@app.command()
def options(
    markdown: Annotated[bool, typer.Option("--markdown", help="As a page of the documentation has it.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the options (environment variables) of the library."""
    _one_form(markdown, as_json)
    if as_json:
        print_json("options", options=catalogue.option_records())
    elif markdown:
        print(catalogue.options_markdown())
    else:
        tables_console().print(catalogue.options_table())


@app.command()
def algorithms(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="The aliases, as a page of the documentation has them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List what a spec can contain: families, aliases and parameters."""
    _one_form(markdown, as_json)
    if as_json:
        print_json("algorithms", **catalogue.algorithm_records())
    elif markdown:
        print(catalogue.aliases_markdown())
    else:
        tables_console().print(*catalogue.algorithm_tables(), sep="\n")


@app.command()
def info(
    mpi: Annotated[str | None, typer.Option(help="A name of this list, or the path of an mpicc.")] = None,
    field: Annotated[str | None, typer.Option(help=f"Only this: {', '.join(catalogue.FIELDS)}.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the MPIs that were found, or describe one."""
    if as_json:
        if field is not None:
            raise SwapmeetError("--field prints one word: leave it or --json out")
        usable, problems = mpis.found() if mpi is None else ([mpis.find(mpi)], [])
        print_json("info", mpis=[catalogue.mpi_record(one) for one in usable], problems=[str(why) for why in problems])
        return
    if mpi is None and field is None:
        usable, problems = mpis.found()
        tables_console().print(catalogue.mpi_table(usable))
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
    ranks: Annotated[str, typer.Option(*RANKS, metavar="RANKS", help="Numbers of ranks.")] = "1:5,7,8,16",
    algorithm: Annotated[
        list[str] | None, typer.Option(help="A spec, or auto; may be repeated. Default: all aliases.")
    ] = None,
    native: Annotated[bool, typer.Option("--native", help="The host MPI alone, without Swapmeet.")] = False,
    limit: Annotated[str, typer.Option("--time-limit", metavar="TIME", help="For each run: 90s, 15m.")] = "10m",
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGS]...", help="For the suite, behind `--`.")
    ] = None,
    as_json: AsJson = False,
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
    from swapmeet.units import parse_duration

    values, limit_s = parse_ranks(ranks), parse_duration(limit, "--time-limit")
    outcomes = []
    for outcome in conformance.run(mpis.find(mpi), wanted, values, native, arguments or [], limit_s):
        outcomes.append(outcome)
        progress.note(f"{outcome.algorithm}, P = {outcome.ranks}: {outcome.summary}")
        if outcome.details:
            print(outcome.details, file=sys.stderr, flush=True)
    if as_json:
        print_json("conformance", runs=[conformance.record(outcome) for outcome in outcomes])
    else:
        tables_console().print(conformance.table(outcomes))
    if not all(outcome.passed for outcome in outcomes):
        raise typer.Exit(FINDINGS)
