"""A described machine (docs/models.md) with a network, as SimGrid is to simulate it."""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import quoteattr

from swapmeet import _core, machines
from swapmeet.errors import SwapmeetError
from swapmeet.machines import Machine
from swapmeet.network.reading import place, read_network

MOST_HOSTS = 1500  #: each pair has a route, written out
HEADER_BYTES = 16  #: that SimGrid adds to each message before it looks up its latency and bandwidth
SMALLEST_FRAGMENT = 64  #: bytes; what fewer take is taken to be the same
UNLIMITED = 1e15  #: bytes a second, where a description says that bytes cost nothing
#: What SimGrid charges by default is fitted to a cluster of 2010 with Ethernet; computation is not to count; whoever
#: polls lets a little time pass, or would poll for ever.
CONFIGURATION = {
    "network/model": "SMPI",
    "smpi/simulate-computation": "no",
    "smpi/host-speed": "1Gf",
    "smpi/cpu-threshold": "0",
    "smpi/bw-factor": "0:1",
    "smpi/lat-factor": "0:1",
    "smpi/test": "1e-7",
    "smpi/iprobe": "1e-7",
    "smpi/grow-injected-times": "no",
    "smpi/wtime": "0",
    "smpi/list-leaks": "0",
    "network/crosstraffic": "no",
    "network/TCP-gamma": "0",
    "network/weight-S": "0",
    "contexts/stack-size": "256",
}


@dataclass(frozen=True)
class Platform:
    """A machine with ranks on it: as many on each host, in turn."""

    machine: Machine
    topology: str
    ranks: int
    per_node: int
    network: _core.Network = field(compare=False)
    hosts: tuple[str, ...]  #: that are used
    jitter_us: float = 0  #: ranks begin up to so much later, at random

    @property
    def name(self) -> str:
        """Of the machine, and of what differs from its description."""
        network = self.machine.network
        words = [self.machine.name]
        words += [self.topology] if network is None or self.topology != network.topology else []
        words += [f"jitter={self.jitter_us:g}us"] if self.jitter_us else []
        return " ".join(words)

    @property
    def part(self) -> str:
        """What to know where the ranks are on a part of a torus, which is none itself; else nothing."""
        if not re.match(r"torus\(dims=\d+x", self.topology) or not 1 < len(self.hosts) < self.network.hosts:
            return ""
        return (
            f"{self.ranks} ranks are on the first {len(self.hosts)} of {self.network.hosts} nodes of {self.topology}, "
            "in order; for a torus of a job's own give --network, as in torus(dims=2x2x2,hosts=1)"
        )

    @property
    def hostfile(self) -> str:
        """A host for each rank, one a line."""
        return "".join(f"{self.hosts[rank // self.per_node]}\n" for rank in range(self.ranks))

    @functools.cached_property
    def xml(self) -> str:
        """SimGrid's platform file."""
        placed = place(self.network, "destination", "block:1", len(self.hosts))
        return "\n".join(_xml(self.machine, placed, len(self.hosts), self.per_node)) + "\n"

    def options(self) -> list[str]:
        """SimGrid's options, but for files and the number of ranks."""
        between = self.machine.costs.between
        eager = str(min(between.eager_bytes + 1, 2**31 - 1))
        each_s = 1e-6 * message_us(self.machine, self.per_node)
        overhead = f"0:{each_s:.9g}:0"
        if (
            between.handshake_trips
        ):  # of which each costs both cores once more; the receiver's part is the sender's here
            overhead += f";{between.eager_bytes}:{each_s * (1 + 2 * between.handshake_trips):.9g}:0"
        chosen = CONFIGURATION | {"smpi/lat-factor": latency_factors(between)}
        chosen |= {"smpi/os": overhead, "smpi/ois": overhead, "smpi/or": overhead}
        chosen |= {"smpi/send-is-detached-thresh": eager, "smpi/async-small-thresh": eager}
        return [f"--cfg={name}:{value}" for name, value in chosen.items()]

    @functools.cached_property
    def key(self) -> str:
        """Another for another platform."""
        parts = [self.xml, self.hostfile, *self.options(), f"{self.jitter_us:g}"]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def require_routes(self) -> None:
        """Refuse a platform that is too large for SimGrid.

        Raises
        ------
        SwapmeetError
            With what to do about it.
        """
        if len(self.hosts) > MOST_HOSTS:
            raise SwapmeetError(
                f"{self.ranks} ranks are on {len(self.hosts)} nodes: at most {MOST_HOSTS} can be simulated; put more "
                "on each, or --estimate"
            )


def message_us(machine: Machine, per_node: int) -> float:
    """What a message costs the core that sends it, and the one that receives it.

    SimGrid has no limit of a node's messages, only costs of a rank: so each rank waits for the messages of the others
    of its node, as if all sent at once.
    """
    overhead_us = machine.costs.between.overhead_us
    if machine.network and machine.network.message_us is not None:  # of full nodes
        waiting_us = machine.network.message_us - overhead_us
        return overhead_us + waiting_us * per_node / (machine.ranks_per_node or per_node)
    return overhead_us + machine.costs.node_message_us * per_node / 2


