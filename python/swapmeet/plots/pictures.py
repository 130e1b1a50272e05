"""What a picture is: something that can be drawn by matplotlib and shown in the HTML report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Interactive:
    """A figure of the report, as plotly reads it."""

    label: str  #: what it is of, for the list to choose from
    traces: Sequence[dict[str, Any]]
    layout: dict[str, Any]


@dataclass(frozen=True)
class Picture:
    """One picture of one kind, drawn when it is asked for."""

    kind: str
    name: str  #: of its file, without a suffix
    draw: Callable[[], Any]  #: makes a matplotlib figure
    interactive: Callable[[], Sequence[Interactive]]
    tables: Callable[[], Sequence[Table]] = field(default=lambda: ())  #: numbers that belong to it


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
