"""The command `swapmeet options`: the options of the library."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from swapmeet import _core
from swapmeet.cli.arguments import AsJson
from swapmeet.cli.listing import one_form, table
from swapmeet.output import print_json, tables_console
from swapmeet.tables import markdown


def options(
    markdown: Annotated[bool, typer.Option("--markdown", help="As a page of the documentation has it.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the options (environment variables) of the library."""
    one_form(markdown, as_json)
    if as_json:
        print_json("options", options=option_records())
    elif markdown:
        print(options_markdown())
    else:
        tables_console().print(options_table())


def options_table() -> Table:
    """Every option of the library."""
    return table(("variable", "value", "default", "meaning"), _core.option_table())


def option_records() -> list[dict[str, str]]:
    """The same for other programs."""
    names = ("variable", "value", "default", "meaning")
    return [dict(zip(names, row, strict=True)) for row in _core.option_table()]


def options_markdown() -> str:
    """Every option of the library, as a table in Markdown."""
    rows = [(f"`{name}`", kind, f"`{standard}`", meaning) for name, kind, standard, meaning in _core.option_table()]
    return "\n".join(markdown(("Variable", "Value", "Default", "Meaning"), rows))
