"""The command `swapmeet run`: an application with the library."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from swapmeet.cli.arguments import RANKS, Algorithm, Explain, Heap, Launcher, MpiOfApp, Stats, Trace, Watchdog
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import application, launch, mpis
from swapmeet.mpi.library import heap_library


def run(
    argv: Annotated[list[str], typer.Argument(metavar="APP [ARGS]...", help="The program, behind `--`.")],
    ranks: Annotated[int, typer.Option(*RANKS, min=1, help="Number of ranks.")],
    mpi: MpiOfApp = None,
    launcher: Launcher = None,
    algorithm: Algorithm = None,
    explain: Explain = False,
    stats: Stats = None,
    trace: Trace = None,
    watchdog: Watchdog = None,
    heap: Heap = False,
    native: Annotated[bool, typer.Option("--native", help="Without Swapmeet, to compare.")] = False,
) -> None:
    """Run an MPI program with its all-to-alls served by Swapmeet.

    With --stats or --explain it ends with a verdict: what was served, whether that was faster than the host MPI, and
    what to do next. With --watchdog, ranks that wait for too long are reported on one page. The exit status is the
    launcher's, mostly the program's.
    """
    options = {"algorithm": algorithm, "explain": explain, "stats": stats, "trace": trace}
    launch.require_writable("--stats", stats)
    if launcher is None:  # else other nodes may have other folders
        launch.require_writable("--trace", trace)
    chosen, preload, variables = application.prepare(argv, mpi, native, options, launcher, ranks)
    environment = mpis.environment(chosen, ranks)
    libraries = [preload] if preload else []
    if heap:
        if native:
            raise SwapmeetError("--heap needs the library, which --native leaves out")
        libraries.insert(0, heap_library(chosen))
        variables |= application.heap_variables()

    def words(variables: Mapping[str, str]) -> list[str]:
        return launch.command(chosen, ranks, argv, libraries, variables, launcher, checked=True)

    limit_s = _seconds(watchdog)
    if native and limit_s:
        raise SwapmeetError("--watchdog needs the library, which --native leaves out")
    if native or not (explain or stats or limit_s):
        launch.replace_process(words(variables), environment)
    common = ["-n", str(ranks), *_given("--mpi", mpi), *_given("--launcher", launcher)]
    from swapmeet.measure import verdict  # takes a while to load

    commands = verdict.Commands(
        automatic=_command("run", *common, "--stats", "-", "--", *argv),
        doctor=_command("doctor", *common, argv[0]),
        env=_command("env", *_given("--mpi", mpi), *_given("--algorithm", algorithm), argv[0]),
        profile=_command("profile", *common, "--", *argv),
        tune=_command("tune", "-n", str(ranks), "--mpi", chosen.name, *_given("--launcher", launcher)),
    )
    if not (explain or stats):
        with _watched(limit_s, shared=launcher is not None) as more:
            status = launch.attend(words({**variables, **more}), environment)
        if status:
            raise typer.Exit(status)
        return
    shared = launcher is not None
    with _statistics(stats, shared) as file, _watched(limit_s, shared) as more:
        before = _stamp(file)
        place = os.path.abspath(stats) if stats and stats != "-" else str(file)  # it may hold a %r
        counted = {**variables, **more, "SWAPMEET_STATS": place}
        status = launch.attend(words(counted), environment)
        is_new = _stamp(file) != before
        rows = verdict.read(file) if is_new and file.is_file() else None
        lost = rows is None and (is_new or (file.exists() and not file.is_file()))
    if stats == "-" and rows:
        from rich.console import Console

        print("swapmeet: calls of rank 0", file=sys.stderr)
        Console(stderr=True, width=None if sys.stderr.isatty() else 200, markup=False).print(verdict.table(rows))
    if lost and not status:
        why = "they could not be written, or not be read back"
        print(f"swapmeet: no verdict: there are no statistics in {file}: {why}", file=sys.stderr, flush=True)
    elif status != launch.INTERRUPTED:
        said = verdict.sentence(rows, status, f"{chosen.kind} {chosen.version}", argv[0], commands)
        print(f"swapmeet: verdict: {said}", file=sys.stderr, flush=True)
    if status:
        raise typer.Exit(status)


def _given(option: str, value: str | None) -> list[str]:
    return [] if value is None else [option, value]


def _command(*words: str) -> str:
    return shlex.join(["swapmeet", *words])


def _seconds(watchdog: str | None) -> float:
    """The limit of --watchdog; 0: there is none."""
    if watchdog is None:
        return 0.0
    try:
        limit_s = float(watchdog.removesuffix("s"))
    except ValueError:
        limit_s = -1
    if not 0 <= limit_s <= 1e6:
        raise SwapmeetError(f'--watchdog "{watchdog}": must be seconds, such as 60s or 0.5s')
    return limit_s


@contextmanager
def _watched(limit_s: float, shared: bool) -> Iterator[dict[str, str]]:
    """Variables that have ranks report into a folder for the time of the run; what they report is printed as a page."""
    if not limit_s:
        yield {}
        return
    from swapmeet.mpi import hang

    with _folder(shared) as folder, hang.Attendant(folder, limit_s, _show_hang):
        yield {"SWAPMEET_WATCHDOG": f"{limit_s:g}s,{folder}/%r.jsonl"}


def _show_hang(page: str) -> None:
    print(f"swapmeet: watchdog: {page}", file=sys.stderr, flush=True)


@contextmanager
def _folder(shared: bool) -> Iterator[Path]:
    """A folder for the time of the run; `shared`: other nodes should see it."""
    here = os.getcwd() if (shared or launch.batch_job()) and os.access(".", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix=".swapmeet-", dir=here) as folder:
        yield Path(folder)


@contextmanager
def _statistics(wanted: str | None, shared: bool) -> Iterator[Path]:
    """Where rank 0 writes its statistics: the user's file, or one for the time of the run, which other nodes see."""
    if wanted and wanted != "-":
        yield Path(os.path.abspath(wanted.replace("%r", "0")))
        return
    with _folder(shared) as folder:
        yield folder / "statistics.json"


def _stamp(file: Path) -> tuple[int, int] | None:
    """Identifies a file, to see whether it was replaced."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns
