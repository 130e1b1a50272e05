"""What the rules of `swapmeet tune` lose between measurements, by a fit and by the nearest, where a model is the truth.

Noise of 1 % is added to what the model max-rate says of built-in machines. Prints JSON, which
benchmarks/computed.py makes a table of docs/tuning.md of; needs scikit-learn.
"""

from __future__ import annotations

import functools
import json
import math
import statistics
from collections.abc import Iterable

import numpy as np

from swapmeet import _core, machines
from swapmeet.choose import fit, surface
from swapmeet.choose.rule import Rule
from swapmeet.measure.bench.statistics import Estimate
from swapmeet.quantiles import quantile

MACHINES = ("cscs-slimfly", "fat-tree", "lumi-c", "polaris", "theta")
SIZES = (8, 64, 512, 2048, 8192, 32768, 131072, 524288)
OTHER_SIZES = (12, 24, 40, 100, 180, 300, 700, 1000, 1500, 3000, 4096, 6000, 12000, 20000, 50000, 90000, 200000, 400000)
NODES_RANKS = (128, 256, 512, 1024, 4096)  #: on nodes of each machine
ONE_NODE, BETWEEN = (
    (2, 8, 32, 128),
    (3, 4, 6, 12, 16, 24, 48, 64, 96),
)  #: ranks that share a node: measured, not measured
NATIVE = "direct(order=shift,window=32,complete=any)"  #: what stands for the MPI
SPECS = (
    "pairwise", "spread-out", "tra(r=2)", "tra(r=4)", "tra", "grid", "shared-memory", "two-layer(r1=root,r2=all)",
    "leaders(per-node=1,intra=auto)",
)  # fmt: skip
NOISE = 0.01
Points = Iterable[tuple[int, int]]


@functools.cache
def work(spec: str, ranks: int, nodes: str) -> _core.Work | None:
    """What a spec makes so many ranks do, if it can serve them."""
    point = _core.parse_spec(spec)
    return None if point.unsuitable(ranks, nodes) else _core.Work(point, ranks, nodes)


def gains(machine: machines.Machine, ranks: int, size: int, nodes: str) -> dict[str, float]:
    """How many times as fast as native each spec is."""

    def time(spec: str) -> float | None:
        counted = work(spec, ranks, nodes)
        return counted.price(machine.costs, "max-rate", size).total if counted else None

    native = time(NATIVE)
    assert native
    return {spec: native / taken for spec in SPECS if (taken := time(spec))}


def measured(machine: machines.Machine, ranks: int, nodes: str, draw: np.random.Generator) -> surface.Sized:
    """What a campaign would say."""

    def estimate(gain: float) -> Estimate:
        value = gain * math.exp(draw.normal(0, NOISE))
        return Estimate(value, value / (1 + 2 * NOISE), value * (1 + 2 * NOISE), 100, 5)

    return [(s, {spec: estimate(gain) for spec, gain in gains(machine, ranks, s, nodes).items()}) for s in SIZES]


def within(value: int, bounds: tuple[int, int | None] | None) -> bool:
    """Whether a rule's range holds it."""
    return bounds is not None and bounds[0] <= value and (bounds[1] is None or value <= bounds[1])


def losses(machine: machines.Machine, rules: list[Rule], points: Points, nodes: str | None) -> list[float]:
    """Against the best at each point; `nodes`: None: one node."""
    found = []
    for ranks, size in points:
        (spec,) = (rule.spec for rule in rules if within(ranks, rule.ranks) and within(size, rule.bytes))
        times = {"native": 1.0} | gains(machine, ranks, size, str(ranks) if nodes is None else nodes)
        found.append(max(times.values()) / times.get(spec, 1.0) - 1)
    return found


def row(what: str, nearest: bool, found: list[float]) -> dict[str, object]:
    """What was lost, in shares of the best time."""
    half, ninety, almost_all = (quantile(found, share) for share in (0.5, 0.9, 0.99))
    return {
        "not_measured": what,
        "by": "nearest" if nearest else "fit",
        "cells": len(found),
        "mean": statistics.mean(found),
        "median": half,
        "ninety": ninety,
        "ninety_nine": almost_all,
        "near": sum(loss <= 0.05 for loss in found) / len(found),
    }


def main() -> None:
    """Measure, make rules and compare."""
    draw = np.random.default_rng(1)
    found: dict[tuple[str, bool], list[float]] = {}
    for machine in map(machines.load, MACHINES):
        nodes = machine.nodes("")
        tables = [({p: measured(machine, p, nodes, draw)}, [(p, s) for s in OTHER_SIZES], nodes) for p in NODES_RANKS]
        between = [(p, s) for p in BETWEEN for s in (*SIZES, *OTHER_SIZES)]
        one_node = ({p: measured(machine, p, str(p), draw) for p in ONE_NODE}, between, None)
        for what, (rows, points, where) in (*(("sizes", table) for table in tables), ("ranks and sizes", one_node)):
            for nearest in (True, False):
                rules = fit.rules_between(rows, None if nearest else surface.fitted(rows))
                lost = losses(machine, rules, points, where)
                found.setdefault((what, nearest), []).extend(lost)
    print(json.dumps({"rows": [row(*key, lost) for key, lost in found.items()]}))


if __name__ == "__main__":
    main()
