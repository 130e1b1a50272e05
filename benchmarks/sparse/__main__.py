"""Sparse exchanges by each algorithm, beside MPI_Alltoallv whose counts MPI_Alltoall exchanges.

    python benchmarks/sparse measure             both MPIs, P = 2, 4 and 8: lines into docs/measurements/sparse.jsonl
    python benchmarks/sparse measure -n 2 --launches 1 --rounds 20 -o FILE
    python benchmarks/sparse scale               simulated and counted: docs/measurements/sparse-scale.jsonl
    python benchmarks/sparse page                the tables of docs/measurements/sparse.md out of these

Within a launch methods take turns that chance decides, so what the machine does meanwhile meets them all. A number is
the median over launches of medians over rounds; a speed-up is of two such numbers.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import scale

from swapmeet.measure.bench.machine import header, measured_on
from swapmeet.mpi import launch, mpis
from swapmeet.mpi.library import library, source_tree
from swapmeet.structs import read_lines
from swapmeet.tables import between, markdown

FOLDER = Path(__file__).parent
DOCS = FOLDER.parents[1] / "docs" / "measurements"
FILE = DOCS / "sparse.jsonl"
BASE = "alltoallv"
METHODS = (BASE, "nbx", "census", "sparse-bruck")
CASES = ((1, 8), (1, 1024), (4, 8), (4, 1024), (16, 8))  #: messages of a rank, bytes of each
SCALE = DOCS / "sparse-scale.jsonl"
BEGIN, END = "<!-- begin: python benchmarks/sparse page -->", "<!-- end -->"
SCALE_BEGIN = "<!-- begin: python benchmarks/sparse page, scale -->"


def build(target: mpis.Mpi, folder: Path) -> Path:
    """The program, linked to the library for an MPI."""
    ours, program = library(target).parent, folder / f"sparse-{target.name}"
    words = [*target.compiler, FOLDER / "sparse.c", "-O2", "-std=c99", f"-I{source_tree() / 'include'}"]
    words += [f"-L{ours}", f"-Wl,-rpath,{ours}", "-lswapmeet", "-o", program]
    subprocess.run(list(map(str, words)), check=True)
    return program


def measure(options: argparse.Namespace) -> None:
    """Append a line for each launch to the file."""
    with tempfile.TemporaryDirectory() as folder, options.output.open("a") as file:
        programs = {name: build(mpis.find(name), Path(folder)) for name in options.mpi.split(",")}
        about = header({"rounds": options.rounds, "launches": options.launches})
        for number in range(options.launches):
            for name, program in programs.items():
                for ranks in map(int, options.ranks.split(",")):
                    for messages, size in CASES:
                        words = [program, messages, size, options.rounds, number + 1, *METHODS]
                        target = mpis.find(name)
                        argv = launch.command(target, ranks, list(map(str, words)), None, {})
                        done = launch.run(target, ranks, argv, timeout_s=300)
                        if done.returncode:
                            sys.exit(f"{name}, {ranks} ranks: {done.stderr}")
                        file.write(json.dumps({"mpi": name, **about, **json.loads(done.stdout)}) + "\n")
                        file.flush()


def microseconds(time: float) -> str:
    """As the table has them."""
    return f"{time:.1f}" if time < 100 else f"{time:.0f}"


def table(path: Path) -> str:
    """Medians in microseconds, and the speed-up over BASE, in Markdown."""
    medians: dict[tuple[str, int, int, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    lines = list(read_lines(path))
    commits = " and ".join(dict.fromkeys(line["commit"] for line in lines))
    where = measured_on({**lines[-1], "commit": commits})
    for line in lines:
        cell = medians[line["mpi"], line["ranks"], line["messages"], line["bytes"]]
        for method, times in line["times_us"].items():
            cell[method].append(statistics.median(times))
    heads = [f"`{BASE}`, µs", *(f"`{method}`" for method in METHODS if method != BASE)]
    rows = []
    for (name, ranks, messages, size), cell in sorted(medians.items()):
        base = statistics.median(cell[BASE])
        cells = [microseconds(base)]
        for method in METHODS[1:]:
            time = statistics.median(cell[method])
            cells.append(f"{microseconds(time)} ({base / time:.2f})")
        rows.append([name, str(ranks), str(messages), str(size), *cells])
    return "\n".join([f"{where}.", "", *markdown(["MPI", "P", "messages", "bytes", *heads], rows)])


def page(options: argparse.Namespace) -> None:
    """Put the tables where the page has its places for them."""
    path = DOCS / "sparse.md"
    text = between(path.read_text(), BEGIN, END, f"\n\n{table(options.output)}\n\n")
    path.write_text(between(text, SCALE_BEGIN, END, f"\n\n{scale.tables(SCALE)}\n\n"))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "scale", "page"])
    parser.add_argument("-n", "--ranks", default="2,4,8")
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("-o", "--output", type=Path, default=FILE)
    options = parser.parse_args()
    if options.what == "scale":
        scale.measure(SCALE)
    else:
        measure(options) if options.what == "measure" else page(options)


if __name__ == "__main__":
    main()