def latency_factors(between: _core.Link) -> str:
    """What a message takes besides its overhead and its bytes, in latencies, by its size, as SimGrid takes it.

    That is L, 2L for each trip of a larger message's handshake, and its first fragment's bytes, in steps of the square
    root of two. All messages in flight wait for theirs at once.
    """
    if between.latency_us <= 0 or not (between.handshake_trips or between.fragment_byte_ns):
        return "0:1"
    ends = {between.eager_bytes} if between.handshake_trips else set()
    if between.fragment_byte_ns:
        steps = 2 * math.log2(max(1, between.fragment_bytes / SMALLEST_FRAGMENT))
        ends |= {round(SMALLEST_FRAGMENT * 2 ** (step / 2)) for step in range(math.ceil(steps))}
        ends |= {between.fragment_bytes}
    words, sizes = [], [0, *sorted(ends)]
    for size, end in itertools.zip_longest(sizes, sizes[1:]):
        middle = math.sqrt(max(size, 1) * end) if end else size + 1
        extra_us = min(middle, between.fragment_bytes) * between.fragment_byte_ns * 1e-3
        if middle > between.eager_bytes:
            extra_us += 2 * between.latency_us * between.handshake_trips
        words.append(f"{size + HEADER_BYTES if size else 0}:{1 + extra_us / between.latency_us:.6g}")
    return ";".join(words)


def platform(
    name: str,
    ranks: int,
    topology: str | None = None,
    per_node: int | None = None,
    jitter_us: float = 0,
    machine: Machine | None = None,
) -> Platform:
    """The machine of that name, or file, with that many ranks on it.

    Parameters
    ----------
    name : str
        As `machines.load` takes it.
    ranks : int
    topology : str, optional
        Another network, by name or file (docs/networks.md).
    per_node : int, optional
        Ranks on each host; None: as in the description.
    jitter_us : float, optional
        How much later than others a rank may begin, microseconds.
    machine : Machine, optional
        What goes by that name; None: it is to be loaded.

    Raises
    ------
    SwapmeetError
        If the description is malformed or has no network, or the machine is too small for the ranks.
    """
    if machine is None and name not in machines.names() and not Path(name).exists():
        raise machines.unknown(name, network=topology is None)
    machine = machine or machines.load(name, "--machine")
    if topology is None and machine.network is None:
        raise machines.without_network(name)
    text = topology or (machine.network.topology if machine.network else "")
    try:
        network = read_network(text)
    except SwapmeetError as problem:
        raise problem if topology else SwapmeetError(f'--machine "{name}": network.topology: {problem}') from None
    each = per_node or machine.ranks_per_node or ranks
    wanted = math.ceil(ranks / each)
    if wanted > network.hosts:
        raise SwapmeetError(
            f"--machine {machine.name} has {network.hosts} nodes of {each} ranks: "
            f"{network.hosts * each} ranks at most, not {ranks}"
        )
    return Platform(machine, text, ranks, each, network, tuple(network.names[:wanted]), jitter_us)


def _bandwidth(byte_ns: float) -> str:
    return f"{1e9 / byte_ns if byte_ns else UNLIMITED:.9g}Bps"


def _link(name: str, byte_ns: float, latency_us: float, policy: str = "SHARED") -> str:
    speed = f'bandwidth="{_bandwidth(byte_ns)}" latency="{max(latency_us, 0):.9g}us"'
    return f'<link id={quoteattr(name)} {speed} sharing_policy="{policy}"/>'


def _xml(machine: Machine, placed: _core.PlacedNetwork, hosts: int, per_node: int) -> Iterator[str]:
    """SimGrid's platform file: hosts, each direction of each link that is used, and a route for each pair of hosts."""
    network, costs = placed.network, machine.costs
    names, links = network.names, network.links
    hop_us = machine.network.hop_us if machine.network else 0.0
    link_byte_ns = machine.network.link_byte_ns if machine.network else costs.node_byte_ns
    paths = {(i, j): placed.path(i, j) for i in range(hosts) for j in range(hosts) if i != j}
    yield '<?xml version="1.0"?>'
    yield '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
    yield '<platform version="4.1"><zone id="all" routing="Full">'
    prices = {
        "copy_byte_ns": costs.pack.byte_ns,
        "copy_piece_us": costs.pack.piece_us,
        "typed_message_us": costs.datatype_us,
        "typed_byte_ns": costs.datatype.byte_ns,
        "typed_piece_us": costs.datatype.piece_us,
        "shared_latency_us": costs.shared.latency_us,
        "shared_overhead_us": costs.shared.overhead_us,
        "shared_byte_ns": max(costs.shared.byte_ns, per_node * costs.memory_byte_ns),  # as if all ranks copied at once
    }
    copy = "".join(f'<prop id="{key}" value="{price:.9g}"/>' for key, price in prices.items())
    for name in names[:hosts]:
        yield f'<host id={quoteattr(name)} speed="1Gf" core="{per_node}">{copy}</host>'
        yield _link(f"{name} memory", costs.memory_byte_ns, 0)
        yield _link(f"{name} within", costs.within.byte_ns, costs.within.latency_us, "FATPIPE")
        yield _link(f"{name} rank", costs.between.byte_ns, 0, "FATPIPE")
    for number in sorted({link for path in paths.values() for link in path}):
        ends, capacity = links[number][:2], links[number][2]
        outer = min(ends) < network.hosts
        byte_ns = costs.node_byte_ns or costs.between.byte_ns
        latency_us = (costs.between.latency_us - hop_us) / 2 if outer else hop_us
        yield _link(f"link {number}", (byte_ns if outer else link_byte_ns) / capacity, latency_us)
    for i in range(hosts):
        yield _route(names[i], names[i], [f"{names[i]} within", f"{names[i]} memory"])
    for (i, j), path in paths.items():
        yield _route(names[i], names[j], [f"{names[i]} rank", *(f"link {number}" for number in path)])
    yield "</zone></platform>"


def _route(source: str, destination: str, links: list[str]) -> str:
    ways = "".join(f"<link_ctn id={quoteattr(link)}/>" for link in links)
    return f'<route src={quoteattr(source)} dst={quoteattr(destination)} symmetrical="NO">{ways}</route>'
