"""Reading a results file of `swapmeet bench` (docs/results.md); errors name file and line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeAlias, TypeVar

import msgspec
import numpy as np

from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.cells import OVERLAP, Cell
from swapmeet.measure.bench.records import Launch, Limits, Overlap, Phases, Problem, Results, Series
from swapmeet.structs import Count, Positive, UnreadableError, decoded, reason

SCHEMA = 1  #: the highest that is read
MOST_LINE_BYTES = 64 << 20  #: a longer line is refused, so that a stray file does not fill the memory
MOST_DIGITS, MOST_TEXT = 18, 4096  #: of sizes
LEAST_SECONDS = 1e-12  #: of a sample, if not 0
MOST_SECONDS = 1e9  #: of a sample: more is no time that anyone measured


class Campaign(msgspec.Struct, tag="campaign"):
    """A start of `swapmeet bench`, or of a program that estimates: what is needed of it here."""

    schema: Positive
    swapmeet: Any = None
    machine: dict[str, Any] = {}
    options: dict[str, Any] = {}


class Samples(msgspec.Struct, tag="samples"):
    """Samples of one spec in the order taken, in seconds a call; the first belongs to `round`, the next to the next."""

    launch: Count
    cell: Cell
    spec: str
    calls: Positive
    round: Count
    longest: list[float]
    shortest: list[float]
    mean: list[float]


class PhasesLine(msgspec.Struct, tag="phases"):
    """Seconds of a call by phase, on each rank."""

    launch: Count
    cell: Cell
    spec: str
    calls: Positive
    seconds: dict[str, list[float]]


class Finished(msgspec.Struct, tag="finished"):
    """Nothing more is to be measured for a cell."""

    cell: Cell
    why: str


Line: TypeAlias = Campaign | Launch | Samples | PhasesLine | Overlap | Limits | Finished | Problem
LINES: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
_Timed = TypeVar("_Timed", Overlap, Limits)


class _BadError(Exception):
    """What is wrong with one line."""


def _refuse_constant(text: str) -> NoReturn:
    raise _BadError(f"{text} is no number that can be measured")


#: What msgspec refuses for its form may be text that is no Unicode, as launchers write it, which this one reads.
_LENIENT = json.JSONDecoder(parse_constant=_refuse_constant)


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
    launches: set[int] = set()
    number = end = 0
    while line := file.readline(MOST_LINE_BYTES + 1):
        number += 1
        try:
            if len(line) > MOST_LINE_BYTES:
                raise _BadError(f"longer than {MOST_LINE_BYTES >> 20} MiB")
            record = _decode(line)
            if record is not None:
                _take(results, record, line, launches)
        except _BadError as problem:
            whole = line.endswith(b"\n") or len(line) > MOST_LINE_BYTES
            if not whole and number > 1 and _is_torn(line):
                results.torn = True
                break
            if number == 1 and not line.lstrip().startswith(b'{"type":'):
                raise SwapmeetError(f"{path} is not a results file of swapmeet bench: its first line is none") from None
            other = number == 1 and b'"campaign"' not in line
            what = 'the first line must be of "type":"campaign"' if other else problem
            advice = ": delete this line" if number > 1 else ""
            raise SwapmeetError(f"{path}, line {number}: {what}{advice}") from None
        end += len(line)
    if not results.campaigns:
        raise SwapmeetError(f"{path} is not a results file of swapmeet bench: it is empty")
    return results, end


def _decode(line: bytes) -> Line | None:
    """A line; None if it is empty, or of a type that is not known."""
    if line.isspace():
        return None
    try:
        try:
            return decoded(LINES.decode, line)
        except (msgspec.ValidationError, UnreadableError):
            raise
        except msgspec.DecodeError:
            found: Line = msgspec.convert(_lenient(line), Line)
            return found
    except (msgspec.ValidationError, UnreadableError) as problem:
        if str(problem).startswith("Invalid value") and str(problem).endswith("`$.type`"):
            return None
        raise _BadError(reason(problem)) from None


def _lenient(line: bytes) -> Any:
    try:
        return decoded(_LENIENT.decode, line.decode())
    except UnreadableError as problem:
        raise _BadError(reason(problem)) from None
    except ValueError:  # UnicodeDecodeError, too
        raise _BadError("no JSON object") from None


def _is_torn(line: bytes) -> bool:
    """Whether a line was cut off: the beginning of an object is never an object itself."""
    try:
        _lenient(line)
    except _BadError:
        return True
    return False


def _take(results: Results, line: Line, raw: bytes, launches: set[int]) -> None:
    if not results.campaigns and not isinstance(line, Campaign):
        raise _BadError('the first line must be of "type":"campaign"')
    if isinstance(line, Launch):
        if line.launch in launches:
            raise _BadError(f'"launch" {line.launch} is there twice')
        launches.add(line.launch)
    else:
        _require_known(line, launches)
    match line:
        case Samples():
            _take_samples(results, line)
        case Campaign():
            results.campaigns.append(_campaign(line, raw))
        case Launch():
            results.launches.append(line)
        case PhasesLine():
            seconds = {name: np.array(_times(times, f'"seconds": "{name}"')) for name, times in line.seconds.items()}
            results.phases.append(Phases(line.launch, line.cell, line.spec, line.calls, seconds))
        case Overlap():
            if missing := [name for name in OVERLAP if name not in line.seconds]:
                raise _BadError(f'"seconds" has no "{missing[0]}"')
            results.overlaps.append(_with_times(line))
        case Limits():
            results.limits.append(_with_times(line))
        case Finished():
            results.finished[line.cell] = line.why
        case Problem():
            results.problems.append(msgspec.structs.replace(line, message=_printable(line.message)))


def _require_known(line: Line, launches: set[int]) -> None:
    """Refuse texts and cells that cannot have been written or measured, and launches that were not begun."""
    for name in ("spec", "why"):
        if not (getattr(line, name, None) or "").isprintable():
            raise _BadError(f'"{name}" holds what cannot be printed')
    cell, launch = getattr(line, "cell", None), getattr(line, "launch", None)
    if cell is not None and (problem := _unlikely(cell)):
        raise _BadError(f'"cell": {problem}')
    if launch is not None and launch not in launches:
        raise _BadError(f'"launch" {launch} was not begun above')


def _with_times(line: _Timed) -> _Timed:
    """The same, once its times are found to be some."""
    for name, time in line.seconds.items():
        _times([time], f'"seconds": "{name}"')
    return line


def _take_samples(results: Results, line: Samples) -> None:
    many = len(line.longest)
    for name in ("longest", "shortest", "mean"):
        if not len(_times(getattr(line, name), f'"{name}"')) == many > 0:
            raise _BadError('"longest", "shortest" and "mean" must have the same number of samples, at least one')
    series = results.series.setdefault(line.cell, {}).setdefault(line.spec, {}).setdefault(line.launch, Series())
    if series.rounds and line.round <= series.rounds[-1]:
        raise _BadError(f'"round" {line.round} of {line.spec} is there twice in launch {line.launch}')
    series.rounds.extend(range(line.round, line.round + many))
    series.calls.extend([line.calls] * many)
    series.longest.extend(line.longest)
    series.shortest.extend(line.shortest)
    series.mean.extend(line.mean)


def _campaign(line: Campaign, raw: bytes) -> dict[str, Any]:
    """All fields of the line, also what is not known here."""
    if line.schema > SCHEMA:
        newer = f"swapmeet {line.swapmeet}" if isinstance(line.swapmeet, str) else "the swapmeet that wrote it"
        raise _BadError(f"schema {line.schema}, this swapmeet reads up to {SCHEMA}; read it with {newer} or newer")
    return dict(_lenient(raw))


def _unlikely(cell: Cell) -> str:
    """What cannot have been measured; "" if there is nothing."""
    if not all(text and text.isprintable() for text in (cell.mpi, cell.collective, cell.sizes, cell.datatype)):
        return "a text is empty, or cannot be printed"
    if not 0 <= cell.seed < 1 << 64 or not cell.nodes.isprintable():
        return "no such seed or nodes"
    return "" if len(cell.sizes) <= (MOST_DIGITS if cell.sizes.isdecimal() else MOST_TEXT) else '"sizes" is too long'


def _printable(message: str) -> str:
    """What other programs have printed, fit to be printed."""
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in message)


def _times(values: Sequence[float], name: str) -> Sequence[float]:
    if values and not (min(values) >= 0 and max(values) < MOST_SECONDS and not 0 < min(values) < LEAST_SECONDS):
        raise _BadError(f"{name} holds a time that is negative, below {LEAST_SECONDS:g} s or above {MOST_SECONDS:g} s")
    return values
