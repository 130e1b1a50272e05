"""Tables: Rich's in a terminal, Markdown's in pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Column

from swapmeet.errors import SwapmeetError


def right(*names: str, no_wrap: bool = False) -> list[Column]:
    """Columns of numbers, for Rich's Table."""
    return [Column(name, justify="right", no_wrap=no_wrap) for name in names]


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table of texts, each with as many cells as there are columns."""
    yield _line(columns)
    yield "|---" * len(columns) + "|"
    yield from map(_line, rows)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def between(page: str, begin: str, end: str, text: str) -> str:
    """A page with `text` instead of what stands between two marks, which stay.

    Raises
    ------
    SwapmeetError
        If it does not have both.
    """
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise SwapmeetError(f"the page has no place for tables: between {begin.strip()} and {end.strip()}")
    return before + begin + text + end + after
