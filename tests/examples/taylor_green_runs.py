"""Runs of the Taylor-Green solver, one after the other in one launch: to load NumPy and SciPy takes longer than a run.

    mpiexec -n 4 python taylor_green_runs.py '[["--grid", "18"], ["--grid", "18", "--flow", "2d"]]'

A line of standard output for each run is JSON: for each rank its exit status, standard output and standard error.
"""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "taylor_green"))

import taylor_green


class Copied(io.StringIO):
    """Text that goes to standard error, too: after MPI_Abort there is nothing else."""

    def write(self, text: str) -> int:
        print(end=text, file=sys.__stderr__, flush=True)
        return super().write(text)


def run(words: list[str]) -> tuple[int, str, str]:
    """The exit status, and what was printed."""
    sys.argv = ["taylor_green.py", *words]
    with redirect_stdout(io.StringIO()) as output, redirect_stderr(Copied()) as errors:
        try:
            status = taylor_green.main()
        except SystemExit as end:
            status = int(end.code or 0)
    return status, output.getvalue(), errors.getvalue()


for words in json.loads(sys.argv[1]):
    ranks = MPI.COMM_WORLD.gather(run(words))
    if ranks:
        print(json.dumps(ranks), flush=True)
