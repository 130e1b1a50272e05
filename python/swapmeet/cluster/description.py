"""What a cluster is like: its hosts and the ranks on them, its links, what goes wrong, its limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from swapmeet.cluster.words import parse_call
from swapmeet.errors import SwapmeetError
from swapmeet.units import parse_bytes, parse_rate, parse_time

MOST_NODES = 64
MOST_RANKS = 1024
MTU = (576, 65000)  #: bytes
TOPOLOGIES = {"two-level": ("nodes", "rate?", "latency?")}
FAULTS = {
    "slow": ("node", "factor", "after?", "for?"),
    "cut": ("node", "after?", "for?"),
    "stall": ("node", "for", "after?"),
    "die": ("node", "after?"),
}


@dataclass(frozen=True)
class Network:
    """The options about links, as typed."""

    latency: str = "50us"
    rate: str = "1gbit"
    topology: str | None = None
    queue: str = "16MiB"
    mtu: int = 9000
    faults: Sequence[str] = ()
    limit: str = "10m"
    traffic: str = "64GiB"
    same_hostname: bool = False
    counts: bool = False

    def words(self, nodes: int) -> list[str]:
        """What tools/cluster/settings.hpp reads.

        Raises
        ------
        SwapmeetError
            With the option that cannot be used, and what it may be.
        """
        if not MTU[0] <= self.mtu <= MTU[1]:
            raise SwapmeetError(f"--mtu {self.mtu}: expected {MTU[0]} to {MTU[1]} bytes")
        limit = parse_time(self.limit, "--time-limit")
        if limit == 0:
            raise SwapmeetError(f'--time-limit "{self.limit}": a cluster without time ends before it begins')
        queue = parse_bytes(self.queue, "--queue")
        if queue < self.mtu + 100:
            raise SwapmeetError(f'--queue "{self.queue}": not even one frame of --mtu {self.mtu} fits')
        return [
            f"nodes={nodes}",
            f"latency={parse_time(self.latency, '--latency')}",
            f"rate={parse_rate(self.rate, '--rate'):.0f}",
            f"queue={queue}",
            f"mtu={self.mtu}",
            f"limit={limit}",
            f"traffic={parse_bytes(self.traffic, '--traffic')}",
            f"same_hostname={int(self.same_hostname)}",
            f"report={int(self.counts)}",
            *self._topology(nodes),
            *(_fault(text, nodes) for text in self.faults),
        ]

    def _topology(self, nodes: int) -> list[str]:
        if self.topology is None:
            return []
        _, values = parse_call(self.topology, TOPOLOGIES, "--topology")
        per_switch = _number(values["nodes"], 1, nodes, f'--topology "{self.topology}": nodes')
        return [
            f"per_switch={per_switch}",
            f"core_rate={parse_rate(values.get('rate', self.rate), '--topology'):.0f}",
            f"core_latency={parse_time(values.get('latency', self.latency), '--topology')}",
        ]


def _fault(text: str, nodes: int) -> str:
    kind, values = parse_call(text, FAULTS, "--fault")
    node = _number(values["node"], 0, nodes - 1, f'--fault "{text}": node')
    after, during = (parse_time(values.get(name, "0"), f'--fault "{text}"') for name in ("after", "for"))
    factor = _number(values.get("factor", "1"), 1, 10**6, f'--fault "{text}": factor')
    return f"fault={kind},{node},{after},{during},{factor}"


def _number(text: str, least: int, most: int, what: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text) or not least <= int(text) <= most:
        raise SwapmeetError(f"{what} is {text}: expected a number from {least} to {most}")
    return int(text)


def placement(hosts: int | None, per_node: str | None, ranks: int | None) -> list[int]:
    """The ranks of each node, by the three options that give them.

    Parameters
    ----------
    hosts : int, optional
        --hosts: the number of nodes.
    per_node : str, optional
        --ranks-per-node: one number, or one for each node, as in 3,1,4.
    ranks : int, optional
        -n: their total, as evenly as can be.

    Raises
    ------
    SwapmeetError
        If they contradict one another.
    """
    if ranks is not None and per_node is not None:
        raise SwapmeetError("-n and --ranks-per-node both give the number of ranks: leave one out")
    if per_node is not None:
        counts = [_number(word.strip(), 1, MOST_RANKS, "--ranks-per-node") for word in per_node.split(",")]
        if len(counts) == 1:
            counts *= hosts or 2
        if hosts not in (None, len(counts)):
            raise SwapmeetError(f'--ranks-per-node "{per_node}" has the ranks of {len(counts)} nodes, not of {hosts}')
    else:
        many = hosts or 2
        total = ranks or many
        if total < many:
            raise SwapmeetError(f"-n {total} leaves some of {many} nodes without a rank: take fewer --hosts")
        counts = [total // many + (node < total % many) for node in range(many)]
    if len(counts) > MOST_NODES or sum(counts) > MOST_RANKS:
        raise SwapmeetError(f"{sum(counts)} ranks on {len(counts)} nodes: expected up to {MOST_RANKS} on {MOST_NODES}")
    return counts
