"""What SWAPMEET_RECORD wrote: one file of a rank, and the files of a run together. The format is in docs/profile.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from swapmeet.errors import SwapmeetError
from swapmeet.specs import gaps, runs_text, text_of_runs
from swapmeet.structs import Count, decoded, reason

SCHEMA = 1
NS = 1e-9  #: seconds
MOST_RUNS = 8  #: of ranks that are named
CALL, EXCHANGE, START, TIME, WEIGHT = range(5)  #: columns of `RankFile.calls`

Cell: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]  #: of an array
Calls = NDArray[np.int64]  #: (calls, 5): call, exchange, start and time in ns, how many calls it stands for


class Header(msgspec.Struct, tag="recording"):
    """The first line: of which rank, when and where."""

    schema: int
    rank: Count | None  #: in MPI_COMM_WORLD; None: the process made no all-to-all
    ranks: Count | None
    boot: str  #: whose clock times are of
    clock: int  #: its value in ns at the start of the process
    swapmeet: str = "?"
    host: str = "?"
    mpi: str = ""
    command: str = ""
    algorithm: str = "?"


class Communicator(msgspec.Struct, frozen=True, tag="communicator"):
    """A communicator, as one of its ranks saw it."""

    communicator: Count
    id: str  #: the same on all its ranks if `shared`
    shared: bool
    inter: bool
    name: str
    blocks: Count  #: of an exchange: its ranks, or those of the remote group
    members: tuple[Count | None, ...]  #: in MPI_COMM_WORLD; None: not in it


class ExchangeLine(msgspec.Struct, tag="exchange"):
    """A kind of calls."""

    exchange: Count
    communicator: Count | None
    collective: str
    in_place: bool
    derived: bool
    bytes: Count | tuple[Count, ...] | None


class CallsLine(msgspec.Struct, tag="calls"):
    """Single calls, in the columns of `RankFile.calls`."""

    communicator: Count
    calls: list[list[Cell]]


class Total(msgspec.Struct, tag="total"):
    """The calls of an exchange so far; times in ns."""

    exchange: Count
    calls: Count
    nanoseconds: Count
    shortest: Count
    longest: Count


class Until(msgspec.Struct, tag="until"):
    """How far totals go, in ns since the start of the process."""

    nanoseconds: Count


class End(msgspec.Struct, tag="end"):
    """The last line."""

    nanoseconds: Count
    ended: str | None = None


Line: TypeAlias = Communicator | ExchangeLine | CallsLine | Total | Until | End
LINES: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


COLLECTIVES = ("alltoall", "alltoallv", "alltoallw")
#: Their sizes are not described: blocks of one rank go to its own neighbours only.
OF_NEIGHBOURS = ("neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw")


@dataclass
class Exchange:
    """Calls of one rank that are alike. Times are in seconds."""

    communicator: int | None  #: in the file; None: one of those that are not described
    collective: str
    in_place: bool
    derived: bool  #: a datatype is not predefined
    bytes: int | tuple[int, ...] | None  #: sent to each destination; one number: to all the same; None: not described
    calls: int = 0
    seconds: float = 0
    shortest: float = 0
    longest: float = 0


@dataclass
class RankFile:
    """What one rank wrote."""

    path: Path
    header: Header
    communicators: list[Communicator] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    calls: dict[int, Calls] = field(default_factory=dict)  #: by communicator
    seconds: float = 0  #: from the start of the process to MPI_Finalize, or as far as is known
    ended: str | None = None  #: "finalize", "exit"; None: killed, or not over
    unreadable: int = 0  #: lines

    @property
    def rank(self) -> int | None:
        """In MPI_COMM_WORLD; None: the process made no all-to-all."""
        return self.header.rank

    @property
    def clock(self) -> tuple[str, int]:
        """Whose clock times are of, and its value in ns at the start of the process."""
        return self.header.boot, self.header.clock


@dataclass
class Recording:
    """What the ranks of a run wrote."""

    ranks: int  #: in MPI_COMM_WORLD
    files: dict[int, RankFile]  #: by rank
    unused: list[RankFile]  #: processes that made no all-to-all
    problems: list[str]  #: what is missing, in sentences

    @property
    def mpi(self) -> str:
        """What the MPI calls itself; "" if that is unknown."""
        return next((file.header.mpi for file in [*self.files.values(), *self.unused]), "")

    @property
    def run_seconds(self) -> float:
        """Run time, mean over the ranks that are known."""
        return float(np.mean([file.seconds for file in self.files.values()] or [0.0]))

    def communicators(self) -> dict[str, list[tuple[RankFile, int]]]:
        """For each communicator its files, and which it is there; in the order of its ranks where it is shared."""
        found: dict[str, list[tuple[RankFile, int]]] = {}
        for file in self.files.values():
            for index, communicator in enumerate(file.communicators):
                found.setdefault(communicator.id, []).append((file, index))
        for places in found.values():
            places.sort(key=lambda place: _position(*place))
        return found


def _position(file: RankFile, index: int) -> int:
    members = file.communicators[index].members
    return members.index(file.rank) if file.rank in members else -1


def read(paths: Sequence[str | Path]) -> Recording:
    """Read the files of one run.

    Parameters
    ----------
    paths
        Files, or folders of which all files are read.

    Raises
    ------
    SwapmeetError
        If there is none, one is no recording or of a newer format, or they are of different runs.
    """
    files = [read_file(path) for path in _files(paths)]
    ranked = [file for file in files if file.rank is not None]
    known: dict[int, RankFile] = {}
    for file in sorted(ranked, key=lambda file: int(file.rank or 0)):
        assert file.rank is not None
        if file.rank in known:
            raise SwapmeetError(
                f"{known[file.rank].path} and {file.path} are both of rank {file.rank}: give the files of one run"
            )
        known[file.rank] = file
    worlds = {file.header.ranks or 0 for file in ranked}
    if len(worlds) > 1:
        raise SwapmeetError(f"the files are of runs with {_words(sorted(worlds))} ranks: give the files of one run")
    ranks = worlds.pop() if worlds else 0
    return Recording(
        ranks, known, [file for file in files if file.rank is None], _problems(ranks, known, len(files) - len(ranked))
    )


def _files(paths: Sequence[str | Path]) -> list[Path]:
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found += sorted(entry for entry in path.iterdir() if entry.is_file())
        else:
            found.append(path)
    if not found:
        raise SwapmeetError(
            f"no recording in {_words(paths)}: run the application with SWAPMEET_RECORD=FOLDER/%r.jsonl"
        )
    return found


def _problems(ranks: int, files: dict[int, RankFile], unused: int) -> list[str]:
    problems = []
    if missing := gaps(files, ranks):
        count = sum(run.stop - run.start for run in missing)
        what = f"of {ranks} ranks, {count} left no recording: {text_of_runs(missing, MOST_RUNS)}"
        if unused:
            what += f" ({unused} processes used MPI without an all-to-all)"
        problems.append(what)
    if killed := [rank for rank, file in files.items() if file.ended is None]:
        problems.append(f"rank {runs_text(killed, MOST_RUNS)} did not end in order: what it did last is missing")
    if torn := {rank: file.unreadable for rank, file in files.items() if file.unreadable}:
        problems.append(f"{sum(torn.values())} lines cannot be read, of rank {runs_text(torn, MOST_RUNS)}")
    return problems


def read_file(path: str | Path) -> RankFile:
    """Read what one rank wrote. Lines that cannot be read are counted and left out.

    Raises
    ------
    SwapmeetError
        If the file cannot be read, is no recording, or of a newer format.
    """
    path = Path(path)
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            return _read_lines(path, lines)
    except OSError as problem:
        raise SwapmeetError(
            f"{path}: {problem.strerror}: give what SWAPMEET_RECORD wrote, or the folder it is in"
        ) from None


def _read_lines(path: Path, lines: Iterable[str]) -> RankFile:
    file: RankFile | None = None
    calls: dict[int, list[list[int]]] = {}
    totals: set[int] = set()
    for line in lines:
        if file is None:
            file = RankFile(path, _header(path, line))
            continue
        try:
            record = _line(line)
            if record is not None:
                _add(file, record, calls, totals)
        except (IndexError, ValueError):  # of msgspec, too
            file.unreadable += 1
    if file is None:
        raise SwapmeetError(f"{path} is empty: the rank ended before its first all-to-all, or the disk is full")
    file.calls = {index: np.array(rows, dtype=np.int64).reshape(-1, 5) for index, rows in calls.items()}
    _complete(file, totals)
    return file


def _line(line: str) -> Line | None:
    """A line; None if it is of a kind that is not known."""
    try:
        return decoded(LINES.decode, line)
    except msgspec.ValidationError as problem:
        if str(problem).startswith("Invalid value") and str(problem).endswith("`$.type`"):
            return None
        raise


def _header(path: Path, line: str) -> Header:
    try:
        found: dict[str, Any] = decoded(msgspec.json.Decoder(dict).decode, line)
    except msgspec.MsgspecError:
        found = {}
    if found.get("type") != "recording":
        raise SwapmeetError(f"{path} was not written by SWAPMEET_RECORD")
    if not isinstance(found.get("schema"), int) or found["schema"] > SCHEMA:
        raise SwapmeetError(
            f"{path} was written by Swapmeet {found.get('swapmeet')}, in format {found.get('schema')}; this one "
            f"reads up to {SCHEMA}: use a Swapmeet that is as new"
        )
    if missing := {"rank", "ranks", "boot", "clock"} - set(found):
        raise SwapmeetError(f"{path}: its first line lacks {_words(sorted(missing))}")
    try:
        return msgspec.convert(found, Header)
    except msgspec.ValidationError as problem:
        raise SwapmeetError(f"{path}, line 1: {reason(problem)}") from None


def _add(file: RankFile, line: Line, calls: dict[int, list[list[int]]], totals: set[int]) -> None:
    match line:
        case Communicator():
            _numbered(line.communicator, file.communicators)
            file.communicators.append(line)
        case ExchangeLine():
            _numbered(line.exchange, file.exchanges)
            known = (line.communicator, line.collective, line.in_place, line.derived, line.bytes)
            file.exchanges.append(Exchange(*known))
        case CallsLine():
            calls.setdefault(line.communicator, []).extend(row for row in line.calls if len(row) == 5)
        case Total():
            exchange = file.exchanges[line.exchange]
            exchange.calls, exchange.seconds = line.calls, line.nanoseconds * NS
            exchange.shortest, exchange.longest = line.shortest * NS, line.longest * NS
            totals.add(line.exchange)
        case Until() | End():
            file.seconds = line.nanoseconds * NS
            file.ended = line.ended if isinstance(line, End) else None


def _numbered(number: int, those_before: Sequence[object]) -> None:
    """Lines that others refer to come in order; if one was lost, all that refers to later ones cannot be understood."""
    if number != len(those_before):
        raise ValueError


def _complete(file: RankFile, totals: set[int]) -> None:
    """Of calls after the last totals, the records of single calls."""
    for rows in file.calls.values():
        for index in np.unique(rows[:, EXCHANGE]) if len(rows) else ():
            if index in totals or index >= len(file.exchanges):
                continue
            own = rows[rows[:, EXCHANGE] == index]
            exchange = file.exchanges[index]
            exchange.calls = int(own[:, WEIGHT].sum())
            exchange.seconds = float((own[:, TIME] * own[:, WEIGHT]).sum()) * NS
            exchange.shortest, exchange.longest = float(own[:, TIME].min()) * NS, float(own[:, TIME].max()) * NS


def _words(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))
