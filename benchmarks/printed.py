"""Tables of what shell programs have printed into docs/measurements: python benchmarks/printed.py writes the pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from swapmeet.tables import between, markdown

DOCS = Path(__file__).parents[1] / "docs"
HEAP = ("host", "ordinary", "heap", "alloc-mem")
COMPUTING = {"raw": "raw", "blocking": "schedule of blocking calls", "auto": "default"}
OVERLAPPED = {
    ("native", "0"): "host MPI, by the library",
    ("auto", "0"): "default",
    ("thread", "0"): "threads",
    ("native", "10"): "host MPI, by the library, 10 `MPI_Test`",
    ("auto", "10"): "default, 10 `MPI_Test`",
    ("thread", "10"): "threads, 10 `MPI_Test`",
}
END = "<!-- end -->\n"


def heap(lines: list[str]) -> Iterator[str]:
    """Of benchmarks/heap.sh: medians of its turns, and the least and greatest."""
    calls: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    copies: dict[tuple[str, int], list[float]] = defaultdict(list)
    for line in lines:
        mpi, whose, size, _, call_us, copy_us = line.split()
        calls[mpi, int(size), whose].append(float(call_us))
        copies[mpi, int(size)].append(float(copy_us))
    rows = []
    for mpi, size in copies:
        copy = median(copies[mpi, size])
        cells = [calls[mpi, size, whose] for whose in HEAP]
        times = [f"{median(some):.3g} ({min(some):.3g}-{max(some):.3g})" for some in cells]
        ratio = median(calls[mpi, size, "heap"]) / copy
        rows.append([mpi, f"{size >> 10} KiB", f"{copy:.3g}", *times, f"{ratio:.2f}"])
    yield from markdown(["MPI", "block", "copying", *HEAP, "heap over copying"], rows)


def computing(lines: list[str]) -> Iterator[str]:
    """Of benchmarks/computing.sh: medians of its launches."""
    times: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if not line.startswith("#"):
            computed_us, whose, taken_us = line.split()
            times[int(computed_us)][whose].append(float(taken_us))
    rows = [[str(us), *(f"{median(by[whose]):.0f}" for whose in COMPUTING)] for us, by in times.items()]
    yield from markdown(["an accelerator computes for", *COMPUTING.values()], rows)


def overlap(lines: list[str]) -> Iterator[str]:
    """Of benchmarks/overlap.sh: what is lost in start, tests and wait, and hidden (OSU); medians of launches."""
    lost: dict[tuple[str, ...], dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    hidden: dict[tuple[str, ...], dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if line.startswith("#"):
            continue
        where, mpi, ranks, size, spec, tests, *us = line.split()
        alone, computing, both, start, tested, wait = map(float, us)
        lost[where, mpi, ranks, size][spec, tests].append(start + tested + wait)
        hidden[where, mpi, ranks, size][spec, tests].append(1 - (both - computing) / alone)

    def shown(cell: tuple[str, ...], how: tuple[str, str]) -> str:
        if how not in lost[cell]:
            return ""
        return f"{median(lost[cell][how]):.3g} ({max(0, round(100 * median(hidden[cell][how])))}%)"

    rows = []
    for where, mpi, ranks, size in list(lost):
        cells = [shown((where, mpi, ranks, size), how) for how in OVERLAPPED]
        rows.append([where.replace("-", " ").replace(",", ", "), mpi, ranks, f"{size} B", *cells])
    yield from markdown(["", "MPI", "ranks", "block", *OVERLAPPED.values()], rows)


TABLES = (("howto/heap.md", "heap", heap), ("plans.md", "computing", computing), ("plans.md", "overlap", overlap))


def pages() -> Iterator[tuple[Path, str]]:
    """Each page, with its table of the committed texts."""
    texts: dict[Path, str] = {}
    for name, file, table in TABLES:
        lines = (DOCS / "measurements" / f"{file}.txt").read_text().splitlines()
        begin = f"<!-- made by `python benchmarks/printed.py`, {file}: begin -->\n"
        text = texts.setdefault(DOCS / name, (DOCS / name).read_text())
        texts[DOCS / name] = between(text, begin, END, "\n" + "\n".join(table(lines)) + "\n\n")
    yield from texts.items()


if __name__ == "__main__":
    for path, text in pages():
        path.write_text(text)
