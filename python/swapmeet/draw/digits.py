"""The digits by which blocks travel, and what the frames of a schedule are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swapmeet import _core
from swapmeet.draw.replay import Frame

COPIES = {"pack": "Pack", "unpack": "Unpack", "copy": "Rotate"}
MEANINGS = {
    "pack": "Blocks for one message are copied side by side.",
    "unpack": "Blocks that came in one message are copied to where they are kept.",
    "copy": "Blocks change places within each rank; nothing is sent.",
}


@dataclass(frozen=True)
class Digit:
    """One digit of the offset from source to destination."""

    dimension: int
    weight: int  #: in ranks along the dimension
    radix: int


class Digits:
    """How a spec counts offsets.

    Attributes
    ----------
    all : of an offset, in the order in which they are exchanged; none of leaders
    sizes : of the dimensions
    """

    def __init__(self, spec: _core.Spec, ranks: int, nodes: str) -> None:
        self._coordinates = _core.coordinates(spec, ranks, nodes)
        counts = _core.count(spec, ranks, nodes)
        self.sizes = counts.sizes
        self.all: list[Digit] = []
        for dimension, radices in enumerate(counts.radices if self._coordinates else []):
            weight = 1
            for radix in radices:
                self.all.append(Digit(dimension, weight, radix))
                weight *= radix

    def of(self, source: int, destination: int) -> list[int]:
        """The digits of the offset of a block."""
        if not self._coordinates:
            return []
        here, there = self._coordinates[source], self._coordinates[destination]
        offset = [(b - a) % size for a, b, size in zip(here, there, self.sizes, strict=True)]
        return [offset[digit.dimension] // digit.weight % digit.radix for digit in self.all]

    def exchanged(self, frames: Sequence[Frame], ranks: int) -> list[int | None]:
        """For each frame, which digit its messages exchange; None: it has none, or that cannot be told."""
        steps: dict[int, set[int]] = {}  # the digits that are zero in no block of the step
        for frame in frames:
            for message in frame.messages:
                for _, _, block in message.moves:
                    values = self.of(*divmod(block, ranks))
                    nonzero = {i for i, value in enumerate(values) if value}
                    steps[frame.step] = steps.get(frame.step, nonzero) & nonzero
        found, least = {}, 0
        for step, candidates in sorted(steps.items()):
            least = min((i for i in candidates if i >= least), default=least)
            found[step] = least if least in candidates else None
        return [found.get(frame.step) if frame.messages else None for frame in frames]


def titles(
    spec: _core.Spec, frames: Sequence[Frame], digits: Sequence[int | None], counted: Digits, node_of: Sequence[int]
) -> list[tuple[str, str]]:
    """(title, meaning) of each frame."""
    rounds = sum(bool(frame.messages) for frame in frames)
    by_nodes = len(set(node_of)) > 1 and len(counted.sizes) > 1
    rows, number = [], 0
    for frame, digit in zip(frames, digits, strict=True):
        if not frame.messages:
            own = frame.purpose == "copy" and spec.family != "bruck"
            rows.append(("Copy" if own else COPIES[frame.purpose], MEANINGS[frame.purpose]))
            continue
        number += 1
        title = f"Round {number} of {rounds}"
        if spec.family == "leaders":
            title += f": {_phase(frame, frames, node_of)}"
        elif digit is not None and len(counted.all) > 1:
            title += f": {_digit_name(counted, digit, by_nodes)}"
        rows.append((title, _meaning(frame, len(node_of), node_of)))
    return rows


def _digit_name(counted: Digits, number: int, nodes: bool) -> str:
    digit = counted.all[number]
    name = f"digit of weight {digit.weight}"
    if len(counted.sizes) == 1:
        return name
    if not nodes:
        return f"dimension {digit.dimension + 1}, {name}"
    middle = "between nodes" if len(counted.sizes) == 2 else "between nodes of a group"
    outermost = digit.dimension + 1 == len(counted.sizes) > 2
    level = "within nodes" if digit.dimension == 0 else "between groups of nodes" if outermost else middle
    alone = sum(other.dimension == digit.dimension for other in counted.all) == 1
    return level if alone else f"{level}, {name}"


def _phase(frame: Frame, frames: Sequence[Frame], node_of: Sequence[int]) -> str:
    def crosses(one: Frame) -> bool:
        return any(node_of[message.source] != node_of[message.target] for message in one.messages)

    if crosses(frame):
        return "leaders exchange between nodes"
    if not any(map(crosses, frames)):
        return "within the node"
    return "leaders gather" if any(map(crosses, frames[frames.index(frame) :])) else "leaders scatter"


def _meaning(frame: Frame, ranks: int, node_of: Sequence[int]) -> str:
    distances = sorted({(message.target - message.source) % ranks for message in frame.messages})
    whole = len(frame.messages) == ranks * len(distances)
    across = sum(node_of[message.source] != node_of[message.target] for message in frame.messages)
    text = f"{len(frame.messages):,} messages" if len(frame.messages) > 1 else "1 message"
    blocks = sum(len(message.moves) for message in frame.messages)
    text += f" with {blocks:,} block{'s' if blocks != 1 else ''}"
    if len(set(node_of)) > 1:
        text += f", {across:,} of them between nodes" if across not in (0, len(frame.messages)) else ""
        text += ", all between nodes" if across == len(frame.messages) else ", none between nodes" if not across else ""
    text += "."
    if whole and len(distances) <= 4:
        text += f" Each rank sends to rank + {', '.join(f'{distance}' for distance in distances)} (modulo {ranks})."
    elif whole and len(distances) == ranks - 1:
        text += " Each rank sends to every other."
    return text
