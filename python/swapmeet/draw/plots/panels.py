"""Panels of one shape side by side, with one legend above them all and a note below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swapmeet.draw.plots.style import new_figure, wrapped

MOST_ACROSS = 4
TITLE, NOTE = 0.45, 0.3  #: inches
NOTE_CHARACTERS = 15.5  #: of a note in an inch
LEGEND_LINE, TITLE_LINE = 0.21, 0.165
GAP = 0.3
TICKS = 0.62  #: below each panel, for its scale


class Panels:
    """A figure laid out in inches, so that nothing overlaps however many panels there are.

    Parameters
    ----------
    title : str
        Of the figure.
    titles : sequence of str
        Of the panels; they may have several lines.
    size : (float, float)
        Width and height of a panel without its labels, in inches.
    handles : sequence
        Of the legend.
    note : str
        Below everything.
    left : float
        Room for the labels left of each panel; of the first column only if `shared`.
    shared : bool
        Whether all panels have the labels of the first column.
    """

    def __init__(
        self,
        title: str,
        titles: Sequence[str],
        size: tuple[float, float],
        *,
        handles: Sequence[Any],
        note: str,
        left: float,
        shared: bool = False,
        legend_columns: int | None = None,
        most_across: int = MOST_ACROSS,
    ) -> None:
        self.across = min(len(titles), most_across)
        self.down = -(-len(titles) // self.across)
        columns = legend_columns or (2 if self.across > 1 else 1)
        entries = -(-len(handles) // columns) * max([1, *(handle.get_label().count("\n") + 1 for handle in handles)])
        legend = 0.12 + LEGEND_LINE * entries if handles else 0.0
        head = 0.12 + TITLE_LINE * max(text.count("\n") + 1 for text in titles)
        gap = GAP + (0 if shared else left)
        self.width = max(left + self.across * size[0] + (self.across - 1) * gap + 0.3, 6.4)
        note = wrapped(note, int(self.width * NOTE_CHARACTERS))
        self.height = TITLE + legend + self.down * (head + size[1] + TICKS) + NOTE + 0.14 * note.count("\n")
        self.figure = new_figure(self.width, self.height)
        self.figure.suptitle(title, fontsize=12, x=0.15 / self.width, ha="left", y=1 - 0.18 / self.height)
        if handles:
            self.figure.legend(
                handles=handles,
                loc="upper left",
                bbox_to_anchor=(0.08 / self.width, 1 - TITLE / self.height),
                ncols=columns,
                frameon=False,
                fontsize=8.5,
                borderpad=0.1,
            )
        self.axes = []
        for i, text in enumerate(titles):
            x = left + (i % self.across) * (size[0] + gap)
            y = self.height - TITLE - legend - (i // self.across) * (head + size[1] + TICKS) - head - size[1]
            axes = self.figure.add_axes((x / self.width, y / self.height, size[0] / self.width, size[1] / self.height))
            axes.set_title(text, fontsize=9, loc="left")
            axes.tick_params(labelsize=8)
            self.axes.append(axes)
        self.figure.text(0.15 / self.width, 0.14 / self.height, note, fontsize=8, color="0.3")

    def first_column(self, i: int) -> bool:
        """Whether panel `i` is at the left."""
        return i % self.across == 0

    def label(self, x: str, y: str = "") -> None:
        """Name the axes of the outer panels."""
        for i, axes in enumerate(self.axes):
            if i + self.across >= len(self.axes):
                axes.set_xlabel(x, fontsize=9)
            if y and self.first_column(i):
                axes.set_ylabel(y, fontsize=9)
