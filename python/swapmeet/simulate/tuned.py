"""A tuning file for simulated ranks."""

from __future__ import annotations

import re
from pathlib import Path

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.texts import MIB, text_of


def for_simulations(file: Path, version: str) -> str:
    """The content of a tuning file, for this machine and SimGrid of this version, whatever it was made for.

    Raises
    ------
    SwapmeetError
        If the library would refuse it: with the line and the reason.
    """
    text = text_of(file, MIB)
    try:
        _core.parse_tuning(text)
    except ValueError as problem:
        raise SwapmeetError(f"--tuning {file}: {problem}") from None
    lines = {"mpi": f"simgrid {version}", "machine": _core.machine_signature()}
    for key, value in lines.items():
        line = f"{key}: {value}".replace("\\", r"\\")
        text = re.sub(rf"(?m)^[ \t]*{key}:.*$", line, text)
    return text
