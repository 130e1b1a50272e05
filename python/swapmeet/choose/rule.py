"""A rule of the automatic choice, as tuning files have it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One line of a tuning file. Ranges are (least, most), both included; None: no end."""

    collective: str
    ranks: tuple[int, int | None]
    nodes: tuple[int, int | None] | None  #: None: whatever they are
    bytes: tuple[int, int | None] | None  #: None: whatever they are
    spec: str
    evidence: str
