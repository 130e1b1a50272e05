"""How all commands read their words: no option takes what follows for a value that was forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
import typer.core
from typer.models import CommandFunctionType

from swapmeet.errors import SwapmeetError


class Command(typer.core.TyperCommand):
    """A command that refuses `--`, and its own options, as the value of an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line."""
        given = self.make_parser(ctx).parse_args(list(args))[0]
        options = {param.name: param for param in self.params if param.param_type_name == "option"}
        names = {"--", *(name for option in options.values() for name in (*option.opts, *option.secondary_opts))}
        for key, values in given.items():
            for value in values if isinstance(values, list) else [values]:
                if key in options and value in names:
                    option: Any = options[key]
                    how = f"{option.opts[0]} {option.metavar or 'VALUE'} ({option.help})"
                    raise SwapmeetError(f'{option.opts[0]} "{value}": its value is missing: {how}')
        return super().parse_args(ctx, args)


class App(typer.Typer):
    """Commands that are read so."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Add a command, as a decorator."""
        return super().command(name, cls=Command, **settings)
