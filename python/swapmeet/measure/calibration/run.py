"""What `swapmeet calibrate` does once its options are read."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from swapmeet import __version__, _core, machines
from swapmeet.errors import SwapmeetError
from swapmeet.machines import Number
from swapmeet.measure.bench.session import Session
from swapmeet.measure.calibration import fit, held_out, parts
from swapmeet.measure.calibration.description import Measured, document, node_map
from swapmeet.measure.calibration.parts import Taken
from swapmeet.model.prices import Pricing
from swapmeet.mpi.launch import launcher_words
from swapmeet.mpi.library import library
from swapmeet.mpi.mpis import Mpi
from swapmeet.output import tables_console
from swapmeet.tables import right
from swapmeet.texts import require_place, write

PARTS_SHARE = 0.6  #: of a launch's time; the rest is for what is held out


@dataclass
class Run:
    """Everything that was measured."""

    nodes: int = 1
    taken: list[Taken] = field(default_factory=list)
    held_out: list[dict[held_out.Exchange, list[float]]] = field(default_factory=list)


@dataclass(frozen=True)
class Calibrated:
    """What a description is made of, and how good it is."""

    run: Run
    numbers: Mapping[str, Number]  #: by their place in the description
    predictions: Sequence[held_out.Prediction]
    evidence: Mapping[str, Any]


def calibrate(target: Mpi, ranks: int, seconds: float, launches: int, launcher: str | None, output: Path) -> Calibrated:
    """Measure, and write the description."""
    if launcher is not None:
        launcher_words(launcher, ranks, target)
    require_place(output)
    library(target)  # building it is not part of the time
    run = measure(target, ranks, seconds, launches, launcher)
    numbers = fit.numbers(fit.Rounds(run.taken), ranks, run.nodes)
    if not numbers:
        reasons = "; ".join(dict.fromkeys(_refused(run).values()))
        raise SwapmeetError(f"no messages could be measured: {reasons}")
    nodes = node_map(ranks, run.nodes)
    name = f"{target.kind} {target.version}, {_core.machine_signature()}"
    found = predictions(run, numbers, ranks, nodes)
    evidence = _evidence(run, ranks, found)
    note = f"measured by swapmeet calibrate {__version__}, {datetime.date.today()}"
    measured = Measured(
        f"{target.kind} {target.version}", _core.machine_signature(), int(nodes) if nodes else None, evidence
    )
    page = document(name, note, measured, numbers)
    machines.parse(page, str(output))
    write(output, page)
    return Calibrated(run, numbers, found, evidence)


def measure(target: Mpi, ranks: int, seconds: float, launches: int, launcher: str | None) -> Run:
    """Launch that many times, with an equal share of the time that is left for each."""
    run = Run()
    until = time.monotonic() + seconds
    for left in range(launches, 0, -1):
        begun = time.monotonic()
        if run.taken and begun >= until:
            break
        with Session(target, ranks, launcher=launcher) as session:
            run.nodes = int(session.description.get("nodes", "1"))
            end = begun + max(0.0, until - begun) / left
            run.taken.append(parts.take(session, run.nodes, PARTS_SHARE * (end - time.monotonic())))
            nodes = node_map(ranks, run.nodes)
            run.held_out.append(held_out.Visits(session).take(nodes, end - time.monotonic()))
    return run


def predictions(run: Run, numbers: Mapping[str, Number], ranks: int, nodes: str) -> list[held_out.Prediction]:
    """By the description that these numbers make."""
    machine = machines.parse(document("this", "", None, numbers), "this")
    return held_out.predictions(run.held_out, ranks, nodes, Pricing(machine))


def curve(run: Run, ranks: int) -> list[dict[str, Any]]:
    """What a node sends by how many of its ranks: bytes and messages a second, within it and to another."""
    quiet = fit.Rounds(run.taken).quiet
    found = []
    for way in parts.WAYS:
        for pairs in sorted({part.pairs for part in quiet if part.what == way}):
            senders = pairs if way == "between" else 2 * pairs
            message, byte = fit.per_unit(quiet, way, pairs, senders)
            speeds = {"GB/s": 1e-9 / byte, "messages/us": 1e-6 / message}
            found.append({"way": way, "ranks": senders} | {key: float(f"{value:.4g}") for key, value in speeds.items()})
    return found


def _evidence(run: Run, ranks: int, found: Sequence[held_out.Prediction]) -> dict[str, Any]:
    tested = held_out.summary(found) | held_out.order(found) if found else {}
    return {
        "ranks": ranks,
        "nodes": run.nodes,
        "launches": len(run.taken),
        "rounds": sum(taken.rounds for taken in run.taken),
        "held_out": {key: round(value, 3) for key, value in tested.items()},
        "by_ranks_of_a_node": curve(run, ranks),
    }


def _refused(run: Run) -> dict[str, str]:
    """What is not measured, and why."""
    return dict(item for taken in run.taken for item in taken.refused.items())


def record(found: Calibrated) -> dict[str, object]:
    """The fields of `--json`."""
    numbers = [
        {"number": place, "value": one.value, "low": one.low, "high": one.high, "measured_by": one.source}
        for place, one in found.numbers.items()
    ]
    predictions = [
        {
            "spec": one.exchange.spec,
            "block_bytes": one.exchange.bytes,
            "measured_us": 1e6 * one.measured,
            "expected_us": 1e6 * one.expected,
        }
        for one in found.predictions
    ]
    refused = [{"what": what, "why": why} for what, why in _refused(found.run).items()]
    return {"numbers": numbers, "not_measured": refused, "predictions": predictions}


def report(found: Calibrated) -> None:
    """Print it for people."""
    listing = Table("number", *right("value", "from", "to"))
    listing.add_column("measured by")
    for place, number in found.numbers.items():
        form = "{:.0f}" if place.endswith("_bytes") else "{:.4g}"
        listing.add_row(place, *map(form.format, (number.value, number.low, number.high)), number.source)
    crowd = Table("way", "ranks of a node", "GB/s", "messages/µs")
    for row in found.evidence["by_ranks_of_a_node"]:
        crowd.add_row(*map(str, row.values()))
    console = tables_console()
    console.print(listing, crowd, sep="\n")
    for what, reason in _refused(found.run).items():
        print(f"swapmeet: {what} is not measured: {reason}")
    if not found.predictions:
        print("swapmeet: no time was left for all-to-alls: how well the model predicts is not known")
        return
    console.print(held_out.table(found.predictions))
    summary = found.evidence["held_out"]
    print(
        f"Of {summary['exchanges']} all-to-alls that the description is not made of, the model is off by "
        f"{summary['median']:.0%} in the median and {summary['worst']:.0%} at worst; "
        f"it orders {summary.get('pairs in order', 1):.0%} of pairs of specs rightly."
    )
    if held_out.predicts_little(summary):
        print(
            "swapmeet: warning: that is little. Something else ran here, or ranks share cores: measure again where "
            "nothing does, or with a longer --budget"
        )
