"""No simulation is faster than the lower bound: machines, networks and specs at random."""

from __future__ import annotations

import itertools
import random

import pytest
from plain import MakeJob, MakePlatform

from swapmeet.limits.bounding import Bounds, simulated_costs
from swapmeet.simulate.job import Simulator
from swapmeet.specs import parse_spec

pytestmark = pytest.mark.slow

SPECS = (
    "pairwise",
    "spread-out",
    "direct(order=scatter,window=3,complete=any)",
    "direct(order=random,window=2)",
    "tra(r=2)",
    "bruck(radix=3,layout=zero-rotation,window=all)",
    "grid",
    "two-layer",
    "leaders(per-node=1)",
)
PEERS = ("native:ompi", "native:mpich", "native:mvapich2", "native:impi", "native:bruck", "native:pair")
NETWORKS = ("torus(dims=1,hosts=64)", "torus(dims=3x3,hosts=1)", "slim-fly(q=5,hosts=1)", "dragonfly(a=4,p=2,h=2)")
CASES = 24


@pytest.mark.parametrize("seed", [pytest.param(k, marks=[pytest.mark.long] if k % 2 else []) for k in range(CASES)])
def test_no_simulation_is_below_the_bound(
    seed: int, simulator: Simulator, make_platform: MakePlatform, make_job: MakeJob
) -> None:
    draw = random.Random(seed)
    ranks, per_node = draw.choice([2, 3, 5, 8, 9]), draw.choice([1, 1, 2, 3])
    between = {"latency_us": draw.choice([0.5, 2]), "byte_ns": draw.choice([0.05, 0.5])}
    between |= {"overhead_us": draw.choice([0, 0.3, 3]), "eager_bytes": draw.choice([100, 8192, 1 << 20])}
    network = {"topology": draw.choice(NETWORKS), "link_byte_ns": draw.choice([0, 0.1, 1]), "hop_us": 0.1}
    node = {"byte_ns": draw.choice([0.05, 1]), "memory_byte_ns": draw.choice([0.02, 0.2])}
    within = {"latency_us": 0.25, "byte_ns": draw.choice([0.1, 0.3])}
    where = make_platform(ranks, per_node, between=between, network=network, node=node, within=within)
    bounds = Bounds(where, simulated_costs(where))
    ours = [spec for spec in SPECS if not parse_spec(spec).unsuitable(ranks, str(per_node))]
    specs = [draw.choice(ours), draw.choice(PEERS)]
    for spec, size in itertools.product(specs, (8, 1024, 65536)):
        outcome = simulator.run(make_job(where, spec, str(size)))
        if not outcome.problem:  # peers cannot serve every number of ranks
            assert 1e6 * outcome.longest >= bounds.of(size).bound.us * (1 - 1e-6), (spec, size)
        else:
            assert spec in PEERS, outcome.problem
