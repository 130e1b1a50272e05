"""The results file of `swapmeet bench`: every sample as it was taken, in JSON lines (docs/results.md)."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from swapmeet import texts
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.cells import Cell
from swapmeet.measure.bench.reading import SCHEMA, read, read_open
from swapmeet.measure.bench.records import Launch, Limits, Phases, Problem, Results, Run
from swapmeet.output import json_line

__all__ = ["SCHEMA", "WHY_FINISHED", "Launch", "Limits", "Phases", "Problem", "Results", "Run", "Writer", "read"]

WHY_FINISHED = ("converged", "samples", "budget")


class Writer:
    """Appends to a results file, each line at once, so that an interruption loses what is being measured at most.

    Parameters
    ----------
    path
        The file. It must not be there yet, unless `resume` is given.
    header
        For the campaign line: "swapmeet", "commit", "created", "machine", "options".
    resume
        Continue the file that is there: `before` holds its contents; launches are numbered on.

    Raises
    ------
    SwapmeetError
        If the file is there and not to be resumed, is no results file, is being written to, or cannot be written.
    """

    before: Results | None  #: what was in the file

    def __init__(self, path: str | Path, header: Mapping[str, Any], resume: bool = False) -> None:
        self._path = Path(path)
        with texts.writing(self._path):
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            self._lock()
            self.before = self._resume(resume)
            self._launches = (
                1 + max((launch.launch for launch in self.before.launches), default=-1) if self.before else 0
            )
            self._append({"type": "campaign", "schema": SCHEMA, **header, **({"resumed": True} if self.before else {})})
        except BaseException:
            os.close(self._file)
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SwapmeetError(f"{self._path}: another swapmeet bench is writing to it: give another file") from None
        except OSError as problem:  # some parallel file systems have no locks
            if problem.errno not in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL):
                raise

    def _resume(self, resume: bool) -> Results | None:
        self._end = 0
        if not os.fstat(self._file).st_size:
            return None
        if not resume:
            raise SwapmeetError(f"{self._path} is there already: give another file, or continue it by --resume")
        with os.fdopen(os.dup(self._file), "rb") as file:
            results, self._end = read_open(self._path, file)
            file.seek(max(0, self._end - 1))
            last = file.read(1)
        os.ftruncate(self._file, self._end)
        if last != b"\n":
            self._write(b"\n")
        return results

    def launch(
        self,
        *,
        block: int,
        mpi: str,
        library: str,
        ranks: int,
        nodes: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        started: str,
        load: float | None,
        notes: Sequence[str] = (),
    ) -> int:
        """Begin a launch and return its number, which all that is measured in it carries."""
        number = self._launches
        self._append(
            {
                "type": "launch",
                "launch": number,
                "block": block,
                "mpi": mpi,
                "library": library,
                "ranks": ranks,
                "nodes": nodes,
                "command": list(command),
                "environment": dict(environment),
                "started": started,
                "load": load,
                "notes": list(notes),
            }
        )
        self._launches += 1
        return number

    def samples(
        self,
        launch: int,
        cell: Cell,
        spec: str,
        *,
        calls: int,
        round: int,
        longest: Iterable[float],
        shortest: Iterable[float],
        mean: Iterable[float],
    ) -> None:
        """Samples in the order taken, seconds per call; the first belongs to `round`, the next to round + 1, ..."""
        times = {"longest": _floats(longest), "shortest": _floats(shortest), "mean": _floats(mean)}
        place = {"type": "samples", "launch": launch, "cell": asdict(cell), "spec": spec}
        self._append({**place, "calls": calls, "round": round, **times})

    def phases(self, launch: int, cell: Cell, spec: str, *, calls: int, seconds: Mapping[str, Iterable[float]]) -> None:
        """Time of a call by phase, on each rank, in seconds."""
        times = {phase: _floats(values) for phase, values in seconds.items()}
        place = {"type": "phases", "launch": launch, "cell": asdict(cell), "spec": spec}
        self._append({**place, "calls": calls, "seconds": times})

    def overlap(
        self, launch: int, cell: Cell, spec: str, *, calls: int, tests: int, seconds: Mapping[str, float]
    ) -> None:
        """Times of a non-blocking exchange, alone and with computing in it, in seconds a call."""
        place = {"type": "overlap", "launch": launch, "cell": asdict(cell), "spec": spec}
        self._append({**place, "calls": calls, "tests": tests, "seconds": dict(seconds)})

    def limits(self, launch: int, cell: Cell, seconds: Mapping[str, float]) -> None:
        """What the machine allows for this cell, in seconds, by name."""
        self._append({"type": "limits", "launch": launch, "cell": asdict(cell), "seconds": dict(seconds)})

    def finished(self, cell: Cell, why: str) -> None:
        """Nothing more is to be measured for this cell; `why` is one of WHY_FINISHED."""
        if why not in WHY_FINISHED:
            raise ValueError(why)
        self._append({"type": "finished", "cell": asdict(cell), "why": why})

    def problem(self, launch: int | None, cell: Cell | None, spec: str | None, message: str) -> None:
        """Something could not be measured."""
        place = None if cell is None else asdict(cell)
        self._append({"type": "problem", "launch": launch, "cell": place, "spec": spec, "message": message})

    def _append(self, record: Mapping[str, Any]) -> None:
        self._write(json_line(record, ascii=True).encode())

    def _write(self, line: bytes) -> None:
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.pwrite(self._file, rest, self._end + len(line) - len(rest)) :]
        except OSError as problem:
            with contextlib.suppress(OSError):  # then the line stays torn, which readers bear
                os.ftruncate(self._file, self._end)
            raise SwapmeetError(f"{self._path}: {problem.strerror}: make room and go on by --resume") from None
        self._end += len(line)

    def close(self) -> None:
        """Close the file. Not to be used afterwards."""
        os.close(self._file)

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _floats(values: Iterable[float]) -> list[float]:
    return [float(value) for value in values]
