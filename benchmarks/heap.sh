#!/bin/sh
# Times MPI_Alltoall of 16 and 256 KiB on two ranks: blocks in ordinary memory (read by process_vm_readv), in the heap, in
# memory of MPI_Alloc_mem, and by the host MPI. us of a call, the mean of all; printed by block size for each MPI.
# usage: benchmarks/heap.sh [CALLS]
set -e
calls=${1:-2000}
for mpi in openmpi mpich; do
  program=$(python -c "from swapmeet import library, mpi; print(library.program(mpi.find('$mpi'), 'forms'))")
  time_of() { # NAME OPTIONS...: the forms that are not in turn, by the options of swapmeet run
    name=$1 form=$2
    shift 2
    swapmeet run -n 2 --mpi $mpi "$@" -- "$program" calls 262144 "$calls" 2>/dev/null |
      awk -v form="$form" -v name="$mpi $name" '/^# Benchmarking/ { on = $3 == form } on && $1 >= 16384 { print name, $1 " B", $NF " us" }'
  }
  time_of host plain --native
  time_of ordinary plain --algorithm shared-memory
  time_of heap plain --algorithm shared-memory --heap
  SWAPMEET_HEAP=mpi time_of alloc-mem alloc_mem --algorithm shared-memory
done
