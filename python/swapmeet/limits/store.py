"""The file that holds the cells of the map: JSON lines, a cell each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from swapmeet import texts
from swapmeet.errors import SwapmeetError
from swapmeet.limits.computing import Row
from swapmeet.output import json_line
from swapmeet.structs import read_lines

FILE = "cells.jsonl"


KEY = ("platform", "how", "ranks", "bytes")  #: of a cell


def write(folder: Path, rows: Iterable[Row]) -> list[Row]:
    """Write rows, each in place of that of the same cell; all that are in the file now.

    Raises
    ------
    SwapmeetError
        If the file is damaged, or cannot be written.
    """
    known = read(folder) if (folder / FILE).exists() else []
    cells = {tuple(row[key] for key in KEY): row for row in (*known, *rows)}
    texts.write(folder / FILE, map(json_line, cells.values()))
    return [*cells.values()]


def read(folder: Path) -> list[dict[str, Any]]:
    """All rows.

    Raises
    ------
    SwapmeetError
        If the file is missing or damaged.
    """
    try:
        return list(read_lines(folder / FILE))
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise SwapmeetError(f"{folder / FILE}: {reason}: `swapmeet limits -o {folder}` makes it") from None
