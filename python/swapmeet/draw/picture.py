"""All that a picture of a schedule shows, of whatever kind the picture is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from swapmeet import _core
from swapmeet.draw import links
from swapmeet.draw.colours import LINE, rank_colours
from swapmeet.draw.digits import Digits, titles
from swapmeet.draw.replay import Frame, replay


@dataclass(frozen=True)
class Picture:
    """A schedule on a number of ranks, replayed."""

    spec: _core.Spec
    ranks: int
    nodes: str  #: the node map
    schedules: Sequence[_core.Schedule]
    frames: Sequence[Frame]
    titles: Sequence[tuple[str, str]]
    digits: Digits
    exchanged: Sequence[int | None]  #: the digit of each frame
    groups: Sequence[Sequence[int]]  #: of each rank at each level, the innermost first; none of single ranks
    network: _core.PlacedNetwork | None = None

    @property
    def node_of(self) -> Sequence[int]:
        """The node of each rank."""
        return self.groups[0] if self.groups else [0] * self.ranks

    @property
    def order(self) -> list[int]:
        """The ranks as they are drawn: those of a node, and of larger groups, together."""
        return sorted(range(self.ranks), key=lambda rank: [*(level[rank] for level in reversed(self.groups)), rank])

    @property
    def rounds(self) -> list[Frame]:
        """The frames that have messages."""
        return [frame for frame in self.frames if frame.messages]

    @property
    def scratch_blocks(self) -> int:
        """Of the rank with most."""
        return max(schedule.scratch_blocks for schedule in self.schedules)


def take(spec: _core.Spec, ranks: int, nodes: str = "", network: _core.PlacedNetwork | None = None) -> Picture:
    """The picture of a spec that can serve that many ranks."""
    schedules = [_core.generate(spec, ranks, rank, nodes) for rank in range(ranks)]
    frames = replay(schedules)
    digits = Digits(spec, ranks, nodes)
    exchanged = digits.exchanged(frames, ranks)
    groups = [level for level in _core.parse_node_map(nodes, ranks) if len(set(level)) < ranks] if nodes else []
    named = titles(spec, frames, exchanged, digits, groups[0] if groups else [0] * ranks)
    return Picture(spec, ranks, nodes, schedules, frames, named, digits, exchanged, groups, network)


def data(picture: Picture) -> dict[str, Any]:
    """The picture for the page. Moves are flat lists: place from, place to, block, and so on."""
    counts = _core.count(picture.spec, picture.ranks, picture.nodes)
    every = range(picture.ranks)
    result: dict[str, Any] = {
        "spec": str(picture.spec),
        "ranks": picture.ranks,
        "nodes": picture.nodes,
        "groups": picture.groups,
        "order": picture.order,
        "scratch": picture.scratch_blocks,
        "segment": picture.schedules[0].segment_bytes,
        "fills": rank_colours(picture.node_of),
        "lines": rank_colours(picture.node_of, LINE),
        "K": [schedule.messages for schedule in picture.schedules],
        "D": [schedule.blocks for schedule in picture.schedules],
        "most": {"K": counts.messages, "D": counts.blocks, "scratch": counts.scratch_blocks},
        "digits": [[digit.dimension, digit.weight, digit.radix] for digit in picture.digits.all],
        "offsets": [picture.digits.of(source, target) for source in every for target in every],
        "frames": [_frame(picture, number) for number in range(len(picture.frames))],
    }
    if picture.network is not None:
        result["network"] = links.drawing(picture.network)
        for frame, load in zip(result["frames"], links.loads(picture.network, picture.frames), strict=True):
            frame["load"] = load
    return result


def _frame(picture: Picture, number: int) -> dict[str, Any]:
    frame = picture.frames[number]
    title, meaning = picture.titles[number]
    return {
        "title": title,
        "meaning": meaning,
        "digit": picture.exchanged[number],
        "copies": [[one.source, [part for move in one.moves for part in move]] for one in frame.copies],
        "messages": [[one.source, one.target, [part for move in one.moves for part in move]] for one in frame.messages],
    }
