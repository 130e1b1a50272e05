"""mpi4py's lower-case alltoall, of bytes objects that it pickles, timed and printed in the form of IMB.

    objects.py MOST CALLS     objects of 8 B, 1 KiB, 16 KiB, 256 KiB and 2 MiB, up to MOST bytes; CALLS calls at most

Each call is timed by itself, with a barrier behind it that is not. What arrives is checked.
"""

from __future__ import annotations

import ctypes
import sys

from mpi4py import MPI

SIZES = [8, 1 << 10, 16 << 10, 256 << 10, 2 << 20]
VOLUME, FEWEST, WARM = 128 << 20, 5, 2


def mark(source: int, to: int) -> int:
    """What the bytes of an object are."""
    return 1 + 11 * source + to


def measure(comm: MPI.Comm, size: int, limit: int) -> None:
    """Print what a call takes."""
    ranks, rank = comm.size, comm.rank
    calls = min(limit, max(FEWEST, VOLUME // (size * ranks * ranks)))
    sent = [bytes([mark(rank, to)]) * size for to in range(ranks)]
    mine = 0.0
    for call in range(-WARM - calls // 10, calls):
        begin = MPI.Wtime()
        received = comm.alltoall(sent)
        if call >= 0:
            mine += MPI.Wtime() - begin
        comm.Barrier()
    assert received == [bytes([mark(source, rank)]) * size for source in range(ranks)], "WRONG data were delivered"
    times = comm.gather(mine * 1e6 / calls)
    if times is not None:
        print(f"{size:13} {calls:13} {min(times):12.3f} {max(times):12.3f} {sum(times) / ranks:12.3f}", flush=True)


def main() -> None:
    """Measure all sizes."""
    most, limit = map(int, sys.argv[1:])
    if MPI.COMM_WORLD.rank == 0:
        print("# Swapmeet:", "yes" if hasattr(ctypes.CDLL(None), "swapmeet_version") else "no")
        print("\n# Benchmarking objects_of_mpi4py")
        print("       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]")
    for size in SIZES:
        if size <= most:
            measure(MPI.COMM_WORLD, size, limit)


if __name__ == "__main__":
    main()
