"""The command `swapmeet algorithms`: what a spec can contain."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from swapmeet import _core
from swapmeet.cli.arguments import AsJson
from swapmeet.cli.listing import one_form, table
from swapmeet.model import bounds
from swapmeet.output import print_json, tables_console
from swapmeet.tables import markdown


def algorithms(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="The aliases, as a page of the documentation has them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List families, aliases and parameters of specs."""
    one_form(markdown, as_json)
    if as_json:
        print_json("algorithms", **algorithm_records())
    elif markdown:
        print(aliases_markdown())
    else:
        tables_console().print(*algorithm_tables(), sep="\n")


def aliases_markdown() -> str:
    """The named algorithms, as a table in Markdown."""
    rows = [
        (f"`{name}`", f"`{_core.parse_spec(name)}`", meaning, f"`{source}`" if source else "")
        for name, _, meaning, source in _core.aliases()
    ]
    return "\n".join(markdown(("Alias", "Stands for", "Meaning", "Source"), rows))


def algorithm_tables() -> tuple[Table, ...]:
    """Families, aliases, what these hold at most, and parameters."""
    families = table(("family", "as a spec"), [(name, str(_core.parse_spec(name))) for name in _core.families()])
    aliases = table(
        ("alias", "stands for", "meaning", "source"),
        [(name, str(_core.parse_spec(name)), meaning, source) for name, _, meaning, source in _core.aliases()],
    )
    parameters = table(
        ("parameter", "values", "meaning"),
        [
            (f"{key} (or {synonym})" if synonym else key, values, meaning)
            for key, synonym, values, meaning, _ in _core.parameters()
        ],
    )
    return families, aliases, *bounds.of_aliases(ranks=64, per_node=8), parameters


def algorithm_records() -> dict[str, list[dict[str, object]]]:
    """Families, aliases and parameters for other programs."""
    return {
        "families": [{"family": name, "spec": str(_core.parse_spec(name))} for name in _core.families()],
        "aliases": [
            {"alias": name, "spec": str(_core.parse_spec(name)), "meaning": meaning, "source": source}
            for name, _, meaning, source in _core.aliases()
        ],
        "parameters": [
            {"parameter": key, "synonym": synonym, "values": values, "meaning": meaning}
            for key, synonym, values, meaning, _ in _core.parameters()
        ],
    }
