"""Measures what direct.md, bruck.md and varying.md show: all samples, into results files (docs/results.md)."""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import measured

from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench import machine
from swapmeet.measure.bench.cells import Cell
from swapmeet.measure.bench.results import Writer
from swapmeet.mpi import launch, library, mpis

MPIS = {"direct": "mpich,openmpi", "bruck": "mpich,openmpi", "varying": "openmpi"}
RANKS = {"direct": (2, 4, 8), "bruck": (2, 4, 8, 16), "varying": (8, 16, 32)}
MOST = {"direct": 1 << 20, "bruck": 1 << 16}  #: bytes a block
VARIANTS = ("", ",window=all", ",layout=zero-rotation", ",layout=zero-rotation,window=all")
SPECS = "spread-out padded-alltoall padded-bruck two-phase-bruck sloav two-phase-bruck(sizes=combined) tuna"
SPECS += " radix(window=all) hybrid"
WORKLOADS = "uniform:max=64 uniform:max=1KiB uniform:max=16KiB normal:mean=512,deviation=128"
WORKLOADS += " power-law:exponent=0.99,max=64KiB sparse:density=0.05,bytes=4KiB"
WORKLOADS += " hot-spot:bytes=8,hot=256KiB,source=0,destination=1"
TIME_LIMIT_S = 300  #: of a launch


@dataclass(frozen=True)
class Loop:
    """A hand-written loop, and the specs that one launch measures beside it."""

    page: str
    argument: str  #: of the program
    target: mpis.Mpi
    ranks: int
    specs: Sequence[str]


def loops(page: str, target: mpis.Mpi, ranks: int) -> Iterator[Loop]:
    """What is launched in a turn."""
    if page == "direct":
        yield from (Loop(page, name, target, ranks, [name]) for name in ("spread-out", "pairwise"))
        return
    for radix in sorted({2, math.isqrt(ranks - 1) + 1, ranks}):
        yield Loop(page, str(radix), target, ranks, [f"radix(r={radix}{rest})" for rest in VARIANTS])


def take(writer: Writer, turn: int, loop: Loop, rounds: int) -> None:
    """Launch once, and write all samples.

    Raises
    ------
    SwapmeetError
        If the launch fails.
    """
    target, ranks = loop.target, loop.ranks
    argv = [library.program(target, f"{loop.page}_loop"), loop.argument, str(MOST[loop.page]), str(rounds), *loop.specs]
    words = launch.command(target, ranks, argv, library.library(target))
    name = f"{target.kind} {target.version}"
    number = writer.launch(
        block=turn,
        mpi=name,
        library=str(target.libmpi or ""),
        ranks=ranks,
        nodes="",
        command=words,
        environment=machine.tuning({**os.environ, **mpis.environment(target, ranks)}),
        started=machine.now(),
        load=os.getloadavg()[0],
    )
    try:
        done = launch.run(target, ranks, words, timeout_s=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise SwapmeetError(f"{' '.join(words)}: took longer than {TIME_LIMIT_S} s") from None
    if done.returncode:
        raise SwapmeetError(f"{' '.join(words)}: status {done.returncode}: {done.stderr.strip()}")
    samples: dict[tuple[str, str, int], list[list[float]]] = {}
    for line in done.stdout.splitlines():
        size, spec, calls, *microseconds = line.split()
        samples.setdefault((size, spec, int(calls)), []).append([1e-6 * float(time) for time in microseconds])
    for (size, spec, calls), times in samples.items():
        longest, shortest, mean = zip(*times, strict=True)
        cell = Cell(name, ranks, "alltoall", size)
        named = measured.LOOP + loop.argument if spec == "loop" else spec
        writer.samples(number, cell, named, calls=calls, round=0, longest=longest, shortest=shortest, mean=mean)


def measure_loops(page: str, options: argparse.Namespace, file: Path) -> None:
    """All launches of direct.md or bruck.md, in turns."""
    names = options.mpi or MPIS[page]
    targets = list(map(mpis.find, names.split(",")))
    given = {"mpi": names, "turns": options.turns, "rounds": options.rounds}
    with Writer(file, machine.header(given)) as writer:
        for turn in range(options.turns):
            print(f"{page}: turn {turn + 1} of {options.turns}", file=sys.stderr, flush=True)
            for target in targets:
                for ranks in options.ranks or RANKS[page]:
                    for loop in loops(page, target, ranks):
                        take(writer, turn, loop, options.rounds)


def measure_varying(options: argparse.Namespace, file: Path) -> None:
    """All cells of varying.md."""
    words = [sys.executable, "-m", "swapmeet", "bench", *SPECS.split(), "--mpi", options.mpi or MPIS["varying"], "-n"]
    words += [",".join(map(str, options.ranks or RANKS["varying"])), "--seed", "1", "--launches", str(options.turns)]
    words += [word for workload in options.workloads or WORKLOADS.split() for word in ("--workload", workload)]
    words += ["--least", "6", "--most", str(options.rounds), "--budget", options.budget, "-o", str(file)]
    if subprocess.run(words).returncode:
        raise SwapmeetError("swapmeet bench failed")


def measure(options: argparse.Namespace) -> None:
    """Measure the data of pages; each file is replaced when it is complete."""
    for page in options.pages or measured.PAGES:
        file = options.folder / f"{page}.jsonl"
        new = file.with_suffix(".jsonl.new")
        new.unlink(missing_ok=True)
        measure_varying(options, new) if page == "varying" else measure_loops(page, options, new)
        here = f"{Path(__file__).resolve().parents[2]}/"
        new.write_text(new.read_text().replace(here, ""))  # whose folder it was concerns nobody
        new.replace(file)
