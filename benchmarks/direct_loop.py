"""Swapmeet's direct algorithms beside hand-written loops of the same MPI calls: median ratios with 95 % intervals.

    .venv/bin/python benchmarks/direct_loop.py [--mpi mpich,openmpi] [--ranks 2,4,8] [--samples 50] [--most 1048576]

Prints a Markdown table: time with Swapmeet over time of the loop, both medians over interleaved samples of one run; the
interval is a bootstrap of the ratio of medians (10000 resamples).
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt

from swapmeet import launch, library, mpi

Samples = npt.NDArray[np.float64]


def measure(mpi_name: str, algorithm: str, ranks: int, most: int, samples: int) -> dict[int, dict[str, Samples]]:
    """Block bytes -> candidate -> samples, in microseconds a call."""
    target = mpi.find(mpi_name)
    argv = [library.program(target, "direct_loop"), algorithm, str(most), str(samples)]
    words = launch.command(target, ranks, argv, library.library(target), launch.library_variables(algorithm))
    output = launch.run(target, ranks, words).stdout
    table: dict[int, dict[str, list[float]]] = {}
    for line in output.splitlines():
        block, candidate, microseconds = line.split()
        table.setdefault(int(block), {}).setdefault(candidate, []).append(float(microseconds))
    return {block: {name: np.array(times) for name, times in row.items()} for block, row in table.items()}


def ratio_of_medians(numerator: Samples, denominator: Samples, resamples: int = 10000) -> tuple[float, float, float]:
    """The ratio and its 95 % bootstrap interval (percentiles)."""
    random = np.random.default_rng(1)
    medians = [np.median(random.choice(x, (resamples, x.size)), axis=1) for x in (numerator, denominator)]
    low, high = np.percentile(medians[0] / medians[1], [2.5, 97.5])
    return float(np.median(numerator) / np.median(denominator)), float(low), float(high)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--most", type=int, default=1 << 20)
    arguments = parser.parse_args()
    print("| MPI | algorithm | P | bytes | Swapmeet (µs) | loop (µs) | ratio (95 %) |\n|---|---|---|---|---|---|---|")
    ratios = []
    for name in arguments.mpi.split(","):
        for algorithm in ("spread-out", "pairwise"):
            for ranks in map(int, arguments.ranks.split(",")):
                for block, row in measure(name, algorithm, ranks, arguments.most, arguments.samples).items():
                    ours, loop = row["swapmeet"], row["loop"]
                    ratio, low, high = ratio_of_medians(ours, loop)
                    ratios.append(ratio)
                    times = f"{np.median(ours):.2f} | {np.median(loop):.2f}"
                    print(f"| {name} | {algorithm} | {ranks} | {block} | {times} | {ratio:.3f} ({low:.3f}-{high:.3f}) |")
    print(f"\nmedian of the {len(ratios)} ratios: {np.median(ratios):.3f}")


if __name__ == "__main__":
    main()
