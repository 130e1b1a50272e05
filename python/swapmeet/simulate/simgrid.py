"""SimGrid's MPI on this machine: what compiles for it, and what runs a simulation."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path

from swapmeet.errors import SwapmeetError
from swapmeet.mpi.mpis import Mpi

PACKAGE = "libsimgrid-dev"  #: Debian's, and Ubuntu's
LOADER = re.compile(r'"(/[^"]*/smpimain)"')  #: what smpirun, a shell script, runs in the end


@functools.cache
def find() -> Mpi:
    """SimGrid's MPI, as `library.build` takes it; its `mpiexec` loads a program and simulates all its ranks.

    Raises
    ------
    SwapmeetError
        If it is not installed, or incomplete.
    """
    found = {name: shutil.which(name) for name in ("smpicc", "smpirun")}
    for name, path in found.items():
        if path is None:
            raise SwapmeetError(
                f"swapmeet simulate needs SimGrid, and PATH has no {name}: `apt-get install {PACKAGE}`, or see "
                "https://simgrid.org; all other commands work without"
            )
    smpicc, smpirun = (Path(str(path)) for path in found.values())
    loader = LOADER.search(smpirun.read_text(errors="replace"))
    if loader is None or not Path(loader[1]).exists():
        raise SwapmeetError(f"{smpirun} does not name SimGrid's smpimain: reinstall {PACKAGE}")
    words = subprocess.run([smpicc, "--version"], capture_output=True, text=True).stdout.split()
    version = words[-1] if words else "unknown"
    return Mpi("simgrid", "simgrid", version, smpicc, Path(loader[1]), None)
