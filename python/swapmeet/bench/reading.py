"""Reading a results file of `swapmeet bench` (docs/results.md); whatever is wrong with it is told by file and line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np

from swapmeet.bench.cells import OVERLAP, Cell
from swapmeet.bench.records import Launch, Limits, Overlap, Phases, Problem, Results, Series
from swapmeet.errors import SwapmeetError

SCHEMA = 1  #: the highest that is read
MOST_LINE_BYTES = 64 << 20  #: a longer line is refused, so that a stray file does not fill the memory
MOST_RANKS, MOST_DIGITS, MOST_TEXT = 2**31 - 1, 18, 4096  #: of a cell
LEAST_SECONDS = 1e-12  #: of a sample, if not 0
MOST_SECONDS = 1e9  #: of a sample: more is no time that anyone measured

Record = Mapping[str, Any]


class _BadError(Exception):
    """What is wrong with one line."""


def _refuse_constant(text: str) -> NoReturn:
    raise _BadError(f"{text} is no number that can be measured")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_NUMBERS = {int, float}
_CELL_FIELDS = {f.name: (int if f.type == "int" else str) for f in fields(Cell)}
_CELL_OPTIONAL = ("seed", "datatype", "nodes")


def read(path: str | Path) -> Results:
    """Read a results file.

    A last line that was cut off (an interruption, or a campaign that is still running) is left out. Types of lines
    and keys that this version does not know are ignored.

    Raises
    ------
    SwapmeetError
        With the file, the line and what to do: it cannot be read, is no results file, is newer, or is damaged.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            results, _ = read_open(path, file)
    except OSError as problem:
        raise SwapmeetError(f"{path}: {problem.strerror}: give a results file of swapmeet bench") from None
    return results


def read_open(path: Path, file: BinaryIO) -> tuple[Results, int]:
    """Everything in `file`, and the bytes that are good: what follows them is a torn line."""
    results = Results(path)
    cells: dict[object, Cell] = {}
    launches: set[int] = set()
    number = end = 0
    while line := file.readline(MOST_LINE_BYTES + 1):
        number += 1
        try:
            if len(line) > MOST_LINE_BYTES:
                raise _BadError(f"longer than {MOST_LINE_BYTES >> 20} MiB")
            record = _decode(line)
            if record is not None:
                _take(results, record, cells, launches)
        except _BadError as problem:
            whole = line.endswith(b"\n") or len(line) > MOST_LINE_BYTES
            if not whole and number > 1 and _is_torn(line):
                results.torn = True
                break
            if number == 1 and not line.lstrip().startswith(b'{"type":'):
                raise SwapmeetError(f"{path} is not a results file of swapmeet bench: its first line is none") from None
            advice = ": delete this line" if number > 1 else ""
            raise SwapmeetError(f"{path}, line {number}: {problem}{advice}") from None
        end += len(line)
    if not results.campaigns:
        raise SwapmeetError(f"{path} is not a results file of swapmeet bench: it is empty")
    return results, end


def _decode(line: bytes) -> Record | None:
    if line.isspace():
        return None
    try:
        record = _DECODER.decode(line.decode())
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError, too
        raise _BadError("no JSON object") from None
    if not isinstance(record, dict):
        raise _BadError("no JSON object")
    return record


def _is_torn(line: bytes) -> bool:
    """Whether a line was cut off: the beginning of an object is never an object itself."""
    try:
        _DECODER.decode(line.decode())
    except (ValueError, RecursionError, _BadError):
        return True
    return False


def _take(results: Results, record: Record, cells: dict[object, Cell], launches: set[int]) -> None:
    kind = record.get("type")
    if not results.campaigns and kind != "campaign":
        raise _BadError('the first line must be of "type":"campaign"')
    if kind == "samples":
        _take_samples(results, record, cells, launches)
    elif kind == "campaign":
        results.campaigns.append(_campaign(record))
    elif kind == "launch":
        results.launches.append(_launch(record, launches))
    elif kind == "phases":
        cell, spec = _cell(record, cells), _text(record, "spec")
        seconds = {str(k): np.array(_seconds(v, f'"seconds": "{k}"')) for k, v in _table(record, "seconds").items()}
        results.phases.append(Phases(_known(record, launches), cell, spec, _count(record, "calls", 1), seconds))
    elif kind == "overlap":
        results.overlaps.append(_overlap(record, cells, launches))
    elif kind == "limits":
        results.limits.append(Limits(_known(record, launches), _cell(record, cells), _times(record)))
    elif kind == "finished":
        results.finished[_cell(record, cells)] = _text(record, "why")
    elif kind == "problem":
        launch = None if record.get("launch") is None else _known(record, launches)
        place = None if record.get("cell") is None else _cell(record, cells)
        which = None if record.get("spec") is None else _text(record, "spec")
        results.problems.append(Problem(launch, place, which, _message(record)))
    elif not isinstance(kind, str):
        raise _BadError('"type" is missing or no text')


def _times(record: Record) -> dict[str, float]:
    return {str(k): float(_seconds([v], f'"seconds": "{k}"')[0]) for k, v in _table(record, "seconds").items()}


def _overlap(record: Record, cells: dict[object, Cell], launches: set[int]) -> Overlap:
    cell, spec, seconds = _cell(record, cells), _text(record, "spec"), _times(record)
    if missing := [name for name in OVERLAP if name not in seconds]:
        raise _BadError(f'"seconds" has no "{missing[0]}"')
    calls, tests = _count(record, "calls", 1), _count(record, "tests", 0)
    return Overlap(_known(record, launches), cell, spec, calls, tests, seconds)


