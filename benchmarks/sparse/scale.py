"""Sparse exchanges on more ranks than this machine has: simulated, and with all ranks in one process, to count."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from swapmeet import _core
from swapmeet.measure.bench.machine import header
from swapmeet.mpi.library import source_tree
from swapmeet.structs import read_lines
from swapmeet.tables import markdown

#: by whom each is published, or used
SPECS = {
    "nbx": "Hoefler et al.; KaMPIng; PETSc from 1024 ranks on; MPI Advance",
    "census": "Hoefler et al.; PETSc; MPI Advance",
    "sparse-bruck": "Bruck et al.",
    "sparse-bruck(r=8)": "Bruck et al.",
    "grid(sparse=forward)": "KaMPIng's grid",
    "torus(sparse=forward)": "",
    "two-layer(sparse=forward)": "by nodes; MPI Advance also combines messages by nodes",
}
MACHINES = ("fat-tree", "theta")
SIMULATED, PER_NODE = 128, 16  #: ranks
COUNTED = ("nbx", "sparse-bruck", "sparse-bruck(r=8)")  #: what sends few messages, and takes no array of size P
RANKS = (1_000, 100_000)  #: counted
SIMULATION = re.compile(r"swapmeet: (\S+), P = (\d+), (.+): (\S+) s of simulated time")


def measure(path: Path) -> None:
    """Write the file anew."""
    program = source_tree() / "tests" / "simulation" / "sparse.c"
    lines: list[dict[str, object]] = [header({"simulated_ranks": SIMULATED, "per_node": PER_NODE})]
    for machine in MACHINES:
        words = ["swapmeet", "simulate", "--machine", machine, "-n", SIMULATED, "--ranks-per-node", PER_NODE]
        done = subprocess.run([*map(str, words), *SPECS, "--", str(program)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        for found in SIMULATION.finditer(done.stdout + done.stderr):
            lines.append({"machine": found[1], "ranks": int(found[2]), "spec": found[3], "seconds": float(found[4])})
    for ranks in RANKS:
        for spec in COUNTED:
            all_ranks = _core.rehearse_sparse(_core.parse_spec(spec), ranks)
            if all_ranks.problem:
                sys.exit(f"{spec}, {ranks} ranks: {all_ranks.problem}")
            counts = {"hops": all_ranks.hops, "working_bytes": all_ranks.working_bytes}
            lines.append({"ranks": ranks, "spec": spec, **counts, "header_bytes": all_ranks.header_bytes})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def tables(path: Path) -> str:
    """Simulated times, and counts, in Markdown."""
    times: dict[tuple[str, str], float] = {}
    counts: dict[tuple[str, int], dict[str, int]] = {}
    for line in read_lines(path):
        if "seconds" in line:
            times[line["spec"], line["machine"]] = line["seconds"]
        elif "hops" in line:
            counts[line["spec"], line["ranks"]] = line
    rows = [
        [f"`{spec}`", whose, *(f"{1e3 * times[spec, machine]:.2f}" for machine in MACHINES)]
        for spec, whose in SPECS.items()
    ]
    simulated = markdown(["spec", "published or used by", *(f"`{machine}`, ms" for machine in MACHINES)], rows)
    rows = [
        [f"`{spec}`", *(f"{counts[spec, ranks][what]:,}" for what in ("hops", "working_bytes") for ranks in RANKS)]
        for spec in COUNTED
    ]
    heads = [f"{what}, P = {ranks:,}" for what in ("forwarded messages", "bytes of memory") for ranks in RANKS]
    return "\n".join([*simulated, "", *markdown(["of a rank, at most", *heads], rows)])
