"""The command `swapmeet`: its parts, what holds for all of them, and how it reports what the user can put right."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Annotated, Any

import typer

from swapmeet import __version__, progress
from swapmeet.cli.parsing import PASSING, App
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
GROUPS = ("cluster", "tuning")  #: commands that have commands, and come last outside the help
NAMES = (*(name for name in " ".join(PARTS.values()).split() if name not in GROUPS), *GROUPS)
BEFORE_PROGRAMS = ("conformance", "doctor", "env", "profile", "run")  #: they take a program and its words


@functools.cache
def _load(name: str) -> Any:
    """The command that swapmeet.cli.NAME defines by its name."""
    alone = App(rich_markup_mode=None, add_completion=False)
    command = getattr(import_module(f"swapmeet.cli.{name}"), name)
    if name in GROUPS:
        alone.add_typer(command, name=name)
    else:
        alone.command(context_settings=PASSING if name in BEFORE_PROGRAMS else None)(command)
    return typer.main.get_group(alone).commands[name]


class Loaded(Mapping[str, Any]):
    """The commands by name; the module of one is imported where it is asked for, as all take most of a second."""

    def __getitem__(self, name: str) -> Any:
        if name not in NAMES:
            raise KeyError(name)
        return _load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


class Commands(typer.core.TyperGroup):
    """A group whose commands are loaded when asked for, and report what the user can put right in one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": Loaded()})

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, for which none is loaded."""
        return list(self.commands)

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
    except MemoryError:
        print("swapmeet: out of memory: ask for less, such as fewer ranks (-P)", file=sys.stderr)
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
    help="All-to-all collectives of MPI by the algorithm expected to be the fastest.",
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
    """All-to-all collectives of MPI by the algorithm expected to be the fastest."""
    if quiet and verbose:
        raise SwapmeetError("--quiet and --verbose contradict each other: leave one out")
    progress.SETTINGS.quiet, progress.SETTINGS.verbose = quiet, False
    if verbose:
        progress.show_all()
