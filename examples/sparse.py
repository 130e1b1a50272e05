"""Records find their owners: each rank has some keys, and sends each to the rank that owns it.

swapmeet run -n 4 -- python examples/sparse.py
"""

import numpy as np
from mpi4py import MPI

from swapmeet import exchange

comm = MPI.COMM_WORLD
mine = np.sort(np.arange(5) * 7 + 1000 * comm.rank)
owners, counts = np.unique(mine % comm.size, return_counts=True)  # one message for each owner
out = mine[np.argsort(mine % comm.size, kind="stable")]

received = exchange.sparse_alltoallv([out, counts], owners, comm)

for source, data in received:
    keys = np.frombuffer(data, mine.dtype)
    assert (keys % comm.size == comm.rank).all() and (keys // 1000 == source).all()
total = sum(int(np.frombuffer(data, mine.dtype).sum()) for _, data in received)
assert comm.allreduce(total) == comm.allreduce(int(mine.sum()))
if comm.rank == 0:
    print("sparse: right")
