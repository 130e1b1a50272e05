"""Measuring the network of a cluster: what was set, what is there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from rich.table import Table

from swapmeet.cluster.description import Network
from swapmeet.errors import SwapmeetError
from swapmeet.mpi.library import program
from swapmeet.mpi.mpis import Mpi

STREAM_S = 0.3  #: that a stream takes, if its rate is what was set


@dataclass(frozen=True)
class Measured:
    """Between two nodes. Times in seconds, rates in bytes per second."""

    name: str
    latency_set: float
    latency_least: float  #: half of a round trip of one byte
    latency_median: float
    rate_set: float
    rate: float  #: of what a program sends, without headers

    @property
    def too_fast(self) -> bool:
        """Whether that cannot be."""
        return self.latency_least < self.latency_set or self.rate > self.rate_set


def check(network: Network, nodes: int, mpi: Mpi) -> list[Measured]:
    """Measure between neighbours, and between switches if there are several. The programs are those built for `mpi`.

    Raises
    ------
    SwapmeetError
        If there can be no cluster here.
    """
    words = network.words(nodes)
    return [_measure(words, pair, mpi) for pair in _pairs(words, nodes)]


def _pairs(words: list[str], nodes: int) -> Iterator[tuple[str, int, int, float, float]]:
    """Name, nodes, latency and rate of what is measured."""
    numbers = {name: float(value) for name, _, value in (word.partition("=") for word in words) if "," not in value}
    latency, rate = numbers["latency"] * 1e-9, numbers["rate"]
    per_switch = int(numbers.get("per_switch", nodes))
    if per_switch > 1:
        yield "at one switch", 0, 1, latency, rate
    if per_switch < nodes:
        between = latency + numbers["core_latency"] * 1e-9
        yield "between switches", 0, nodes - 1, between, min(rate, numbers["core_rate"])


def _measure(words: list[str], pair: tuple[str, int, int, float, float], mpi: Mpi) -> Measured:
    name, first, second, latency, rate = pair
    probe = [str(program(mpi, "cluster_probe")), str(first), str(second), str(max(1, round(rate * STREAM_S)))]
    done = subprocess.run([str(program(mpi, "cluster")), *words, "--", *probe], capture_output=True, text=True)
    numbers = done.stdout.split()
    if done.returncode != 0 or len(numbers) != 3:
        raise SwapmeetError(f"no cluster (status {done.returncode}): {done.stderr.strip() or 'no reason is known'}")
    sys.stderr.write(done.stderr)
    least, median, measured = map(float, numbers)
    return Measured(name, latency, least * 1e-6, median * 1e-6, rate, measured)


def record(one: Measured) -> dict[str, object]:
    """For other programs."""
    return {
        "between": one.name,
        "latency_set_us": 1e6 * one.latency_set,
        "latency_least_us": 1e6 * one.latency_least,
        "latency_median_us": 1e6 * one.latency_median,
        "rate_set_bytes_per_s": one.rate_set,
        "rate_bytes_per_s": one.rate,
        "too_fast": one.too_fast,
    }


def table(found: list[Measured]) -> Table:
    """What was set beside what is there."""
    result = Table("between two nodes", "latency set", "least", "median", "rate set", "measured", "")
    for one in found:
        times = (f"{seconds * 1e6:.1f} µs" for seconds in (one.latency_set, one.latency_least, one.latency_median))
        rates = (f"{rate * 8e-6:.1f} Mbit/s" for rate in (one.rate_set, one.rate))
        result.add_row(one.name, *times, *rates, "TOO FAST" if one.too_fast else "")
    return result
