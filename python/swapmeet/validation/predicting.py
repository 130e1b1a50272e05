"""What models and estimates predict for exchanges that were measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from swapmeet import _core, machines
from swapmeet.errors import SwapmeetError
from swapmeet.machines import Machine
from swapmeet.model.prices import STANDARD_MODEL
from swapmeet.simulate.expecting import costs_of, estimate
from swapmeet.simulate.platform import Platform, platform
from swapmeet.validation import algorithms
from swapmeet.validation.measurements import Measured

MODEL, ESTIMATE, SIMULATION = "model", "estimate", "simulate"
SAME = 0.05  #: a time this near to a fitted one, at its place, cannot be told from it


@dataclass(frozen=True)
class Prediction:
    """Of one algorithm in one cell."""

    measured: Measured
    spec: str
    by: str  #: MODEL, ESTIMATE or SIMULATION
    us: float
    fitted: bool  #: the description was made of this very cell, among others
    twin: bool = False  #: it was not, but of another name for the same messages in this cell

    @property
    def held_out(self) -> bool:
        """Whether the description was made without this cell and without a twin of it."""
        return not (self.fitted or self.twin)

    @property
    def ratio(self) -> float:
        """Predicted over measured."""
        return self.us / self.measured.us

    @property
    def factor(self) -> float:
        """By which it is off, whichever way: 1 or more."""
        return max(self.ratio, 1 / self.ratio)


def is_fitted(machine: Machine, one: Measured) -> bool:
    """Whether a measurement is one of those that a description's numbers were fitted to.

    Another system, other ranks or another run is not: what was measured there counts as held out.
    """
    return one.system == machine.system and any(
        cell[:-1] == (one.nodes, one.per_node, one.ranks, one.algorithm, one.block_bytes)
        and math.isclose(cell.us, one.us, rel_tol=SAME)
        for cell in machine.fitted
    )


def is_twin(machine: Machine, one: Measured) -> bool:
    """Whether a description's numbers were fitted to another name for the same messages, in this cell."""
    spec = _spec_of(one.algorithm)
    return (
        one.system == machine.system
        and spec is not None
        and not is_fitted(machine, one)
        and any(
            cell[:3] == (one.nodes, one.per_node, one.ranks)
            and cell.block_bytes == one.block_bytes
            and cell.algorithm != one.algorithm
            and _spec_of(cell.algorithm) == spec
            for cell in machine.fitted
        )
    )


def _spec_of(name: str) -> str | None:
    known = algorithms.find(name)
    return None if known is None or known.spec is None else str(_core.parse_spec(known.spec))


def described(system: str) -> Machine | None:
    """The built-in machine that a system of the data is; None: it is none."""
    found = (machines.load(name) for name in machines.names())
    return next((machine for machine in found if machine.system == system), None)


def topology_of(machine: Machine, nodes: str) -> str | None:
    """The network that `nodes` of a machine have, where they are a torus by themselves."""
    network = machine.network
    if network is None or "x" not in nodes or not network.topology.startswith("torus("):
        return None
    rest = network.topology.partition(",")[2]
    return f"torus(dims={nodes}{',' + rest if rest else ')'}"


def prediction(machine: Machine, one: Measured, spec: str, by: str, us: float) -> Prediction:
    """What a description predicts for a measurement, and whether its numbers were made of it."""
    return Prediction(one, spec, by, us, is_fitted(machine, one), is_twin(machine, one))


class Predictor:
    """Of one machine. What an exchange makes ranks and links do is counted once for all sizes and all costs."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.refusals: dict[tuple[str, str, str], str] = {}  #: why nothing is predicted, by (way, nodes, spec)
        self._works: dict[tuple[int, int, str], _core.Work] = {}
        self._platforms: dict[tuple[int, int, str], Platform] = {}
        self._loads: dict[tuple[int, int, str, str], _core.NetworkEstimate] = {}

    def with_costs(self, machine: Machine) -> Predictor:
        """The same for a machine of the same network and other costs."""
        other = Predictor(machine)
        other._works, other._loads, other.refusals = self._works, self._loads, self.refusals
        other._platforms = {key: replace(one, machine=machine) for key, one in self._platforms.items()}
        return other

    def us(self, by: str, spec: str, ranks: int, per_node: int, nodes: str, block_bytes: int) -> float | None:
        """Microseconds; None where there is no prediction: `refusals` has the reason."""
        try:
            if by == MODEL:
                return self._work(spec, ranks, per_node).price(self.machine.costs, STANDARD_MODEL, block_bytes).total
            where = self._platform(ranks, per_node, nodes)
            return self._load(spec, where, nodes).time_us(block_bytes, costs_of(where))
        except (ValueError, SwapmeetError) as problem:
            self.refusals[by, nodes, spec] = str(problem)
            return None

    def predict(self, by: str, cells: Iterable[Measured]) -> list[Prediction]:
        """Of all cells whose algorithm is a point of our family."""
        found = []
        for one in cells:
            algorithm = algorithms.find(one.algorithm)
            if algorithm is None or algorithm.spec is None:
                continue
            us = self.us(by, algorithm.spec, one.ranks, one.per_node, one.nodes, one.block_bytes)
            if us is not None:
                found.append(prediction(self.machine, one, algorithm.spec, by, us))
        return found

    def told(self) -> list[str]:
        """Where nothing is predicted, and why: a line for each way, nodes and reason."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for (by, nodes, spec), why in self.refusals.items():
            found.setdefault((by, nodes, why), []).append(spec)
        return [
            f"no {by} of {', '.join(specs)} on {nodes} nodes of {self.machine.name}: {why}"
            for (by, nodes, why), specs in found.items()
        ]

    def link_bound_us(self, ranks: int, per_node: int, nodes: str, block_bytes: int) -> float | None:
        """What the busiest link between switches needs for the bytes of all blocks, at the description's highest rate.

        A bound: without headers, latency, contention or calls. None without a network.
        """
        if self.machine.network is None:
            return None
        rate = self.machine.numbers["network.link_byte_ns"].low
        free = replace(self.machine.network, link_byte_ns=rate, contention=1, overlap=1, call_us=0, hop_us=0)
        bare = self.with_costs(replace(self.machine, network=free, costs=_core.MachineCosts()))
        times = [bare.us(ESTIMATE, "spread-out", ranks, per_node, nodes, blocks * block_bytes) for blocks in (1, 2)]
        if times[0] is None or times[1] is None:
            return None
        return times[1] - times[0]  # of a block more for each: what messages have besides does not count

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
    """Factors that 90 % of what was measured lies within, of these predictions."""
    ratios = sorted(1 / one.ratio for one in predictions)
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
