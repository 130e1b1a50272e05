"""Everything that docs/validation.md rests on, computed from measurements and descriptions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from swapmeet import machines
from swapmeet.errors import SwapmeetError
from swapmeet.model import prices
from swapmeet.simulate.deviation import LABEL
from swapmeet.specs import parse_spec
from swapmeet.validation import algorithms, fitting, judging, store
from swapmeet.validation.measurements import Measured, by_place
from swapmeet.validation.predicting import (
    ESTIMATE,
    MODEL,
    SIMULATION,
    Prediction,
    Predictor,
    by_cell,
    described,
    error_bars,
    prediction,
    topology_of,
)

REFITS = 20  #: random choices of the cells that a description is fitted to
FROM_8 = "fugaku-from-8"
SCALED_TO = "8x8x8"
ORDER_TIME = "SWAPMEET_ORDER_TIME"
MEASURED_OTHERWISE = ("tra(r=2)",)  #: of the papers' rules: with datatypes, and so in judging.RULES
OURS = {MODEL: "ours, by swapmeet model", ESTIMATE: "ours, by --estimate"}  #: names of choices
ORDERS = {
    "shift, one at a time": "pairwise",
    "xor, one at a time": "direct(order=xor,window=1)",
    "shift, all at once": "spread-out",
    "conflict-free, one at a time": "direct(order=topology({network}),window=1)",
    "conflict-free, eight at a time": "direct(order=topology({network}),window=8)",
    "three dimensions, one after the other": "torus",
}


def predictors(cells: Sequence[Measured], given: machines.Machine | None = None) -> dict[str, Predictor]:
    """One for each system of the data that is described: by `given`, or else by the built-in machine that names it."""
    found = {}
    for system in dict.fromkeys(one.system for one in cells):
        machine = given or described(system)
        if machine is not None:
            found[system] = Predictor(machine)
    return found


def undescribed(system: str) -> str:
    """The text on a system without a description."""
    return f'no built-in machine describes "{system}", so nothing is predicted: give --machine FILE (docs/models.md)'


def predictions(by: str, cells: Sequence[Measured], known: dict[str, Predictor]) -> list[Prediction]:
    """Of all cells whose algorithm is a point of our family."""
    return [
        one
        for system, predictor in known.items()
        for one in predictor.predict(by, [one for one in cells if one.system == system])
    ]


def row_of(one: Prediction) -> dict[str, Any]:
    """A prediction as a row."""
    cell = one.measured
    return {
        "system": cell.system,
        "nodes": cell.nodes,
        "ranks": cell.ranks,
        "algorithm": cell.algorithm,
        "spec": one.spec,
        "bytes": cell.block_bytes,
        "measured_us": cell.us,
        "by": one.by,
        "us": round(one.us, 3),
        "fitted": one.fitted,
        "twin": one.twin,
    }


def scaled(cells: Sequence[Measured]) -> list[Prediction]:
    """What a description made of 8 nodes of Fugaku predicts for 512."""
    path = Path(str(files(__package__) / "fits" / f"{FROM_8}.json"))
    machine = machines.parse(json.dumps(fitting.fit(path, cells)), FROM_8)
    some = [one for one in cells if one.system == machine.system and one.nodes == SCALED_TO]
    return [one for by in (MODEL, ESTIMATE) for one in Predictor(machine).predict(by, some)]


def refits(cells: Sequence[Measured], seeds: int = REFITS) -> Iterator[dict[str, Any]]:
    """How far estimates are off if descriptions are fitted to other cells, as many, chosen at random."""
    for system in dict.fromkeys(one.system for one in cells):
        machine = described(system)
        if machine is None:
            continue
        some = [one for one in cells if one.system == system]
        path = Path(str(files(__package__) / "fits" / f"{machine.name}.json"))
        first = Predictor(machine)
        for seed in range(seeds):
            other = machines.parse(json.dumps(fitting.fit(path, cells, seed)), machine.name)
            held = [one for one in first.with_costs(other).predict(ESTIMATE, some) if one.held_out]
            of = judging.errors(held)
            yield {
                "system": system,
                "seed": seed,
                "cells": of.cells,
                "median": round(of.median, 4),
                "near": round(of.near, 4),
            }


def choices(cells: Sequence[Measured], known: dict[str, Predictor]) -> list[judging.Loss]:
    """What each choice loses in each cell."""
    by_name = {name: predictions(by, cells, known) for by, name in OURS.items()}
    return judging.data_losses(cells, by_name) + estimated_rules(cells, known)


def estimated_rules(cells: Sequence[Measured], known: dict[str, Predictor]) -> list[judging.Loss]:
    """The loss by the papers' rules whose algorithms were not measured there: estimated over the fastest measured."""
    from swapmeet.choose.held_out import PAPERS

    found = []
    for cell, some in by_cell(cells).items():
        system, nodes, ranks, size = cell
        per_node = next(iter(some.values())).per_node
        for name, spec in PAPERS.items():
            of_nodes = dict(parse_spec(spec).parameters).get("dims") == "nodes" and per_node == 1
            if system not in known or of_nodes or spec in MEASURED_OTHERWISE:
                continue
            us = known[system].us(ESTIMATE, spec, ranks, per_node, nodes, size)
            if us is not None:
                found.append(judging.estimated_loss(f"{name} (estimated)", some, spec, us))
    return found


