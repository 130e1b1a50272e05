"""Results as JSON lines, one for each point: where, what, how many ranks, which algorithm, and how long it took."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from swapmeet.errors import SwapmeetError


@dataclass(frozen=True)
class Point:
    """One run, or the median of several. Its time is what its ranks took on average, in seconds."""

    where: str
    program: str
    scaling: str
    ranks: int
    spec: str
    arguments: str
    seconds: float
    all_to_all_seconds: float
    operations: int
    #: Of each round where several were run, in order; in a round all specs ran, one after the other.
    rounds: Sequence[float] = ()

    def __post_init__(self) -> None:
        """Lists become tuples: points that are read equal those that were written."""
        object.__setattr__(self, "rounds", tuple(self.rounds))

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """Of which there is one result."""
        return self.where, self.program, self.scaling, self.ranks, self.spec

    @property
    def share(self) -> float:
        """Of its time that is in all-to-alls."""
        return self.all_to_all_seconds / self.seconds if self.seconds else 0.0


def read(file: Path) -> list[Point]:
    """All points of a file; none if there is no such file.

    Raises
    ------
    SwapmeetError
        If a line is none of ours: with its number.
    """
    points: list[Point] = []
    for number, line in enumerate(file.read_text().splitlines() if file.exists() else [], 1):
        try:
            points.append(Point(**json.loads(line)))
        except (ValueError, TypeError) as problem:
            raise SwapmeetError(f"{file}, line {number}: {problem}") from None
    return points


def append(file: Path, points: Iterable[Point]) -> None:
    """Write more points behind those of the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "a") as lines:
        lines.writelines(json.dumps(asdict(point)) + "\n" for point in points)
