"""What the messages of each frame ask of the links of a network, and where its hosts and switches are drawn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from swapmeet import _core
from swapmeet.draw.replay import Frame

ASPECT = 0.78  #: height over width of the page's drawing


def loads(placed: _core.PlacedNetwork, frames: Sequence[Frame]) -> list[dict[int, int]]:
    """For each frame, the blocks on each link that has any."""
    hosts = placed.placement
    paths: dict[tuple[int, int], list[int]] = {}
    rows = []
    for frame in frames:
        load: Counter[int] = Counter()
        for message in frame.messages:
            ends = hosts[message.source], hosts[message.target]
            if ends not in paths:
                paths[ends] = placed.path(*ends)
            for link in paths[ends]:
                load[link] += len(message.moves)
        rows.append(dict(load))
    return rows


def drawing(placed: _core.PlacedNetwork) -> dict[str, Any]:
    """What the page must know of the network: names, places (0 to 1) and links."""
    network = placed.network
    used = sorted(set(placed.placement))
    where = _positions(network, used)
    shown = sorted(where)
    index = {vertex: i for i, vertex in enumerate(shown)}
    bound = placed.bound()[0]
    return {
        "names": [network.names[vertex] for vertex in shown],
        "places": [[round(x, 4), round(y, 4)] for x, y in (where[vertex] for vertex in shown)],
        "hosts": sum(vertex < network.hosts for vertex in shown),
        "links": {
            str(number): [index[source], index[target], capacity]
            for number, (source, target, capacity) in enumerate(network.links)
            if source in index and target in index
        },
        "host": [index[host] for host in placed.placement],
        "bound": bound,
    }


def _positions(network: _core.Network, hosts: Sequence[int]) -> dict[int, tuple[float, float]]:
    """Hosts with ranks, and all switches: in layers if some switches have no hosts, else on a circle."""
    neighbours: dict[int, list[int]] = {vertex: [] for vertex in range(len(network.names))}
    for source, target, _ in network.links:
        neighbours[source].append(target)
    height = dict.fromkeys(range(network.hosts), 0)
    layers = [list(range(network.hosts))]
    while layers[-1]:
        above = sorted({n for vertex in layers[-1] for n in neighbours[vertex] if n not in height})
        height.update(dict.fromkeys(above, len(layers)))
        layers.append(above)
    layers = [list(hosts), *layers[1:-1]]
    if len(layers) == 2:
        return _on_circle(layers[1], hosts, neighbours)
    places: dict[int, tuple[float, float]] = {}
    for level, layer in enumerate(layers):
        if level > 1:  # above what it is linked to
            middle = {v: [places[n][0] for n in neighbours[v] if n in places] or [0.5] for v in layer}
            layer = sorted(layer, key=lambda v: (sum(middle[v]) / len(middle[v]), v))
        for i, vertex in enumerate(layer):
            places[vertex] = (i + 0.5) / len(layer), 1 - level / (len(layers) - 1)
    return places


def _on_circle(
    switches: Sequence[int], hosts: Sequence[int], neighbours: dict[int, list[int]]
) -> dict[int, tuple[float, float]]:
    places: dict[int, tuple[float, float]] = {}
    for i, switch in enumerate(switches):
        mine = [host for host in hosts if switch in neighbours[host]]
        for angle, radius, vertex in [
            (i, 0.38, switch),
            *((i + 0.7 * ((k + 0.5) / len(mine) - 0.5), 0.5, host) for k, host in enumerate(mine)),
        ]:
            turn = 2 * math.pi * angle / len(switches)
            places[vertex] = 0.5 + ASPECT * radius * math.sin(turn), 0.5 - radius * math.cos(turn)
    return places
