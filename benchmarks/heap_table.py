"""A table of what benchmarks/heap.sh has printed into a file: medians of its turns, and the least and greatest."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

WHOSE = ("host", "ordinary", "heap", "alloc-mem")


def main(path: Path) -> None:
    """Print it."""
    calls: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    copies: dict[tuple[str, int], list[float]] = defaultdict(list)
    for line in path.read_text().splitlines():
        mpi, whose, size, _, call_us, copy_us = line.split()
        calls[mpi, int(size), whose].append(float(call_us))
        copies[mpi, int(size)].append(float(copy_us))
    print(f"| MPI | block | copying | {' | '.join(WHOSE)} | heap over copying |")
    print(f"|---|---|---|{'---|' * len(WHOSE)}---|")
    for mpi, size in copies:
        copy = median(copies[mpi, size])
        cells = [calls[mpi, size, whose] for whose in WHOSE]
        times = " | ".join(f"{median(some):.3g} ({min(some):.3g}-{max(some):.3g})" for some in cells)
        ratio = median(calls[mpi, size, "heap"]) / copy
        print(f"| {mpi} | {size >> 10} KiB | {copy:.3g} | {times} | {ratio:.2f} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