def family(ranks: int, nodes: str, topology: str) -> Iterator[str]:
    """Specs of the whole family: those of `swapmeet model --best`, windows, and what suits a torus in its shape."""
    specs = [str(spec) for spec in prices.candidates(ranks, "", None)]
    specs += [f"direct(order={order},window={window})" for order in ("shift", "xor") for window in (1, 4, 16)]
    specs += [str(parse_spec(name)) for name in ("grid", "torus", "bruck-zero-copy")]
    if "x" in nodes:
        specs += [f"bruck(dims={nodes},radix={radix},layout=zero-rotation,window=all)" for radix in ("2", "4", "all")]
        specs += [f"direct(order=topology({topology}),window={window})" for window in (1, 8)]
    for spec in dict.fromkeys(str(parse_spec(spec)) for spec in specs):
        window = dict(parse_spec(spec).parameters).get("window", "all")
        wide = window.isdecimal() and int(window) >= ranks - 1  # as window=all
        if not wide and not parse_spec(spec).unsuitable(ranks, ""):
            yield spec


def best(cells: Sequence[Measured], known: dict[str, Predictor]) -> Iterator[dict[str, Any]]:
    """The fastest spec of the family in each cell, by the estimate, with error bars; and what was measured there."""
    for system, predictor in known.items():
        some = [one for one in cells if one.system == system]
        predicted = predictor.predict(ESTIMATE, some)
        for (_, nodes, ranks), place in by_place(some).items():
            held = [one for one in predicted if one.measured.nodes == nodes and one.held_out]
            low, high = error_bars(held)
            per_node = next(iter(next(iter(place.values())).values())).per_node
            specs = list(family(ranks, nodes, predictor.network_name(ranks, per_node, nodes)))
            for size, there in place.items():
                times = {}
                with orders_at_once():
                    for spec in specs:
                        us = predictor.us(ESTIMATE, spec, ranks, per_node, nodes, size)
                        if us is not None:
                            times[spec] = us
                fastest = min(times, key=lambda spec: times[spec])
                default, measured = judging.by_default(there), judging.fastest(there)
                yield {
                    "system": system,
                    "nodes": nodes,
                    "ranks": ranks,
                    "bytes": size,
                    "spec": fastest,
                    "us": round(times[fastest], 3),
                    "low_us": round(times[fastest] * low, 3),
                    "high_us": round(times[fastest] * high, 3),
                    "candidates": len(times),
                    "held_out": len(held),
                    "same_us": sorted(one.us for one in there.values() if _is(one, fastest)),
                    "default_us": default.us if default else None,
                    "fastest": measured.algorithm,
                    "fastest_us": measured.us,
                }


def _is(measured: Measured, spec: str) -> bool:
    """Whether that algorithm sends the messages of the spec, in its order."""
    algorithm = algorithms.find(measured.algorithm)
    return algorithm is not None and bool(algorithm.spec) and parse_spec(str(algorithm.spec)) == parse_spec(spec)


