"""Swapmeet inside one node beside the MPI underneath, and beside what no exchange can beat.

    .venv/bin/python benchmarks/node.py --specs shared-memory
    .venv/bin/python benchmarks/node.py --mpi mpich,openmpi,intel --ranks 2,4,8,16 --collective alltoallv \
        --specs shared-memory 'direct(order=shift,window=all,complete=all,intra=cma)' --samples 30 --json node.json

For each MPI and number of ranks, benchmarks/node.c measures the MPI's own exchange (called past Swapmeet), the specs,
and three limits, for each block size, all in one run, samples in random order:

- memcpy: all ranks copy as many blocks as they receive, in private memory: the bytes that must move at least once;
- memcpy-shared: the same from shared memory, where other ranks have just written the blocks: caches do not help;
- flag: one flag handed from a core to another. Limits are measured with rank i on core i, in turn.

Prints Markdown. Times are medians in µs; speed-up is the MPI's time over Swapmeet's; "over limit" is Swapmeet's time
over the larger of memcpy and flag. Intervals are 95 % bootstrap intervals (percentiles of 2000 resamples; of launches
first if there are several). Then geometric means of the speed-up over cells, and the worst cells. What a run says on
standard error, such as an algorithm that could not be used, goes there too.

`--touch`: every rank rewrites its send buffer before each call, untimed (as applications do; OSU's benchmarks do not).
`--pin`: rank i runs on core i only, in turn; otherwise the MPI and the kernel place ranks.
`--program` and `--library`: what some other build has made, in place of `swapmeet`'s own; with one MPI only.

Intel MPI is not installed by `make build`: `make intel` gets it from PyPI (132 MB to download, 306 MB on disk, seconds,
Intel Simplified Software License), as does

    pip install --prefix .venv/mpi/intel --no-deps impi-rt==2021.18.1 impi-devel==2021.18.1

Where ranks share cores, it is launched with I_MPI_THREAD_YIELD=3 (sleep) unless that is set: 2 (yield) was many times
as fast for small blocks at P = 4, and half as fast for 1 MiB at P = 8. Compare with the better of both.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from beside import Samples

from swapmeet import launch, library, mpi

BLOCKS = "8,64,512,1024,4096,16384,65536,262144,1048576"
SMALL = 4096  #: bytes; blocks up to here have a mean of their own
RESAMPLES = 2000
TIMEOUT_S = 3600
LIMITS = ("memcpy", "memcpy-shared", "flag")
TUNING = ("I_MPI_", "OMPI_MCA_", "MPIR_CVAR_", "UCX_", "FI_")  #: beginnings of variables that tune an MPI


@dataclass
class Run:
    """All launches of one MPI on so many ranks."""

    target: mpi.Mpi
    ranks: int
    notes: list[str]  #: what the program says of the run
    samples: dict[int, dict[str, Samples]]  #: block bytes -> candidate -> (launches, samples), µs a call


@dataclass
class Cell:
    """One spec against the MPI underneath: one block size of a run."""

    name: str  #: of the MPI
    ranks: int
    block: int
    spec: str
    speedup: float
    draws: Samples  #: of the speed-up, resampled


def launch_once(target: mpi.Mpi, ranks: int, arguments: argparse.Namespace) -> list[str]:
    """What one launch prints.

    Raises
    ------
    SystemExit
        If it fails.
    """
    program = arguments.program or library.program(target, "node")
    preloaded = arguments.library or library.library(target)
    options = [f"--{name}" for name in ("touch", "pin") if getattr(arguments, name)]
    argv = [program, *options, arguments.collective, str(arguments.samples), arguments.blocks, *arguments.specs]
    words = launch.command(target, ranks, argv, preloaded, launch.library_variables("auto"))
    done = launch.run(target, ranks, words, timeout_s=TIMEOUT_S)
    for line in dict.fromkeys(done.stderr.splitlines()):
        print(f"{target.name}, P = {ranks}: {line}", file=sys.stderr, flush=True)
    if done.returncode:
        sys.exit(f"{target.name}, P = {ranks}: node failed with status {done.returncode}")
    return done.stdout.splitlines()


def measure(target: mpi.Mpi, ranks: int, arguments: argparse.Namespace) -> Run:
    """Launch as often as asked; each launch must give as many samples."""
    notes: dict[str, None] = {}
    launches: list[dict[int, dict[str, list[float]]]] = []
    for _ in range(arguments.launches):
        launches.append({})
        for line in launch_once(target, ranks, arguments):
            if line.startswith("#"):
                notes[line.lstrip("# ")] = None
                continue
            block, *words, microseconds = line.split()  # a spec may hold blanks
            row = launches[-1].setdefault(int(block), {})
            row.setdefault(" ".join(words), []).append(float(microseconds))
    samples = {
        block: {name: np.array([one[block][name] for one in launches]) for name in row}
        for block, row in launches[0].items()
    }
    tuned = {**os.environ, **mpi.environment(target, ranks)}
    notes |= {f"{name}={value}": None for name, value in tuned.items() if name.startswith(TUNING)}
    return Run(target, ranks, list(notes), samples)


def speedup_draws(theirs: Samples, ours: Samples, random: np.random.Generator) -> Samples:
    """Ratios of medians, resampled: launches, the same for both, then samples within each."""
    launches, many = ours.shape
    chosen = random.integers(launches, size=(RESAMPLES, launches, 1))
    medians = []
    for x in (theirs, ours):
        within = random.integers(many, size=(RESAMPLES, launches, many))
        medians.append(np.median(x[chosen, within].reshape(RESAMPLES, -1), axis=1))
    return np.asarray(medians[0] / medians[1])


def interval(draws: Samples) -> str:
    """As text."""
    low, high = np.percentile(draws, [2.5, 97.5])
    return f"{low:.2f}-{high:.2f}"


def time(microseconds: float) -> str:
    """As text, three digits and more."""
    if microseconds >= 1000:
        return f"{microseconds:.0f}"
    return f"{microseconds:.3f}" if microseconds < 1 else f"{microseconds:.4g}"


def size(block: int) -> str:
    """As text."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if block % factor == 0:
            return f"{block // factor} {unit}"
    return f"{block} B"


