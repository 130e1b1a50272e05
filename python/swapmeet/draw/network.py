"""A picture of what orders put on each link of a network, round by round: `swapmeet topology --picture`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swapmeet import _core
from swapmeet.errors import SwapmeetError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_MESSAGES = 1 << 20
MOST_ORDERS = 8
MOST_RATIO = 12  #: slots over the bound; orders beyond would leave no room for the others
ROW_INCHES, WIDTH_INCHES = 1.75, 9.0
OPTION = "--picture"

Message = tuple[int, int, int, int]  #: round, from, to, blocks


@dataclass(frozen=True, eq=False)
class Load:
    """What one order puts on the links between switches."""

    name: str
    rounds: NDArray[np.float64]  #: shape (rounds, links): blocks over capacity
    lasts: NDArray[np.int64]  #: shape (rounds,): slots that each round takes

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """Shape (links,): blocks over capacity, in all rounds."""
        totals: NDArray[np.float64] = self.rounds.sum(axis=0)
        return totals

    @property
    def slots(self) -> int:
        """Of all rounds, one after the other."""
        return int(self.lasts.sum())

    def over_time(self) -> NDArray[np.float64]:
        """Shape (slots, links): each round as often as it has slots."""
        import numpy as np

        return np.repeat(self.rounds, self.lasts, axis=0)


def require_drawable(placed: _core.PlacedNetwork, orders: int) -> None:
    """Refuse a picture of too much, before anything is computed.

    Raises
    ------
    SwapmeetError
        With what there is too much of.
    """
    ranks = len(placed.placement)
    if ranks * ranks > MOST_MESSAGES:
        raise SwapmeetError(f"{OPTION}: P = {ranks} has too many messages: choose P up to {int(MOST_MESSAGES**0.5)}")
    if orders > MOST_ORDERS:
        raise SwapmeetError(f"{OPTION}: {orders} orders do not fit: choose at most {MOST_ORDERS}")
    if not links_between_switches(placed):
        raise SwapmeetError(f"{OPTION}: the network has no links between switches")


def links_between_switches(placed: _core.PlacedNetwork) -> list[int]:
    """Their numbers, by the switch that they leave."""
    hosts = placed.network.hosts
    return [number for number, (a, b, _) in enumerate(placed.network.links) if min(a, b) >= hosts]


def of_spec(placed: _core.PlacedNetwork, spec: _core.Spec, name: str) -> Load:
    """Of a schedule, whose rounds are what a window has in flight. Requires that it can serve the ranks."""
    return _load(placed, name, _messages_of(placed, spec))


def of_slots(placed: _core.PlacedNetwork, slots: _core.Slots, name: str) -> Load:
    """Of a conflict-free order: a slot is a round."""
    messages = ((slot, rank, to, 1) for rank in range(slots.ranks) for slot, to in enumerate(slots.to(rank)) if to >= 0)
    return _load(placed, name, messages)


def _messages_of(placed: _core.PlacedNetwork, spec: _core.Spec) -> Iterable[Message]:
    ranks = len(placed.placement)
    nodes = ",".join(map(str, placed.placement))
    for rank in range(ranks):
        first = 0
        for window, *_, sends, receives in _core.generate(spec, ranks, rank, nodes).steps:
            most = max(len(sends), len(receives))
            in_flight = min(window, most) if window else most
            for i, (peer, runs) in enumerate(sends):
                yield first + i // in_flight, rank, peer, sum(map(_blocks, runs))
            first += -(-most // in_flight) if most else 0


def _blocks(run: str) -> int:
    first, _, rest = run[run.index("[") + 1 : -1].partition("..")
    last, _, stride = rest.partition("/")
    return (int(last) - int(first)) // int(stride or 1) + 1 if rest else 1


def _load(placed: _core.PlacedNetwork, name: str, messages: Iterable[Message]) -> Load:
    import numpy as np

    links, ranks = placed.network.links, len(placed.placement)
    messages = list(messages)
    rounds = 1 + max((message[0] for message in messages), default=-1)
    on_links, sent, received = (np.zeros((rounds, width)) for width in (len(links), ranks, ranks))
    paths: dict[tuple[int, int], list[int]] = {}
    for number, source, target, blocks in messages:
        sent[number, source] += blocks
        received[number, target] += blocks
        hosts = placed.placement[source], placed.placement[target]
        if hosts not in paths:
            paths[hosts] = placed.path(*hosts) if hosts[0] != hosts[1] else []
        on_links[number, paths[hosts]] += blocks
    on_links /= np.array([capacity for *_, capacity in links])
    busiest = np.ceil(np.concatenate([on_links, sent, received], axis=1)).max(axis=1, initial=0)
    return Load(name, on_links[:, links_between_switches(placed)], busiest.astype(np.int64))


def fitting(loads: Sequence[Load], bound: int) -> tuple[list[Load], list[str]]:
    """What can be drawn on one scale of time, and why the others cannot."""
    left_out = [load for load in loads if load.slots > MOST_RATIO * bound]
    notes = [f"{load.name} is not in the picture: {load.slots / bound:.0f} times the bound" for load in left_out]
    return [load for load in loads if load not in left_out], notes


def draw(loads: Sequence[Load], bound: int, title: str, file: Path) -> None:
    """A row for each order: which links are busy when, and beside it what each carries in all.

    Parameters
    ----------
    loads : sequence of Load
    bound : int
        Slots that no order can be faster than.
    title : str
        What network and how many ranks.
    file : Path
        PNG, SVG or PDF by its suffix.
    """
    from matplotlib.colors import LinearSegmentedColormap

    from swapmeet.draw.plots.style import COLOURS, new_figure, save

    most = max(float(load.rounds.max(initial=1)) for load in loads)
    end = max(1, bound, *(load.slots for load in loads))
    colours = LinearSegmentedColormap.from_list("load", ["#FFFFFF", "#9ECAE9", COLOURS[0], COLOURS[1], "#5A1E00"])
    figure = new_figure(WIDTH_INCHES, ROW_INCHES * len(loads) + 1.3)
    figure.set_layout_engine("constrained")
    rows = figure.subplots(len(loads), 2, squeeze=False, sharex="col", sharey=True, width_ratios=(5, 1))
    image = None
    for load, (heat, totals) in zip(loads, rows, strict=True):
        links = load.rounds.shape[1]
        image = heat.imshow(
            load.over_time().T, aspect="auto", interpolation="nearest", cmap=colours, vmin=0, vmax=most,
            extent=(0, load.slots, links, 0),
        )  # fmt: skip
        heat.axvline(bound, color="black", linewidth=1.2, linestyle="--")
        ratio = load.slots / bound if bound else 1
        heat.set_title(f"{load.name}: {load.slots} slots, {ratio:.2f} × the bound", loc="left", fontsize=9.5)
        heat.set_xlim(0, 1.01 * end)
        heat.set_ylabel("link", fontsize=9)
        totals.fill_betweenx([i + 0.5 for i in range(links)], load.totals, color=COLOURS[0], linewidth=0, step="mid")
        totals.axvline(bound, color="black", linewidth=1.2, linestyle="--")
        totals.set_xlim(0, 1.15 * max(bound, float(load.totals.max(initial=1))))
        for axes in (heat, totals):
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(labelsize=8)
    _label(figure, rows, image, bound, title)
    save(figure, file, OPTION)


def _label(figure: Any, rows: Any, image: Any, bound: int, title: str) -> None:
    from matplotlib.ticker import MaxNLocator

    figure.suptitle(title, fontsize=11.5, x=0.01, ha="left")
    rows[-1][0].set_xlabel(f"time in slots, if all ranks keep in step   (dashed: the bound, {bound})", fontsize=9)
    rows[-1][1].set_xlabel("blocks in all", fontsize=9)
    bar = figure.colorbar(image, ax=rows[:, 1].tolist(), aspect=35, pad=0.04)
    bar.set_label("blocks on the link in a round", fontsize=9)
    bar.locator = MaxNLocator(integer=True)
    bar.update_ticks()
    bar.ax.tick_params(labelsize=8)
