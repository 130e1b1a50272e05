"""What is measured: one exchange on one MPI, by several candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec

from swapmeet import _core
from swapmeet.units import bytes_text

NATIVE = "native"  #: the candidate that all others are compared with: the host MPI
COLLECTIVES = ("alltoall", "alltoallv")
MOST_RANKS = 2**31 - 1
DATATYPES = ("byte", "double", "strided")
#: Times of non-blocking exchanges, in the order of the measuring program's answer: start and wait alone, the computing
#: alone, both at once; of the last, the start, the calls of MPI_Test and the wait.
OVERLAP = ("pure", "computing", "overlapped", "start", "tests", "wait")


@dataclass(frozen=True, order=True)
class Cell:
    """One exchange, whatever algorithm does it; in a results file, an object with these fields."""

    mpi: str  #: kind and version, as in "openmpi 5.0.11"
    ranks: Annotated[int, msgspec.Meta(ge=1, le=MOST_RANKS)]
    collective: str  #: one of COLLECTIVES
    sizes: str  #: bytes of every block, as in "64"; or the text of a workload, as in "uniform:max=1024"
    seed: int = 0  #: of the workload
    datatype: str = "byte"  #: one of DATATYPES
    nodes: str = ""  #: SWAPMEET_NODES of the launch

    @property
    def block_bytes(self) -> int | None:
        """Bytes of every block; None if they differ."""
        return int(self.sizes) if self.sizes.isdecimal() else None


def mean_block(cell: Cell) -> float:
    """Bytes of a block, in the mean over all pairs of ranks.

    Raises
    ------
    ValueError
        If the sizes are no workload.
    """
    if cell.block_bytes is not None:
        return cell.block_bytes
    workload = _core.parse_workload(cell.sizes)
    return sum(workload.sent(cell.seed, cell.ranks, rank)[0] for rank in range(cell.ranks)) / cell.ranks**2


# In words


def place(cell: Cell) -> str:
    """Where and how a cell is measured, all but its size."""
    words = [cell.mpi, f"P = {cell.ranks}", cell.collective]
    words += [cell.datatype] if cell.datatype != "byte" else []
    return ", ".join([*words, *([f"nodes {cell.nodes}"] if cell.nodes else [])])


def size(cell: Cell) -> str:
    """As in "64 B" or "4 KiB", or a workload."""
    words = cell.sizes if cell.block_bytes is None else bytes_text(cell.block_bytes)
    return f"{words}, seed {cell.seed}" if cell.seed else words


def name(cell: Cell) -> str:
    """A cell in one line."""
    return f"{place(cell)}, {size(cell)}"
