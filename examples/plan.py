"""Overlap: while the blocks of one half of the data travel, the other half is computed.

swapmeet run -n 4 -- python examples/plan.py
"""

import numpy as np
from mpi4py import MPI

from swapmeet import exchange

comm = MPI.COMM_WORLD
block = 4096  # elements to each rank, of each half
halves = [exchange.allocate_array(comm, (comm.size, block)) for _ in range(2)]  # shared within a node: copied once
received = np.empty((2, comm.size, block))
plans = [exchange.plan_alltoall(half, into, comm) for half, into in zip(halves, received, strict=True)]


def compute(part: int) -> None:
    """Fill one half, in pieces between which the exchange under way moves on."""
    for rank in range(comm.size):
        halves[part][rank] = np.sin(np.arange(block) + 10 * comm.rank + part)
        plans[1 - part].test()


for part, plan in enumerate(plans):
    compute(part)
    plan.start()
for plan in plans:
    plan.wait()
    plan.free()

for part in range(2):
    for rank in range(comm.size):
        assert np.array_equal(received[part, rank], np.sin(np.arange(block) + 10 * rank + part))
if comm.rank == 0:
    print("plan: right")
