"""Programs that make a communicator, use it a few times and free it: how long that takes without and with Swapmeet.

    .venv/bin/python benchmarks/setup measure     some minutes on two idle cores, into docs/measurements/setup.jsonl
    .venv/bin/python benchmarks/setup page        the tables of docs/measurements/setup.md out of that

Each turn launches setup.c without and with the library one after the other, by default: nothing is set. A line of the
data is a launch with all its samples. A speed-up is the geometric mean of the turns' ratios of medians, with its 95 %
interval.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.machine import header, measured_on
from swapmeet.measure.bench.statistics import Estimate, median
from swapmeet.mpi import launch, library, mpis
from swapmeet.structs import Row, read_lines
from swapmeet.tables import between, markdown
from swapmeet.units import bytes_text, short_microseconds

DOCS = Path(__file__).parents[2] / "docs" / "measurements"
FILE, PAGE = DOCS / "setup.jsonl", DOCS / "setup.md"
BEGIN, END = "<!-- made by `python benchmarks/setup page`: begin -->\n", "<!-- end -->\n"
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}
HOWS = {
    "split": "`MPI_Comm_split`",
    "create": "`MPI_Comm_create_group`",
    "dup": "`MPI_Comm_dup`",
    "threads": "`MPI_Comm_split` in three threads",
}
SAMPLES = 7  #: of each cell in a launch
LIMIT_S = 300


def launched(target: mpis.Mpi, ranks: int, how: str, level: str, preloaded: Path | None) -> dict[str, list[float]]:
    """The samples of a launch in microseconds, by calls and bytes of a block."""
    program = library.program(target, "setup")
    words = launch.command(target, ranks, [program, how, level, SAMPLES], preloaded)
    done = launch.run(target, ranks, words, timeout_s=LIMIT_S)
    if done.returncode:
        raise SwapmeetError(f"{' '.join(words)}: status {done.returncode}: {done.stderr.strip()}")
    lines = [line.split() for line in done.stdout.splitlines()]
    return {f"{calls} {size}": [float(us) for us in times] for calls, size, *times in lines}


def measure(options: argparse.Namespace) -> None:
    """Launch everything in turns, and write a line for each launch."""
    new = options.output.with_suffix(".jsonl.new")
    with new.open("w") as file:
        print(json.dumps(header({"turns": options.turns, "samples": SAMPLES})), file=file)
        for turn in range(options.turns):
            print(f"setup: turn {turn + 1} of {options.turns}", file=sys.stderr, flush=True)
            for name in NAMES:
                target = mpis.find(name)
                for ranks in options.ranks:
                    for how in HOWS:
                        for level in ("multiple",) if how == "threads" else ("single", "multiple"):
                            for preloaded in (None, library.library(target)):
                                about = {"turn": turn, "mpi": target.kind, "version": target.version, "ranks": ranks}
                                about |= {"how": how, "level": level, "library": preloaded is not None}
                                about |= {"load": os.getloadavg()[0]}
                                times = launched(target, ranks, how, level, preloaded)
                                print(json.dumps({**about, "us": times}), file=file, flush=True)
    new.replace(options.output)


def speedup(raw: list[Row], ours: list[Row], cell: str) -> Estimate:
    """Of launches of the same turns."""
    middle = [[float(np.median(row["us"][cell])) for row in rows] for rows in (raw, ours)]
    return median([np.array([before / after]) for before, after in zip(*middle, strict=True)])


def table(rows: list[Row], name: str, ranks: int) -> str:
    """A row for each way to make a communicator and level of threads, a column for each number of calls and size."""
    here = [row for row in rows if (row["mpi"], row["ranks"]) == (name, ranks)]
    cells = list(here[0]["us"])
    heads = [f"{calls} x {bytes_text(int(size))}" for calls, size in map(str.split, cells)]
    body = []
    for how, level in dict.fromkeys((row["how"], row["level"]) for row in here):
        same = [row for row in here if (row["how"], row["level"]) == (how, level)]
        raw, ours = ([row for row in same if row["library"] is with_it] for with_it in (False, True))
        texts = []
        for cell in cells:
            of = speedup(raw, ours, cell)
            alone = np.median([time for row in raw for time in row["us"][cell]])
            texts.append(f"{of.value:.2f} ({of.low:.2f}-{of.high:.2f}); {short_microseconds(float(alone))}")
        body.append([HOWS[how], level, *texts])
    title = f"## {NAMES[name]} {here[0]['version']}, {ranks} ranks"
    return "\n".join([title, "", *markdown(["made by", "threads", *heads], body), ""])


def page(file: Path) -> None:
    """Put the tables into the page."""
    about, *rows = read_lines(file)
    kinds = sorted({(row["mpi"], row["ranks"]) for row in rows})
    text = "\n".join([f"{measured_on(about)}.\n", *(table(rows, *kind) for kind in kinds)])
    PAGE.write_text(between(PAGE.read_text(), BEGIN, END, f"\n{text}\n"))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "page"])
    parser.add_argument("-P", "--ranks", type=lambda text: list(map(int, text.split(","))), default=[2, 4, 8])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path, default=FILE)
    options = parser.parse_args()
    try:
        measure(options) if options.what == "measure" else page(options.output)
    except (SwapmeetError, subprocess.TimeoutExpired) as problem:
        sys.exit(f"setup: {problem}")


if __name__ == "__main__":
    main()
