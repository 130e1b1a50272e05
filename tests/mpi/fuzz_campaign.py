"""Random programs (tests/conformance/fuzz.c) by the hundred thousand, in batches.

A batch is a launch, whose seed, MPI, ranks, nodes and settings its number determines. Each adds a line of JSON to a
file, and a later run goes on after the last one:

    .venv/bin/python tests/mpi/fuzz_campaign.py 100000 build/fuzz-campaign.jsonl
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from fuzz_test import STEPS, THREADED, drawn_variables

from swapmeet.mpi import launch as launching
from swapmeet.mpi import mpis
from swapmeet.mpi.library import library, program

LIMIT_S = 1500
MOST_WRONG = 5  #: batches in a row, after which the others would hardly be right
RANKS = [2, 2, 2, 3, 3, 3, 4, 5, 5, 6, 7]
PROGRAMS = {2: 300, 3: 120, 4: 80, 5: 60, 6: 40, 7: 30}  #: of a batch; a third on MPICH, whose ranks keep their cores
FAMILIES = ["shared-memory", "tra(r=2)", "two-phase-bruck", "pairwise", "spread-out", "two-layer", "node-leaders"]
FAMILIES += ["direct(window=2,complete=any,intra=auto)", "padded-bruck", "hybrid", "sloav"]


def drawn(batch: int) -> dict[str, Any]:
    """What a batch is."""
    draw = random.Random(f"campaign {batch}")
    mpi, ranks = ("mpich", "openmpi")[batch % 2], draw.choice(RANKS)
    variables = drawn_variables(batch, ranks)
    if draw.random() < 0.1:
        variables[THREADED] = "thread"
    if draw.random() < 0.15:
        variables["SWAPMEET_TRIALS"] = "1000000"
    if draw.random() < 0.05:
        variables["SWAPMEET_CHECK"] = "1"
    algorithm = draw.choice([*["auto"] * len(FAMILIES), *FAMILIES])
    programs = PROGRAMS[ranks] // (3 if mpi == "mpich" else 1)
    if draw.random() < 0.2:
        variables["SWAPMEET_GATHERED_RANKS"] = draw.choice(["1", "2", "512,2"])
    threads = 3 if draw.random() < 0.2 else 0
    what = {"mpi": mpi, "ranks": ranks, "variables": variables, "algorithm": algorithm, "threads": threads}
    return {**what, "programs": programs // (2 * threads or 1)}


def run(batch: int) -> dict[str, Any]:
    """Run a batch: what it is, whether it is right, and what it printed if it is not."""
    what = drawn(batch)
    mpi = mpis.find(what["mpi"])
    argv = [str(program(mpi, "fuzz")), "--seed", str(batch), "--steps", str(STEPS), "--episodes", str(what["programs"])]
    argv += ["--threads", str(what["threads"])]
    alone = {"SWAPMEET_MEMORY": "off", "SWAPMEET_TUNING_FILE": "none"}  # whatever was measured on this machine
    variables = {**alone, **what["variables"], **launching.library_variables(what["algorithm"])}
    words = launching.command(mpi, what["ranks"], argv, library(mpi), variables)
    try:
        done = launching.run(mpi, what["ranks"], words, timeout_s=LIMIT_S)
        printed, status = done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired as hanging:
        printed, status = f"{hanging.stdout!r} {hanging.stderr!r}", -1
    expected = rf"^{what['programs'] * STEPS * max(what['threads'], 1)} passed, 0 failed, 0 skipped$"
    right = status == 0 and re.search(expected, printed, re.MULTILINE) is not None
    return {"batch": batch, **what, "right": right, **({} if right else {"status": status, "printed": printed[-6000:]})}


def main() -> int:
    """Run batches until a file holds as many programs as asked for, or the last ones are wrong; 1 if any is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=int)
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.file.read_text().splitlines()] if given.file.exists() else []
    wrong = 0  # in a row, of this run
    while sum(row["programs"] for row in rows if row["right"]) < given.programs and wrong < MOST_WRONG:
        rows.append(run(len(rows)))
        wrong = 0 if rows[-1]["right"] else wrong + 1
        with given.file.open("a") as file:
            file.write(json.dumps(rows[-1]) + "\n")
        if not rows[-1]["right"]:
            print(f"batch {rows[-1]['batch']}: {rows[-1]['printed']}", file=sys.stderr)
    return 0 if all(row["right"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