def _take_samples(results: Results, record: Record, cells: dict[object, Cell], launches: set[int]) -> None:
    launch, cell, spec = _known(record, launches), _cell(record, cells), _text(record, "spec")
    begin, calls = _count(record, "round", 0), _count(record, "calls", 1)
    longest, shortest, mean = (_seconds(record.get(key), f'"{key}"') for key in ("longest", "shortest", "mean"))
    if not longest or len(longest) != len(shortest) or len(longest) != len(mean):
        raise _BadError('"longest", "shortest" and "mean" must have the same number of samples, at least one')
    series = results.series.setdefault(cell, {}).setdefault(spec, {}).setdefault(launch, Series())
    if series.rounds and begin <= series.rounds[-1]:
        raise _BadError(f'"round" {begin} of {spec} is there twice in launch {launch}')
    series.rounds.extend(range(begin, begin + len(longest)))
    series.calls.extend([calls] * len(longest))
    series.longest.extend(longest)
    series.shortest.extend(shortest)
    series.mean.extend(mean)


def _campaign(record: Record) -> dict[str, Any]:
    schema = _count(record, "schema", 1)
    if schema > SCHEMA:
        version = record.get("swapmeet")
        newer = f"swapmeet {version}" if isinstance(version, str) else "the swapmeet that wrote it"
        raise _BadError(f"schema {schema}, this swapmeet reads up to {SCHEMA}; read it with {newer} or newer")
    for key in ("machine", "options"):
        if not isinstance(record.get(key, {}), dict):
            raise _BadError(f'"{key}" is no object')
    return dict(record)


def _launch(record: Record, launches: set[int]) -> Launch:
    number = _count(record, "launch", 0)
    if number in launches:
        raise _BadError(f'"launch" {number} is there twice')
    launches.add(number)
    words, notes = (record.get(key, []) for key in ("command", "notes"))
    if not all(isinstance(value, list) for value in (words, notes)):
        raise _BadError('"command" or "notes" is no list')
    load = record.get("load")
    return Launch(
        number,
        _count(record, "block", 0),
        _text(record, "mpi"),
        str(record.get("library", "")),
        _count(record, "ranks", 1),
        str(record.get("nodes", "")),
        tuple(map(str, words)),
        {str(key): str(value) for key, value in _table(record, "environment", {}).items()},
        str(record.get("started", "")),
        float(load) if isinstance(load, (int, float)) else float("nan"),
        tuple(map(str, notes)),
    )


def _cell(record: Record, cells: dict[object, Cell]) -> Cell:
    found = record.get("cell")
    if not isinstance(found, dict):
        raise _BadError('"cell" is missing or no object')
    try:
        key = tuple(found.items())
        known = cells.get(key)
    except TypeError:
        raise _BadError('"cell" holds a list or an object') from None
    if known is None:
        wanted = {name: found[name] for name in _CELL_FIELDS if name in found}
        for name, kind in _CELL_FIELDS.items():
            if name not in wanted and name not in _CELL_OPTIONAL or type(wanted.get(name, kind())) is not kind:
                raise _BadError(f'"cell": "{name}" is missing or no {"whole number" if kind is int else "text"}')
        known = cells[key] = Cell(**wanted)
        if problem := _unlikely(known):
            raise _BadError(f'"cell": {problem}')
    return known


def _unlikely(cell: Cell) -> str:
    """What nobody can have measured; "" if there is nothing."""
    if not all(text and text.isprintable() for text in (cell.mpi, cell.collective, cell.sizes, cell.datatype)):
        return "a text is empty, or cannot be printed"
    if not 1 <= cell.ranks <= MOST_RANKS or not 0 <= cell.seed < 1 << 64 or not cell.nodes.isprintable():
        return "no such ranks, seed or nodes"
    return "" if len(cell.sizes) <= (MOST_DIGITS if cell.sizes.isdecimal() else MOST_TEXT) else '"sizes" is too long'


def _known(record: Record, launches: set[int]) -> int:
    number = record.get("launch")
    if type(number) is not int or number not in launches:
        raise _BadError(f'"launch" {number!r} was not begun above')
    return number


def _text(record: Record, key: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise _BadError(f'"{key}" is missing or no text')
    if not value.isprintable():
        raise _BadError(f'"{key}" holds what cannot be printed')
    return value


def _message(record: Record) -> str:
    """What other programs have said, fit to be printed."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in str(record.get("message", "")))


def _count(record: Record, key: str, least: int) -> int:
    value = record.get(key)
    if type(value) is not int or not least <= value < 1 << 53:
        raise _BadError(f'"{key}" is missing or no whole number from {least}')
    return value


def _table(record: Record, key: str, default: Record | None = None) -> Record:
    value = record.get(key, default)
    if not isinstance(value, dict):
        raise _BadError(f'"{key}" is missing or no object')
    return value


def _seconds(values: Any, name: str) -> Sequence[float]:
    if not isinstance(values, list) or not _NUMBERS.issuperset(map(type, values)):
        raise _BadError(f"{name} is missing or no list of numbers")
    if values and not (min(values) >= 0 and max(values) < MOST_SECONDS and not 0 < min(values) < LEAST_SECONDS):
        raise _BadError(f"{name} holds a time that is negative, below {LEAST_SECONDS:g} s or above {MOST_SECONDS:g} s")
    return values
