"""What the commands that list have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from swapmeet.errors import SwapmeetError


def one_form(markdown: bool, as_json: bool) -> None:
    """Refuse two forms of the same."""
    if markdown and as_json:
        raise SwapmeetError("--markdown and --json are two forms of the same: leave one out")


def table(columns: Iterable[str], rows: Iterable[Sequence[str]]) -> Table:
    """Cells as they are; the first column is not folded."""
    made = Table()
    for i, column in enumerate(columns):
        made.add_column(column, overflow="fold", no_wrap=i == 0)
    for row in rows:
        made.add_row(*row)
    return made
