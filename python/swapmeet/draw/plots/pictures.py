"""What a picture is: something that is drawn once, for files and for the HTML report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Picture:
    """One picture of one kind, drawn when it is asked for."""

    kind: str
    name: str  #: of its file, without a suffix
    draw: Callable[[], Any]  #: makes a matplotlib figure
    tables: Callable[[], Sequence[Table]] = field(default=lambda: ())  #: numbers that belong to it in the report


@dataclass(frozen=True)
class Table:
    """Numbers for the report."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class LeftOut:
    """A picture that the data do not allow, and what to do about it."""

    kind: str
    why: str
