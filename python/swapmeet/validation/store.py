"""What `swapmeet validate` computes, as rows, and the files that hold them: one kind of row each, JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from swapmeet import texts
from swapmeet.errors import SwapmeetError
from swapmeet.output import json_line
from swapmeet.structs import read_lines, reason

Row: TypeAlias = Mapping[str, Any]
CELLS, SCALE, CHOICES, BEST, ORDERS, CLAIMS = "cells", "scale", "choices", "best", "orders", "claims"
REFITS = "refits"
_PLACE = {"system": str, "nodes": str, "ranks": int, "bytes": int}
_TIMES = {"algorithm": str, "spec": str, "by": str, "measured_us": float, "us": float, "fitted": bool, "twin": bool}
#: What the page needs of each row, by kind; other keys are ignored.
FIELDS: Mapping[str, Mapping[str, type]] = {
    CELLS: _PLACE | _TIMES,
    SCALE: _PLACE | _TIMES,
    CHOICES: _PLACE | {"choice": str, "takes": str, "regret": float, "low": float, "high": float, "one_spec": bool},
    BEST: _PLACE
    | {
        "spec": str,
        "us": float,
        "low_us": float,
        "high_us": float,
        "same_us": list,
        "fastest": str,
        "fastest_us": float,
    },
    ORDERS: _PLACE | {"bound_us": float, "vendor": str, "vendor_us": float, "us": dict},
    CLAIMS: {"figure": str, "claim": str, "verdict": str, "again": dict, "findings": list},
    REFITS: {"system": str, "seed": int, "cells": int, "median": float, "near": float},
}
KINDS = tuple(FIELDS)


def write(folder: Path, kind: str, rows: Sequence[Row]) -> None:
    """Write all rows of a kind, in place of what was there.

    Raises
    ------
    SwapmeetError
        If they cannot be written.
    """
    texts.write(folder / f"{kind}.jsonl", map(json_line, rows))


def read(folder: Path) -> dict[str, list[Row]]:
    """The rows of all kinds.

    Raises
    ------
    SwapmeetError
        If a file is missing, empty or damaged.
    """
    return {kind: list(_lines(folder / f"{kind}.jsonl", FIELDS[kind])) for kind in KINDS}


def _lines(file: Path, fields: Mapping[str, type]) -> Iterator[Row]:
    kind = msgspec.defstruct("Row", fields.items())
    try:
        rows = list(read_lines(file))
        if not rows:
            raise ValueError("it is empty")
        for number, row in enumerate(rows, 1):
            try:
                msgspec.convert(row, kind)
            except msgspec.ValidationError as problem:
                raise ValueError(f"line {number}: {reason(problem)}") from None
            yield row
    except (OSError, ValueError) as problem:
        raise SwapmeetError(f"{file} cannot be read ({problem}): swapmeet validate makes it anew") from None
