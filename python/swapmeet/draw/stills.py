"""All rounds of a schedule in one still picture: which rank sends to which, and what the buffers hold then."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from swapmeet.draw.colours import LINE, rank_colours
from swapmeet.draw.picture import Picture
from swapmeet.draw.plots.style import new_figure, wrapped
from swapmeet.draw.replay import Frame, Transfer

PANEL = 2.9  #: inches
MOST_LABELLED = 10  #: ranks whose blocks are named
PALE = 0.25  #: of a block's colour is left where it has moved on
EMPTY = "#eef0f3"
INK, FAINT = "#1d2129", "#667085"
LEGEND = (
    "Below each circle: send buffer, receive buffer, working memory of each rank, as the round begins; "
    "colour: destination; framed: leaves now; pale: has moved on."
)


class Contents:
    """What the buffers hold, as frames go by."""

    def __init__(self, picture: Picture) -> None:
        self.ranks = ranks = picture.ranks
        self.rows = [
            [r * ranks + d for d in range(ranks)] + [-1] * (ranks + picture.scratch_blocks) for r in range(ranks)
        ]
        self._written = {block: divmod(block, ranks) for block in range(ranks * ranks)}  # where each was written last

    def advance(self, transfers: Sequence[Transfer]) -> None:
        """Make the moves of copies or messages."""
        for transfer in transfers:
            for _, place, block in transfer.moves:
                self.rows[transfer.target][place] = block
                self._written[block] = transfer.target, place

    def live(self, rank: int, place: int) -> bool:
        """Whether what is there has not moved on since."""
        return self._written[self.rows[rank][place]] == (rank, place)


def still(picture: Picture, rounds: Sequence[int], named: bool = True) -> Any:
    """A figure with a panel for each of the rounds, numbered from 1, and one for the end.

    Blocks of few ranks have names if wanted.
    """
    strip = 0.75 if MOST_LABELLED < picture.ranks <= 16 else 1.1
    columns = min(len(rounds) + 1, max(4, math.ceil(math.sqrt(1.6 * (len(rounds) + 1)))))
    lines = math.ceil((len(rounds) + 1) / columns)
    width = columns * PANEL + 0.3
    ranks = f"{picture.ranks} rank{'s' if picture.ranks != 1 else ''}"
    nodes = f", nodes {picture.nodes}" if len(picture.nodes) in range(1, 30) else ""
    title = wrapped(f"{picture.spec} on {ranks}{nodes}", int(width * 11))
    legend = wrapped(LEGEND, int(width * 17))
    above, below = (0.43 + 0.19 * (title.count("\n") + 1), 0.18 + 0.12 * (legend.count("\n") + 1))  # inches
    height = lines * (PANEL + strip + 0.5) + above + below - 0.32
    figure = new_figure(width, height)
    figure.suptitle(title, fontsize=11, color=INK, x=0.02, ha="left", y=1 - 0.12 / height, va="top")
    figure.text(0.02, 0.1 / height, legend, fontsize=7, color=FAINT)
    grid = figure.add_gridspec(
        2 * lines, columns, height_ratios=[PANEL, strip] * lines,
        left=0.02, right=0.98, top=1 - above / height, bottom=below / height, hspace=0.22, wspace=0.08,
    )  # fmt: skip
    cells = iter([(2 * line, column) for line in range(lines) for column in range(columns)])

    def panel(name: str, frame: Frame | None) -> None:
        line, column = next(cells)
        axes = figure.add_subplot(grid[line, column])
        axes.set_title(name.replace(": ", ":\n"), fontsize=8, color=INK, pad=2)
        _draw_ring(axes, picture, frame)
        below_it = figure.add_subplot(grid[line + 1, column])
        _draw_buffers(below_it, picture, frame, contents, named and picture.ranks <= MOST_LABELLED)

    contents, number = Contents(picture), 0
    for frame, (name, _) in zip(picture.frames, picture.titles, strict=True):
        contents.advance(frame.copies)
        number += bool(frame.messages)
        if frame.messages and number in rounds:
            panel(name, frame)
        contents.advance(frame.messages)
    panel("The end", None)
    return figure


def _angles(picture: Picture) -> list[float]:
    """Of the ranks, clockwise from the top, with gaps between nodes."""
    node_of, order = picture.node_of, picture.order
    gap = 0.8 if len(set(node_of)) > 1 else 0.0
    places, at = {}, 0.0
    for before, rank in zip([order[0], *order], order, strict=False):
        at += gap if node_of[before] != node_of[rank] else 0
        places[rank] = at
        at += 1
    return [2 * math.pi * places[rank] / (at + gap) for rank in range(picture.ranks)]


def _draw_ring(axes: Any, picture: Picture, frame: Frame | None) -> None:
    from matplotlib.patches import FancyArrowPatch, Wedge

    axes.set(xlim=(-1.22, 1.22), ylim=(-1.22, 1.22), aspect="equal")
    axes.axis("off")
    angles = _angles(picture)
    points = [(math.sin(angle), math.cos(angle)) for angle in angles]
    nodes = sorted(set(picture.node_of))
    half = math.pi / (picture.ranks + 0.8 * len(nodes))
    for node in nodes if len(nodes) > 1 else []:
        mine = [angles[rank] for rank in range(picture.ranks) if picture.node_of[rank] == node]
        begin, end = (90 - math.degrees(angle) for angle in (max(mine) + half, min(mine) - half))
        axes.add_patch(Wedge((0, 0), 1.17, begin, end, width=0.34, facecolor=EMPTY, edgecolor="#dfe3e8", linewidth=0.6))
    glyph = min(0.115, 2.2 / picture.ranks)
    points_per_unit = PANEL * 72 / 2.6
    lines = rank_colours(picture.node_of, LINE)
    for message in frame.messages if frame else []:
        thick = min(0.9, 0.25 + 10 * glyph / 2) * (1 + 0.35 * math.log2(len(message.moves)))
        axes.add_patch(
            FancyArrowPatch(
                points[message.source], points[message.target], connectionstyle="arc3,rad=0.18",
                arrowstyle=f"-|>,head_length={1.2 + thick},head_width={0.6 + thick / 2}", linewidth=thick,
                color=lines[message.source], shrinkA=glyph * points_per_unit, shrinkB=glyph * points_per_unit,
            )
        )  # fmt: skip
    axes.scatter(
        *zip(*points, strict=True), s=(2 * glyph * points_per_unit) ** 2 * 0.8,
        c=rank_colours(picture.node_of), zorder=3, edgecolors="white", linewidths=0.5,
    )  # fmt: skip
    for rank, (x, y) in enumerate(points if picture.ranks <= 32 else []):
        axes.text(x, y, str(rank), fontsize=min(7, 65 * glyph), ha="center", va="center_baseline", color=INK, zorder=4)


def _draw_buffers(axes: Any, picture: Picture, frame: Frame | None, contents: Contents, named: bool) -> None:
    from matplotlib.colors import to_rgb

    ranks, gap = picture.ranks, max(1, picture.ranks // 12)
    fills = [to_rgb(fill) for fill in rank_colours(picture.node_of)]

    def cell(place: int) -> int:
        return place + gap * min(place // ranks, 2)

    width = cell(2 * ranks + picture.scratch_blocks - 1) + 1
    image = [[(1.0, 1.0, 1.0)] * width for _ in range(ranks)]
    for y, rank in enumerate(picture.order):
        for place, block in enumerate(contents.rows[rank]):
            if block < 0:
                image[y][cell(place)] = to_rgb(EMPTY)
                continue
            strength = 1 if contents.live(rank, place) else PALE
            red, green, blue = (strength * channel + 1 - strength for channel in fills[block % ranks])
            image[y][cell(place)] = red, green, blue
            if named:
                name = f"{block // ranks}\n{block % ranks}"
                centred = {"ha": "center", "va": "center"}
                axes.text(cell(place), y, name, fontsize=3.4, linespacing=0.9, color=INK, alpha=strength, **centred)
    axes.imshow(image, aspect="auto", interpolation="nearest")
    axes.axis("off")
    messages = frame.messages if frame else []
    leaving = [(message.source, place) for message in messages for place, _, _ in message.moves]
    _outline(axes, {(cell(place), picture.order.index(rank)) for rank, place in leaving})


def _outline(axes: Any, cells: set[tuple[int, int]]) -> None:
    """A line around cells that lie together."""
    from matplotlib.collections import LineCollection

    sides = {(-1, 0): ((0, 0), (0, 1)), (1, 0): ((1, 0), (1, 1)), (0, -1): ((0, 0), (1, 0)), (0, 1): ((0, 1), (1, 1))}
    segments = [
        [(x - 0.5 + dx, y - 0.5 + dy) for dx, dy in ends]
        for x, y in cells
        for (right, down), ends in sides.items()
        if (x + right, y + down) not in cells
    ]
    axes.add_collection(LineCollection(segments, colors=INK, linewidths=0.6, capstyle="projecting", clip_on=False))
