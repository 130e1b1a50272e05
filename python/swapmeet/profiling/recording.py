"""What SWAPMEET_RECORD wrote: one file of a rank, and the files of a run together. The format is in docs/profile.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapmeet.errors import SwapmeetError

SCHEMA = 1
NS = 1e-9  #: seconds
CALL, EXCHANGE, START, TIME, WEIGHT = range(5)  #: columns of `RankFile.calls`

Calls = NDArray[np.int64]  #: (calls, 5): call, exchange, start and time in ns, how many calls it stands for


@dataclass(frozen=True)
class Communicator:
    """A communicator, as one of its ranks saw it."""

    id: str  #: the same on all its ranks if `shared`
    shared: bool
    inter: bool
    name: str
    blocks: int  #: of an exchange: its ranks, or those of the remote group
    members: tuple[int | None, ...]  #: in MPI_COMM_WORLD; None: not in it


COLLECTIVES = ("alltoall", "alltoallv", "alltoallw")


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
    header: dict[str, Any]
    communicators: list[Communicator] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    calls: dict[int, Calls] = field(default_factory=dict)  #: by communicator
    seconds: float = 0  #: from the start of the process to MPI_Finalize, or as far as is known
    ended: str | None = None  #: "finalize", "exit"; None: killed, or not over
    unreadable: int = 0  #: lines

    @property
    def rank(self) -> int | None:
        """In MPI_COMM_WORLD; None: the process made no all-to-all."""
        rank: int | None = self.header["rank"]
        return rank

    @property
    def clock(self) -> tuple[str, int]:
        """Whose clock times are of, and its value in ns at the start of the process."""
        return self.header["boot"], self.header["clock"]


@dataclass
class Recording:
    """What the ranks of a run wrote."""

    ranks: int  #: in MPI_COMM_WORLD
    files: dict[int, RankFile]  #: by rank
    unused: list[RankFile]  #: processes that made no all-to-all
    problems: list[str]  #: what is missing, in sentences

    @property
    def mpi(self) -> str:
        """What the MPI calls itself; "" if nobody says."""
        return next((str(file.header.get("mpi", "")) for file in [*self.files.values(), *self.unused]), "")

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
    worlds = {int(file.header["ranks"]) for file in ranked}
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
    missing = [rank for rank in range(ranks) if rank not in files]
    if missing:
        what = f"of {ranks} ranks, {len(missing)} left no recording: {_ranges(missing)}"
        if unused:
            what += f" ({unused} processes used MPI without an all-to-all)"
        problems.append(what)
    if killed := [rank for rank, file in files.items() if file.ended is None]:
        problems.append(f"rank {_ranges(killed)} did not end in order: what it did last is missing")
    if torn := {rank: file.unreadable for rank, file in files.items() if file.unreadable}:
        problems.append(f"{sum(torn.values())} lines cannot be read, of rank {_ranges(list(torn))}")
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
        record = _parsed(line)
        if file is None:
            file = RankFile(path, _header(path, record))
        elif record is None:
            file.unreadable += 1
        else:
            try:
                _add(file, record, calls, totals)
            except (KeyError, IndexError, TypeError, ValueError):
                file.unreadable += 1
    if file is None:
        raise SwapmeetError(f"{path} is empty: the rank ended before its first all-to-all, or the disk is full")
    file.calls = {index: np.array(rows, dtype=np.int64).reshape(-1, 5) for index, rows in calls.items()}
    _complete(file, totals)
    return file


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _header(path: Path, record: dict[str, Any] | None) -> dict[str, Any]:
    if record is None or record.get("type") != "recording":
        raise SwapmeetError(f"{path} was not written by SWAPMEET_RECORD")
    if not isinstance(record.get("schema"), int) or record["schema"] > SCHEMA:
        raise SwapmeetError(
            f"{path} was written by Swapmeet {record.get('swapmeet')}, in format {record.get('schema')}; this one "
            f"reads up to {SCHEMA}: use a Swapmeet that is as new"
        )
    if missing := {"rank", "ranks", "boot", "clock"} - set(record):
        raise SwapmeetError(f"{path}: its first line lacks {_words(sorted(missing))}")
    return record


def _add(file: RankFile, record: dict[str, Any], calls: dict[int, list[list[int]]], totals: set[int]) -> None:
    kind = record["type"]
    if kind == "communicator":
        _numbered(record["communicator"], file.communicators)
        blocks = int(record["blocks"])
        members = tuple(record["members"])
        shared, inter = bool(record["shared"]), bool(record["inter"])
        file.communicators.append(Communicator(record["id"], shared, inter, record["name"], blocks, members))
    elif kind == "exchange":
        _numbered(record["exchange"], file.exchanges)
        sizes = tuple(record["bytes"]) if isinstance(record["bytes"], list) else record["bytes"]
        place, collective = record["communicator"], record["collective"]
        file.exchanges.append(Exchange(place, collective, record["in_place"], record["derived"], sizes))
    elif kind == "calls":
        calls.setdefault(int(record["communicator"]), []).extend(row for row in record["calls"] if len(row) == 5)
    elif kind == "total":
        exchange = file.exchanges[record["exchange"]]
        exchange.calls, exchange.seconds = int(record["calls"]), record["nanoseconds"] * NS
        exchange.shortest, exchange.longest = record["shortest"] * NS, record["longest"] * NS
        totals.add(record["exchange"])
    elif kind in ("until", "end"):
        file.seconds = record["nanoseconds"] * NS
        file.ended = record.get("ended")


def _numbered(number: int, those_before: Sequence[object]) -> None:
    """Lines that others refer to come in order; if one was lost, all that refers to later ones cannot be understood."""
    if number != len(those_before):
        raise ValueError


def _complete(file: RankFile, totals: set[int]) -> None:
    """Of calls after the last totals, what single calls say."""
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


def _ranges(numbers: Sequence[int]) -> str:
    """As in "0-3, 7"; cut after some."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in runs]
    return _words(texts[:8]) + (", ..." if len(texts) > 8 else "")
