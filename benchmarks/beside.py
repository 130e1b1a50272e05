"""Swapmeet beside hand-written loops of the same MPI calls: ratios of medians.

    .venv/bin/python benchmarks/beside.py direct|bruck [--mpi mpich,openmpi] [--ranks 4,8,16] [--samples 50]

Prints a Markdown table: ratios of medians over interleaved samples of one run, with 95 % bootstrap intervals (10000
resamples). `direct` compares with spread-out and pairwise loops, `bruck` with a radix-r modified Bruck for r = 2, the
root of P and P. Beside the host MPI: `swapmeet bench`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from swapmeet import launch, library, mpi

Samples = npt.NDArray[np.float64]
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
    """The lines that `program` prints, in words from the right: a spec may hold blanks."""
    argv = [library.program(target, program), *arguments]
    words = launch.command(target, ranks, argv, library.library(target), launch.library_variables(spec))
    return [line.split() for line in launch.run(target, ranks, words).stdout.splitlines()]


def measure(
    target: mpi.Mpi, program: str, arguments: list[str], spec: str, ranks: int, most: int, samples: int
) -> dict[int, dict[str, Samples]]:
    """Block bytes -> candidate -> samples, in microseconds a call."""
    table: dict[int, dict[str, list[float]]] = {}
    for block, candidate, microseconds in run(target, program, [*arguments, str(most), str(samples)], spec, ranks):
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
    parser.add_argument("family", choices=tuple(MOST))
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--ranks", default="4,8,16")
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--most", type=int)
    arguments = parser.parse_args()
    family = arguments.family
    targets, numbers = list(map(mpi.find, arguments.mpi.split(","))), list(map(int, arguments.ranks.split(",")))
    print("| MPI | algorithm | P | bytes | Swapmeet (µs) | loop (µs) | ratio (95 %) |\n|---|---|---|---|---|---|---|")
    ratios = []
    for target in targets:
        for ranks in numbers:
            for words, spec in cases(family, ranks):
                most = arguments.most or MOST[family]
                rows = measure(target, f"{family}_loop", words, spec, ranks, most, arguments.samples)
                for block, row in rows.items():
                    ours, loop = row["swapmeet"], row["loop"]
                    ratio, low, high = ratio_of_medians(ours, loop)
                    ratios.append(ratio)
                    times = f"{np.median(ours):.2f} | {np.median(loop):.2f}"
                    start = f"| {target.kind} {target.version} | {spec} | {ranks} | {block} | {times}"
                    print(f"{start} | {ratio:.3f} ({low:.3f}-{high:.3f}) |", flush=True)
    print(f"\nmedian of the {len(ratios)} ratios: {np.median(ratios):.3f}")


if __name__ == "__main__":
    main()
