"""One launch of the measuring program, as an object: benchmarks/measure/measure.c does what is asked for here."""

from __future__ import annotations

import array
import math
import os
import re
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.cells import NATIVE, OVERLAP, Cell
from swapmeet.measure.bench.process import Process
from swapmeet.mpi.launch import UNCOUNTED, command
from swapmeet.mpi.library import library, measuring_program
from swapmeet.mpi.mpis import Mpi, environment

PREFIX = "measure: "
MATRIX = (
    "matrix:"  #: begins `Cell.sizes` where a file holds P·P numbers of 8 bytes: what rank i sends to rank j, row by row
)
BATCH_S = 2e-3  #: a batch of calls takes as long as this, at least: it is long against the clock
BARRIERS = 20  #: and as long as so many barriers: the ranks begin it that much apart, at most
LONGEST_BATCH_S = 0.2  #: but not longer than this on account of barriers
MOST_CALLS = 10**6  #: in a batch
MOST_BATCHES = 200  #: in one command: MPICH's launcher dies of input that its rank does not read at once
PATIENCE = 20  #: a list of samples may take so many times as long as was estimated, before it counts as hung
NOISE_LINES = 20  #: by others on standard output, told where a launch failed


class Refused(SwapmeetError):  # noqa: N818
    """The program would not do it, on any rank, and goes on."""


class Unavailable(Refused):
    """The library that is loaded, or this candidate, does not know."""


class WrongData(SwapmeetError):  # noqa: N818
    """An exchange delivered what was not sent, or wrote where nothing was to be written."""


class LaunchFailed(SwapmeetError):  # noqa: N818
    """The launch has ended, or hung and was killed; the launcher's own words are in the message."""


@dataclass(frozen=True)
class Sample:
    """One batch of calls. Seconds per call, over ranks."""

    longest: float
    shortest: float
    mean: float


@dataclass(frozen=True)
class Ran:
    """What the library made of a candidate in the present cell."""

    spec: str | None  #: that was executed, "native" if the call was left to the host MPI; None: unknown
    reason: str  #: in the library's words; may be empty


def batch(seconds_per_call: float, least_s: float = BATCH_S) -> int:
    """Calls in a sample that takes `least_s` seconds or more, if a call takes that many seconds."""
    if not seconds_per_call > 0:
        return MOST_CALLS
    return max(1, min(MOST_CALLS, math.ceil(least_s / seconds_per_call)))


