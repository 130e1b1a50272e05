"""How all commands read their words, report what is wrong with them in one line, and print their help."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import typer
import typer.core
from typer.models import CommandFunctionType

from swapmeet.errors import SwapmeetError
from swapmeet.specs import MOST_RANKS
from swapmeet.texts import is_utf8, printable

#: What the value of an option is called in the help, where the command has no other name for it.
VALUES = {
    "--algorithm": "SPEC",
    "--collective": "NAME,...",
    "--datatype": "NAME,...",
    "--field": "NAME",
    "--kind": "NAME",
    "--machine": "NAME|FILE",
    "--mpi": "NAME",
    "--native": "NAME",
    "--sizes": "BYTES,...",
    "--workload": "WORKLOAD",
}
NUMBER = "N"
PASSING = {"allow_interspersed_args": False}  #: of a command that takes a program: what follows is the program's
#: What the parser requires of a number, in its words, and in ours.
REQUIRED = (
    (r"valid integer", "a whole number"),
    (r"valid (?:number|float)", "a number"),
    (r"greater than or equal to ([\d.]+)", r"\1 or more"),
    (r"less than or equal to ([\d.]+)", r"\1 or less"),
    (r"not in the range (\S+[^. ])", r"a number, \1"),
)


class Command(typer.core.TyperCommand):
    """A command that refuses `--`, and its own options, as the value of an option."""

    def __init__(self, *words: Any, **settings: Any) -> None:
        super().__init__(*words, **settings)
        for param in self.params:
            one: Any = param
            if one.param_type_name == "option" and one.metavar is None and not one.is_flag:
                one.metavar = next((VALUES[name] for name in one.opts if name in VALUES), NUMBER)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line."""
        given = self.make_parser(ctx).parse_args(list(args))[0]
        params = {param.name: param for param in self.params}
        options = {name: param for name, param in params.items() if param.param_type_name == "option"}
        names = {"--", *(name for option in options.values() for name in (*option.opts, *option.secondary_opts))}
        for key, values in given.items():
            for value in values if isinstance(values, list | tuple) else [values]:
                if value == "" and _names_a_file(params[key]):
                    raise SwapmeetError(f'{_name(params[key])} "": it is empty; give one, or leave it out')
                if key in options and value in names:
                    option: Any = options[key]
                    how = f"{option.opts[0]} {option.metavar} ({option.help})"
                    raise SwapmeetError(f'{option.opts[0]} "{value}": its value is missing: {how}')
        typed = [word.partition("=")[0] for word in args]
        try:
            left = super().parse_args(ctx, args)
        except typer.BadParameter as problem:
            wanted = _required(problem.message)
            if wanted is None or problem.param is None or problem.param.name not in given:
                raise
            name = next((one for one in problem.param.opts if one in typed), problem.param.opts[0])
            raise SwapmeetError(f'{name} "{given[problem.param.name]}": expected {wanted}') from None
        for param in self.params:
            ranks = ctx.params.get(param.name)
            if "--ranks" in param.opts and isinstance(ranks, int) and ranks > MOST_RANKS:
                name = next((one for one in param.opts if one in typed), param.opts[0])
                raise SwapmeetError(f'{name} "{ranks}": expected {MOST_RANKS} or less')
        return left

    def invoke(self, ctx: Any) -> Any:
        """Run it; report arguments that are not UTF-8, if the core did not take them, or they could not be printed."""
        try:
            return super().invoke(ctx)
        except (TypeError, UnicodeEncodeError):
            wrong = ", ".join(f'{_name(param)} "{printable(value)}"' for param, value in self._not_utf8(ctx))
            if not wrong:
                raise
            raise SwapmeetError(f"{wrong}: not UTF-8; type it anew, or rename the file") from None

    def _not_utf8(self, ctx: Any) -> Iterator[tuple[Any, str]]:
        """The arguments that are not UTF-8."""
        for param in self.params:
            given = ctx.params.get(param.name)
            for value in given if isinstance(given, list | tuple) else [given]:
                if isinstance(value, str | os.PathLike) and not is_utf8(text := os.fspath(value)):
                    yield param, text

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line, each argument as the command describes it."""
        arguments = (param for param in self.params if param.param_type_name == "argument")
        return ["[OPTIONS]", *(str(param.metavar) for param in arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Print arguments and options, without the types that Python has for them."""
        params = self.get_params(ctx)
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            some = [(param, param.get_help_record(ctx)) for param in params if param.param_type_name == kind]
            rows = [
                (str(param.metavar) if kind == "argument" else record[0], record[1]) for param, record in some if record
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _name(param: Any) -> str:
    """What messages call a parameter."""
    return param.opts[0] if param.param_type_name == "option" else re.sub(r"[^A-Z].*", "", param.metavar.lstrip("["))


def _names_a_file(param: Any) -> bool:
    """Whether the value is, or may be, the name of a file or folder."""
    return bool(re.search(r"FILE|FOLDER|WORKLOAD|RESULTS|DATA", param.metavar or ""))


def _required(message: str) -> str | None:
    """What the parser expected of a number; None: it refused something else."""
    for theirs, ours in REQUIRED:
        if match := re.search(theirs, message):
            return match.expand(ours)
    return None


class App(typer.Typer):
    """Commands that are read so."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Add a command, as a decorator."""
        return super().command(name, cls=Command, **settings)
