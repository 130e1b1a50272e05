"""The file that holds the cells of the map: JSON lines, a cell each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from swapmeet.errors import SwapmeetError
from swapmeet.limits.computing import Row
from swapmeet.output import json_line
from swapmeet.structs import read_lines

FILE = "cells.jsonl"


def write(folder: Path, rows: Iterable[Row]) -> Path:
    """Write all rows, in place of what was there; the file.

    Raises
    ------
    SwapmeetError
        If they cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text("".join(map(json_line, rows)), encoding="utf-8")
    except OSError as problem:
        raise SwapmeetError(f"{problem.filename}: {problem.strerror}: give another folder by -o") from None
    return folder / FILE


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
