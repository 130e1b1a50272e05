"""Limits of time that a busy machine does not exceed: they end what hangs, and never judge what is slow.

And how many examples of a kind are drawn at random, fewer by day than at night.
"""

from __future__ import annotations

import os

LEAST = 3.0  #: by what a limit is multiplied on an idle machine
MOST_S = float(os.environ.get("MOST_TEST_S", "inf"))  #: no limit is longer (tests/mutants: many tests hang there)

FEWEST = 25  #: examples by day
everything = False  #: whether this is a run with --all


def examples(at_night: int) -> int:
    """How many are drawn where `at_night` are with --all: a fifth by day."""
    return at_night if everything else min(at_night, max(FEWEST, at_night // 5))


def scaled(limit_s: float) -> float:
    """`limit_s`, which is generous on two idle cores, as seconds on this machine as busy as it is now."""
    return min(MOST_S, limit_s * LEAST * max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0))))
