"""What a cluster is like: options, the times of its links, and what is measured of them."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest
from cli.command import refused
from limits import scaled

from swapmeet import SwapmeetError
from swapmeet.cluster import checking
from swapmeet.cluster.description import Network, placement
from swapmeet.mpi import mpis
from swapmeet.mpi.library import program


def test_links_take_the_time_that_they_must() -> None:
    done = subprocess.run(
        [program(mpis.find("mpich"), "cluster_network")], capture_output=True, text=True, timeout=scaled(60)
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith(" passed\n")


def test_options_become_numbers() -> None:
    words = Network(
        "1.5ms", "100mbit", "two-level(nodes=2,latency=20us)", faults=["slow(node=3,factor=10,for=2s)"]
    ).words(4)
    assert {"nodes=4", "latency=1500000", "rate=12500000", "queue=16777216"} <= set(words)
    assert {"per_switch=2", "core_rate=12500000", "core_latency=20000", "fault=slow,3,0,2000000000,10"} <= set(words)


@pytest.mark.parametrize(
    ("given", "counts"),
    [
        ((None, None, None), [1, 1]),
        ((3, None, None), [1, 1, 1]),
        ((3, "2", None), [2, 2, 2]),
        ((None, "3,1,4", None), [3, 1, 4]),
        ((3, None, 8), [3, 3, 2]),
    ],
)
def test_ranks_are_placed(given: tuple[int | None, str | None, int | None], counts: list[int]) -> None:
    assert placement(*given) == counts


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"latency": "50"}, "--latency"),
        ({"latency": "-1us"}, "50us"),
        ({"rate": "0gbit"}, "1gbit"),
        ({"rate": "fast"}, "--rate"),
        ({"topology": "ring(nodes=2)"}, "two-level(nodes, rate?, latency?)"),
        ({"topology": "two-level(nodes=9)"}, "from 1 to 2"),
        ({"topology": "two-level(rate=1gbit)"}, "--topology"),
        ({"faults": ["die(node=2)"]}, "from 0 to 1"),
        ({"faults": ["stall(node=1)"]}, "stall(node, for, after?)"),
        ({"faults": ["slow(node=1,factor=0)"]}, "factor"),
        ({"faults": ["slow(node=1,factor=2,node=0)"]}, "--fault"),
        ({"mtu": 10}, "--mtu"),
        ({"queue": "1000"}, "--queue"),
        ({"limit": "0"}, "--time-limit"),
    ],
)
def test_networks_that_cannot_be_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(SwapmeetError, match=re.escape(told)):
        Network(**options).words(2)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((2, "3,0", None), "from 1"),
        ((2, "3,1,4", None), "3 nodes, not of 2"),
        ((2, "3", 6), "leave one out"),
        ((2, None, 1), "without a rank"),
        ((65, None, None), "on 64"),
    ],
)
def test_placements_that_cannot_be_are_refused(given: tuple[int | None, str | None, int | None], told: str) -> None:
    with pytest.raises(SwapmeetError, match=re.escape(told)):
        placement(*given)


def test_the_command_refuses_in_one_line() -> None:
    assert "--latency" in refused("cluster", "run", "--latency", "50", "--", "true")


def test_the_network_is_no_faster_than_what_was_set(namespaces: None) -> None:
    """How much slower is the machine's business: upper bounds are wide."""
    network = Network("2ms", "200mbit", "two-level(nodes=2,rate=50mbit,latency=3ms)")
    near, far = checking.check(network, 4, mpis.find("mpich"))
    assert (near.latency_set, far.latency_set) == (0.002, 0.005)
    assert (near.rate_set, far.rate_set) == (25e6, 6.25e6)
    for one in (near, far):
        assert not one.too_fast, one
        assert one.latency_least < 4 * one.latency_set, one
        assert one.rate > one.rate_set / 4, one


def test_too_fast_is_noticed() -> None:
    right = checking.Measured("", 1e-3, 1.1e-3, 1.2e-3, 1e6, 0.9e6)
    assert not right.too_fast
    assert checking.Measured("", 1e-3, 0.9e-3, 1.2e-3, 1e6, 0.9e6).too_fast
    assert checking.Measured("", 1e-3, 1.1e-3, 1.2e-3, 1e6, 1.1e6).too_fast
