"""Where applications are scaled: in simulations, on this machine, on a cluster in it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from problems import Problem

from swapmeet.errors import SwapmeetError
from swapmeet.mpi import mpis
from swapmeet.mpi.library import source_tree
from swapmeet.simulate import simgrid

SPENT = re.compile(r"(?:wall )?time ([\d.]+) s, in all-to-alls? ([\d.]+) s(?:.*; (\d+) operations)?")
NATIVE = "native"
SWAPMEET = [sys.executable, "-m", "swapmeet"]
TAIL = 1500  #: characters shown of what failed


@dataclass(frozen=True)
class Spent:
    """Means over ranks of one run."""

    seconds: float
    all_to_all_seconds: float
    operations: int  #: as the program counts them
    rounds: Sequence[float] = ()  #: seconds of each, where these are medians


def middle(rounds: Sequence[Spent]) -> Spent:
    """The medians of several runs of one program."""
    seconds = [one.seconds for one in rounds]
    return Spent(
        median(seconds), median(one.all_to_all_seconds for one in rounds), rounds[0].operations, tuple(seconds)
    )


class Place(Protocol):
    """Where a program can run."""

    name: str
    real: bool  #: time is: not simulated

    def runs(self, problem: Problem, arguments: Sequence[str], ranks: int, specs: Sequence[str]) -> list[Spent]:
        """What each spec took."""


def spent(text: str) -> list[Spent]:
    """All that programs said of their time."""
    return [Spent(float(all_), float(part), int(done or 0)) for all_, part, done in SPENT.findall(text)]


def finished(words: Sequence[str], wanted: int, timeout_s: float) -> list[Spent]:
    """What a command's programs said.

    Raises
    ------
    SwapmeetError
        If it fails, takes too long, or not all programs have said their time.
    """
    shown = " ".join(words[2:] if list(words[:3]) == SWAPMEET else words)
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise SwapmeetError(f"{shown}: not done after {timeout_s:.0f} s") from None
    found = spent(done.stdout + done.stderr)
    if done.returncode != 0 or len(found) != wanted or "WRONG" in done.stdout:
        raise SwapmeetError(f"{shown}: status {done.returncode}:\n{(done.stdout + done.stderr).strip()[-TAIL:]}")
    return found


class Simulated:
    """A simulated machine: `swapmeet simulate`."""

    real = False

    def __init__(self, platform: str, per_node: int | None, timeout_s: float) -> None:
        self.platform, self.per_node, self.timeout_s = platform, per_node, timeout_s
        self.name = f"simulated {platform}" + (f", {per_node} a node" if per_node else "")

    def runs(self, problem: Problem, arguments: Sequence[str], ranks: int, specs: Sequence[str]) -> list[Spent]:
        """All in one command, one after the other."""
        words = [*SWAPMEET, "simulate", "--machine", self.platform, "-n", str(ranks)]
        words += ["--ranks-per-node", str(self.per_node)] if self.per_node else []
        words += [*specs, "--", str(compiled_for_simulation(problem)), *arguments]
        return finished(words, len(specs), self.timeout_s * len(specs))


class Launched:
    """Ranks of this machine: `swapmeet run`, or `swapmeet cluster run` with options."""

    real = True

    def __init__(self, name: str, command: Sequence[str], timeout_s: float, rounds: int, target: str = "mpich") -> None:
        self.name, self.command, self.timeout_s, self.target = name, command, timeout_s, mpis.find(target)
        self.rounds = rounds

    def runs(self, problem: Problem, arguments: Sequence[str], ranks: int, specs: Sequence[str]) -> list[Spent]:
        """In each round all of them, one after the other."""
        program = compiled(problem, self.target)
        found: list[list[Spent]] = [[] for _ in specs]
        for _ in range(self.rounds):
            for spec, runs in zip(specs, found, strict=True):
                words = [*SWAPMEET, *self.command, "--mpi", self.target.name, "-n", str(ranks)]
                words += ["--native"] if spec == NATIVE else ["--algorithm", spec]
                runs += finished([*words, "--", *program, *arguments], 1, self.timeout_s)
        return [middle(runs) for runs in found]


def compiled_for_simulation(problem: Problem) -> Path:
    """The program by smpicxx; what is unique in the process would not be each rank's own."""
    target, source = simgrid.find(), source_tree() / "examples" / problem.source
    program = source_tree() / "build" / "scaling" / problem.name
    flags = ["-std=c++20", "-O2", "-fno-gnu-unique", f"-DOPERATION_NS={problem.operation_ns}"]
    words = [str(target.mpicc.with_name("smpicxx")), *flags, str(source), "-o", str(program)]
    words += ["-lfftw3", "-lm"] if "fft" in problem.name else []
    stamp = program.with_suffix(".made-by")
    newest = max(path.stat().st_mtime for path in (source, *source.parents[1].glob("exchange/*.hpp")))
    if not (stamp.exists() and stamp.read_text() == " ".join(words) and program.stat().st_mtime > newest):
        program.parent.mkdir(parents=True, exist_ok=True)
        _require(subprocess.run(words, capture_output=True, text=True))
        stamp.write_text(" ".join(words))
    return program


def compiled(problem: Problem, target: mpis.Mpi) -> list[str]:
    """The words that begin the command line of a rank."""
    source = source_tree() / "examples" / problem.source
    if not problem.simulated:
        return [sys.executable, str(source)]
    folder = source_tree() / "build" / f"scaling-{target.kind}"
    cmake = shutil.which("cmake") or f"{sys.prefix}/bin/cmake"
    configure = [cmake, "-S", str(source_tree() / "examples"), "-B", str(folder), f"-DMPICC={target.mpicc}"]
    for words in (configure, [cmake, "--build", str(folder), "--target", problem.name]):
        _require(subprocess.run(words, capture_output=True, text=True))
    return [str(folder / problem.name)]


def _require(done: subprocess.CompletedProcess[Any]) -> None:
    if done.returncode != 0:
        raise SwapmeetError(f"{' '.join(done.args)} failed:\n{(done.stdout + done.stderr).strip()[-TAIL:]}")