def tabulate(run: Run, specs: list[str], random: np.random.Generator) -> Iterator[Cell]:
    """Print a row for each cell of a run."""
    name = f"{run.target.kind} {run.target.version}"
    print(f"\n## {name}, P = {run.ranks}\n\n{'; '.join(run.notes)}\n")
    print(f"| block | spec | MPI (µs) | Swapmeet (µs) | speed-up (95 %) | {' | '.join(LIMITS)} | over limit |")
    print("|---|---|---|---|---|---|---|---|---|")
    for block, row in run.samples.items():
        limits = {limit: float(np.median(row[limit])) for limit in LIMITS if limit in row}
        bound = max(limits.get("memcpy", 0), limits.get("flag", 0))
        for spec in specs:
            theirs, ours = float(np.median(row["mpi"])), float(np.median(row[spec]))
            cell = Cell(name, run.ranks, block, spec, theirs / ours, speedup_draws(row["mpi"], row[spec], random))
            shown = [time(limits[limit]) if limit in limits else "" for limit in LIMITS]
            over = f"{ours / bound:.2f}" if bound else ""
            start = f"| {size(block)} | {spec} | {time(theirs)} | {time(ours)} | {cell.speedup:.2f}"
            print(f"{start} ({interval(cell.draws)}) | {' | '.join(shown)} | {over} |", flush=True)
            yield cell


def mean(cells: list[Cell]) -> str:
    """The geometric mean of the speed-ups, and its interval; cells are resampled independently."""
    if not cells:
        return ""
    point = np.exp(np.mean(np.log([cell.speedup for cell in cells])))
    return f"{point:.2f} ({interval(np.exp(np.mean([np.log(cell.draws) for cell in cells], axis=0)))})"


