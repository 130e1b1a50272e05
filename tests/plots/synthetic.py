"""Results files of machines that never were: times follow laws that the tests know."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Law = Callable[[str, int, float], float]  #: (spec, ranks, bytes) -> seconds
PHASES = ("pack", "transfer", "wait", "unpack", "copy", "metadata", "other")


def linear(spec: str, ranks: int, size: float) -> float:
    """20 µs and 1 ns a byte, times what the spec's name makes of it."""
    slow = 1 + 0.4 * ((sum(map(ord, spec)) % 7) - 3) / 3 if spec != "native" else 1.0
    return (20e-6 + 1e-9 * size) * ranks / 4 * slow


def write(
    path: Path,
    *,
    specs: Sequence[str] = ("pairwise",),
    sizes: Iterable[int | str] = (64, 1024),
    ranks: Iterable[int] = (4,),
    mpis: Iterable[str] = ("openmpi 5.0.11",),
    law: Law = linear,
    means: Mapping[str, float] | None = None,
    noise: float = 0.02,
    samples: int = 30,
    launches: int = 3,
    missing: Callable[[str, int, str], bool] = lambda spec, ranks, size: False,
    phases: bool = False,
    nodes: str = "",
    notes: Sequence[str] = ("slow disk",),
    header: Mapping[str, Any] | None = None,
) -> Path:
    """Write a results file; `means` are the mean bytes of workloads among the sizes (1000 if not given)."""
    random = np.random.default_rng(1)
    machine = {"host": "nowhere", "processor": "Slide Rule", "cores": 8, "memory_bytes": 2**34, "kernel": "Linux 1.0"}
    campaign = {"type": "campaign", "schema": 1, "swapmeet": "0.1.0", "commit": "abcdef0123", "created": "2024-01-02"}
    lines: list[dict[str, Any]] = [campaign | {"machine": machine, "options": {"target": 0.02}} | dict(header or {})]
    for number, (mpi, p, block) in enumerate(itertools.product(mpis, ranks, range(launches))):
        command = ["mpirun", "-n", str(p), "measure"]
        place = {"mpi": mpi, "ranks": p, "nodes": nodes}
        lines.append(
            {"type": "launch", "launch": number, "block": block, "library": "/lib/libmpi.so", "command": command}
            | {"environment": {"A": "b c"}, "started": "2024-01-02", "load": 0.5, "notes": list(notes), **place}
        )
        for size in map(str, sizes):
            collective = "alltoall" if size.isdecimal() else "alltoallv"
            cell = {**place, "collective": collective, "sizes": size, "seed": 0, "datatype": "byte"}
            mean = float(size) if size.isdecimal() else (means or {}).get(size, 1000.0)
            for spec in ["native", *specs]:
                if missing(spec, p, size):
                    continue
                middle = law(spec, p, mean)
                taken = middle * np.exp(noise * random.standard_normal(samples))
                if noise > 0.01:
                    taken[random.random(samples) < 0.03] *= 3
                times = {"longest": taken.tolist(), "shortest": (taken * 0.8).tolist(), "mean": (taken * 0.9).tolist()}
                run = {"launch": number, "cell": cell, "spec": spec}
                lines.append({"type": "samples", **run, "calls": 10, "round": 0, **times})
                if phases:
                    shares = np.arange(1, len(PHASES) + 1) / 28
                    seconds = {name: [middle * share] * p for name, share in zip(PHASES, shares, strict=True)}
                    lines.append({"type": "phases", **run, "calls": 50, "seconds": seconds})
    lines.append({"type": "problem", "launch": 0, "cell": None, "spec": "bruck", "message": "it <b>broke</b>"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
