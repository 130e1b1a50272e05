"""Costs of networks for tests: one term at a time."""

from __future__ import annotations

from swapmeet import _core


def costs(**given: float) -> _core.NetworkCosts:
    """Nothing costs anything but what is given."""
    made = _core.NetworkCosts()
    made.eager_bytes = 1 << 40
    for name, value in given.items():
        setattr(made, name, value)
    return made
