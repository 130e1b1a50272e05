"""Fourier transform of real fields on a periodic N x N x N grid that is spread over MPI ranks.

The ranks form a rows x columns grid and every rank holds a pencil: one axis whole, two shared out.
A transform along a shared axis needs that axis whole first, so the data are redistributed by
all-to-all inside a row or a column of the rank grid; that is all the communication there is.

    physical   x / rows      y / columns   z               FFT along z, then exchange in the row
               x / rows      y             kz / columns    FFT along y, then exchange in the column
    spectral   kx            ky / rows     kz / columns    FFT along x

With one column the row exchange vanishes and the pencils are slabs.

Source:  L. Dalcin, M. Mortensen, D. E. Keyes, Fast parallel multidimensional FFT using advanced
         MPI, J. Parallel Distrib. Comput. 128 (2019) 137-150, section 2 (the decompositions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray
from scipy import fft

X, Y, Z = -3, -2, -1  # axes, counted from the end so that fields may be stacked in front


#: Starts an exchange of blocks, each buffer given with its counts; the last argument: whether all blocks of all ranks
#: are equal. Returns what waits for it. Ranks start the exchanges of a communicator in the same order.
Exchange = Callable[
    [MPI.Intracomm, tuple[NDArray, Sequence[int]], tuple[NDArray, Sequence[int]], bool], Callable[[], object]
]


def by_mpi(
    comm: MPI.Intracomm, send: tuple[NDArray, Sequence[int]], receive: tuple[NDArray, Sequence[int]], equal: bool
) -> Callable[[], object]:
    """Exchange by the calls that block: there is nothing left to wait for."""
    if equal:
        comm.Alltoall(send[0], receive[0])
    else:
        comm.Alltoallv(send, receive)
    return lambda: None


def without_blocking(
    comm: MPI.Intracomm, send: tuple[NDArray, Sequence[int]], receive: tuple[NDArray, Sequence[int]], equal: bool
) -> Callable[[], object]:
    """Exchange by the calls that do not."""
    return (comm.Ialltoall(send[0], receive[0]) if equal else comm.Ialltoallv(send, receive)).Wait


class DistributedFFT:
    """Transforms between physical and spectral pencils.

    Parameters
    ----------
    comm : MPI.Intracomm
        All ranks that share the grid; rows * columns of them. Construction is collective.
    grid : int
        Points per axis, N.
    rows, columns : int
        Shape of the rank grid. rows <= N and columns <= N // 2 + 1, so that nobody is left empty.
    exchange : callable
        What exchanges blocks: by MPI's calls, or as `kept_exchange` does.
    parts : int
        Each redistribution is made in so many parts, cut along the axis that it leaves alone: if `exchange` does not
        block, one is on its way while the next is transformed.

    Attributes
    ----------
    exchange_seconds : float
        Time that this rank has spent in all-to-all calls, those that start and those that wait.
    """

    def __init__(
        self, comm: MPI.Intracomm, grid: int, rows: int, columns: int, exchange: Exchange = by_mpi, parts: int = 1
    ) -> None:
        self.comm = comm
        self.exchange = exchange
        self.parts = parts
        self.grid = grid
        my_row, my_column = divmod(comm.rank, columns)
        self.row = comm.Split(color=my_row, key=my_column)
        self.column = comm.Split(color=my_column, key=my_row)
        self.exchange_seconds = 0.0

        def sparse_mesh(x: NDArray, y: NDArray, z: NDArray) -> list[NDArray]:
            return np.meshgrid(x, y, z, indexing="ij", sparse=True)

        everywhere = np.arange(grid)
        self.indices = sparse_mesh(
            np.array_split(everywhere, rows)[my_row],
            np.array_split(everywhere, columns)[my_column],
            everywhere,
        )
        full = fft.fftfreq(grid, 1 / grid)
        half = fft.rfftfreq(grid, 1 / grid)
        self.wavenumbers = sparse_mesh(
            full, np.array_split(full, rows)[my_row], np.array_split(half, columns)[my_column]
        )

    def forward(self, fields: NDArray[np.float64]) -> NDArray[np.complex128]:
        """Return the Fourier coefficients, (..., kx, ky/rows, kz/columns), of physical fields."""
        along_z = partial(fft.rfft, axis=Z, norm="forward")
        along_y, along_x = (partial(fft.fft, axis=axis, norm="forward") for axis in (Y, X))
        spectra = self._redistributed(self.row, fields, along_z, split=Z, gather=Y, extent=self.grid)
        spectra = self._redistributed(self.column, spectra, along_y, split=Y, gather=X, extent=self.grid)
        return along_x(spectra)

    def inverse(self, spectra: NDArray[np.complex128]) -> NDArray[np.float64]:
        """Return the physical fields, (..., x/rows, y/columns, z), of Fourier coefficients."""
        along_x, along_y = (partial(fft.ifft, axis=axis, norm="forward") for axis in (X, Y))
        fields = self._redistributed(self.column, spectra, along_x, split=X, gather=Y, extent=self.grid)
        fields = self._redistributed(self.row, fields, along_y, split=Y, gather=Z, extent=self.grid // 2 + 1)
        return fft.irfft(fields, n=self.grid, axis=Z, norm="forward")

    def _redistributed(
        self,
        comm: MPI.Intracomm,
        local: NDArray,
        transform: Callable[[NDArray], NDArray],
        *,
        split: int,
        gather: int,
        extent: int,
    ) -> NDArray:
        """Transform, share out the whole axis `split` over `comm`, and make the shared axis `gather` whole.

        `extent` is the length of the whole axis `gather`. All in parts, started one after the other.
        """
        (across,) = {X, Y, Z} - {split, gather}
        waiting = [
            self._start(comm, transform(part), split=split, gather=gather, extent=extent)
            for part in np.array_split(local, min(self.parts, local.shape[across]), axis=across)
        ]
        return np.concatenate([wait() for wait in waiting], axis=across)

    def _start(
        self, comm: MPI.Intracomm, local: NDArray, *, split: int, gather: int, extent: int
    ) -> Callable[[], NDArray]:
        """Start one exchange; what waits for it returns what came.

        If both axes divide evenly all blocks are equal and MPI_Alltoall serves, else MPI_Alltoallv; all ranks come to
        the same answer.
        """
        if comm.size == 1:
            return lambda: local
        blocks = np.array_split(local, comm.size, axis=split)
        shapes = [list(blocks[comm.rank].shape) for _ in blocks]
        for shape, part in zip(shapes, part_sizes(extent, comm.size), strict=True):
            shape[gather] = part
        send_counts = [block.size for block in blocks]
        receive_counts = [int(np.prod(shape)) for shape in shapes]
        send = np.concatenate([block.ravel() for block in blocks])
        received = np.empty(sum(receive_counts), local.dtype)
        equal = local.shape[split] % comm.size == 0 and extent % comm.size == 0
        wait = self._timed(lambda: self.exchange(comm, (send, send_counts), (received, receive_counts), equal))

        def come() -> NDArray:
            self._timed(wait)
            pieces = np.split(received, np.cumsum(receive_counts)[:-1])
            return np.concatenate(
                [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)], axis=gather
            )

        return come

    def _timed(self, call: Callable[[], Any]) -> Any:
        start = MPI.Wtime()
        result = call()
        self.exchange_seconds += MPI.Wtime() - start
        return result

    def gather(self, fields: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return whole physical fields, (..., N, N, N), on rank 0 and None elsewhere. Collective.

        The order is that of the grid, whatever the decomposition.
        """
        parts = self.comm.gather(fields)
        if parts is None:
            return None
        columns = self.row.size
        rows = [parts[first : first + columns] for first in range(0, len(parts), columns)]
        return np.concatenate([np.concatenate(row, axis=Y) for row in rows], axis=X)


def part_sizes(extent: int, parts: int) -> Sequence[int]:
    """Return how numpy.array_split shares out an axis: the first parts are one longer."""
    shorter, longer_parts = divmod(extent, parts)
    return [shorter + 1] * longer_parts + [shorter] * (parts - longer_parts)


def rank_grid(decomposition: str, ranks: int, grid: int) -> tuple[int, int] | None:
    """Return (rows, columns) of the rank grid, or None if no shape leaves every rank some data.

    A slab has one column. A pencil takes the factors nearest to a square that fit the grid.
    """
    shapes = [
        (ranks // columns, columns)
        for columns in range(1, ranks + 1)
        if ranks % columns == 0 and ranks // columns <= grid and columns <= grid // 2 + 1
    ]
    if decomposition == "slab":
        shapes = [shape for shape in shapes if shape[1] == 1]
    return min(shapes, key=lambda shape: (abs(shape[0] - shape[1]), shape[1]), default=None)
