"""How each application is run: without the library, twice, and with it in several ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Configuration:
    """One way to run an application."""

    name: str
    algorithm: str | None  #: None: without the library
    variables: Mapping[str, str] = field(default_factory=dict)


NATIVE = Configuration("without", None)
CONFIGURATIONS = (
    NATIVE,
    Configuration("without, again", None),
    Configuration("auto", "auto"),
    Configuration("spread-out", "spread-out"),
    Configuration("random-segmented", "random-segmented"),
    Configuration("tra(r=2)", "tra(r=2)"),
    Configuration("radix(r=3)", "radix(r=3)"),
    Configuration("two-phase-bruck", "two-phase-bruck"),
    Configuration("two-layer, nodes of 2", "two-layer", {"SWAPMEET_NODES": "2"}),
    Configuration("two-layer, nodes of 3 and 1", "two-layer", {"SWAPMEET_NODES": "3+1"}),
)
