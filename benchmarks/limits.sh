#!/bin/sh
# Makes docs/limits.md: simulates what is affordable (SimGrid; an hour), estimates the rest, draws, and writes the page.
# usage: benchmarks/limits.sh [FOLDER for results of simulations]
set -e
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
specs="tra(r=2) tra(r=4) tra(r=8) tra(r=16) direct(window=1) direct(window=8) spread-out"
mpis="native:ompi native:mpich native:mvapich2 native:impi"
simulate() { # PLATFORM RANKS OPTIONS...
  name=$1 ranks=$2 file=$folder/$1-$2.jsonl
  shift 2
  [ -e "$file" ] || swapmeet simulate --machine "$name" -n "$ranks" -S 8,64,512,4KiB,32KiB,256KiB -j 1 --time-limit 60s -o "$file" "$@" $specs $mpis
}
for name in theta cluster cscs-slimfly fat-tree fat-tree-400 lumi-c polaris mare-nostrum-5; do
  simulate $name 16
  simulate $name 64
done
fugaku() { # RANKS SHAPE
  shape=$2
  simulate fugaku $1 --network "torus(dims=$shape,hosts=1,ordered=1)" "bruck(dims=$shape,radix=all,layout=zero-rotation,window=all)"
}
fugaku 16 2x2x4
fugaku 64 4x4x4
files=""
for file in "$folder"/*.jsonl; do files="$files --simulated $file"; done
swapmeet limits -o docs/limits $files
swapmeet limits -o docs/limits --markdown > docs/limits.md
