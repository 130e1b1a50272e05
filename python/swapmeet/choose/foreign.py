"""Rules in the files of other MPIs: which of their algorithms are ours, and which calls a rule of theirs is for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from swapmeet import _core
from swapmeet.choose.rule import Rule
from swapmeet.errors import SwapmeetError
from swapmeet.texts import MIB, text_of

MOST_BYTES = MIB  #: of a file that is read
END = 2**63 - 1

Algorithm = Callable[[str, str], str | None]


@dataclass(frozen=True)
class Call:
    """A call of an application, as far as rules ask."""

    collective: str
    ranks: int
    block_bytes: int
    per_node: int | None = None  #: None: all ranks on one node


@dataclass(frozen=True)
class Theirs:
    """What another MPI does with a call."""

    algorithm: str  #: by its own name
    spec: str | None  #: ours that sends the same messages; None: there is none
    why: str  #: where the file says so


@dataclass(frozen=True)
class Share:
    """From `least` on, up to the next one: of ranks, or of bytes of a block."""

    least: int
    algorithm: str | None  #: by the MPI's own name; None: its own choice


def kind(spec: str) -> str | None:
    """What messages a spec sends, of a kind that MPIs have algorithms for: pairwise, spread-out, window=N, radix=N.

    None for all others: in other orders, in segments, through shared memory, along several dimensions.
    """
    point = _core.parse_spec(spec)
    parameters = dict(point.parameters)
    if parameters.get("intra") != "mpi":
        return None
    if point.family == "direct" and (parameters["order"], parameters["segment"]) == ("shift", "0"):
        window = parameters["window"]
        return {"1": "pairwise", "all": "spread-out"}.get(window, f"window={window}")
    whole = parameters.get("dims") == "P" and parameters.get("messages") == "coalesced"
    return f"radix={parameters['radix']}" if whole and parameters["radix"].isdecimal() else None


def shares(rules: Sequence[Rule], collective: str, known: Algorithm) -> list[tuple[int, list[Share]]]:
    """Which algorithm for how many ranks, ascending, and sizes; where rules know nothing, the MPI's own choice.

    Rules that hold for other numbers of nodes count alike, for files of other MPIs do not ask for nodes: where they
    differ, the MPI chooses.

    Parameters
    ----------
    rules
        Of a tuning file.
    collective
        That is meant.
    known
        The MPI's algorithm for a collective and a kind() of messages, if it has one.
    """
    wanted = [rule for rule in rules if rule.collective == collective]
    edges = _edges(rule.ranks for rule in wanted)
    found: list[tuple[int, list[Share]]] = []
    for least in edges:
        some = [rule for rule in wanted if _within(least, rule.ranks)]
        line = []
        for size in _edges(rule.bytes or (0, None) for rule in some) or [0]:
            here = {_theirs(rule, known) for rule in some if _within(size, rule.bytes or (0, None))}
            line.append(Share(size, here.pop() if len(here) == 1 else None))
        line = [Share(0, None)] * (line[0].least > 0) + line
        line = [
            one
            for before, one in zip([None, *line], line, strict=False)
            if not before or before.algorithm != one.algorithm
        ]
        if not found or found[-1][1] != line:
            found.append((least, line))
    return found


def _theirs(rule: Rule, known: Algorithm) -> str | None:
    messages = kind(rule.spec)
    return None if messages is None else known(rule.collective, messages)


def _edges(ranges: Iterable[tuple[int, int | None]]) -> list[int]:
    """Where something may change."""
    return sorted(
        {edge for least, most in ranges for edge in (least, None if most is None else most + 1) if edge is not None}
    )


def _within(value: int, bounds: tuple[int, int | None]) -> bool:
    least, most = bounds
    return least <= value and (most is None or value <= most)


def decided(lines: Iterable[tuple[int, Sequence[Share]]]) -> bool:
    """Whether there is anything but the MPI's own choice."""
    return any(share.algorithm for _, line in lines for share in line)


def range_of(bounds: tuple[int, int]) -> tuple[int, int | None]:
    """A range of the core as a Rule has it."""
    return bounds[0], None if bounds[1] == END else bounds[1]


def rules_of(path: Path) -> list[Rule]:
    """The rules of a tuning file.

    Raises
    ------
    SwapmeetError
        With the line and the reason if it cannot be used.
    """
    try:
        tuning = _core.parse_tuning(text_of(path, MOST_BYTES))
    except ValueError as problem:
        raise SwapmeetError(f"{path}: {problem}") from None

    return [
        Rule(
            collective=rule.collective.name,
            ranks=range_of(rule.rank_range),
            nodes=None,
            bytes=range_of(rule.bytes),
            spec=str(rule.spec),
            evidence="",
        )
        for rule in tuning.rules
    ]


def lines_of(rows: Iterable[tuple[int, Sequence[Share]]]) -> Iterator[tuple[int, int | None, Sequence[Share]]]:
    """Each number of ranks with the last that it is for."""
    listed = list(rows)
    for (least, line), after in itertools.zip_longest(listed, listed[1:]):
        yield least, None if after is None else after[0] - 1, line
