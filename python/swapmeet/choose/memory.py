"""Files of memory: what the library has measured while programs ran, and rules that follow from it."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from swapmeet import __version__, _core
from swapmeet.choose.foreign import range_of
from swapmeet.choose.rule import Rule
from swapmeet.errors import SwapmeetError
from swapmeet.mpi.mpis import Mpi
from swapmeet.texts import MIB, text_of

FIRST = "swapmeet-memory "  #: words of a file
NATIVE = "native"
LEAST_CALLS = 8  #: of which an interval is taken
MEASURERS = ("calibration", "trial", "tune")  #: a later one outranks those before it


@dataclass(frozen=True)
class Store:
    """A file of memory."""

    path: Path
    remembered: _core.EvidenceFile
    site: bool = False  #: in a folder of the site's, which nothing is written to

    @property
    def evidence(self) -> list[_core.Evidence]:
        """Its content."""
        return self.remembered.evidence

    @property
    def key(self) -> _core.MemoryKey:
        """What that holds for."""
        return self.remembered.key


def key_here(target: Mpi) -> _core.MemoryKey:
    """What programs look for that run here with an MPI."""
    return _core.MemoryKey(f"{target.kind} {target.version}", _core.cluster_signature(), __version__)


def place_here(target: Mpi) -> Path:
    """The user's file for that.

    Raises
    ------
    SwapmeetError
        If there is no such place.
    """
    folder = _core.memory_folder()
    if not folder:
        raise SwapmeetError("neither HOME nor XDG_STATE_HOME is set: name a file")
    return Path(folder) / key_here(target).file_name


def read(path: Path, site: bool = False) -> Store:
    """The content of a file.

    Raises
    ------
    SwapmeetError
        If it is none.
    """
    if str(path.parent) in _folders() and path.exists() and not path.is_file():
        raise SwapmeetError(f"{path}: not a file")  # a pipe, which may be written to by nothing
    try:
        return Store(path, _core.parse_memory(text_of(path, MIB)), site)
    except ValueError as problem:
        raise SwapmeetError(f"{path}: {problem}") from None


def is_memory(path: Path) -> bool:
    """Whether it is one by its first words."""
    try:
        with path.open("rb") as opened:
            return opened.read(len(FIRST)) == FIRST.encode()
    except OSError as problem:
        raise SwapmeetError(f"{path}: {problem.strerror}") from None


def _folders() -> list[str]:
    """The user's, then those of the site."""
    return [folder for folder in (_core.memory_folder(), *_core.site_memory_folders()) if folder]


def found() -> list[Path]:
    """All files of the user, then those of the site."""
    return [path for folder in _folders() for path in sorted(Path(folder).glob("*.memory"))]


def is_site(path: Path) -> bool:
    """Whether it is one of the site's."""
    return str(path.parent) in _core.site_memory_folders()


def merge(path: Path, key: _core.MemoryKey, evidence: Sequence[_core.Evidence]) -> None:
    """Add evidence to a file, which is made if there is none.

    Raises
    ------
    SwapmeetError
        If that cannot be done; the file is as it was.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise SwapmeetError(f"{path}: {problem.strerror}") from None
    _require(_core.add_to_memory(os.path.abspath(path), key, list(evidence)), path)


def forget(path: Path, gone: Callable[[_core.Evidence], bool]) -> int:
    """Take evidence out of a file, and the file away if nothing is left. How much it was."""
    count = 0

    def change(evidence: Sequence[_core.Evidence]) -> Sequence[_core.Evidence]:
        nonlocal count
        kept = [one for one in evidence if not gone(one)]
        count = len(evidence) - len(kept)
        return kept

    _require(_core.change_memory(os.path.abspath(path), change), path)
    if not read(path).evidence:
        path.unlink(missing_ok=True)
    return count


def _require(problem: str, path: Path) -> None:
    if problem:
        raise SwapmeetError(f"{path}: {problem}")


def certain(evidence: Iterable[_core.Evidence]) -> list[tuple[_core.Evidence, str]]:
    """What is certainly the fastest of each kind of call, and why.

    That is a spec which is certainly faster than the host MPI (of several, the one with the least upper bound), or the
    host MPI if it is certainly faster than all measured specs. "Certainly" means that the intervals of two standard
    deviations of the mean do not overlap, with eight calls or more of each.
    """
    kinds: dict[tuple[object, ...], dict[str, _core.Evidence]] = {}
    for one in evidence:
        if one.calls < LEAST_CALLS:
            continue
        of_kind = kinds.setdefault((one.collective.value, one.ranks, one.nodes, one.per_node, one.size_class), {})
        same = of_kind.get(str(one.spec))
        if same is None or MEASURERS.index(same.by) < MEASURERS.index(one.by):
            of_kind[str(one.spec)] = one
    found = []
    for _, specs in sorted(kinds.items()):
        native = specs.pop(NATIVE, None)
        others = [specs[spec] for spec in sorted(specs)]
        if native is None or not others:
            continue
        faster = [one for one in others if _upper_s(one) < _lower_s(native)]
        if faster:
            best = min(faster, key=_upper_s)
            found.append((best, f"{_times(best)}, the host MPI {_microseconds(native)}; {best.calls} calls"))
        elif all(_upper_s(native) < _lower_s(one) for one in others):
            found.append((native, f"{_times(native)}; {native.calls} calls"))
    return found


def _upper_s(one: _core.Evidence) -> float:
    return one.mean_s + 2 * one.spread_s


def _lower_s(one: _core.Evidence) -> float:
    return one.mean_s - 2 * one.spread_s


def _times(one: _core.Evidence) -> str:
    day = datetime.datetime.fromtimestamp(one.date, datetime.timezone.utc)
    return f"memory of {day:%Y-%m-%d}: {_microseconds(one)}"


def _microseconds(one: _core.Evidence) -> str:
    return f"{1e6 * one.mean_s:.{1 if one.mean_s < 1e-4 else 0}f} us"


def rules(evidence: Iterable[_core.Evidence], has: Callable[[str, str], bool] | None = None) -> list[Rule]:
    """Rules that evidence is enough for, as a tuning file may have them.

    Parameters
    ----------
    evidence
        Of one machine and MPI.
    has
        Whether a spec counts for a collective; None: all do. The host MPI always counts.
    """
    counted = [
        one for one in evidence if has is None or str(one.spec) == NATIVE or has(str(one.spec), one.collective.name)
    ]
    # A tuning file knows the number of nodes alone: of several shapes with as many, the one with the most calls counts.
    calls: dict[tuple[str, int, int, int], dict[tuple[int, int], int]] = {}
    for one in counted:
        shapes = calls.setdefault(_place(one), {})
        shapes[one.per_node] = shapes.get(one.per_node, 0) + one.calls
    main = {place: max(shapes, key=lambda shape: (shapes[shape], shape)) for place, shapes in calls.items()}
    return [
        Rule(
            collective=best.collective.name,
            ranks=range_of(best.rank_range),
            nodes=range_of(best.node_range),
            bytes=None if best.collective.name != "alltoall" else range_of(best.bytes),
            spec=str(best.spec),
            evidence=why,
        )
        for best, why in certain(one for one in counted if one.per_node == main[_place(one)])
    ]


def _place(one: _core.Evidence) -> tuple[str, int, int, int]:
    return one.collective.name, one.ranks, one.nodes, one.size_class
