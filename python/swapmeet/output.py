"""Where the output of commands goes, and its forms: tables for people, CSV and JSON for programs.

Modules that compute give records, one for each line or object: names of fields, with their units, and values. JSON has
them as they are (docs/json.md), CSV in columns.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from swapmeet import __version__
from swapmeet.errors import SwapmeetError

if TYPE_CHECKING:
    from rich.console import Console

Record: TypeAlias = Mapping[str, object]
TABLE, CSV, JSON = "table", "csv", "json"


def form(as_json: bool, as_csv: bool = False) -> str:
    """TABLE, CSV or JSON.

    Raises
    ------
    SwapmeetError
        If both options were given.
    """
    if as_json and as_csv:
        raise SwapmeetError("--json and --csv are two forms of the same: leave one out")
    return JSON if as_json else CSV if as_csv else TABLE


def tables_console(markup: bool = False) -> Console:
    """Where tables go: as wide as the terminal; not folded to 80 columns where there is none."""
    from rich.console import Console

    class Tables(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # as by print(); Rich would end the program with status 1

    return Tables(width=None if sys.stdout.isatty() else 200, highlight=False, markup=markup, emoji=False)


def print_json(command: str, **fields: object) -> None:
    """Print the one object of a command: its maker, and its fields."""
    print(json_text({"swapmeet": __version__, "command": command, **fields}), flush=True)


def json_text(value: object) -> str:
    """JSON to be read by people, too."""
    return json.dumps(plain(value), indent=1, allow_nan=False)


def json_line(record: Record, ascii: bool = False) -> str:
    """A line of a file of JSON lines; `ascii` also writes what is no Unicode."""
    return json.dumps(record, allow_nan=False, separators=(",", ":"), ensure_ascii=ascii) + "\n"


def json_in_page(value: object) -> str:
    """JSON for a script of an HTML page, which nothing in it can end."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def print_records(
    command: str, records: Iterable[Record], wanted: str, columns: Iterable[str] = (), **fields: object
) -> None:
    """Print records as CSV (`columns` if there are none), or as JSON with more fields beside them."""
    if wanted == CSV:
        lines = list(csv_lines(records))
        sys.stdout.writelines(lines or ([_line(columns)] if columns else []))
    else:
        print_json(command, **fields, rows=list(records))


def plain(value: Any) -> Any:
    """The same in what JSON knows; numbers that are not finite become null, and all that has only a text is that."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None  # also a numpy.float64
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(part) for part in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist"):  # of numpy
        return plain(value.tolist())
    return str(value)


def csv_lines(records: Iterable[Record]) -> Iterator[str]:
    """A header, and a line for each record: true as 1, and what is not known empty."""
    for i, record in enumerate(records):
        columns = dict(_columns(record))
        if i == 0:
            yield _line(columns)
        yield _line(columns.values())


def _columns(record: Record) -> Iterator[tuple[str, object]]:
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from ((f"{name} {part}", one) for part, one in value.items())
        else:
            yield name, int(value) if isinstance(value, bool) else value


def _line(cells: Iterable[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
