"""Swapmeet beside hand-written loops of the same MPI calls, or beside the MPI underneath: ratios of medians.

    .venv/bin/python benchmarks/beside.py direct|bruck [--mpi mpich,openmpi] [--ranks 4,8,16] [--samples 50]
    .venv/bin/python benchmarks/beside.py varying --mpi openmpi --ranks 8,32 [--workloads TEXT ...] [--specs SPEC ...]

Prints a Markdown table: ratios of medians over interleaved samples of one run, with 95 % bootstrap intervals (10000
resamples). `direct` compares with spread-out and pairwise loops, `bruck` with a radix-r modified Bruck for r = 2, the
root of P and P, `varying` compares MPI_Alltoallv under several algorithms with the MPI's own, for sizes of workloads.
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


WORKLOADS = (
    "uniform:max=64",
    "uniform:max=1KiB",
    "uniform:max=16KiB",
    "normal:mean=512,deviation=128",
    "power-law:exponent=0.99,max=64KiB",
    "sparse:density=0.05,bytes=4KiB",
    "hot-spot:bytes=8,hot=256KiB,source=0,destination=1",
)


def specs(ranks: int) -> list[str]:
    """Each treatment of sizes, after the MPI's own."""
    root = math.isqrt(ranks - 1) + 1
    named = ["native", "spread-out", "padded-alltoall", "padded-bruck", "two-phase-bruck", "sloav"]
    named += ["bruck(radix=2,layout=zero-rotation,window=1,sizes=combined,direct=never)", f"tuna(radix={root})"]
    return [*named, f"radix(r={root},window=all)", "hybrid"]


def varying(targets: list[mpi.Mpi], ranks: list[int], samples: int, workloads: list[str], wanted: list[str]) -> None:
    """A table for each MPI and number of ranks: time over that of the first spec."""
    for target in targets:
        for p in ranks:
            candidates = wanted or specs(p)
            print(f"\n{target.kind} {target.version}, P = {p}: time over that of {candidates[0]} (µs in brackets)\n")
            print("| workload | " + " | ".join(candidates) + " |\n|" + "---|" * (len(candidates) + 1))
            for workload in workloads:
                times: dict[str, list[float]] = {}
                for *words, microseconds in run(target, "varying", [workload, str(samples), *candidates], "auto", p):
                    times.setdefault(" ".join(words), []).append(float(microseconds))
                base = np.array(times[candidates[0]])
                cells = [f"({np.median(base):.0f})"]
                for spec in candidates[1:]:
                    ratio, low, high = ratio_of_medians(np.array(times[spec]), base)
                    cells.append(f"{ratio:.2f} ({low:.2f}-{high:.2f})")
                print(f"| {workload} | " + " | ".join(cells) + " |", flush=True)


def ratio_of_medians(numerator: Samples, denominator: Samples, resamples: int = 10000) -> tuple[float, float, float]:
    """The ratio and its 95 % bootstrap interval (percentiles)."""
    random = np.random.default_rng(1)
    medians = [np.median(random.choice(x, (resamples, x.size)), axis=1) for x in (numerator, denominator)]
    low, high = np.percentile(medians[0] / medians[1], [2.5, 97.5])
    return float(np.median(numerator) / np.median(denominator)), float(low), float(high)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=(*MOST, "varying"))
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--ranks", default="4,8,16")
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--most", type=int)
    parser.add_argument("--workloads", nargs="+", default=WORKLOADS)
    parser.add_argument("--specs", nargs="+", default=[])
    arguments = parser.parse_args()
    family = arguments.family
    targets, numbers = list(map(mpi.find, arguments.mpi.split(","))), list(map(int, arguments.ranks.split(",")))
    if family == "varying":
        varying(targets, numbers, arguments.samples, arguments.workloads, arguments.specs)
        return
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
