"""What a figure of a paper is here: where its numbers come from, what the paper claims of it, and how that is judged.

Everything is data: a figure has sources, which give rows of numbers, and claims, each of which judges these rows by a
criterion that it states. Verdicts are never written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

CONFIRMED, EXCEEDED, PARTLY, REFUTED = "confirmed", "exceeded", "partly", "refuted"
NOT_HERE = "not reproducible here"
VERDICTS = (CONFIRMED, EXCEEDED, PARTLY, REFUTED, NOT_HERE)

COUNTS, MODEL, SIMULATION = "counts", "model", "simulation"  #: how numbers are got: "by" of each row

Row = Mapping[str, Any]  #: numbers and what they are of, by name, as JSON has them


class Rows:
    """Rows that can be asked for by what they are of."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = list(rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def where(self, **wanted: object) -> Rows:
        """Those with these values."""
        return Rows(row for row in self._rows if all(row.get(name) == value for name, value in wanted.items()))

    def having(self, name: str) -> Rows:
        """Those with such a number."""
        return Rows(row for row in self._rows if name in row)

    def values(self, name: str) -> list[Any]:
        """The different values of a name, in the order in which they occur."""
        return list(dict.fromkeys(row[name] for row in self._rows if name in row))

    def one(self, name: str, **wanted: object) -> Any:
        """The value of the one row with these values and this name; None if there is no such row."""
        found = self.where(**wanted).having(name).values(name)
        if len(found) > 1:
            raise ValueError(f"{name} of {wanted}: {found}")
        return found[0] if found else None


@dataclass(frozen=True)
class Judgement:
    """What comes of a claim."""

    verdict: str  #: one of VERDICTS
    finding: str  #: our numbers, in words


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, and how it is judged."""

    statement: str  #: the paper's, in its words or shorter
    section: str
    criterion: str  #: by which it is judged
    judge: Callable[[Rows], Judgement]


class Source(Protocol):
    """Where numbers come from."""

    @property
    def by(self) -> str:
        """COUNTS, MODEL or SIMULATION."""

    @property
    def words(self) -> str:
        """The configuration, for people."""


class Computed(Source, Protocol):
    """Numbers that take seconds."""

    def rows(self) -> Iterable[Row]:
        """Compute them."""


@dataclass(frozen=True)
class Figure:
    """A figure, a table or a claim of a paper."""

    key: str  #: paper and figure, as in "tra:fig8"
    title: str
    place: str  #: in the paper
    sources: Sequence[Source]
    claims: Sequence[Claim]
    reduced: str = ""  #: what is less than in the paper, or other, and why
    draw: Callable[[Rows], Any] | None = None  #: makes a matplotlib figure

    @property
    def paper(self) -> str:
        """Its key in docs/papers.bib."""
        return self.key.partition(":")[0]

    @property
    def stem(self) -> str:
        """Of its files."""
        return self.key.replace(":", "-")
