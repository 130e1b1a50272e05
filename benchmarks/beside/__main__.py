"""Swapmeet beside hand-written loops of the same MPI calls, and unequal blocks: speed-ups, and the pages with them.

    .venv/bin/python benchmarks/beside measure [direct|bruck|varying]...    for all some 10 minutes on two idle cores
    .venv/bin/python benchmarks/beside page

`measure` writes all samples to NAME.jsonl in docs/measurements, in the form of `swapmeet bench` (docs/results.md); the
data that are there remain until the new ones are complete. `direct` compares with spread-out and pairwise loops,
`bruck` with a radix-r modified Bruck for r = 2, the root of P and P; `varying` compares algorithms of Alltoallv with
the host MPI, by `swapmeet bench`. `page` makes the tables of direct.md, bruck.md and varying.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import measured
import measuring
import speedups

from swapmeet.errors import SwapmeetError


def _ranks(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    command = commands.add_parser("measure", help="measure the data of pages")
    command.add_argument("pages", nargs="*", metavar="direct|bruck|varying", help="default: all")
    command.add_argument("--mpi", help="instead of the pages' MPIs, such as mpich,openmpi")
    command.add_argument("-P", "--ranks", type=_ranks, help="instead of the pages' numbers of ranks, such as 2,4")
    command.add_argument("--turns", type=int, default=5, help="launches of each cell")
    command.add_argument("--rounds", type=int, default=12, help="samples of each spec in a launch; varying: at most")
    command.add_argument("--workload", dest="workloads", action="append", help="instead of those of varying.md")
    command.add_argument("--budget", default="5m", help="time for varying")
    command.add_argument("-o", "--output", dest="folder", type=Path, default=measured.DOCS, metavar="FOLDER")
    commands.add_parser("page", help="put the tables into the pages")
    options = parser.parse_args()
    if unknown := set(getattr(options, "pages", ())) - set(measured.PAGES):
        parser.error(f"{', '.join(sorted(unknown))}: no such page; give some of {', '.join(measured.PAGES)}")
    try:
        measuring.measure(options) if options.what == "measure" else speedups.write()
    except SwapmeetError as problem:
        sys.exit(f"beside: {problem}")


if __name__ == "__main__":
    main()
