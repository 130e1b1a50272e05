"""What a run was worth, in one line, by the statistics of its rank 0: what was served, was it faster, what next."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.table import Table

from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.cells import NATIVE
from swapmeet.structs import decoded
from swapmeet.units import bytes_text

TIE = 1.02  #: speed-ups nearer to 1 than this count as none
ON_TRIAL = "on trial"
NEVER = frozenset({"one rank only", "intercommunicator"})  #: reasons that hold whatever is set
RULE_OF_FILE = re.compile(r"rule: (.+), line (\d+)")
MEASURED = re.compile(r"#.*?([\d.]+) times as fast as native")


class Row(msgspec.Struct):
    """Calls that are alike, in a file that SWAPMEET_STATS wrote (docs/statistics.md)."""

    collective: str
    communicator_ranks: int
    algorithm: str  #: the spec that ran, or native
    reason: str
    calls: int
    nanoseconds: int
    bytes_sent: int = 0
    calls_by_mean_block: dict[str, int] = {}
    phase_nanoseconds: dict[str, int] = {}
    trials: int = 0
    trial_seconds: float = 0
    host_trial_seconds: float = 0


class Statistics(msgspec.Struct):
    """The file."""

    calls: list[Row]


@dataclass(frozen=True)
class Commands:
    """What the user may type next, each about this program on this MPI."""

    automatic: str  #: the same run, by the automatic choice
    doctor: str
    env: str
    profile: str
    tune: str


def read(path: Path) -> list[Row] | None:
    """The rows of a file of statistics; None where there is none, or not a whole one.

    Raises
    ------
    SwapmeetError
        If it cannot be read.
    """
    try:
        return decoded(msgspec.json.Decoder(Statistics).decode, path.read_bytes()).calls
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise SwapmeetError(f"{path}: {problem.strerror}") from None
    except msgspec.MsgspecError:
        return None


def sentence(rows: Sequence[Row] | None, status: int, mpi: str, program: str, commands: Commands) -> str:
    """The verdict.

    Parameters
    ----------
    rows
        What `read` returned.
    status
        The exit status.
    mpi
        The host MPI, as in "openmpi 5.0.11".
    program
        That ran.
    commands
        What may come next.
    """
    if rows is None and status:
        return f"{program} ended with status {status}, and left no statistics; next: {commands.doctor}"
    if rows is None:
        return (
            f"{program} never called MPI_Init with the library loaded: it calls no MPI, is linked statically or "
            f"setuid, or uses another MPI than {mpi}; next: {commands.doctor}"
        )
    if not rows:
        return f"{program} called no all-to-all: there is nothing to serve, and nothing to gain"
    calls = sum(row.calls for row in rows)
    served = sum(row.calls for row in rows if row.algorithm != NATIVE)
    begin = f"{served} of {calls} all-to-alls of rank 0 served{_left(rows)}"
    speedup, source = _judged(rows)
    if served == 0:
        return f"{begin}; no faster and no slower than {mpi}; next: {_when_none(rows, commands)}"
    if speedup is None:
        return f"{begin}; faster or slower than {mpi}: unknown ({source}); next: {commands.profile}"
    word = "faster" if speedup >= TIE else "slower" if speedup <= 1 / TIE else "as fast as"
    than = "" if word == "as fast as" else " than"
    following = commands.tune if word == "slower" else commands.env
    return f"{begin}; {word}{than} {mpi}: speed-up {speedup:.2f} of all-to-alls ({source}); next: {following}"


def table(rows: Iterable[Row]) -> Table:
    """What was called, for people."""
    found = Table("collective", "ranks", "calls", "bytes sent", "seconds", "algorithm (reason)", "calls by mean block")
    for row in rows:
        sizes = ", ".join(f"from {bytes_text(int(least))}: {many}" for least, many in row.calls_by_mean_block.items())
        phases = row.phase_nanoseconds
        where = "".join(f"\n  {name} {1e-9 * spent:.6f} s" for name, spent in phases.items() if spent)
        found.add_row(
            row.collective,
            str(row.communicator_ranks),
            str(row.calls),
            str(row.bytes_sent),
            f"{1e-9 * row.nanoseconds:.6f}",
            f"{row.algorithm} ({row.reason}){where}",
            sizes,
        )
    return found


def _left(rows: Sequence[Row]) -> str:
    """Why calls were left to the host MPI."""
    reasons: dict[str, int] = {}
    for row in rows:
        if row.algorithm == NATIVE:
            reasons[row.reason] = reasons.get(row.reason, 0) + row.calls
    each = "; ".join(f"{many} by the host MPI: {reason}" for reason, many in reasons.items())
    return f" ({each})" if each else ""


def _when_none(rows: Sequence[Row], commands: Commands) -> str:
    """What to do where the host MPI had all calls."""
    reasons = {row.reason for row in rows}
    if reasons & {"SWAPMEET_ALGORITHM"}:
        return commands.automatic
    if reasons <= NEVER:
        return "nothing, these are never served"
    if reasons <= {ON_TRIAL, "online choice"} or any(reason.startswith("no rule") for reason in reasons):
        return commands.tune
    return commands.doctor


def _judged(rows: Sequence[Row]) -> tuple[float | None, str]:
    """The speed-up of the calls that were served, if it is known for most of their time, and by what evidence."""
    tried = {_kind(row): row for row in rows if row.trials}  # holds for calls before it was known, too
    ours = [row for row in rows if row.algorithm != NATIVE and row.reason != ON_TRIAL]
    served = [(row, _evidence(tried.get(_kind(row), row))) for row in ours]
    if not served:
        return None, "nothing but trials"
    known = [(row.nanoseconds, speedup, source) for row, (speedup, source) in served if speedup is not None]
    unknown = [(row.nanoseconds, source) for row, (speedup, source) in served if speedup is None]
    spent = sum(time for time, *_ in known)
    if unknown and spent <= sum(time for time, _ in unknown):
        return None, max(unknown)[1]
    alone = sum(time * speedup for time, speedup, _ in known)
    return alone / max(spent, 1), "; ".join(dict.fromkeys(source for *_, source in known))


def _kind(row: Row) -> tuple[str, int, str]:
    return row.collective, row.communicator_ranks, row.algorithm


def _evidence(row: Row) -> tuple[float | None, str]:
    """By how much the host MPI would take longer, None: unknown; and the source of that."""
    if row.trials:
        speedup = row.host_trial_seconds / row.trial_seconds
        return (speedup, f"{row.trials} trials in this run")
    reason = row.reason
    if of_file := RULE_OF_FILE.fullmatch(reason):
        measured = _measured(Path(of_file[1]), int(of_file[2]))
        if measured is not None:
            return (measured, f"measured by `swapmeet tune`, {of_file[1]}, line {of_file[2]}")
        return (None, f"{reason}, whose gain is unknown")
    if reason.startswith("expected: "):
        return (None, reason)
    return (None, f"chosen by {reason}, not measured")


def _measured(file: Path, line: int) -> float | None:
    """What a rule of a tuning file states as its gain."""
    try:
        found = MEASURED.search(file.read_text().splitlines()[line - 1])
    except (OSError, ValueError, IndexError):
        return None
    return float(found[1]) if found else None
