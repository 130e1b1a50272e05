"""`make demo`: an unmodified application and a benchmark, without and with Swapmeet: answers, times, speed-ups."""

from __future__ import annotations

import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table

from swapmeet.errors import SwapmeetError
from swapmeet.measure import verdict
from swapmeet.mpi import launch, mpis
from swapmeet.mpi.library import library, program, source_tree
from swapmeet.output import tables_console
from swapmeet.units import bytes_text, short_duration

RANKS = 2
TURNS = 5  #: from the least to the greatest of five ratios holds the median with a chance of 94 %
TIMEOUT_S = 300.0
APPLICATION = "Taylor-Green vortex (mpi4py), 16³ points"
STEPS = 100
CALLS = 200  #: of each size of the benchmark
FEWER, FEWER_ABOVE = 100, 8192  #: of sizes above, by OSU's defaults
BUSY = 0.5  #: of the cores, by the load of the last minute
SMALL, LARGE = 64, 1 << 20  #: bytes of a block: where the default gains much, and where it gains little
IN_ALLTOALLS = re.compile(r"in all-to-all ([\d.]+) s")
LATENCY = re.compile(r"^(\d+) +([\d.]+) ", re.MULTILINE)


@dataclass
class Case:
    """What is compared: a row of the table."""

    name: str
    calls: str = ""  #: all-to-alls of rank 0 in a run
    without: list[float] = field(default_factory=list)  #: seconds in all-to-alls, a number for each turn
    with_it: list[float] = field(default_factory=list)
    answers: set[str] = field(default_factory=set)  #: all that were given

    def add(self, seconds: float, ours: bool, answer: str) -> None:
        """Take a run."""
        (self.with_it if ours else self.without).append(seconds)
        self.answers.add(answer)

    def cells(self) -> list[str]:
        """For the table."""
        ratios = sorted(before / after for before, after in zip(self.without, self.with_it, strict=True))
        times = [short_duration(statistics.median(some)) for some in (self.without, self.with_it)]
        speedup = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
        return [self.name, self.calls, *times, speedup, "identical" if self.same else "DIFFERENT"]

    @property
    def same(self) -> bool:
        """Whether all answers were."""
        return len(self.answers) == 1


def main() -> int:
    """Run everything; 0 if all answers are the same."""
    target = mpis.default()
    application = Case(APPLICATION)
    small, large = (Case(f"Alltoall timed as by OSU, blocks of {bytes_text(size)}") for size in (SMALL, LARGE))
    library(target), program(target, "users")  # before the clock runs
    cores = len(os.sched_getaffinity(0))
    busy = os.getloadavg()[0] > BUSY * cores
    print(
        f"running both programs on {RANKS} ranks, {TURNS} times without and {TURNS} times with Swapmeet ...", flush=True
    )
    with tempfile.TemporaryDirectory(prefix="swapmeet-demo-") as temporary:
        for turn in range(TURNS):
            for ours in (False, True):
                _taylor_green(target, application, Path(temporary, f"{turn}-{ours}"), ours)
                _benchmark(target, (small, large), ours)
    title = "Time in all-to-alls, without and with Swapmeet preloaded and nothing set"
    table = Table(title=f"{title}: {target.kind} {target.version}, {RANKS} ranks, {cores} cores")
    for column in ("program", "all-to-alls", "without", "with", f"speed-up (of {TURNS} turns)", "answers"):
        table.add_column(column)
    cases = (application, small, large)
    for case in cases:
        table.add_row(*case.cells())
    tables_console().print(table)
    print(
        "Medians. A speed-up is taken within a turn, its interval holds those of all turns. Large blocks are bound by\n"
        "copying and gain least; docs/measurements/users.md has all sizes, more ranks, and another MPI."
    )
    if busy:
        print("Other programs run on this machine; an MPI whose ranks poll while they wait suffers most from that.")
    command = os.path.relpath(Path(sys.prefix, "bin", "swapmeet"))
    print("\nFor your own program:")
    print(f"  {command} doctor ./app                  # does it work here, with the MPI of ./app?")
    print(f"  {command} run -n 4 --stats - -- ./app   # serve it, and end with a verdict")
    print(f"  {command} env ./app                     # the lines for a batch script")
    return 0 if all(case.same for case in cases) and application.calls != "none" else 1


def _taylor_green(target: mpis.Mpi, case: Case, folder: Path, ours: bool) -> None:
    """One run of the application (examples/taylor_green) in a new folder."""
    folder.mkdir()
    script = source_tree() / "examples" / "taylor_green" / "taylor_green.py"
    argv = [sys.executable, str(script), "--grid", "16", "--steps", str(STEPS), "--output", "answer.json"]
    counted = folder / "statistics.json"
    output = _run(target, argv, folder, ours, launch.library_variables(stats=str(counted)))
    found = IN_ALLTOALLS.search(output)
    if found is None:
        raise SwapmeetError(f"{case.name} did not print how long its all-to-alls took:\n{output[-2000:]}")
    if ours:
        case.calls = intercepted(counted)
    case.add(float(found[1]), ours, (folder / "answer.json").read_text())


def _benchmark(target: mpis.Mpi, cases: Sequence[Case], ours: bool) -> None:
    """One run of our program that times as OSU's osu_alltoall does (benchmarks/users) and checks what was delivered."""
    argv = [str(program(target, "users")), "osu", str(LARGE), str(CALLS), "Alltoall"]
    output = _run(target, argv, None, ours, {})
    if ("# Swapmeet: yes" in output) != ours:
        raise SwapmeetError(f"the benchmark ran {'without' if ours else 'with'} Swapmeet: is LD_PRELOAD passed on?")
    times = {int(size): 1e-6 * float(latency) for size, latency in LATENCY.findall(output)}
    for case, size in zip(cases, (SMALL, LARGE), strict=True):
        case.calls = str(FEWER if size > FEWER_ABOVE else CALLS)
        case.add(times[size], ours, "right")


def _run(target: mpis.Mpi, argv: Sequence[str], folder: Path | None, ours: bool, variables: dict[str, str]) -> str:
    """What a program prints, launched without or with the library."""
    words = launch.command(target, RANKS, argv, library(target) if ours else None, variables if ours else {})
    try:
        done = launch.run(target, RANKS, words, env={"OMP_NUM_THREADS": "1"}, timeout_s=TIMEOUT_S, folder=folder)
    except subprocess.TimeoutExpired:
        raise SwapmeetError(
            f"{argv[0]} took more than {TIMEOUT_S:.0f} s (two seconds on two idle cores) and was ended: try again when "
            "this machine does less"
        ) from None
    if done.returncode != 0:
        output = (done.stdout + done.stderr).strip()[-2000:]
        raise SwapmeetError(f"{shlex.join(map(str, argv))} failed with status {done.returncode}:\n{output}")
    return done.stdout


def intercepted(counted: Path) -> str:
    """What the library counted on rank 0."""
    calls: dict[str, int] = {}
    for row in verdict.read(counted) or ():
        calls[row.collective] = calls.get(row.collective, 0) + row.calls
    return ", ".join(f"{count} {name}" for name, count in calls.items()) or "none"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SwapmeetError as problem:
        sys.exit(f"swapmeet: {problem}")
