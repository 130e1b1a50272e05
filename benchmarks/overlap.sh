#!/bin/sh
# What a program loses in MPI_Ialltoall that computes as long as it takes (`swapmeet bench --overlap`), by the host MPI's own
# (native), by default (auto), and by threads as well (SWAPMEET_NONBLOCKING=thread), on one node and on virtual clusters of two
# and four: one line a launch.
# Usage: benchmarks/overlap.sh > docs/measurements/overlap.txt
set -eu
cd "$(dirname "$0")/.."
export SWAPMEET_MEMORY=off
echo "# $(git rev-parse --short HEAD), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(nproc) cores, $(date +%F)"
echo "# where, MPI, ranks, bytes, spec, calls of MPI_Test; us of a call: alone, computing, both, start, tests, wait"
results=$(mktemp)
trap 'rm -f "$results"' EXIT
measure() { # WHERE RANKS SERVES [OPTION...]
  where=$1 ranks=$2 serves=$3
  shift 3
  rm -f "$results"
  .venv/bin/swapmeet bench native auto --overlap 0,10 --mpi mpich,openmpi -n "$ranks" -S 64,4KiB --launches 1 --least 10 --most 30 \
    -o "$results" --json "$@" 2>/dev/null | .venv/bin/python -c '
import json, sys
for one in json.load(sys.stdin)["overlaps"]:
    us = {name: f"{1e6 * seconds:.2f}" for name, seconds in one["seconds"].items()}
    taken = (us[name] for name in ("pure", "computing", "overlapped", "start", "tests", "wait"))
    spec = one["spec"] if one["spec"] == "native" else "'"$serves"'"
    if (spec, "'"$serves"'") != ("native", "thread"):  # the host MPI serves that one as well
        print("'"$where"'", one["mpi"].split()[0], one["ranks"], one["sizes"], spec, one["tests"], *taken)'
}
for turn in 1 2; do
  for ranks in 2 4; do measure one-node $ranks auto; done
  for nodes in 2 4; do
    for us in 50 500; do
      cluster=".venv/bin/swapmeet cluster run --native --mpi {mpi} --hosts $nodes -n {ranks} --latency ${us}us --rate 1gbit --"
      measure "$nodes-nodes,$us-us" $nodes auto --launcher "$cluster"
      [ $nodes != 2 ] || SWAPMEET_NONBLOCKING=thread measure "$nodes-nodes,$us-us" $nodes thread --launcher "$cluster"
    done
  done
done
