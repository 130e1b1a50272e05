"""Running the conformance suite: `swapmeet conformance`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from swapmeet import _core
from swapmeet.mpi import launch
from swapmeet.mpi.library import library, program
from swapmeet.mpi.mpis import Mpi
from swapmeet.network.slot_tables import with_table

SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)
SHOWN_LINES = 20  #: of the output of a run that failed


@dataclass(frozen=True)
class Outcome:
    """One run of the suite."""

    algorithm: str
    ranks: int
    passed: bool
    summary: str  #: for a cell of the table
    details: str  #: what went wrong


def run(
    mpi: Mpi,
    algorithms: Sequence[str],
    ranks: Sequence[int],
    native: bool,
    arguments: Sequence[str],
    timeout_s: float,
) -> Iterator[Outcome]:
    """Run the suite for each algorithm and number of ranks.

    Parameters
    ----------
    mpi : Mpi
        The MPI to run on; library and suite are built for it if they are not up to date.
    algorithms : sequence of str
        Specs, or 'auto'; ignored if `native`.
    ranks : sequence of int
        Numbers of ranks.
    native : bool
        Run the host MPI alone, with nothing preloaded.
    arguments : sequence of str
        For the conformance program.
    timeout_s : float
        Limit of each run, in seconds.
    """
    argv = [str(program(mpi, "conformance")), *arguments]
    preload = None if native else library(mpi)
    for algorithm in ["(without Swapmeet)"] if native else algorithms:
        for p in ranks:
            reason = "" if native or algorithm == "auto" else _core.parse_spec(algorithm).unsuitable(p)
            if reason:
                yield Outcome(algorithm, p, True, "cannot serve", "")
                continue
            variables = {} if native else {"SWAPMEET_ALGORITHM": with_table(algorithm, p)}
            yield _run_once(mpi, algorithm, p, argv, preload, variables, timeout_s)


def _run_once(
    mpi: Mpi,
    algorithm: str,
    ranks: int,
    argv: Sequence[str],
    preload: Path | None,
    variables: Mapping[str, str],
    timeout_s: float,
) -> Outcome:
    words = launch.command(mpi, ranks, argv, preload, variables)
    try:
        done = launch.run(mpi, ranks, words, timeout_s=timeout_s)
    except subprocess.TimeoutExpired as problem:
        details = f"no end within {timeout_s:g} s\n{problem.output!s}{problem.stderr!s}"
        return Outcome(algorithm, ranks, False, "timeout", _shortened(details))
    summary = SUMMARY.search(done.stdout)
    passed = done.returncode == 0 and summary is not None
    if summary is None:
        return Outcome(
            algorithm, ranks, done.returncode == 0, f"status {done.returncode}", _shortened(done.stdout + done.stderr)
        )
    cell = f"{summary[1]} passed" if passed else f"{summary[2]} FAILED"
    details = "" if passed else _shortened(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return Outcome(algorithm, ranks, passed, cell, details)


def _shortened(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if not line.startswith("SKIP ")]
    return "\n".join(lines if len(lines) <= SHOWN_LINES else [*lines[:SHOWN_LINES], f"… ({len(lines)} lines)"])


def record(outcome: Outcome) -> dict[str, object]:
    """For other programs."""
    names = ("algorithm", "ranks", "passed", "summary")
    return {name: getattr(outcome, name) for name in names}


def table(outcomes: Sequence[Outcome]) -> Table:
    """A row for each algorithm, a column for each number of ranks."""
    ranks = sorted({outcome.ranks for outcome in outcomes})
    result = Table("algorithm", *(f"P = {p}" for p in ranks))
    for algorithm in dict.fromkeys(outcome.algorithm for outcome in outcomes):
        cells = {outcome.ranks: outcome.summary for outcome in outcomes if outcome.algorithm == algorithm}
        result.add_row(algorithm, *(cells.get(p, "") for p in ranks))
    return result
