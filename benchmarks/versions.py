"""Two builds of the library beside one another: what the same specs take, launches in turn, as OSU times all-to-alls.

    python benchmarks/versions.py measure OLD NEW -o versions.jsonl    # folders with MPI/libswapmeet.so
    python benchmarks/versions.py table versions.jsonl

In each turn both builds run one after the other, the first of them by turns; a ratio is taken within a turn, and above
1 the new build is faster. A cell is the median over turns; a row is the geometric mean over its sizes, with the least
and the greatest of the turns' own means.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from swapmeet.mpi import launch, mpis
from swapmeet.mpi.library import program
from swapmeet.structs import read_lines

SPECS = "shared-memory;spread-out;pairwise;tra;two-phase-bruck;two-layer(intra=shm,r1=all,r2=all)"
SIZES = re.compile(r"^(\d+)\s+([\d.]+)", re.MULTILINE)
OLD, NEW = "old", "new"


def measured(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """A row for each launch."""
    builds = {OLD: arguments.old, NEW: arguments.new}
    for turn in range(arguments.turns):
        for name in arguments.mpi.split(","):
            target = mpis.find(name)
            for ranks in map(int, arguments.ranks.split(",")):
                for spec in arguments.specs.split(";"):
                    for build in (OLD, NEW) if turn % 2 == 0 else (NEW, OLD):
                        library = builds[build] / name / "libswapmeet.so"
                        yield row(target, ranks, spec, build, turn, library, arguments)


def row(
    target: mpis.Mpi, ranks: int, spec: str, build: str, turn: int, library: Path, arguments: argparse.Namespace
) -> dict[str, Any]:
    """What one launch printed."""
    collective = "Alltoallv" if "two-phase" in spec else "Alltoall"
    nodes = {"SWAPMEET_NODES": str(max(1, ranks // 2))} if "two-layer" in spec else {}
    variables = launch.library_variables(spec) | nodes
    words = [program(target, "users"), "osu", str(arguments.most), str(arguments.calls), collective]
    command = launch.command(target, ranks, words, library, variables)
    done = launch.run(target, ranks, command, timeout_s=300)
    times = {int(size): float(us) for size, us in SIZES.findall(done.stdout)}
    return {
        "mpi": target.name,
        "ranks": ranks,
        "spec": spec,
        "collective": collective,
        "build": build,
        "turn": turn,
        "status": done.returncode,
        "us": times,
    }


def ratios(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, int, str], dict[int, dict[int, float]]]:
    """Old over new, by MPI, ranks and spec; by turn; by size."""
    times = {(r["mpi"], r["ranks"], r["spec"], r["turn"], r["build"]): r["us"] for r in rows if r["status"] == 0}
    found: dict[tuple[str, int, str], dict[int, dict[int, float]]] = defaultdict(dict)
    for (name, ranks, spec, turn, build), new in times.items():
        old = times.get((name, ranks, spec, turn, OLD))
        if build == NEW and old:
            found[name, ranks, spec][turn] = {int(s): float(old[s]) / float(new[s]) for s in new if s in old}
    return found


def table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Markdown."""
    yield "| MPI | ranks | spec | new over old: geometric mean over sizes | least and greatest turn | worst size |"
    yield "|---|---|---|---|---|---|"
    means = []
    for (name, ranks, spec), turns in ratios(rows).items():
        sizes = sorted(set.intersection(*(set(turn) for turn in turns.values())))
        cells = {size: median(turn[size] for turn in turns.values()) for size in sizes}
        each = [geometric_mean(turn[size] for size in sizes) for turn in turns.values()]
        worst = min(cells, key=cells.__getitem__)
        means.append(geometric_mean(cells.values()))
        yield (
            f"| {name} | {ranks} | `{spec}` | {means[-1]:.3f} | {min(each):.2f} to {max(each):.2f} "
            f"| {cells[worst]:.2f}: {worst} B |"
        )
    if means:
        yield f"\nGeometric mean of all rows: {math.exp(sum(map(math.log, means)) / len(means)):.3f}"


def main(words: Sequence[str] | None = None) -> int:
    """Do as told."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    command = commands.add_parser("measure")
    command.add_argument("old", type=Path)
    command.add_argument("new", type=Path)
    command.add_argument("--mpi", default="openmpi,mpich")
    command.add_argument("-P", "--ranks", default="2,4,8")
    command.add_argument("--specs", default=SPECS, help="separated by semicolons")
    command.add_argument("--turns", type=int, default=3)
    command.add_argument("--most", type=int, default=65536, help="bytes of a block")
    command.add_argument("--calls", type=int, default=300, help="of a size, at most")
    command.add_argument("-o", "--output", type=Path, required=True)
    command = commands.add_parser("table")
    command.add_argument("file", type=Path)
    arguments = parser.parse_args(words)
    if arguments.what == "table":
        print("\n".join(table(list(read_lines(arguments.file)))))
        return 0
    with arguments.output.open("w") as file:
        for one in measured(arguments):
            file.write(json.dumps(one) + os.linesep)
            file.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
