"""Which algorithm the MPI underneath chooses by itself, as far as that is written anywhere."""

from __future__ import annotations

import os
from pathlib import Path

from swapmeet.errors import SwapmeetError
from swapmeet.mpi import Mpi
from swapmeet.tuning import mpich, openmpi
from swapmeet.tuning.foreign import Call, Theirs


def chosen(target: Mpi, call: Call, imported: Path | None) -> Theirs | None:
    """What the MPI does with a call by a file of its rules, or else by its variables, or else by what it has built in.

    Returns
    -------
    Theirs or None
        None: nothing that can be read says it.

    Raises
    ------
    SwapmeetError
        If the file cannot be read.
    """
    if target.kind == "mpich":
        file = imported or _named(mpich.VARIABLE)
        tree = mpich.read(file) if file else mpich.built_in(target)
        return mpich.theirs(tree, call, str(file or f"what MPICH {target.version} has built in")) if tree else None
    if target.kind == "openmpi":
        used = os.environ.get(openmpi.VARIABLES[0], "0").lower() in ("1", "true", "yes", "t", "y")
        file = imported or (_named(openmpi.VARIABLES[1]) if used else None)
        return openmpi.theirs(openmpi.read(file), call, str(file)) if file else None
    if imported:
        raise SwapmeetError(f"--import: of {target.name} no files are known: choose an MPICH or Open MPI by --mpi")
    return None


def _named(variable: str) -> Path | None:
    return Path(os.environ[variable]) if os.environ.get(variable) else None
