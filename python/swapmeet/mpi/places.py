"""Where the user's files for an MPI lie: the tuning file, and the description of the machine beside it."""

from __future__ import annotations

from pathlib import Path

from swapmeet import _core
from swapmeet.errors import SwapmeetError


def tuning_file(mpi_kind: str) -> Path:
    """Where `swapmeet tune` puts the tuning file, and the library looks first.

    Raises
    ------
    SwapmeetError
        If there is no such place.
    """
    places = _core.standard_tuning_files(mpi_kind)
    if not places:
        raise SwapmeetError("neither HOME nor XDG_CONFIG_HOME is set: name the file by -o")
    return Path(places[0])


def machine_file(mpi_kind: str) -> Path:
    """Where `swapmeet calibrate` puts the description, and `swapmeet tune` looks for it.

    Raises
    ------
    SwapmeetError
        If there is no such place.
    """
    return tuning_file(mpi_kind).with_suffix(".machine.json")
