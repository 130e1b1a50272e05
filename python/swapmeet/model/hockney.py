"""The time of messages as alpha + bytes * beta (Hockney), and what `nonuniform`, section 3.3, derives from it.

The paper prices padded and two-phase Bruck in radix 2. Its equations are here as printed, and with the messages K and
blocks D of any schedule in place of log P and log P * (P + 1) / 2. Where it approximates:

- a rank sends at most (P + 1) / 2 blocks in each step; K and D of _core.count() are exact (P / 2 blocks where P is a
  power of two);
- log P is the number of steps: here it is rounded up, as it must be where P is no power of two;
- in two-phase Bruck every message has sizes ahead, and every block is of the mean size: N / 2, as sizes are uniform. In
  truth the rank with the most counts, and messages whose receiver knows the sizes need none: _core.count_varying()
  counts that.

Neither prices packing, waiting, a network that is shared, nor the agreement on N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from swapmeet import _core, machines
from swapmeet.errors import SwapmeetError

SIZE_BYTES = 4  #: that tell the size of a block


@dataclass(frozen=True)
class AlphaBeta:
    """What a message costs, wherever it goes.

    Parameters
    ----------
    alpha_us : float
        Microseconds for a message of any size. The standard values, 1 us and 8 GB/s, lie between those of shared memory
        and of networks; by their ratio the library chooses thresholds (src/model/threshold.cpp).
    beta_ns : float
        Nanoseconds for each byte.

    Raises
    ------
    SwapmeetError
        If one is negative, or not a number.
    """

    alpha_us: float = 1.0
    beta_ns: float = 0.125

    def __post_init__(self) -> None:
        for option, value in (("--alpha", self.alpha_us), ("--beta", self.beta_ns)):
            if not (math.isfinite(value) and value >= 0):
                raise SwapmeetError(f"{option} {value}: expected a time of 0 or more")

    @property
    def costs(self) -> _core.MachineCosts:
        """The same for src/model/price.hpp: the machine whose messages cost alike, wherever they go."""
        return machines.uniform(self.alpha_us, self.beta_ns)

    @classmethod
    def of(cls, machine: machines.Machine) -> AlphaBeta:
        """Between two ranks of different nodes of a machine, alone."""
        return cls(machine.costs.between.start_us, machine.costs.between.byte_ns)

    def time_us(self, messages: float, sent_bytes: float) -> float:
        """Microseconds that messages with `sent_bytes` in all take, one after the other."""
        return self.alpha_us * messages + self.beta_ns * sent_bytes / 1000


def steps(ranks: int) -> int:
    """The paper's log P: steps of Bruck's algorithm in radix 2."""
    return (ranks - 1).bit_length()


def blocks(ranks: int) -> float:
    """The paper's log P * (P + 1) / 2: about the blocks that a rank sends in all steps, and never fewer."""
    return steps(ranks) * (ranks + 1) / 2


def padded_us(machine: AlphaBeta, messages: float, sent_blocks: float, largest_bytes: float) -> float:
    """An exchange of blocks that are all made as large as the largest: alpha * K + beta * D * N, in microseconds."""
    return machine.time_us(messages, sent_blocks * largest_bytes)


def two_phase_us(machine: AlphaBeta, messages: float, sent_blocks: float, mean_bytes: float) -> float:
    """One with the sizes ahead of each message: 2 * alpha * K + beta * D * (4 + mean), in microseconds."""
    return machine.time_us(2 * messages, sent_blocks * (SIZE_BYTES + mean_bytes))


def padded_bruck_us(machine: AlphaBeta, ranks: int, largest_bytes: float) -> float:
    """Padded Bruck in microseconds.

    Parameters
    ----------
    machine : AlphaBeta
    ranks : int
        P.
    largest_bytes : float
        N, the size of every block once it is padded.

    Source
    ------
    nonuniform, equation 1: alpha * log P + beta * log P * (P + 1) / 2 * N.
    """
    return padded_us(machine, steps(ranks), blocks(ranks), largest_bytes)


def two_phase_bruck_us(machine: AlphaBeta, ranks: int, mean_bytes: float) -> float:
    """Two-phase Bruck in microseconds.

    Parameters
    ----------
    machine : AlphaBeta
    ranks : int
        P.
    mean_bytes : float
        The mean size of a block: N / 2 in the paper, whose sizes are uniform on 0 to N.

    Source
    ------
    nonuniform, equation 2: 2 * alpha * log P + 4 * beta * log P * (P + 1) / 2 + N / 2 * beta * log P * (P + 1) / 2.
    """
    return two_phase_us(machine, steps(ranks), blocks(ranks), mean_bytes)


def padded_wins(machine: AlphaBeta, ranks: int, largest_bytes: float) -> bool:
    """Whether padded Bruck is faster than two-phase Bruck, for sizes uniform on 0 to N; certain where N < 8.

    Source
    ------
    nonuniform, equation 3: (N - 8) * (P + 1) * beta < 4 * alpha. For other sizes compare equations 1 and 2.
    """
    return (largest_bytes - 8) * (ranks + 1) * machine.beta_ns < 4 * 1000 * machine.alpha_us