class Session:
    """A launch of the measuring program, from `with` on; after it nothing is left of the launch, however it ended.

    Parameters
    ----------
    target : Mpi
        The MPI to launch with.
    ranks : int
        Number of ranks.
    nodes : str
        SWAPMEET_NODES of the launch; "": the MPI's nodes.
    launcher : str, optional
        Replaces the MPI's own mpiexec, as in "srun -n {ranks}".
    variables : mapping, optional
        More variables for the ranks.
    pin : bool
        Rank i runs on core i of those of all ranks, in turn.
    touch : bool
        Every rank rewrites its send buffer before each call, untimed.
    preload : bool
        If False, nothing is preloaded: to see whether the ranks start at all.
    timeout_s : float
        Limit in seconds for one answer, beyond the time that measuring is estimated to take.

    Raises
    ------
    LaunchFailed
        By every method, once the launch has ended; an answer that is overdue ends it.
    """

    def __init__(
        self,
        target: Mpi,
        ranks: int,
        *,
        nodes: str = "",
        launcher: str | None = None,
        variables: Mapping[str, str] | None = None,
        pin: bool = False,
        touch: bool = False,
        preload: bool = True,
        timeout_s: float = 120,
    ) -> None:
        target, measure = measuring_program(target)
        self.target, self.ranks, self.nodes, self.timeout_s = target, ranks, nodes, timeout_s
        self._options = [*(["pin"] if pin else []), *(["touch 1"] if touch else [])]
        settings = {**UNCOUNTED, "SWAPMEET_EXPLAIN": "1"}  # counting costs time; explaining, the first call
        settings |= {"SWAPMEET_NODES": nodes} if nodes else {}
        settings |= variables or {}
        self._preloads = preload
        ours = library(target) if preload else None
        words = command(target, ranks, [measure], ours, settings, launcher)
        self.command = words  #: that was launched
        self.environment = {**environment(target, ranks), **settings}  #: what the launch has besides os.environ
        self.description: dict[str, str] = {}  #: by the program: "mpi", "library", "cores", "nodes", "barrier"
        self._launch: Process | None = None
        self._noise: list[str] = []
        self._specs: dict[str, int] = {}
        self._seconds: dict[int, float] = {}  # estimates for the present cell
        self._barrier_s: float | None = None

    def __enter__(self) -> Session:
        try:
            self._launch = Process(self.command, {**os.environ, **environment(self.target, self.ranks)})
        except OSError as problem:
            raise LaunchFailed(f"cannot start {self.command[0]}: {problem.strerror}") from None
        try:
            self._greet()
        except BaseException:
            self._launch.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._launch is None or self._launch.status is not None or (kind and not issubclass(kind, Exception)):
            return self._launch.stop() if self._launch else None
        return self._launch.finish(b"quit\n")

    def candidate(self, spec: str) -> int:
        """Make a candidate of a spec, "auto", or "native" (the host MPI, called past the library).

        Returns
        -------
        int
            Its number. The same spec has the same number.

        Raises
        ------
        Refused
            If the library would not take the spec.
        """
        if spec not in self._specs:
            if "\n" in spec or "\0" in spec:
                raise Refused(f"{spec!r} is no spec")
            try:
                self._specs[spec] = int(self.ask(f"candidate {spec}")[-1][1])
            except Refused as problem:
                raise Refused(f'"{spec}": {_what_is_wrong(spec) or problem}') from None
        return self._specs[spec]

    def call(self, cell: Cell) -> None:
        """Set up the exchange that all later methods are about.

        Raises
        ------
        Refused
            If it takes more memory than there is, or sizes are no multiples of the datatype's: then there is none.
        """
        if cell.ranks != self.ranks or cell.nodes != self.nodes:
            raise Refused(f"this launch has {self.ranks} ranks and nodes {self.nodes!r}, unlike {cell}")
        words = (cell.collective, cell.sizes, str(cell.seed), cell.datatype)
        if any(re.search(r"\s|^$|\0", word) for word in words):
            raise Refused(f"no exchange: {cell}")
        self._seconds.clear()
        self.ask(f"call {' '.join(words)}")

    def check(self, candidate: int) -> None:
        """Exchange known data once and look at every byte.

        Raises
        ------
        WrongData
            With source, destination and byte.
        """
        self.ask(f"check {candidate}")

    def ran(self, candidate: int) -> Ran:
        """What really runs in the present cell where this candidate is asked for."""
        words = self.ask(f"ran {candidate}")[-1]
        spec, _, reason = " ".join(words[1:]).partition(" ")
        return Ran(None if spec == "?" else spec, reason)

    def seconds(self, candidate: int) -> float:
        """Estimate quickly how long a call takes, in seconds, after a warm-up."""
        self._seconds[candidate] = float(self.ask(f"estimate {candidate}")[-1][1])
        return self._seconds[candidate]

    def batch(self, seconds_per_call: float, least_s: float = BATCH_S) -> int:
        """Calls in a sample that is long against the clock, and against the barrier before it on these ranks."""
        return batch(seconds_per_call, max(least_s, min(BARRIERS * self.barrier_s, LONGEST_BATCH_S)))

    @property
    def barrier_s(self) -> float:
        """Seconds that nine of ten barriers take at most on these ranks: they begin a batch no further apart."""
        if self._barrier_s is None:
            self._barrier_s = float(self.ask("barrier 50")[-1][1])
            self.description["barrier"] = str(self._barrier_s)
        return self._barrier_s

    def measure(self, batches: Sequence[tuple[int, int]]) -> list[Sample]:
        """Take a sample of each (candidate, calls), in the order given."""
        if not batches:
            return []
        expected = sum((calls + 1) * self._seconds.get(candidate, 0) for candidate, calls in batches[:MOST_BATCHES])
        words = " ".join(f"{candidate}:{calls}" for candidate, calls in batches[:MOST_BATCHES])
        answers = self.ask(f"measure {words}", PATIENCE * expected)
        samples = [Sample(*map(float, words[1:])) for words in answers if words[0] == "sample"]
        return samples + self.measure(batches[MOST_BATCHES:])

    def phases(self, candidate: int, calls: int) -> dict[str, list[float]]:
        """Seconds per call by phase, on each rank. All of the host MPI's are "other".

        Raises
        ------
        Unavailable
            If the library has no phases.
        """
        expected = (calls + 1) * self._seconds.get(candidate, 0)
        answers = self.ask(f"phases {candidate} {calls}", PATIENCE * expected)
        return {words[1]: [float(word) for word in words[2:]] for words in answers if words[0] == "phase"}

    def overlap(self, candidate: int, calls: int, tests: int) -> dict[str, float]:
        """Seconds per call of non-blocking exchanges, alone and with as much computing in them, means over ranks.

        Returns
        -------
        dict
            The times of OVERLAP: start and wait in a loop; the computing alone; both at once, with `tests` calls of
            MPI_Test in the computing; and of that the start, the tests and the wait.
        """
        expected = 4 * (calls + 1) * self._seconds.get(candidate, 0)
        answers = self.ask(f"overlap {candidate} {calls} {tests}", PATIENCE * expected)
        return dict(zip(OVERLAP, map(float, answers[0][1:]), strict=True))

    def trace(self, candidate: int, path: Path) -> None:
        """Trace one call on all ranks into a file, in Chrome's trace format.

        Raises
        ------
        Unavailable
            If the library has no traces, or the candidate is the host MPI.
        """
        if re.search(r"[\n\0]", str(path)):
            raise Refused(f"{path!r} cannot be written")
        self.ask(f"trace {candidate} {path.absolute()}")

    def limits(self) -> dict[str, float]:
        """What no exchange of the present cell's bytes can beat inside a node, in seconds (measure/limits.h).

        Returns
        -------
        dict
            "memcpy", "memcpy-shared" and "flag". Blocks of unequal size count as that many of their mean size.

        Raises
        ------
        Refused
            If the ranks are on several nodes, or there is one only.
        """
        answers = self.ask("limits")
        return {words[1]: float(words[2]) for words in answers if words[0] == "limit"}

    @staticmethod
    def memory_bytes(cell: Cell) -> int:
        """Bytes of the buffers of that rank which needs most. Working memory, MPI's and the algorithm's, comes on top.

        Raises
        ------
        Refused
            If the sizes are no workload.
        """
        spread = 2 if cell.datatype == "strided" else 1
        if cell.block_bytes is not None:
            return 2 * spread * cell.ranks * cell.block_bytes
        if cell.sizes.startswith(MATRIX):
            return spread * _matrix_share(cell)
        try:
            workload = _core.parse_workload(cell.sizes)
        except ValueError as problem:
            raise Refused(f'"{cell.sizes}": {problem}') from None
        ranks, seed = cell.ranks, cell.seed
        shares = (
            workload.sent(seed, ranks, rank)[0] + workload.received(seed, ranks, rank)[0] for rank in range(ranks)
        )
        return spread * max(shares)

    def _greet(self) -> None:
        try:
            for words in self._answers(time.monotonic() + self.timeout_s):
                if words[0] == "ready":
                    break
                self.description[words[0]] = " ".join(words[1:])
        except TimeoutError:
            self._fail(f"the ranks were not ready within {self.timeout_s:g} s")
        if words[1] != str(self.ranks):
            self._fail(
                f"{words[1]} of {self.ranks} ranks found one another; is the launcher that of {self.target.name}?"
            )
        if self._preloads and self.description.get("library") == "none":
            self._fail(
                "libswapmeet.so was not preloaded; does the launcher pass LD_PRELOAD on, and can all nodes read it?"
            )
        for option in self._options:
            self.ask(option)

    def ask(self, question: str, expected_s: float = 0) -> list[list[str]]:
        """Put a question. Returns the words of each line of the answer, the last of which is "ok"."""
        if self._launch is None:
            raise LaunchFailed("the launch has not begun")
        deadline = time.monotonic() + self.timeout_s + expected_s
        answers = []
        try:
            self._launch.write(f"{question}\n".encode(errors="surrogateescape"), deadline)
            for words in self._answers(deadline):
                answers.append(words)
                if words[0] in ENDS:
                    break
        except TimeoutError:
            self._fail(f"no answer to `{question[:60]}` within {self.timeout_s + expected_s:g} s")
        kind, text = answers[-1][0], " ".join(answers[-1][1:])
        if kind != "ok":
            raise ENDS[kind](text)
        return answers

    def _answers(self, deadline: float) -> Iterator[list[str]]:
        """The words of each line that the program prints until the deadline; of noise by others, none."""
        assert self._launch
        while (line := self._launch.line(deadline)) is not None:
            _, found, text = line.partition(PREFIX)  # some launchers say before each line whose it is
            if found and text.split():
                yield text.split(" ")
            else:
                self._noise = [*self._noise, line][-NOISE_LINES:]
        self._fail("the launch has ended")

    def _fail(self, what: str) -> NoReturn:
        assert self._launch
        self._launch.stop()
        tail = "\n".join(filter(None, [*self._noise, self._launch.tail()]))
        words = shlex.join(self.command)
        raise LaunchFailed(f"{what} (status {self._launch.status}): {words}{tail and chr(10) + tail}")


ENDS: dict[str, type[SwapmeetError]] = {
    "ok": SwapmeetError,
    "refused": Refused,
    "unknown": Unavailable,
    "wrong": WrongData,
    "error": SwapmeetError,
}


def _matrix_share(cell: Cell) -> int:
    """Bytes that the rank which has most of them sends and receives, by the cell's file of sizes."""
    path, ranks = cell.sizes.removeprefix(MATRIX), cell.ranks
    numbers = array.array("q")
    try:
        numbers.frombytes(Path(path).read_bytes())
    except (OSError, ValueError) as problem:
        raise Refused(f'"{path}": {problem}') from None
    if len(numbers) != ranks**2:
        raise Refused(f'"{path}" does not hold {ranks} * {ranks} numbers of 8 bytes')
    return max(sum(numbers[i * ranks : (i + 1) * ranks]) + sum(numbers[i::ranks]) for i in range(ranks))


def _what_is_wrong(spec: str) -> str:
    """With a spec that the library refused; "" if nothing is."""
    if spec in ("auto", NATIVE):
        return ""
    try:
        _core.parse_spec(spec)
    except ValueError as problem:
        return str(problem)
    return ""
