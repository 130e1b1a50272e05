"""The description of a machine as a file that `swapmeet model --machine` reads (docs/models.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swapmeet.machines import FORMAT, VERSION, Number

DIGITS = 4  #: that count
SAME = "not measured: all ranks were on one node; as within"


@dataclass(frozen=True)
class Measured:
    """What was measured, where and how well it predicts: for people, and to check whether it holds here."""

    mpi: str  #: as in "openmpi 5.0.11"
    machine: str  #: as _core.machine_signature() returns it
    ranks_per_node: int | None
    evidence: Mapping[str, Any]  #: any JSON


def document(name: str, note: str, measured: Measured | None, numbers: Mapping[str, Number]) -> str:
    """The text of the file; `numbers` by their places, as in "within.latency_us"."""
    page: dict[str, Any] = {"format": FORMAT, "version": VERSION, "name": name, "note": note}
    if measured is not None:
        page |= {"mpi": measured.mpi, "machine": measured.machine, "measured": dict(measured.evidence)}
    page["ranks_per_node"] = measured.ranks_per_node if measured else None
    for place, number in numbers.items():
        table, _, key = place.rpartition(".")
        (page.setdefault(table, {}) if table else page)[key] = _number(place, number)
    if "between" not in page and "within" in page:
        page["between"] = {key: value | {"source": SAME} for key, value in page["within"].items()}
    return text(page)


def _number(place: str, number: Number) -> dict[str, Any]:
    def short(value: float) -> float:
        return int(value) if place.endswith("eager_bytes") else float(f"{value:.{DIGITS}g}")

    return {name: short(getattr(number, name)) for name in ("value", "low", "high")} | {"source": number.source}


def text(page: Mapping[str, Any]) -> str:
    """JSON with a number on each line, as the machines that are built in have it."""
    parts = []
    for key, value in page.items():
        inners = list(value.values()) if isinstance(value, dict) else []
        if any(isinstance(inner, dict) for inner in inners) and all(isinstance(inner, dict | str) for inner in inners):
            lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(inner)}" for name, inner in value.items())
            parts.append(f"  {json.dumps(key)}: {{\n{lines}\n  }}")
        else:
            parts.append(f"  {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def node_map(ranks: int, nodes: int) -> str:
    """As the models want it: nodes of consecutive ranks, the last one perhaps smaller; "": one node."""
    return "" if nodes == 1 else str(-(-ranks // nodes))
