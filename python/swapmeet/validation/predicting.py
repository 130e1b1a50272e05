"""What models and estimates say of exchanges that were measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from swapmeet import _core, machines
from swapmeet.errors import SwapmeetError
from swapmeet.machines import Machine
from swapmeet.prices import STANDARD_MODEL
from swapmeet.simulation.expecting import costs_of, estimate
from swapmeet.simulation.platform import Platform, platform
from swapmeet.validation import algorithms
from swapmeet.validation.measurements import Measured

MODEL, ESTIMATE, SIMULATION = "model", "estimate", "simulate"


@dataclass(frozen=True)
class Prediction:
    """Of one algorithm in one cell."""

    measured: Measured
    spec: str
    by: str  #: MODEL, ESTIMATE or SIMULATION
    us: float
    fitted: bool  #: the description was made of this very cell, among others

    @property
    def ratio(self) -> float:
        """Predicted over measured."""
        return self.us / self.measured.us

    @property
    def factor(self) -> float:
        """By which it is off, whichever way: 1 or more."""
        return max(self.ratio, 1 / self.ratio)


def fitted_cells(machine: Machine) -> set[tuple[str, str, int]]:
    """(nodes, algorithm, bytes of a block) of the cells that a description's numbers were fitted to."""
    return {(nodes, name, size) for nodes, name, size in machine.fitted}


def described(system: str) -> Machine | None:
    """The built-in machine that a system of the data is; None: none says so."""
    found = (machines.load(name) for name in machines.names())
    return next((machine for machine in found if machine.system == system), None)


def topology_of(machine: Machine, nodes: str) -> str | None:
    """The network that `nodes` of a machine have, where they are a torus of their own."""
    network = machine.network
    if network is None or "x" not in nodes or not network.topology.startswith("torus("):
        return None
    rest = network.topology.partition(",")[2]
    return f"torus(dims={nodes}{',' + rest if rest else ')'}"


class Predictor:
    """Of one machine. What an exchange makes ranks and links do is counted once for all sizes and all costs."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._works: dict[tuple[int, int, str], _core.Work] = {}
        self._platforms: dict[tuple[int, int, str], Platform] = {}
        self._loads: dict[tuple[int, int, str, str], _core.NetworkEstimate] = {}

    def with_costs(self, machine: Machine) -> Predictor:
        """The same for a machine of the same network and other costs."""
        other = Predictor(machine)
        other._works, other._loads = self._works, self._loads
        other._platforms = {key: replace(one, machine=machine) for key, one in self._platforms.items()}
        return other

    def us(self, by: str, spec: str, ranks: int, per_node: int, nodes: str, block_bytes: int) -> float | None:
        """Microseconds; None where the spec cannot serve the ranks, or the network has too few nodes."""
        try:
            if by == MODEL:
                return self._work(spec, ranks, per_node).price(self.machine.costs, STANDARD_MODEL, block_bytes).total
            if self.machine.network is None:
                return None
            where = self._platform(ranks, per_node, nodes)
            return self._load(spec, where, nodes).time_us(block_bytes, costs_of(where))
        except (ValueError, SwapmeetError):
            return None

    def predict(self, by: str, cells: Iterable[Measured]) -> list[Prediction]:
        """Of all cells whose algorithm is a point of our family."""
        found, known = [], fitted_cells(self.machine)
        for one in cells:
            algorithm = algorithms.find(one.algorithm)
            if algorithm is None or algorithm.spec is None:
                continue
            us = self.us(by, algorithm.spec, one.ranks, one.per_node, one.nodes, one.block_bytes)
            if us is not None:
                fitted = (one.nodes, one.algorithm, one.block_bytes) in known
                found.append(Prediction(one, algorithm.spec, by, us, fitted))
        return found

    def link_bound_us(self, ranks: int, per_node: int, nodes: str, block_bytes: int) -> float | None:
        """What the busiest link between switches needs for all blocks, at the highest rate that the description allows.

        None without a network.
        """
        if self.machine.network is None:
            return None
        rate = self.machine.numbers["network.link_byte_ns"].low
        free = replace(self.machine.network, link_byte_ns=rate, contention=1, overlap=1, call_us=0, hop_us=0)
        bare = self.with_costs(replace(self.machine, network=free, costs=_core.Machine()))
        return bare.us(ESTIMATE, "spread-out", ranks, per_node, nodes, block_bytes)

    def network_name(self, ranks: int, per_node: int, nodes: str) -> str:
        """The topology that some nodes have. Requires a network."""
        return self._platform(ranks, per_node, nodes).topology

    def _work(self, spec: str, ranks: int, per_node: int) -> _core.Work:
        key = (ranks, per_node, spec)
        if key not in self._works:
            self._works[key] = _core.Work(_core.parse_spec(spec), ranks, str(per_node))
        return self._works[key]

    def _platform(self, ranks: int, per_node: int, nodes: str) -> Platform:
        key = (ranks, per_node, nodes)
        if key not in self._platforms:
            made = platform(self.machine.name, ranks, topology_of(self.machine, nodes), per_node, machine=self.machine)
            self._platforms[key] = made
        return self._platforms[key]

    def _load(self, spec: str, where: Platform, nodes: str) -> _core.NetworkEstimate:
        key = (where.ranks, where.per_node, nodes, spec)
        if key not in self._loads:
            self._loads[key] = estimate(where, spec)
        return self._loads[key]


def error_bars(predictions: Iterable[Prediction]) -> tuple[float, float]:
    """Factors that 90 % of what was measured lies within, of a prediction: from cells that were not fitted."""
    ratios = sorted(1 / one.ratio for one in predictions if not one.fitted)
    if not ratios:
        return 1.0, 1.0
    last = len(ratios) - 1
    return ratios[math.floor(0.05 * last)], ratios[math.ceil(0.95 * last)]


def by_cell(cells: Iterable[Measured]) -> Mapping[tuple[str, str, int, int], dict[str, Measured]]:
    """What was measured, algorithm by algorithm, in each cell."""
    found: dict[tuple[str, str, int, int], dict[str, Measured]] = {}
    for one in cells:
        found.setdefault(one.cell, {})[one.algorithm] = one
    return found
