"""What is scaled: the applications of examples/, with a problem of one size (strong), or that grows with P (weak)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

STRONG, WEAK = "strong", "weak"


@dataclass(frozen=True)
class Problem:
    """One application and its sizes."""

    name: str
    source: str  #: below examples/
    strong: Callable[[int], Sequence[object]]  #: number of ranks -> arguments
    weak: Callable[[int], Sequence[object]] | None  #: None: no sizes keep the work of a rank
    #: An operation that the program counts, and what it takes, for simulations: measured on one rank (docs/scaling.md).
    operation: str = ""
    operation_ns: float = 0
    #: More of the command line where time is real: to run long enough.
    longer: Sequence[object] = ()

    @property
    def simulated(self) -> bool:
        """Whether smpicxx compiles it: Python does not run in a simulation."""
        return self.source.endswith(".cpp")

    def arguments(self, scaling: str, ranks: int, real: bool = False) -> list[str] | None:
        """The command line, without the program's name; None if it is not scaled so."""
        size = self.strong if scaling == STRONG else self.weak
        return [str(word) for word in [*size(ranks), *(self.longer if real else ())]] if size else None


def _grows(least: float, ranks: int, power: float) -> int:
    """A length that is `least` on 4 ranks and grows with a power of their number."""
    return round(least * math.pow(ranks / 4, power))


PROBLEMS = (
    Problem(
        "fft1d",
        "fft/fft1d.cpp",
        lambda ranks: ["--check", 0, "--rows", max(1, 512 // ranks)],  # 2^18 numbers
        lambda ranks: ["--check", 0, "--rows", _grows(64, ranks, -1 / 2)],  # 16384 a rank, within 3 %
        operation="a floating-point operation of the transforms, 5 n log2 n; the rest of the work is in their price",
        operation_ns=0.52,
        longer=["--repeat", 10],
    ),
    Problem(
        "fft3d",
        "fft/fft3d.cpp",
        lambda ranks: ["--check", 0, "--x", 64, "--y", 64, "--z", 64],
        lambda ranks: ["--check", 0, "--x", 32, "--y", 32, "--z", 16 * ranks],
        operation="the same",
        operation_ns=0.37,
        longer=["--repeat", 10],
    ),
    Problem(
        "closure",
        "closure/closure.cpp",
        lambda ranks: ["--check", 0, "--graph", "grid:20"],  # 43 700 paths, in 38 rounds
        lambda ranks: ["--check", 0, "--graph", f"grid:{_grows(12, ranks, 1 / 4)}"],  # a rank has about 1500 paths
        operation="a path that arrived",
        operation_ns=390,
    ),
    Problem(
        "points_to",
        "points_to/points_to.cpp",
        lambda ranks: ["--check", 0, "--program", "random:400:600:1"],
        None,  # what a larger program has of facts is not in proportion: 11 469 of 250 variables, 253 020 of 400
        operation="a fact that arrived",
        operation_ns=69,
    ),
    Problem(
        "sample_sort",
        "sample_sort/sample_sort.cpp",
        lambda ranks: ["--keys", 2**18],
        lambda ranks: ["--keys", 2**13 * ranks],
        operation="a comparison, n log2 n",
        operation_ns=3.2,
    ),
    Problem(
        "taylor_green",
        "taylor_green/taylor_green.py",
        lambda ranks: ["--grid", 32, "--steps", 10],
        lambda ranks: ["--grid", 2 * _grows(8, ranks, 1 / 3), "--steps", 10],
    ),
)
