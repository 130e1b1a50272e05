"""What `swapmeet tune --export-mpich` and `--export-openmpi` write: rules that need no library of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from swapmeet.bench.results import read
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import Mpi
from swapmeet.tuning import file, fit, foreign, mpich, openmpi
from swapmeet.tuning.rule import Rule


@dataclass(frozen=True)
class Exports:
    """Where they go."""

    mpich: Path | None
    openmpi: Path | None

    @property
    def paths(self) -> list[Path]:
        """Of those that are wanted."""
        return [path for path in (self.mpich, self.openmpi) if path is not None]

    def __bool__(self) -> bool:
        return bool(self.paths)

    def require(self, target: Mpi) -> None:
        """Refuse what cannot be written for this MPI, before anything is measured."""
        for kind, path in (("mpich", self.mpich), ("openmpi", self.openmpi)):
            if path is not None and target.kind != kind:
                raise SwapmeetError(f"--export-{kind}: {target.name} is another MPI: choose one by --mpi")

    def write(self, sources: Sequence[Path], target: Mpi) -> Iterator[Path]:
        """Write all; the paths, each when it is written."""
        if not self:
            return
        rules = exported_rules(sources, target)
        for path in self.paths:
            file.write(path, mpich.export(rules, target) if path == self.mpich else openmpi.export(rules))
            yield path

    def advice(self, path: Path) -> str:
        """How the MPI is told of a file."""
        if path == self.mpich:
            return f"MPICH follows it by {mpich.VARIABLE}={path}"
        return f"Open MPI follows it by {openmpi.VARIABLES[0]}=1 {openmpi.VARIABLES[1]}={path}"


def exported_rules(sources: Sequence[Path], target: Mpi) -> list[Rule]:
    """Rules from tuning files as they are, or from results, as if only the MPI's own algorithms had been measured."""
    if any(_is_tuning(path) for path in sources):
        if len(sources) > 1:
            raise SwapmeetError("--from a tuning file: give that one file")
        return foreign.rules_of(sources[0])
    known = mpich.algorithm if target.kind == "mpich" else openmpi.algorithm
    mpi = f"{target.kind} {target.version}"

    def has(spec: str, collective: str) -> bool:
        messages = foreign.kind(spec)
        return messages is not None and known(collective, messages) is not None

    return fit.rules([read(path) for path in sources], mpi, has)


def _is_tuning(path: Path) -> bool:
    try:
        with path.open("rb") as opened:
            return opened.read(len(file.FIRST)) == file.FIRST.encode()
    except OSError as problem:
        raise SwapmeetError(f"{path}: {problem.strerror}") from None