def orders(cells: Sequence[Measured], known: dict[str, Predictor]) -> Iterator[dict[str, Any]]:
    """Orders on each torus of the data, against what was measured and what the links allow."""
    for system, predictor in known.items():
        some = [one for one in cells if one.system == system and "x" in one.nodes]
        for (_, nodes, ranks), place in by_place(some).items():
            for size, there in place.items():
                per_node = next(iter(there.values())).per_node
                bound = predictor.link_bound_us(ranks, per_node, nodes, size)
                own = [
                    one
                    for one in there.values()
                    if algorithms.find(one.algorithm) in (algorithms.TORUS, algorithms.CHOICE)
                ]
                if bound is None or not own:
                    continue
                topology = predictor.network_name(ranks, per_node, nodes)
                with orders_at_once():
                    times = {
                        name: predictor.us(ESTIMATE, spec.format(network=topology), ranks, per_node, nodes, size)
                        for name, spec in ORDERS.items()
                    }
                vendor = min(own, key=lambda one: one.us)
                yield {
                    "system": system,
                    "nodes": nodes,
                    "ranks": ranks,
                    "bytes": size,
                    "bound_us": round(bound, 3),
                    "vendor": vendor.algorithm,
                    "vendor_us": vendor.us,
                    "us": {name: round(us, 3) for name, us in times.items() if us is not None},
                }


@contextmanager
def orders_at_once() -> Iterator[None]:
    """Orders of the topology without the improvement that ends by the clock: the same each time."""
    before = os.environ.get(ORDER_TIME)
    os.environ[ORDER_TIME] = "0"
    try:
        yield
    finally:
        os.environ.pop(ORDER_TIME)
        if before is not None:
            os.environ[ORDER_TIME] = before


def simulated(paths: Iterable[Path], cells: Sequence[Measured]) -> list[Prediction]:
    """What `swapmeet simulate` wrote of machines that are described, for each measured algorithm of the same spec.

    `call_us`, which a call takes besides, is added: SimGrid simulates the exchange alone.

    Raises
    ------
    SwapmeetError
        If a file cannot be read, or is not of the network that was measured.
    """
    from swapmeet.measure.bench.reading import read

    found = []
    for path in paths:
        results = read(path)
        for cell in results.cells():
            label = LABEL.fullmatch(cell.mpi)
            if label is None:
                raise SwapmeetError(f'{path}: "{cell.mpi}" was not simulated: give results of swapmeet simulate')
            machine = machines.load(label["machine"], str(path))
            call_us = machine.network.call_us if machine.network else machine.costs.call_us
            for one in cells:
                algorithm = algorithms.find(one.algorithm)
                if (one.system, one.ranks, one.block_bytes) != (machine.system, cell.ranks, cell.block_bytes):
                    continue
                if (label["topology"] or topology_of(machine, one.nodes)) != topology_of(machine, one.nodes):
                    continue
                for spec in results.specs(cell):
                    if algorithm and algorithm.spec and str(parse_spec(algorithm.spec)) == str(parse_spec(spec)):
                        us = call_us + 1e6 * float(results.samples(cell, spec)[0].longest[0])
                        found.append(prediction(machine, one, algorithm.spec, SIMULATION, us))
    return found


def everything(
    cells: Sequence[Measured], reproduction: Path, simulated: Iterable[Prediction] = ()
) -> dict[str, list[dict[str, Any]]]:
    """All rows, by their kind; `reproduction` is the folder of `swapmeet reproduce -o`."""
    from swapmeet.validation import rejudging  # of claims, which an installed package does not have

    known = predictors(cells)
    both = [one for by in (MODEL, ESTIMATE) for one in predictions(by, cells, known)]
    return {
        store.CELLS: [row_of(one) for one in (*both, *simulated)],
        store.SCALE: [row_of(one) for one in scaled(cells)],
        store.CHOICES: [
            {
                "choice": one.choice,
                "system": one.cell[0],
                "nodes": one.cell[1],
                "ranks": one.cell[2],
                "bytes": one.cell[3],
                "takes": one.takes,
                "fastest": one.fastest,
                "regret": round(one.regret, 5),
                "low": round(one.low, 5),
                "high": round(one.high, 5),
                "surely": one.surely,
                "one_spec": one.one_spec,
            }
            for one in choices(cells, known)
        ],
        store.BEST: list(best(cells, known)),
        store.ORDERS: list(orders(cells, known)),
        store.CLAIMS: list(rejudging.claims(reproduction)),
    }
