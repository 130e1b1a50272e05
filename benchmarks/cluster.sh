#!/bin/sh
# What the algorithms gain between hosts: on clusters in this machine (docs/cluster.md), into one results file for each cluster.
# On an idle machine, for hours; once more with the same FOLDER goes on where it was interrupted.
#
#   benchmarks/cluster.sh FOLDER [OPTION OF swapmeet bench]...
#
# NODES, LATENCIES and RANKS_PER_NODE say which clusters.
set -eu
folder=${1:?"a folder for the results"}
shift
mkdir -p "$folder"
for nodes in ${NODES:-4 8}; do
  for latency in ${LATENCIES:-50us 500us}; do
    file=$folder/$nodes-nodes-$latency.jsonl
    if [ -e "$file" ]; then into=--resume; else into=-o; fi
    swapmeet bench auto tra tra2 two-phase-bruck 'multipair-wait*' random-sendrecv random-segmented \
      two-layer 'two-layer(intra=shm)' node-leaders \
      -n $((nodes * ${RANKS_PER_NODE:-4})) -S 8,64,512,1KiB,4KiB,16KiB,64KiB --mpi mpich,openmpi \
      --launcher "swapmeet cluster run --native --mpi {mpi} --nodes $nodes -n {ranks} --latency $latency --rate 1gbit --time-limit 3h --traffic 1000GiB --" \
      "$into" "$file" "$@"
  done
done
