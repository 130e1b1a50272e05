"""Swapmeet beside hand-written loops of the same MPI calls: speed-ups, and the pages that show them.

    .venv/bin/python benchmarks/beside measure direct|bruck [--mpi mpich,openmpi] [--ranks 4,8,16] [--samples 50]
    .venv/bin/python benchmarks/beside page      the tables of direct.md, bruck.md and varying.md in docs/measurements

`measure` appends a line with all samples for each cell to docs/measurements/beside.jsonl; of two lines of a cell the
later one counts. `direct` compares with spread-out and pairwise loops, `bruck` with a radix-r modified Bruck for r = 2,
the root of P and P. Beside the host MPI: `swapmeet bench`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path

import pages

from swapmeet import launch, library, mpi
from swapmeet.bench.machine import header

MOST = {"direct": 1 << 20, "bruck": 1 << 16}  #: bytes a block


def cases(family: str, ranks: int) -> Iterator[tuple[list[str], str]]:
    """Arguments of the program, and a spec to compare it with."""
    if family == "direct":
        yield from ((["spread-out"], "spread-out"), (["pairwise"], "pairwise"))
        return
    for radix in sorted({2, math.isqrt(ranks - 1) + 1, ranks}):
        for rest in ("", ",window=all", ",layout=zero-rotation", ",layout=zero-rotation,window=all"):
            yield [str(radix)], f"radix(r={radix}{rest})"


def run(target: mpi.Mpi, program: str, arguments: list[str], spec: str, ranks: int) -> list[list[str]]:
    """The lines that `program` prints, in words."""
    argv = [library.program(target, program), *arguments]
    words = launch.command(target, ranks, argv, library.library(target), launch.library_variables(spec))
    return [line.split() for line in launch.run(target, ranks, words).stdout.splitlines()]


def samples(
    target: mpi.Mpi, program: str, arguments: list[str], spec: str, ranks: int
) -> dict[int, dict[str, list[float]]]:
    """Block bytes -> `swapmeet` or `loop` -> microseconds a call, in the order taken."""
    table: dict[int, dict[str, list[float]]] = {}
    for block, candidate, microseconds in run(target, program, arguments, spec, ranks):
        table.setdefault(int(block), {}).setdefault(candidate, []).append(float(microseconds))
    return table


def measure(options: argparse.Namespace) -> None:
    """Append a line for each cell to the file."""
    family, most = options.family, options.most or MOST[options.family]
    targets = list(map(mpi.find, options.mpi.split(",")))
    about = header({"samples": options.samples})
    with options.output.open("a") as file:
        for target in targets:
            for ranks in map(int, options.ranks.split(",")):
                for words, spec in cases(family, ranks):
                    found = samples(target, f"{family}_loop", [*words, str(most), str(options.samples)], spec, ranks)
                    for block, taken in found.items():
                        where = {"page": family, "mpi": f"{target.kind} {target.version}", "ranks": ranks}
                        times = {"ours_us": taken["swapmeet"], "base_us": taken["loop"]}
                        line = {**where, "spec": spec, "size": str(block), **times, **about}
                        file.write(json.dumps(line) + "\n")
                        file.flush()
                        value, low, high = pages.Cell.of(line).speedup
                        print(f"{spec}, P = {ranks}, {block} B: {value:.2f} ({low:.2f}-{high:.2f})", flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    command = commands.add_parser("measure", help="append samples to the file")
    command.add_argument("family", choices=tuple(MOST))
    command.add_argument("--mpi", default="mpich,openmpi")
    command.add_argument("-P", "--ranks", default="4,8,16")
    command.add_argument("--samples", type=int, default=50)
    command.add_argument("--most", type=int, help="bytes of a block")
    command.add_argument("-o", "--output", type=Path, default=pages.FILE)
    command = commands.add_parser("page", help="put the tables into the pages")
    command.add_argument("--from", dest="file", type=Path, default=pages.FILE)
    options = parser.parse_args()
    measure(options) if options.what == "measure" else pages.write(options.file)


if __name__ == "__main__":
    main()
