"""What `swapmeet tune --export-mpich` and `--export-openmpi` write: rules that need no library of ours."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from swapmeet import _core, texts
from swapmeet.choose import file, fit, foreign, memory, mpich, openmpi
from swapmeet.choose.rule import Rule
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.candidates import AUTO
from swapmeet.measure.bench.cells import NATIVE
from swapmeet.measure.bench.results import read
from swapmeet.mpi.mpis import Mpi


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
            texts.write(path, mpich.export(rules, target) if path == self.mpich else openmpi.export(rules))
            yield path

    def advice(self, path: Path) -> Iterator[str]:
        """How the MPI gets a file, and how to check that it did."""
        file = shlex.quote(os.path.abspath(path))
        if path == self.mpich:
            yield f"MPICH follows it by {mpich.VARIABLE}={file}"
            yield "MPICH ends in MPI_Init, with a message, where it cannot read the file"
        else:
            yield f"Open MPI follows it by {openmpi.VARIABLES[0]}=1 {openmpi.VARIABLES[1]}={file}"
            yield (
                "Open MPI ignores a missing or broken file silently: after a run `stat -c %x "
                f"{file}` prints when it was last read (but on file systems without times of access)"
            )
        kind = "mpich" if path == self.mpich else "openmpi"
        yield f"its choice for a call: `swapmeet explain --mpi {kind} --import {file} -P 16 -S 512`"


def left_out(sources: Sequence[Path], target: Mpi) -> Iterator[str]:
    """What these sources know and the MPI's own rules cannot express, a line each."""
    if any(_is_tuning(path) for path in sources):
        for rule in foreign.rules_of(sources[0]):
            if not _has(target, rule.spec, rule.collective):
                yield f"rule for {rule.collective}, {_ranks(rule)}: {target.kind} has nothing like {rule.spec}"
        return
    lacking: dict[str, set[str]] = {}
    for spec, collective in _measured(sources):
        if spec not in (AUTO, NATIVE) and not _has(target, spec, collective):
            lacking.setdefault(collective, set()).add(spec)
    for collective, specs in lacking.items():
        yield f"measured for {collective}: {target.kind} has nothing like {', '.join(sorted(specs))}"


def _measured(sources: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Specs and collectives in memory or results."""
    for path in sources:
        if memory.is_memory(path):
            yield from ((str(one.spec), one.collective.name) for one in memory.read(path).evidence)
            continue
        results = read(path)
        for cell in results.cells():
            yield from ((spec, cell.collective) for spec in results.specs(cell))


def _ranks(rule: Rule) -> str:
    least, most = rule.ranks
    if most == least:
        return f"{least} ranks"
    return f"{least} ranks or more" if most is None else f"{least} to {most} ranks"


def _has(target: Mpi, spec: str, collective: str) -> bool:
    """Whether the MPI has an algorithm that sends the messages of a spec."""
    messages = foreign.kind(spec)
    known = mpich.algorithm if target.kind == "mpich" else openmpi.algorithm
    return collective in openmpi.NUMBERS and messages is not None and known(collective, messages) is not None


def exported_rules(sources: Sequence[Path], target: Mpi) -> list[Rule]:
    """Rules of a tuning file as it is; of results or memory, as if only what the MPI has itself had been measured."""
    if any(_is_tuning(path) for path in sources):
        if len(sources) > 1:
            raise SwapmeetError("--from a tuning file: give that one file")
        return foreign.rules_of(sources[0])
    if all(map(memory.is_memory, sources)):
        evidence = _core.merged([one for path in sources for one in memory.read(path).evidence])
        return memory.rules(evidence, lambda spec, collective: _has(target, spec, collective))
    mpi = f"{target.kind} {target.version}"
    return fit.rules([read(path) for path in sources], mpi, lambda spec, collective: _has(target, spec, collective))


def _is_tuning(path: Path) -> bool:
    try:
        with path.open("rb") as opened:
            return opened.read(len(file.FIRST)) == file.FIRST.encode()
    except OSError as problem:
        raise SwapmeetError(f"{path}: {problem.strerror}") from None
