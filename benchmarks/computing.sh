#!/bin/sh
# What a program takes from one MPI_Ialltoall to the next that computes between start and wait, on a virtual cluster of four nodes:
# without the library (raw), with the schedule of blocking calls (trials off), and by default. Three launches in turn.
# Usage: benchmarks/computing.sh [MPI] > docs/measurements/computing.txt
set -eu
cd "$(dirname "$0")/.."
mpi=${1:-mpich}
program=$(mktemp)
trap 'rm -f "$program"' EXIT
".venv/mpi/$mpi/bin/mpicc" -O2 -o "$program" tests/mpi/programs/computing.c
export SWAPMEET_MEMORY=off
echo "# $mpi, $(git rev-parse --short HEAD), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(nproc) cores, $(date +%F)"
echo "# 8 ranks on 4 nodes, 500us, 1gbit; blocks of 64 B; an accelerator computes for so many us; us from one start to the next"
run() { # NAME US [OPTION]
  taken=$(.venv/bin/swapmeet cluster run --mpi "$mpi" --hosts 4 -n 8 --latency 500us --rate 1gbit ${3:-} -- \
    "$program" 64 400 "-$2" 2>/dev/null | sed -n 's/ us$//p')
  echo "$2 $1 $taken"
}
for us in 0 500 1000 2000; do
  for turn in 1 2 3; do
    run raw $us --native
    SWAPMEET_TRIALS=0 run blocking $us
    run auto $us
  done
done
