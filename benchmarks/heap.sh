#!/bin/sh
# Times MPI_Alltoall of 16 KiB to 1 MiB on two ranks: by the host MPI, of blocks in ordinary memory (process_vm_readv), in
# the heap, and in memory of MPI_Alloc_mem; in turn, five times. Prints a line for each size: MPI, whose, bytes of a block,
# then us: the first quartile and the median of a call, and copying as much within one rank. printed.py makes a table.
set -e
for turn in 1 2 3 4 5; do
  for mpi in openmpi mpich; do
    program=$(python -c "from swapmeet.mpi import library, mpis; print(library.program(mpis.find('$mpi'), 'heap'))")
    time_of() { # NAME MEMORY OPTIONS...
      name=$1 memory=$2
      shift 2
      swapmeet run -n 2 --mpi $mpi "$@" -- "$program" "$memory" 2>/dev/null | sed "s/^/$mpi $name /"
    }
    time_of host malloc --native
    time_of ordinary malloc --algorithm shared-memory
    time_of heap malloc --algorithm shared-memory --heap
    SWAPMEET_HEAP=mpi time_of alloc-mem alloc-mem --algorithm shared-memory
  done
done
