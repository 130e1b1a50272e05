"""What the library's choices would rest on if a program began now: the SWAPMEET_ variables, and what is remembered."""

from __future__ import annotations

import os
from dataclasses import dataclass

from swapmeet import __version__, _core
from swapmeet.mpi.mpis import Mpi


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


def surroundings(target: Mpi, ranks: int) -> Surroundings:
    """As they are now, for a job on that many ranks."""
    name = f"{target.kind} {target.version}"
    environment = [f"{key}={value}" for key, value in os.environ.items() if key.startswith("SWAPMEET_")]
    options = _core.read_options(environment, ranks, name)
    memory = _core.MemoryStore()
    memory.begin(options, name, __version__)
    return Surroundings(name, options, memory, list(options.problems))
