"""Which MPI a program is linked with."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from swapmeet import mpi as mpis
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import Mpi

KINDS = {"libmpi.so.40": "openmpi", "libmpi.so.12": "mpich", "libmpich.so.12": "mpich", "libmpi_abi.so.1": "mpich"}
FAMILIES = {"mpich": "mpich", "intel": "mpich", "openmpi": "openmpi"}  #: kinds that share an ABI
LINE = re.compile(r"\b(libmpi(?:ch|_abi)?\.so\.\d+) => (not found|\S+)")


def linked_library(program: str) -> tuple[str, Path | None] | None:
    """Name and path of the libmpi that an executable is linked with.

    Parameters
    ----------
    program : str
        As the shell would find it.

    Returns
    -------
    (name, path) or None
        None if it is a script, a static program, or linked with no MPI; the path is None if the loader finds none.
    """
    path = shutil.which(program)
    if path is None:
        return None
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return None
    try:
        listed = subprocess.run(["ldd", path], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    line = LINE.search(listed.stdout)
    if line is None:
        return None
    return line[1], None if line[2] == "not found" else Path(line[2])


def choose_mpi(program: str, name: str | None) -> Mpi:
    """The MPI to launch `program` with: the one called `name`, or else the one it is linked with, or the default.

    Raises
    ------
    SwapmeetError
        If `name` cannot run the program, or no known MPI belongs to it.
    """
    linked = linked_library(program)
    if name is not None:
        chosen = mpis.find(name)
        if linked and FAMILIES.get(chosen.kind, "") not in ("", KINDS.get(linked[0], "")) and linked[0] in KINDS:
            raise SwapmeetError(
                f"{program} is linked with {linked[0]}, which is {KINDS[linked[0]]}'s, but --mpi {name} is "
                f"{chosen.kind}: leave --mpi out, or build the program for {name}"
            )
        return chosen
    if linked is None:
        return mpis.default()
    soname, path = linked
    usable, problems = mpis.found()
    for candidate in usable:
        if path and candidate.libmpi and path.resolve() == candidate.libmpi.resolve():
            return candidate
    if path is None:  # the loader finds none: any of its kind will do once its path is set
        for candidate in usable:
            if candidate.libmpi and candidate.libmpi.name == soname:
                return candidate
    elif (path.parent.parent / "bin" / "mpicc").exists():
        return mpis.find(str(path.parent.parent / "bin" / "mpicc"))
    hint = f" ({'; '.join(problems)})" if problems else ""
    raise SwapmeetError(
        f"{program} needs {path or soname}, of an MPI that was not found{hint}: name its mpicc by --mpi"
    )
