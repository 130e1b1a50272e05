"""Exchanges in which few ranks hold most bytes, simulated, beside what balancing within nodes could make of them.

    python benchmarks/skew.py        the table of docs/measurements/skew.md out of skew.jsonl, which names its command

A schedule that moves bytes between ranks of a node changes nothing in what the node sends and receives: the most bytes
of a node in one direction, at the rate of its network, are a bound for it as for all others. The file also has
exchanges of equal blocks, as large as if every node had the bytes of the one with the most.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from swapmeet import _core, machines
from swapmeet.measure.bench.cells import Cell
from swapmeet.measure.bench.machine import measured_on
from swapmeet.measure.bench.results import Results, read
from swapmeet.tables import between, markdown

DOCS = Path(__file__).parents[1] / "docs" / "measurements"
BEGIN, END = "<!-- begin: python benchmarks/skew.py -->", "<!-- end -->"


def skew_and_most(cell: Cell) -> tuple[float, float]:
    """The most bytes of a rank over the mean of its node, averaged over nodes; the most bytes of a node, one way."""
    per_node = int(cell.nodes)
    sizes = np.array(_core.workload_sizes(cell.sizes, cell.seed, cell.ranks), dtype=float)
    by_node = [of_ranks.reshape(-1, per_node) for of_ranks in (sizes.sum(1), sizes.sum(0))]
    nodes = cell.ranks // per_node
    between_nodes = sizes.reshape(nodes, per_node, nodes, per_node).sum((1, 3))
    np.fill_diagonal(between_nodes, 0)
    skew = max(float(np.mean(ranks.max(1) / ranks.mean(1))) for ranks in by_node)
    return skew, float(max(between_nodes.sum(0).max(), between_nodes.sum(1).max()))


def microseconds(results: Results, cell: Cell) -> dict[str, float]:
    """Of each spec."""
    return {spec: 1e6 * float(results.samples(cell, spec)[0].longest.min()) for spec in results.specs(cell)}


def rows(results: Results) -> list[list[str]]:
    """One for each machine and workload."""
    cells = {(cell.mpi, cell.sizes): cell for cell in results.cells()}
    table = []
    for (mpi, sizes), cell in sorted(
        cells.items(), key=lambda one: (one[0][0], _core.parse_workload(one[0][1]).most_bytes)
    ):
        if not sizes.startswith("skewed"):
            continue
        machine = mpi.split()[0]
        skew, most = skew_and_most(cell)
        per_node = int(cell.nodes)
        block_bytes = round(most / (per_node * (cell.ranks - per_node)))
        equal = min(microseconds(results, cells[mpi, f"constant:bytes={block_bytes}"]).values())
        times = microseconds(results, cell)
        bound = most * machines.load(machine).costs.node_byte_ns / 1e3
        best = min(times, key=lambda spec: times[spec])
        numbers = [times["auto"], times[best], bound, equal]
        table.append([machine, f"`{sizes}`", f"{skew:.1f}", *(f"{one:.1f}" for one in numbers), f"`{best}`"])
    return table


def main() -> None:
    """Put the table where the page has its place for it."""
    heads = ["machine", "workload", "skew", "`auto`, µs", "fastest, µs", "bound, µs", "equal blocks, µs", "the fastest"]
    results = read(DOCS / "skew.jsonl")
    text = "\n".join([f"Simulated on {measured_on(results.header)}.", "", *markdown(heads, rows(results))])
    path = DOCS / "skew.md"
    path.write_text(between(path.read_text(), BEGIN, END, f"\n\n{text}\n\n"))


if __name__ == "__main__":
    main()
