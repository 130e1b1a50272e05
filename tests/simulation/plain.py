"""What the plainest platform costs, and what the fixtures are."""

from __future__ import annotations

from collections.abc import Callable

from swapmeet.simulate.job import Job
from swapmeet.simulate.platform import Platform

LATENCY_US, BYTE_NS = 2.0, 0.5

MakePlatform = Callable[..., Platform]
MakeJob = Callable[..., Job]
