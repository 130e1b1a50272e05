"""What simulations share: SimGrid, if it is installed, and a library built for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from limits import scaled
from plain import BYTE_NS, LATENCY_US, MakeJob, MakePlatform

from swapmeet import SwapmeetError
from swapmeet.measure.bench.cells import Cell
from swapmeet.simulate import simgrid
from swapmeet.simulate.job import Job, Simulator
from swapmeet.simulate.platform import Platform, platform


@pytest.fixture(scope="session")
def simulator() -> Simulator:
    try:
        target = simgrid.find()
    except SwapmeetError as problem:
        pytest.skip(str(problem))
    return Simulator(target, scaled(120))


@pytest.fixture
def make_platform(tmp_path: Path) -> MakePlatform:
    """A switch with a rank on each node, where only latency and bytes cost; parts of its description may be others."""

    def make(ranks: int, per_node: int = 1, **changes: object) -> Platform:
        network = {"topology": "torus(dims=1,hosts=64)", "link_byte_ns": 0, "hop_us": 0}
        between = {"latency_us": LATENCY_US, "byte_ns": BYTE_NS, "eager_bytes": 1 << 20}
        description = {"format": "swapmeet-machine", "version": 1, "between": between, "network": network, **changes}
        path = tmp_path / "plain.json"
        path.write_text(json.dumps(description))
        return platform(str(path), ranks, per_node=per_node)

    return make


@pytest.fixture
def make_job() -> MakeJob:
    def make(where: Platform, spec: str, sizes: str = "64", collective: str = "alltoall") -> Job:
        return Job(where, Cell("simulated", where.ranks, collective, sizes, nodes=str(where.per_node)), spec, "mpich")

    return make
