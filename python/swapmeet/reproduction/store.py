"""Results of a figure in a file: a line on what they are, then a line for each row."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swapmeet import __version__, texts
from swapmeet.errors import SwapmeetError
from swapmeet.output import json_line
from swapmeet.reproduction.figure import Figure, Row, Rows
from swapmeet.structs import read_lines

SCHEMA = 1


@dataclass(frozen=True)
class Results:
    """What is known of a figure."""

    header: Mapping[str, Any]
    rows: Rows


def path(folder: Path, figure: Figure) -> Path:
    """Where the results of a figure are."""
    return folder / f"{figure.stem}.jsonl"


def write(folder: Path, figure: Figure, rows: Iterable[Row], simgrid: str) -> Path:
    """Write the results of a figure, in place of what was there.

    Raises
    ------
    SwapmeetError
        If they cannot be written.
    """
    header = {"figure": figure.key, "schema": SCHEMA, "swapmeet": __version__, "date": f"{datetime.date.today()}"}
    header |= {"simgrid": simgrid} if simgrid else {}
    file = path(folder, figure)
    texts.write(file, map(json_line, (header, *rows)))
    return file


def read(folder: Path, figure: Figure) -> Results | None:
    """The results of a figure; None if there are none.

    Raises
    ------
    SwapmeetError
        If the file is damaged, or of another figure or a newer version.
    """
    file = path(folder, figure)
    try:
        lines = list(read_lines(file))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        raise SwapmeetError(
            f"{file} cannot be read ({problem}): swapmeet reproduce {figure.key} makes it anew"
        ) from None
    if not lines or lines[0].get("figure") != figure.key:
        raise SwapmeetError(f"{file} holds no results of {figure.key}: swapmeet reproduce {figure.key} makes it anew")
    if lines[0].get("schema") != SCHEMA:
        raise SwapmeetError(f"{file} is of another version: swapmeet reproduce {figure.key} makes it anew")
    return Results(lines[0], Rows(lines[1:]))
