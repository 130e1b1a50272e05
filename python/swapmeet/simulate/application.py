"""A program of the user's in a simulation: anything that smpicc compiles."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.candidates import AUTO
from swapmeet.mpi.mpis import Mpi
from swapmeet.network.slot_tables import with_table
from swapmeet.simulate import peers
from swapmeet.simulate.job import Simulator, ending
from swapmeet.simulate.platform import Platform

TIMED = re.compile(r"Simulated time: ([0-9.e+-]+) seconds")
#: What SimGrid says of programs that fail, and then ends with status 0; the cause first.
FAILURES = {"MPI_Abort was called": "called MPI_Abort", "Deadlock detected": "ended in a deadlock"}


@contextmanager
def compiled(target: Mpi, source: str) -> Iterator[Path]:
    """The program: `source` itself, or what smpicc makes of a C file.

    Raises
    ------
    SwapmeetError
        If there is none, it cannot be compiled, or it was compiled by something else.
    """
    path = Path(source)
    if not path.is_file():
        raise SwapmeetError(f"{source} is no file: give a C source, or what smpicc has made")
    if path.suffix != ".c":
        _require_smpicc(path)
        yield path.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="swapmeet-simulation-") as folder:
        made = Path(folder, path.stem)
        done = subprocess.run([*target.compiler, "-O2", str(path), "-o", str(made), "-lm"], capture_output=True)
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").rstrip()  # it may quote what is no text
            raise SwapmeetError(f"smpicc does not compile {source}:\n{said}")
        yield made


def _require_smpicc(path: Path) -> None:
    shown = subprocess.run(["ldd", str(path)], capture_output=True, text=True)
    if "libsimgrid" not in shown.stdout:
        raise SwapmeetError(f"{path} is not linked with SimGrid: compile it by smpicc, or give its C source")


def run(
    simulator: Simulator, platform: Platform, program: Path, arguments: Sequence[str], spec: str, native: str
) -> tuple[str, str, float]:
    """Simulate a program whose all-to-alls are done by `spec`.

    Returns
    -------
    tuple
        What it printed, what it complained of, and how long it took in simulated seconds.

    Raises
    ------
    SwapmeetError
        If it fails: with what it printed.
    """
    # Its global variables become each rank's own; the library, which is preloaded, keeps its ranks apart by itself.
    options = [
        "--cfg=smpi/privatization:dlopen",
        "--cfg=smpi/display-timing:yes",
        "--log=smpi_utils.thres:info",
        "--log=smpi_pmpi.thres:warning",
        "--log=xbt_cfg.thres:critical",
    ]
    options += peers.options_of_application(spec, native)
    variables = {name: value for name, value in os.environ.items() if name.startswith("SWAPMEET_")}
    variables.setdefault("SWAPMEET_TUNING_FILE", "none")
    if spec != AUTO:
        variables["SWAPMEET_ALGORITHM"] = with_table(spec, platform.ranks, simulated=True)
    preload = [] if peers.is_peer(spec) else [str(simulator.library)]
    status, output, errors, _ = simulator.launch(platform, program, arguments, options, preload, variables)
    timed = TIMED.search(errors)
    failures = [how for words, how in FAILURES.items() if words in errors]
    if failures or status != 0 or not timed:
        said = errors[: timed.start()].rpartition("\n")[0] if timed else errors  # what follows is no news then
        how, heard = (failures or [ending(status)])[0], f"{output}{said}".rstrip()
        raise SwapmeetError(f"{program.name} by {spec} {how}" + (f":\n{heard}" if heard else ""))
    theirs = errors[: timed.start()].splitlines()  # what follows is SimGrid's
    return output, "\n".join(line for line in theirs if not line.startswith("[")), float(timed[1])
