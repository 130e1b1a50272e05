"""Orders of random networks, judged by what docs/networks.md says alone: text form, route lines, tables of slots.

Nothing of the package reads or counts here, but the command that makes the table.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from swapmeet.cli.app import app

Vertex = str
CAPACITIES = [1, 1, 1, 2, 4]


@dataclass
class Network:
    """Hosts h0, h1, ... at switches s0, s1, ..., every way given by a route line."""

    text: str
    switch_of: list[int]
    capacity: dict[tuple[Vertex, Vertex], int]
    next_switch: dict[tuple[int, int], int]  #: at a switch, of what is for a host

    def way(self, source: int, target: int) -> list[tuple[Vertex, Vertex]]:
        """The links from one host to another; none to itself."""
        if source == target:
            return []
        at, stops = self.switch_of[source], [f"h{source}"]
        while at != self.switch_of[target]:
            stops.append(f"s{at}")
            at = self.next_switch[at, target]
        stops += [f"s{at}", f"h{target}"]
        return list(zip(stops, stops[1:], strict=False))


def random_network(draw: random.Random, each: int | None) -> Network:
    """A tree of switches with some links more; minimal routes, each by any neighbour that is nearer.

    `each`: hosts of each switch, with one link of capacity 1.
    """
    switches = draw.randint(2 if each else 1, 9)
    hosts = switches * each if each else draw.randint(2, 20)
    links = {(draw.randrange(b), b): draw.choice(CAPACITIES) for b in range(1, switches)}
    for _ in range(draw.randint(0, 2 * switches)):
        a, b = sorted((draw.randrange(switches), draw.randrange(switches)))
        if a != b:
            links.setdefault((a, b), draw.choice(CAPACITIES))
    neighbours = defaultdict(list)
    for a, b in links:
        neighbours[a].append(b)
        neighbours[b].append(a)
    lines = [f"switch s{i}" for i in range(switches)]
    lines += [f"link s{a} s{b} {capacity}" for (a, b), capacity in links.items()]
    named = {(f"s{a}", f"s{b}"): capacity for (a, b), capacity in links.items()}
    switch_of, next_switch = [], {}
    for host in range(hosts):
        home, capacity = (host % switches, 1) if each else (draw.randrange(switches), draw.choice(CAPACITIES))
        switch_of.append(home)
        named[f"h{host}", f"s{home}"] = capacity
        lines.append(f"host h{host} s{home} {capacity}")
        distance, reached = {home: 0}, [home]
        for at in reached:
            for near in neighbours[at]:
                if near not in distance:
                    distance[near] = distance[at] + 1
                    reached.append(near)
        for at in reached[1:]:
            next_switch[at, host] = draw.choice([near for near in neighbours[at] if distance[near] < distance[at]])
            lines.append(f"route s{at} h{host} s{next_switch[at, host]}")
    both = named | {(b, a): capacity for (a, b), capacity in named.items()}
    return Network("\n".join(lines) + "\n", switch_of, both, next_switch)


def random_placement(draw: random.Random, hosts: int, ranks: int | None) -> tuple[str, list[int]]:
    """As --place wants it, and the host of each rank: some hosts in any order, each with some ranks.

    `ranks`: all hosts, each with this number.
    """
    number = hosts if ranks else draw.randint(2, hosts)
    some = [(host, ranks or draw.randint(1, 3)) for host in draw.sample(range(hosts), number)]
    return ",".join(f"h{host}*{ranks}" for host, ranks in some), [host for host, ranks in some for _ in range(ranks)]


#: Hosts of each switch and ranks of each host: any; or as many on all, so that ranks of a switch send in turn.
ALIKE = [*[(None, None)] * 12, (2, 1), (3, 1), (4, 1), (5, 1), (3, 2)]


@pytest.mark.parametrize(("seed", "each", "on_host"), [(seed, *alike) for seed, alike in enumerate(ALIKE)])
def test_slots_and_bound_are_right(seed: int, each: int | None, on_host: int | None, tmp_path: Path) -> None:
    draw = random.Random(seed)
    network = random_network(draw, each)
    place, host_of = random_placement(draw, len(network.switch_of), on_host)
    file, table = tmp_path / "network", tmp_path / "slots"
    file.write_text(network.text)
    words = ["topology", file, "--place", place, "-P", len(host_of), "--slots", table, "--moves", 0 if each else 1000]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    head, rows = table.read_text().splitlines()[:5], table.read_text().splitlines()[5:]
    said = {name: value for name, value in (line.split() for line in head)}
    slots = {
        (source, target): int(slot)
        for source, row in enumerate(rows)
        for target, slot in enumerate(row.split())
        if source != target
    }
    ranks = len(host_of)
    assert len(slots) == ranks * (ranks - 1) and [row.split()[i] for i, row in enumerate(rows)] == ["-"] * ranks
    assert len({(source, slot) for (source, _), slot in slots.items()}) == len(slots), "a rank sends two in a slot"
    assert len({(target, slot) for (_, target), slot in slots.items()}) == len(slots), "a rank receives two in a slot"
    crossing = [
        (link, slot)
        for (source, target), slot in slots.items()
        for link in network.way(host_of[source], host_of[target])
    ]
    together, whole = Counter(crossing), Counter(link for link, _ in crossing)
    assert all(number <= network.capacity[link] for (link, _), number in together.items())
    bound = max(ranks - 1, *(-(-number // network.capacity[link]) for link, number in whole.items()))
    assert (int(said["bound"]), int(said["slots"])) == (bound, max(slots.values()) + 1)


def test_ranks_of_a_switch_that_send_in_turn_come_near_the_bound(tmp_path: Path) -> None:
    """On a Slim Fly of 98 switches with six hosts each and few moves for its 345,156 messages: 1.06 times the bound. A
    search of single messages comes to 1.26 times with as many moves."""
    table = tmp_path / "slots"
    words = ["topology", "slim-fly(q=7,hosts=6)", "-P", 588, "--slots", table, "--moves", 20_000]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    head, rows = table.read_text().splitlines()[:5], table.read_text().splitlines()[5:]
    said = {name: value for name, value in (line.split() for line in head)}
    slots = 1 + max(int(slot) for row in rows for slot in row.split() if slot != "-")
    assert len(rows) == 588 and 1 <= slots / int(said["bound"]) < 1.1
