"""Non-blocking and persistent all-to-alls by mpi4py, several under way at a time."""

import sys

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD.Dup()
rank, ranks = comm.rank, comm.size
counts = [1 + (rank + peer) % 3 for peer in range(ranks)]
places = [3 * peer for peer in range(ranks)]
bytes_ = [8 * place for place in places]
types = [MPI.INT64_T] * ranks
right = True


def filled(step: int) -> numpy.ndarray:
    """What is sent: three numbers to each rank."""
    return 10000 * step + 100 * rank + 10 * numpy.arange(ranks).repeat(3) + numpy.tile([0, 1, 2], ranks)


def as_expected(step: int, received: numpy.ndarray, varying: bool) -> bool:
    """Whether it has come, and nothing else was written."""
    wanted = 10000 * step + 100 * numpy.arange(ranks)[:, None] + 10 * rank + numpy.arange(3)
    if varying:
        wanted = numpy.where(numpy.arange(3) < numpy.array(counts)[:, None], wanted, -1)
    return received.reshape(ranks, 3).tolist() == wanted.tolist()


out, came = filled(0), [numpy.full(3 * ranks, -1) for _ in range(3)]
ends = [(buffer, (counts, places), MPI.INT64_T) for buffer in (out, came[1])]
each = [(buffer, (counts, bytes_), types) for buffer in (out, came[2])]
nothing = [[out, 0, MPI.INT64_T], [out, 0, MPI.INT64_T]]
persistent = []
if MPI.Get_version() >= (4, 0):
    persistent = [
        comm.Alltoall_init(out, came[0]), comm.Alltoallv_init(*ends), comm.Alltoallw_init(*each),
    ]  # fmt: skip
for step in range(8):
    out[:] = filled(step)
    for buffer in came:
        buffer[:] = -1
    if persistent and step % 2:
        for request in persistent:
            request.Start()
        MPI.Request.Waitall(persistent)
    else:
        requests = [comm.Ialltoall(out, came[0]), comm.Ialltoall(*nothing), comm.Ialltoallv(*ends)]
        requests += [comm.Ialltoall(*nothing), comm.Ialltoallw(*each)]
        if step == 4:
            while not MPI.Request.Testall(requests):
                pass
        MPI.Request.Waitall(requests)
    right = right and all(as_expected(step, buffer, i > 0) for i, buffer in enumerate(came))
    comm.Barrier()
for request in persistent:
    request.Free()
comm.Free()
right = MPI.COMM_WORLD.allreduce(right, MPI.LAND)
if MPI.COMM_WORLD.rank == 0:
    print("nonblocking_calls:", "right" if right else "WRONG")
sys.exit(not right)
