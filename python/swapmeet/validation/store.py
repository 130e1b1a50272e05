"""What `swapmeet validate` computes, as rows, and the files that hold them: one kind of row each, JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from swapmeet.errors import SwapmeetError

Row: TypeAlias = Mapping[str, Any]
CELLS, SCALE, CHOICES, BEST, ORDERS, CLAIMS = "cells", "scale", "choices", "best", "orders", "claims"
REFITS = "refits"
KINDS = (CELLS, SCALE, CHOICES, BEST, ORDERS, CLAIMS, REFITS)


def write(folder: Path, kind: str, rows: Sequence[Row]) -> None:
    """Write all rows of a kind, in place of what was there.

    Raises
    ------
    SwapmeetError
        If they cannot be written.
    """
    file = folder / f"{kind}.jsonl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n" for row in rows))
    except OSError as problem:
        raise SwapmeetError(f"{problem.filename}: {problem.strerror}: give another folder by -o") from None


def read(folder: Path) -> dict[str, list[Row]]:
    """The rows of all kinds.

    Raises
    ------
    SwapmeetError
        If a file is missing or damaged.
    """
    return {kind: list(_lines(folder / f"{kind}.jsonl")) for kind in KINDS}


def _lines(file: Path) -> Iterator[Row]:
    try:
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)
    except (OSError, ValueError) as problem:
        raise SwapmeetError(f"{file} cannot be read ({problem}): swapmeet validate makes it anew") from None
