"""The README's figures are those of the pages that its table links: the least and the greatest of their rows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[2]
MEASUREMENTS = ROOT / "docs" / "measurements"
README = (ROOT / "README.md").read_text()
MPIS = ("MPICH", "Open MPI")
SMALL, LARGE = "`auto`, up to 4 KiB", "`auto`, above"
SECOND = "`auto, second run`, up to 4 KiB"


def line(begin: str) -> str:
    """The row of the README's table that begins so."""
    (found,) = (row for row in README.splitlines() if row.startswith(f"| {begin}"))
    return found


def rows(page: str, head: str) -> Iterator[dict[str, str]]:
    """The rows of the page's tables whose first column has this head."""
    names: list[str] = []
    for text in (MEASUREMENTS / page).read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", text)[1:-1]]
        if not cells:
            names = []
        elif not names:
            names = cells
        elif names[0] == head and not cells[0].startswith("---"):
            yield dict(zip(names, cells, strict=True))


def number(cell: str) -> float:
    """The estimate of a cell with its interval."""
    return float(cell.split()[0])


def span(values: list[float], digits: int = 1) -> str:
    """As the README has it."""
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def of_benchmarks(page: str, column: str, pattern: str, mpi: str = "") -> str:
    """Over the benchmarks whose name matches, with an MPI."""
    table = list(rows(page, "benchmark"))
    some = [row for row in table if column in row and re.fullmatch(pattern, row["benchmark"]) and mpi in row["MPI"]]
    return span([number(row[column]) for row in some if row[column]], 2 if column == LARGE and not mpi else 1)


def test_a_core_for_each_rank() -> None:
    small, large = (
        [f"{mpi} {of_benchmarks('cores.md', column, '.*', mpi)}" for mpi in MPIS] for column in (SMALL, LARGE)
    )
    assert f"blocks up to 4 KiB: {', '.join(small)}; larger: {', '.join(large)}" in line("one node, 8 and 16 ranks")


@pytest.mark.parametrize(
    "begin, column, pattern",
    [
        ("one node, 2, 4 and 8 ranks on two cores", SMALL, r"\w+ Alltoallv?"),
        ("the same, larger blocks", LARGE, r"\w+ Alltoallv?"),
        ("`MPI_Ialltoall`, `MPI_Ialltoallv`", SMALL, r"\w+ Ialltoallv?"),
    ],
)
def test_two_cores(begin: str, column: str, pattern: str) -> None:
    assert ", ".join(f"{mpi} {of_benchmarks('users.md', column, pattern, mpi)}" for mpi in MPIS) in line(begin)


def test_several_nodes() -> None:
    first, second = (of_benchmarks("clusters.md", column, ".*") for column in (SMALL, SECOND))
    assert f"{first} in the first run, {second} in the second" in line("several nodes (virtual clusters of 4 and 8)")
    small, large = (of_benchmarks("clusters-large.md", column, ".*") for column in (SMALL, LARGE))
    text = line("several nodes, larger blocks")
    assert f"up to 4 KiB {small}, above {large}" in text
    slower, cells = re.findall(r"In (\w+) of (\d+) cells", (MEASUREMENTS / "clusters-large.md").read_text())[0]
    worst = min(number(row["speed-up"]) for row in rows("clusters-large.md", "benchmark") if "speed-up" in row)
    assert f"in {slower} of {cells} cells slower, at worst {worst:.2f}" in text


def test_neighbours_between_nodes() -> None:
    small = [row for row in rows("neighbours-clusters.md", "exchange") if row["block"] in ("8 B", "64 B", "512 B")]
    found = span([number(row["MPICH 5.0.2, P = 16: `auto`"]) for row in small])
    assert f"MPICH {found} " in line("`MPI_Neighbor_alltoall`, four virtual nodes, blocks up to 512 B")


def test_derived_types() -> None:
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows("typed.md", "exchange"):
        for name, cell in row.items():
            if "auto" in name and cell:
                found[name].append(number(cell))
    middle = {
        name: f"{value:.1f}" if (value := median(times)) < 10 else f"{value:.0f}" for name, times in found.items()
    }
    two, four = ({mpi: next(middle[n] for n in middle if mpi in n and f"P = {p}" in n) for mpi in MPIS} for p in (2, 4))
    assert all(f"{mpi} {two[mpi]} and {four[mpi]}" in line("`MPI_Alltoallw`") for mpi in MPIS)


def test_one_copy() -> None:
    times: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for text in (MEASUREMENTS / "heap.txt").read_text().splitlines():
        mpi, whose, size, _, call_us, _ = text.split()
        times[mpi, whose, size].append(float(call_us))
    gains: dict[str, list[float]] = defaultdict(list)
    for mpi, whose, size in list(times):
        if whose == "host":
            gains[mpi].append(median(times[mpi, "host", size]) / median(times[mpi, "heap", size]))
    assert f"Open MPI {span(gains['openmpi'])}, MPICH {span(gains['mpich'])}" in line("`swapmeet run --heap`")


def test_the_chart_has_machine_commit_and_day() -> None:
    page = (MEASUREMENTS / "cores.md").read_text()
    (found,) = re.findall(r"(\d{4}-\d\d-\d\d); Swapmeet \S+, (commit \w+);", page)
    assert ", ".join(found) in README.replace("\n", " ")
