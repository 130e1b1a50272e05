"""What is asked of the machine that measures."""

from __future__ import annotations

import resource

import pytest

from swapmeet.bench import machine


def test_memory_is_no_more_than_a_limit_lets_a_process_have(monkeypatch: pytest.MonkeyPatch) -> None:
    unlimited = resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda _: (unlimited, unlimited))
    assert machine.available_bytes() > 1 << 20
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 20, unlimited))
    assert machine.available_bytes() == 1 << 20
