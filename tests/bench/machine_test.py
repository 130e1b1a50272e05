"""What is asked of the machine that measures."""

from __future__ import annotations

import resource

import pytest

from swapmeet.measure.bench import machine


def test_memory_is_no_more_than_a_limit_lets_a_process_have(monkeypatch: pytest.MonkeyPatch) -> None:
    unlimited = resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda _: (unlimited, unlimited))
    assert machine.available_bytes() > 1 << 20
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 20, unlimited))
    assert machine.available_bytes() == 1 << 20


def test_a_page_names_machine_commit_and_day() -> None:
    line = {
        "commit": "0123456789ab",
        "created": "2026-01-31T12:34:56+00:00",
        "machine": {"processor": "Some CPU", "cores": 2, "kernel": "6.1"},
    }
    assert machine.measured_on(line) == "2 cores of Some CPU, Linux 6.1, commit 0123456789ab, 2026-01-31"
