#!/bin/sh
# The cells of docs/estimates.md: simulates them, and tells how far estimates are off. Takes some minutes, and SimGrid.
#   benchmarks/estimates.sh [FOLDER]      keeps the results there; without it they go
set -e
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
[ -n "$1" ] || trap 'rm -rf "$folder"' EXIT
number=0
simulate() {
  number=$((number + 1))
  swapmeet simulate "$@" -o "$folder/$number.jsonl" >/dev/null
}

simulate --machine cluster -n 128 -S 8,2KiB 'tra(r=2)' 'tra(r=12)' 'two-layer(r1=6,r2=all)'
simulate --machine cluster -n 128 -S 8 'node-leaders(per-node=4,intra=mpi)'
simulate --machine cluster -n 128 -S 8,64KiB 'tra(r=2)' 'direct(window=8)'
simulate --machine cluster -n 64 -S 8,64KiB pairwise 'direct(order=random,window=4,complete=any)'
simulate --machine cscs-slimfly -n 100 --ranks-per-node 1 -S 8,16KiB 'tra(r=10)'
simulate --machine cscs-slimfly -n 100 --ranks-per-node 1 -S 8,32KiB pairwise random-sendrecv 'direct(window=4,complete=any)' 'direct(order=random,window=1)'
simulate --machine cscs-slimfly -n 64 --ranks-per-node 1 -S 8,16KiB 'direct(order=scatter,window=1)'
simulate --machine fat-tree -n 192 -S 8,4KiB 'tra(r=14)' 'two-layer(r1=7,r2=all)' grid
simulate --machine fat-tree -n 96 -S 8,64KiB 'direct(window=8)'
simulate --machine fat-tree -n 96 -S 8 random-scatter
simulate --machine polaris -n 256 -S 8,2KiB 'tra(r=16)'
simulate --machine theta -n 512 -S 8,2KiB 'tra(r=2)' 'tra(r=23)'
simulate --machine theta -n 128 --ranks-per-node 16 -S 8,16KiB 'direct(window=8)'
simulate --machine theta -n 64 --ranks-per-node 1 -S 8,64KiB 'direct(order=xor,window=2)'

set --
for file in "$folder"/*.jsonl; do set -- "$@" --against "$file"; done
swapmeet simulate "$@"
