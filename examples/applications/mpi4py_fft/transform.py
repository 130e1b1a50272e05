"""A real box of unequal sides, transformed by mpi4py-fft, whose redistributions are calls of MPI_Alltoallw.

Plans are estimated: those that are measured, the default, round differently from run to run.
"""

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

SHAPE = (26, 20, 18)
REPEAT = 20

comm = MPI.COMM_WORLD
transform = PFFT(comm, SHAPE, axes=(0, 1, 2), dtype=float, grid=(2, comm.size // 2, 1), planner_effort="FFTW_ESTIMATE")
field = newDistArray(transform, False)
whole = np.random.default_rng(7).random(SHAPE)
mine = whole[field.local_slice()]
field[:] = mine
for _ in range(REPEAT):
    spectrum = transform.forward(field)
    field = transform.backward(spectrum)
np.testing.assert_allclose(field, mine, atol=1e-12)
parts = comm.gather(np.asarray(spectrum).tobytes())
if comm.rank == 0:
    with open("spectrum.bin", "wb") as file:
        file.writelines(parts)
