"""Records that are read from JSON as msgspec structs, which are their schemas, and what is wrong with one in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec

MOST_COUNT = 1 << 53  #: what a double holds exactly

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=MOST_COUNT)]
Positive: TypeAlias = Annotated[int, msgspec.Meta(ge=1, lt=MOST_COUNT)]

WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
Row: TypeAlias = dict[str, Any]
TYPES = re.compile(r"`([a-z]+(?: \| [a-z]+)*)`")
MISSING = re.compile(r"Object missing required field `(.*)`")


def reason(problem: msgspec.MsgspecError, whole: str = "no JSON object") -> str:
    """What msgspec found, in our words, with the field: `"cell.ranks": expected a whole number, got a text`.

    Parameters
    ----------
    problem : msgspec.MsgspecError
        What a decoder raised.
    whole : str
        What the text is if it is nothing like the record.
    """
    said, _, place = str(problem).partition(" - at ")
    field = place.strip("`").removeprefix("$").removeprefix(".").replace("[...]", "")
    if missing := MISSING.fullmatch(said):
        return f'"{field + "." if field else ""}{missing[1]}" is missing'
    if not field:
        return whole
    told = TYPES.sub(lambda match: " or ".join(WORDS.get(name, name) for name in match[1].split(" | ")), said)
    return f'"{field}": {told[0].lower()}{told[1:]}'


def read_lines(file: Path) -> Iterator[Row]:
    """The objects of a file of JSON lines, whatever is in them.

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        With the number of the line that is none.
    """
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        try:
            yield msgspec.json.decode(line, type=Row)
        except msgspec.MsgspecError as problem:
            raise ValueError(f"line {number}: {reason(problem)}") from None
