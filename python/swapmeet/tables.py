"""Tables: Rich's in a terminal, Markdown's in pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Column


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
