"""What the samples of a results file come to, as records for other programs: each spec beside the host MPI."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.measure.bench.records import Results
from swapmeet.measure.bench.statistics import median, ratio, verdict


def record(results: Results) -> dict[str, object]:
    """All of it: docs/json.md. Times in seconds, speed-ups over the host MPI."""
    return {
        "file": results.path,
        "machine": results.header.get("machine"),
        "commit": results.header.get("commit"),
        "created": results.header.get("created"),
        "measured": results.measured,
        "cells": [asdict(cell) | {"specs": list(_specs(results, cell))} for cell in results.cells()],
        "limits": [asdict(one.cell) | {"launch": one.launch, "seconds": one.seconds} for one in results.limits],
        "overlaps": [
            asdict(one.cell) | {"launch": one.launch, "spec": one.spec, "tests": one.tests, "seconds": one.seconds}
            for one in results.overlaps
        ],
        "problems": [
            {"cell": one.cell and asdict(one.cell), "spec": one.spec, "message": one.message}
            for one in results.problems
        ],
    }


def _specs(results: Results, cell: Cell) -> Iterator[dict[str, object]]:
    base = results.samples(cell, NATIVE)
    for spec in results.specs(cell):
        runs = results.samples(cell, spec)
        found: dict[str, object] = {"spec": spec, "seconds": median([run.longest for run in runs]).record()}
        if spec != NATIVE and base:
            speedup = ratio(base, runs)
            found |= {"speedup": speedup.record(), "verdict": verdict(speedup)}
        yield found
