"""The command `swapmeet`: its parts, what holds for all of them, and how it reports what the user can put right."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer

from swapmeet import __version__, progress
from swapmeet.cli.algorithms import algorithms
from swapmeet.cli.arguments import PASSING
from swapmeet.cli.bench import bench
from swapmeet.cli.calibrate import calibrate
from swapmeet.cli.cluster import cluster
from swapmeet.cli.compare import compare
from swapmeet.cli.conformance import conformance
from swapmeet.cli.doctor import doctor
from swapmeet.cli.draw import draw
from swapmeet.cli.env import env
from swapmeet.cli.explain import explain
from swapmeet.cli.goal import goal
from swapmeet.cli.info import info
from swapmeet.cli.lib import lib
from swapmeet.cli.limits import limits
from swapmeet.cli.model import model
from swapmeet.cli.options import options
from swapmeet.cli.parsing import App
from swapmeet.cli.plot import plot
from swapmeet.cli.profile import profile
from swapmeet.cli.regret import regret
from swapmeet.cli.reproduce import reproduce
from swapmeet.cli.run import run
from swapmeet.cli.show import show
from swapmeet.cli.simulate import simulate
from swapmeet.cli.topology import topology
from swapmeet.cli.tune import tune
from swapmeet.cli.tuning import tuning
from swapmeet.cli.validate import validate
from swapmeet.cli.verify import verify
from swapmeet.errors import SwapmeetError

INTERRUPTED = 130  #: exit status after Ctrl-C, as shells have it
BAD_INPUT = 2


#: What options of earlier versions are called now, in all commands or in one.
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
    "cluster run --nodes": "--hosts",
    "cluster check --nodes": "--hosts",
    "explain -Q": "--nodes",
    "explain --per-node": "--nodes",
    "explain --ranks-per-node": "--nodes",
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
        sys.stdout.flush()
    except SwapmeetError as problem:
        print(f"swapmeet: {problem}", file=sys.stderr)
        raise typer.Exit(BAD_INPUT) from None
    except BrokenPipeError:  # `swapmeet show ... | head`
        _print_no_more()
        raise typer.Exit(0) from None
    except OSError as problem:
        _print_no_more()
        print(f"swapmeet: {problem.filename or 'standard output'}: {problem.strerror}", file=sys.stderr)
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


def _print_no_more() -> None:
    """Lose the output that could not be written, which Python would try again at its end."""
    with suppress(OSError, ValueError):  # without a file beneath it there is nothing to lose
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage_error(problem: Any) -> str | None:
    """One line for what the parser refuses, with the next step; None: it is something else, or the help."""
    context, text = getattr(problem, "ctx", None), getattr(problem, "format_message", None)
    name = getattr(problem, "option_name", "")  # of "no such option", whose class is not public
    command = "" if context is None else context.command_path.partition(" ")[2]
    if new := RENAMED.get(f"{command} {name}", RENAMED.get(name)):
        return f"{name} is called {new} now"
    if context is None or text is None or type(problem).__name__ == "NoArgsIsHelpError":
        return None
    what = " ".join(text().split()).rstrip(".")
    help_of = f"swapmeet {command}".rstrip()
    return f"{command}{': ' if command else ''}{what[:1].lower()}{what[1:]}; `{help_of} -h` lists what there is"


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
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also the commands that are run, the files read and written.")
    ] = False,
) -> None:
    """All-to-all collectives of MPI, as fast as the machine allows."""
    if quiet and verbose:
        raise SwapmeetError("--quiet and --verbose contradict each other: leave one out")
    progress.SETTINGS.quiet, progress.SETTINGS.verbose = quiet, False
    if verbose:
        progress.show_all()


COMMANDS: tuple[Callable[..., None], ...] = (
    algorithms,
    bench,
    calibrate,
    compare,
    conformance,
    doctor,
    draw,
    env,
    explain,
    goal,
    info,
    lib,
    limits,
    model,
    options,
    plot,
    profile,
    regret,
    reproduce,
    run,
    show,
    simulate,
    topology,
    tune,
    validate,
    verify,
)
ORDER = " ".join(PARTS.values()).split()

for one in sorted(COMMANDS, key=lambda command: ORDER.index(command.__name__)):
    app.command(context_settings=PASSING if one in (conformance, doctor, env, profile, run) else None)(one)
app.add_typer(cluster, name="cluster")
app.add_typer(tuning, name="tuning")
