"""Results as JSON lines: first what ran where, then one line for each launch, or for what was skipped.

Of a launch, each of `cells` is [what, bytes for each destination, mean, least and greatest time of the ranks in
microseconds, calls], where bytes, least and greatest are null for applications.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any

from swapmeet.errors import SwapmeetError

RAW, AUTO = "raw", "auto"  #: candidates; any other is a spec, but for
AGAIN = "auto, second run"  #: which knows what AUTO has measured in the same turn, on several nodes
COMPARED = ("swapmeet", "commit", "machine", "options")  #: what launches of one file have in common


@dataclass(frozen=True)
class Cell:
    """What a program reports of one thing: a collective at one size, or its loop. Times in microseconds."""

    what: str
    bytes: int | None  #: for each destination
    mean_us: float  #: over ranks, of the mean over calls
    least_us: float | None = None
    greatest_us: float | None = None
    calls: int = 1


@dataclass(frozen=True)
class Case:
    """What candidates are compared in."""

    where: str
    mpi: str
    ranks: int
    shared: bool  #: more ranks than cores
    benchmark: str


@dataclass(frozen=True)
class Launch:
    """One launch of one candidate; in a turn all candidates of a case ran, one after the other."""

    case: Case
    candidate: str
    turn: int
    command: str
    at: str
    seconds: float  #: from start to end
    cells: Sequence[Cell]

    @property
    def key(self) -> tuple[Case, str, int]:
        """Of which there is one result."""
        return self.case, self.candidate, self.turn


@dataclass(frozen=True)
class Skipped:
    """What could not run, and why."""

    case: Case
    why: str


@dataclass
class Results:
    """All of a file."""

    header: dict[str, Any] = field(default_factory=dict)
    launches: list[Launch] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def read(file: Path) -> Results:
    """Read a file; none is an empty one. A last line that was not finished does not count.

    Raises
    ------
    SwapmeetError
        If another line is none of ours: with its number.
    """
    results = Results()
    text = file.read_text() if file.exists() else ""
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if not line.endswith("\n"):
            break
        try:
            _add(results, json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError) as problem:
            raise SwapmeetError(f"{file}, line {number}: {problem}") from None
    return results


def _add(results: Results, line: dict[str, Any]) -> None:
    if "header" in line:
        results.header = line["header"]
        return
    case = Case(**line.pop("case"))
    if "why" in line:
        results.skipped.append(Skipped(case, **line))
    else:
        cells = tuple(Cell(*cell) for cell in line.pop("cells"))
        results.launches.append(Launch(case, cells=cells, **line))


def begin(file: Path, header: dict[str, Any]) -> Results:
    """Go on with a file, or begin it.

    Raises
    ------
    SwapmeetError
        If its launches are of another version, machine or command: they cannot be compared with what is to come.
    """
    results = read(file)
    if results.header:
        other = [name for name in COMPARED if _comparable(results.header, name) != _comparable(header, name)]
        if other:
            raise SwapmeetError(f"{file} differs in {', '.join(other)}: name another file by -o, or remove it")
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"header": header}) + "\n")
        results.header = header
    text = file.read_text()
    if not text.endswith("\n"):
        file.write_text(text[: text.rindex("\n") + 1])
    return results


def _comparable(header: dict[str, Any], name: str) -> Any:
    value = json.loads(json.dumps(header.get(name)))
    return value.removesuffix("-dirty") if name == "commit" and value else value  # the file itself may be in the tree


def append(file: Path, one: Launch | Skipped) -> None:
    """Write one more line."""
    line = asdict(one)
    if isinstance(one, Launch):
        line["cells"] = [astuple(cell) for cell in one.cells]
    with open(file, "a") as lines:
        lines.write(json.dumps(line) + "\n")
