"""What `swapmeet profile` does: runs and records an application, replays, prints."""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from swapmeet import progress, texts
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.measure.profiling import report, summary
from swapmeet.measure.profiling.exchanges import Found, distinct
from swapmeet.measure.profiling.recording import Recording, read
from swapmeet.measure.profiling.replay import Replay, Request, replay
from swapmeet.mpi import application, launch, mpis
from swapmeet.mpi.launch import INTERRUPTED
from swapmeet.mpi.library import library
from swapmeet.mpi.mpis import Mpi
from swapmeet.output import JSON, TABLE, json_text, print_json, tables_console

RECORDING = "recording"  #: a folder in that of the run


@dataclass(frozen=True)
class Program:
    """What is to be run; `argv` is empty where nothing is."""

    argv: list[str]
    ranks: int | None
    mpi: str | None  #: as it was named
    launcher: str | None


@dataclass(frozen=True)
class Wanted:
    """The replay that is asked for."""

    mpi: Mpi | None  #: None: that of the recording
    candidates: tuple[str, ...]
    budget_s: float
    launcher: str | None


def profile(
    program: Program,
    recorded: list[str],
    wanted: Wanted | None,
    keep: Path | None,
    output: Path | None,
    form: str = TABLE,
) -> int:
    """Run `program`, or take what is `recorded`, and print what was found. Returns the program's exit status."""
    if program.launcher:
        launch.launcher_words(program.launcher, 1, mpis.find(program.mpi) if program.mpi else mpis.default())
    if output is not None:
        texts.require_place(output)
    status = 0
    with _folder(keep) as folder:
        if recorded:
            if program.ranks is not None:
                raise SwapmeetError("-P is for running an application; --from analyses one that has run: leave one out")
            recording = read([*recorded, *program.argv])
        else:
            if not program.argv or program.ranks is None:
                raise SwapmeetError("what is to be profiled? `swapmeet profile -n 4 -- APP`, or --from FILES")
            launch.require_program(program.argv[0])
            target = application.choose_mpi(program.argv, program.mpi)
            wanted = wanted and replace(wanted, mpi=target)
            status = run_recorded(target, program.ranks, program.argv, program.launcher, folder, form == JSON)
            if (found := _read_run(folder / RECORDING, program.argv[0], status)) is None:
                return status
            recording = found
        _analyse(recording, None if status == INTERRUPTED else wanted, folder, output, form)
    return status


def run_recorded(
    target: Mpi, ranks: int, argv: Sequence[str], launcher: str | None, folder: Path, to_stderr: bool = False
) -> int:
    """Run an application with the all-to-alls of its MPI, recorded into `folder`. Returns its exit status.

    With `to_stderr` its output goes to standard error.
    """
    variables = {
        **launch.library_variables(NATIVE),
        "SWAPMEET_RECORD": str(folder / RECORDING / "%r.jsonl"),
        "SWAPMEET_EXPLAIN": "0",
        **launch.UNCOUNTED,
    }
    (folder / RECORDING).mkdir()
    words = launch.command(target, ranks, argv, library(target), variables, launcher)
    status = launch.attend(words, mpis.environment(target, ranks), to_stderr)
    if status not in (0, INTERRUPTED):
        print(f"swapmeet: {argv[0]} ended with status {status}; what was recorded follows", file=sys.stderr, flush=True)
    return status


def _read_run(folder: Path, program: str, status: int) -> Recording | None:
    """None: it failed, and left none."""
    if any(folder.iterdir()):
        return read([folder])
    if status:
        print(f"swapmeet: {program} left no recording: it failed before its first all-to-all", file=sys.stderr)
        return None
    raise SwapmeetError(
        f"{program} left no recording: the library was not loaded into it, or it is no MPI program (a static program "
        "cannot be profiled; `swapmeet run -n 2 --stats - -- APP` shows what is intercepted)"
    )


def _analyse(recording: Recording, wanted: Wanted | None, folder: Path, output: Path | None, form: str) -> None:
    found = distinct(recording)
    rows = summary.rows(recording, found)
    if form == TABLE:
        _print_recorded(recording, found, rows)
    replayed: Replay | None = None
    if rows and wanted:
        target = wanted.mpi or _same_mpi(recording)
        request = Request(target, wanted.candidates, wanted.budget_s, wanted.launcher)
        with _progress() as watch:
            replayed = replay(found, recording.ranks, request, folder, watch)
        if form == TABLE:
            _print_replay(tables_console(markup=True), recording, found, replayed)
    page = report.as_json(recording, found, rows, replayed)
    if form == JSON:
        print_json("profile", **page)
    if output is not None:
        texts.write(output, json_text(page) + "\n")


def _print_recorded(recording: Recording, found: Found, rows: list[summary.Row]) -> None:
    if not rows:
        many = len(recording.unused)
        print(f"No all-to-all was called{f' by {many} processes that used MPI' if many else ''}: nothing to gain.")
        return
    console = tables_console(markup=True)
    print(*report.heading(recording, found), sep="\n")
    console.print(report.summary_table(rows, recording))
    if any(len(row.sizes) > 1 for row in rows):
        console.print(report.histogram_table(rows))
    sys.stdout.flush()


def _print_replay(console: Console, recording: Recording, found: Found, replayed: Replay) -> None:
    if replayed.replayed:
        console.print(report.replay_table(replayed), report.gain_table(replayed, recording), sep="\n")
    print(*report.coverage(found, replayed), sep="\n")
    if replayed.replayed:
        print(*report.assumptions(recording, replayed, platform.node()), sep="\n")
    print(report.advice(recording, found, replayed), flush=True)


def _same_mpi(recording: Recording) -> Mpi:
    """The MPI here that is most like the one of the recording."""
    usable = mpis.found()[0]
    names = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel"}
    alike = [mpi for mpi in usable if names.get(mpi.kind, "?") in recording.mpi]
    same = [mpi for mpi in alike if mpi.version in recording.mpi]
    if not alike:
        raise SwapmeetError(f"{recording.mpi} is not here to replay with: name another by --mpi, or give --no-replay")
    return (same or alike)[0]


class _Bar:
    """How a replay goes, on a terminal."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("replaying", total=None)

    def begin(self, visits: int) -> None:
        self._bar.update(self._task, total=max(visits, 1), completed=0)

    def visit(self, cell: Cell, fraction: float) -> None:
        self._bar.update(self._task, description=f"replaying on {cell.ranks} ranks")

    def done(self) -> None:
        self._bar.advance(self._task)

    def problem(self, message: str) -> None:
        """Told at the end, with all others."""


@contextmanager
def _progress() -> Iterator[_Bar]:
    with progress.bar(TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()) as bar:
        yield _Bar(bar)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    """Where a recording and the samples go; an empty one."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="swapmeet-profile-") as temporary:
            yield Path(temporary)
        return
    if len(str(keep.absolute()).split()) != 1:
        raise SwapmeetError(f"--keep {keep}: the measuring program cannot read a path with blanks; give another folder")
    try:
        keep.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SwapmeetError(f"--keep {keep}: {problem.strerror}") from None
    if any(keep.iterdir()):
        raise SwapmeetError(f"--keep {keep}: there is something in it already; give a new folder")
    yield keep.absolute()