def summarise(cells: list[Cell], specs: list[str]) -> None:
    """Geometric means over cells, and the worst, for each MPI and for all."""
    print("\n## Speed-up: geometric mean over cells (95 %)\n")
    print(f"| MPI | spec | cells | all sizes | blocks <= {size(SMALL)} | larger | worst cell |")
    print("|---|---|---|---|---|---|---|")
    names = list(dict.fromkeys(cell.name for cell in cells))
    for name in [*names, *(["all"] if len(names) > 1 else [])]:
        for spec in specs:
            own = [cell for cell in cells if cell.spec == spec and name in (cell.name, "all")]
            small = [cell for cell in own if cell.block <= SMALL]
            large = [cell for cell in own if cell.block > SMALL]
            worst = min(own, key=lambda cell: cell.speedup)
            where = f"{worst.name}, P = {worst.ranks}, {size(worst.block)}"
            means = f"{mean(own)} | {mean(small)} | {mean(large)}"
            text = f"{worst.speedup:.2f} ({interval(worst.draws)}): {where}"
            print(f"| {name} | {spec} | {len(own)} | {means} | {text} |")


def machine() -> dict[str, object]:
    """What else a reader of the numbers asks."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    words = ["git", "-C", str(library.source_tree()), "describe", "--always", "--dirty", "--abbrev=12"]
    commit = subprocess.run(words, capture_output=True, text=True).stdout.strip()
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit or "unknown",
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "load": os.getloadavg()[0],
    }


def write_json(path: Path, about: dict[str, object], arguments: argparse.Namespace, runs: list[Run]) -> None:
    """All samples. Written after each run, so that an interrupted one keeps what it has."""
    named = ("collective", "touch", "pin", "samples", "launches", "specs")
    options = {name: getattr(arguments, name) for name in named}
    told = [
        {
            "mpi": run.target.kind,
            "version": run.target.version,
            "ranks": run.ranks,
            "notes": run.notes,
            "microseconds": {
                block: {name: values.tolist() for name, values in row.items()} for block, row in run.samples.items()
            },
        }
        for run in runs
    ]
    draft = path.with_suffix(path.suffix + ".draft")
    draft.write_text(json.dumps({"machine": about, "options": options, "runs": told}) + "\n")
    draft.replace(path)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--ranks", default="2,4,8,16")
    parser.add_argument("--collective", choices=("alltoall", "alltoallv"), default="alltoall")
    parser.add_argument("--specs", nargs="+", default=["shared-memory"])
    parser.add_argument("--blocks", default=BLOCKS, help="bytes, separated by commas")
    parser.add_argument("--samples", type=int, default=30, help="of each candidate and block size, in each launch")
    parser.add_argument("--launches", type=int, default=1)
    parser.add_argument("--touch", action="store_true")
    parser.add_argument("--pin", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--library", type=Path)
    arguments = parser.parse_args()
    targets, numbers = list(map(mpi.find, arguments.mpi.split(","))), list(map(int, arguments.ranks.split(",")))
    if len(targets) > 1 and (arguments.program or arguments.library):
        parser.error("--program and --library are of one MPI")
    about, random = machine(), np.random.default_rng(1)
    print(f"{arguments.collective}, {arguments.launches} x {arguments.samples} samples; ", end="")
    print("; ".join(f"{name}: {value}" for name, value in about.items()), flush=True)
    runs: list[Run] = []
    cells: list[Cell] = []
    for target in targets:
        for ranks in numbers:
            runs.append(measure(target, ranks, arguments))
            cells += tabulate(runs[-1], arguments.specs, random)
            if arguments.json:
                write_json(arguments.json, about, arguments, runs)
    summarise(cells, arguments.specs)


if __name__ == "__main__":
    main()
