"""How many bytes each rank sends to each: from a recording of an application, a file of numbers, or a workload."""

from __future__ import annotations

from pathlib import Path

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.texts import MIB, text_of
from swapmeet.units import parse_bytes

OPTION = "--workload"
MOST_BYTES = 1024 * MIB  #: of a recording or a matrix

Sizes = list[list[int]]  #: (P, P), bytes from each rank to each


def read(text: str, ranks: int | None) -> Sizes | _core.Workload:
    """Sizes of a file, of a folder that SWAPMEET_RECORD wrote to, or a workload (whose sizes depend on the ranks).

    Parameters
    ----------
    ranks : of which communicators of a recording; None: of those that make the most expensive calls

    Raises
    ------
    SwapmeetError
        With the file, the line and the problem.
    """
    path = Path(text)
    if path.is_dir():
        return recorded(path, ranks)
    if not path.exists():
        try:
            return _core.parse_workload(text)
        except ValueError as problem:
            raise SwapmeetError(f'{OPTION} "{text}" is no file, and no workload: {problem}') from None
    content = text_of(path, MOST_BYTES)
    return recorded(path, ranks) if content.startswith("{") else parse(content, str(path))


def parse(text: str, name: str) -> Sizes:
    """P lines of P sizes; what follows # is a comment.

    Raises
    ------
    SwapmeetError
        With the line and the problem.
    """
    rows: Sizes = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if rows and len(words) != len(rows[0]):
            raise SwapmeetError(f"{name}: expected {len(rows[0])} sizes, found {len(words)} (line {number})")
        try:
            rows.append([parse_bytes(word, "") for word in words])
        except SwapmeetError as problem:
            raise SwapmeetError(f"{name}:{problem} (line {number})") from None
    if not rows or len(rows) != len(rows[0]):
        need = (
            f"as many lines as sizes in each, {len(rows[0])}, but there are {len(rows)}"
            if rows
            else "a line for each rank"
        )
        raise SwapmeetError(f"{name}: expected {need}")
    return rows


def recorded(path: Path, ranks: int | None) -> Sizes:
    """The mean of a recording's MPI_Alltoallv and MPI_Alltoallw, of the number of ranks whose calls take most time.

    Raises
    ------
    SwapmeetError
        If there is none, or none of that many ranks.
    """
    try:
        import numpy as np

        from swapmeet.measure.profiling import exchanges, recording
    except ImportError as problem:
        raise SwapmeetError(
            f"{OPTION} with a recording needs {problem.name}: `pip install 'swapmeet[bench]'`"
        ) from None
    found = [one for one in exchanges.distinct(recording.read([path])).distinct if one.collective != "alltoall"]
    chosen = [one for one in found if ranks is None or one.ranks == ranks]
    if not chosen:
        others = ", ".join(map(str, sorted({one.ranks for one in found})))
        what = f" on {ranks} ranks, only on {others}" if found else " whose sizes are known of all ranks"
        raise SwapmeetError(f"{path}: it has no MPI_Alltoallv{what}")
    p = chosen[0].ranks
    all_bytes, calls = np.zeros((p, p)), 0.0
    for one in chosen:
        if one.ranks == p:
            all_bytes += np.broadcast_to(np.asarray(one.bytes), (p, p)) * one.calls
            calls += one.calls
    return [[round(float(size) / calls) for size in row] for row in all_bytes]


def for_ranks(weights: Sizes | _core.Workload, seed: int, ranks: int) -> Sizes:
    """The sizes for that many ranks.

    Raises
    ------
    SwapmeetError
        If they are of another number.
    """
    if isinstance(weights, _core.Workload):
        return _core.workload_sizes(str(weights), seed, ranks)
    if len(weights) != ranks:
        raise SwapmeetError(
            f"{OPTION}: the sizes are of {len(weights)} ranks, but {ranks} are placed: give -P {len(weights)}"
        )
    return weights


def ranks_of(weights: Sizes | _core.Workload) -> int:
    """0: as many as there are."""
    return 0 if isinstance(weights, _core.Workload) else len(weights)
