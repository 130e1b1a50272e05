"""Records that are read from JSON as msgspec structs, which are their schemas, and what is wrong with one in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, AnyStr, TypeAlias, TypeVar

import msgspec

from swapmeet.errors import SwapmeetError

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
_Found = TypeVar("_Found")
TYPES = re.compile(r"`([a-z]+(?: \| [a-z]+)*)`")
MISSING = re.compile(r"Object missing required field `(.*)`")


class UnreadableError(msgspec.DecodeError):
    """JSON that may be valid, and that Python does not read."""

    def __init__(self) -> None:
        super().__init__("nested too deeply, or a number is too long")


def decoded(decode: Callable[[AnyStr], _Found], text: AnyStr) -> _Found:
    """What `decode`, of msgspec or json, makes of `text`: all JSON from outside is read by it.

    Raises
    ------
    UnreadableError
        If it is nested too deeply, or a number has too many digits. Other errors are those of `decode`.
    """
    try:
        return decode(text)
    except (msgspec.MsgspecError, json.JSONDecodeError):
        raise
    except (RecursionError, ValueError):
        raise UnreadableError from None


def document(text: str, name: str, **hooks: Any) -> Any:
    """A JSON document, as json.loads() makes it with these hooks; `name` is where it is from, for messages.

    Raises
    ------
    SwapmeetError
        With the place in it and the reason.
    """
    try:
        return decoded(partial(json.loads, **hooks), text)
    except json.JSONDecodeError as problem:
        raise SwapmeetError(f"{name}: line {problem.lineno}, column {problem.colno}: {problem.msg}") from None
    except UnreadableError as problem:
        raise SwapmeetError(f"{name}: {problem}") from None


def reason(problem: msgspec.MsgspecError, whole: str = "no JSON object") -> str:
    """What msgspec found, in our words, with the field: `"cell.ranks": expected a whole number, got a text`.

    Parameters
    ----------
    problem : msgspec.MsgspecError
        What a decoder raised.
    whole : str
        What the text is if it is nothing like the record.
    """
    if isinstance(problem, UnreadableError):
        return str(problem)
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
    decode = msgspec.json.Decoder(Row).decode
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        try:
            yield decoded(decode, line)
        except msgspec.MsgspecError as problem:
            raise ValueError(f"line {number}: {reason(problem)}") from None
