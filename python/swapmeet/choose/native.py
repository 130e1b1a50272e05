"""Which algorithm the host MPI chooses by itself, as far as that is written anywhere."""

from __future__ import annotations

import os
from pathlib import Path

from swapmeet.choose import mpich, openmpi
from swapmeet.choose.foreign import Call, Theirs
from swapmeet.errors import SwapmeetError
from swapmeet.mpi.mpis import Mpi

TRUE = ("1", "true", "yes", "enabled")  #: of Open MPI's variables


def chosen(target: Mpi, call: Call, imported: Path | None) -> Theirs | None:
    """What the MPI does with a call by a file of its rules, or else by its variables, or else by what it has built in.

    Returns
    -------
    Theirs or None
        None: nothing that can be read has it.

    Raises
    ------
    SwapmeetError
        If `imported` cannot be used.
    """
    if imported is not None and target.kind not in ("mpich", "openmpi"):
        raise SwapmeetError(f"--import: of {target.name} no files are known: choose an MPICH or Open MPI by --mpi")
    try:
        return _mpich(target, call, imported) if target.kind == "mpich" else _openmpi(target, call, imported)
    except SwapmeetError:
        if imported is not None:
            raise
        return None


def _mpich(target: Mpi, call: Call, imported: Path | None) -> Theirs | None:
    file = imported or _named(mpich.VARIABLE)
    tree = mpich.read(file) if file else mpich.built_in(target)
    return mpich.theirs(tree, call, str(file or f"what MPICH {target.version} has built in")) if tree else None


def _openmpi(target: Mpi, call: Call, imported: Path | None) -> Theirs | None:
    used = target.kind == "openmpi" and os.environ.get(openmpi.VARIABLES[0], "0").lower() in TRUE
    file = imported or (_named(openmpi.VARIABLES[1]) if used else None)
    return openmpi.theirs(openmpi.read(file), call, str(file)) if file else None


def _named(variable: str) -> Path | None:
    return Path(os.environ[variable]) if os.environ.get(variable) else None
