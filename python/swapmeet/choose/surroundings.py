"""What the library's choices would rest on if a program began now: the SWAPMEET_ variables, and what is remembered."""

from __future__ import annotations

import os
from dataclasses import dataclass

from swapmeet import __version__, _core
from swapmeet.errors import SwapmeetError
from swapmeet.mpi.mpis import Mpi
from swapmeet.texts import is_utf8, printable

FILES = ("SWAPMEET_TUNING_FILE", "SWAPMEET_MEMORY")  #: which name files that the library reads


@dataclass(frozen=True)
class Surroundings:
    """Of a program."""

    mpi: str  #: kind and version
    options: _core.Options
    memory: _core.MemoryStore
    warnings: list[str]

    def recall(self, ranks: int) -> list[_core.Evidence]:
        """What earlier runs have measured on that many ranks, if the choice may rest on it."""
        recalled = [] if self.options.algorithm else self.memory.recall(ranks)
        self.warnings.extend(filter(None, [self.memory.take_problem()]))
        return recalled


def variables() -> list[str]:
    """The SWAPMEET_ variables for the core, as in NAME=VALUE; what is not UTF-8 is replaced, and gets its warning.

    Raises
    ------
    SwapmeetError
        If it names a file that is there: the library would read that file.
    """
    for name in FILES:
        file = os.environ.get(name, "")
        if not is_utf8(file) and os.path.exists(file):
            raise SwapmeetError(f'{name}="{printable(file)}": the name of this file is not UTF-8: rename it')
    return [printable(f"{key}={value}") for key, value in os.environ.items() if key.startswith("SWAPMEET_")]


def surroundings(target: Mpi, ranks: int) -> Surroundings:
    """As they are now, for a job on that many ranks."""
    name = f"{target.kind} {target.version}"
    options = _core.read_options(variables(), ranks, name)
    memory = _core.MemoryStore()
    memory.begin(options, name, __version__)
    return Surroundings(name, options, memory, list(options.problems))
