"""The process of a launcher, and when it counts as hung."""

from __future__ import annotations

import time

import pytest

from swapmeet.measure.bench.process import Process


def test_who_talks_on_and_on_is_overdue_all_the_same() -> None:
    process = Process(["yes"], {})
    try:
        deadline = time.monotonic() + 0.2
        with pytest.raises(TimeoutError):
            while True:
                assert process.line(deadline) == "y"
    finally:
        process.stop()
