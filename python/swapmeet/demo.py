"""`make demo`: unmodified applications, each run without and with Swapmeet, their answers compared byte for byte."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from swapmeet import launch, mpi
from swapmeet.errors import SwapmeetError
from swapmeet.library import library, source_tree

RANKS = 4
TIMEOUT_S = 300.0


@dataclass(frozen=True)
class Application:
    """One application and how to tell whether two of its answers are the same."""

    name: str
    target: mpi.Mpi
    argv: Sequence[str]
    algorithm: str
    answer: Callable[[Path, str], str]  #: (working folder, standard output) -> what must not change


@dataclass(frozen=True)
class Run:
    """One run of an application."""

    answer: str
    seconds: float
    calls: str  #: "60 Alltoall, 2 Alltoallv", as rank 0 made them; "" without Swapmeet


def run(application: Application, folder: Path, with_swapmeet: bool) -> Run:
    """Launch `application` in an empty `folder`."""
    folder.mkdir()
    statistics = folder / "statistics.json"
    preload = library(application.target) if with_swapmeet else None
    variables = launch.library_variables(application.algorithm, stats=str(statistics)) if with_swapmeet else {}
    words = launch.command(application.target, RANKS, application.argv, preload, variables)
    begin = time.monotonic()
    try:
        done = launch.run(
            application.target, RANKS, words, env={"OMP_NUM_THREADS": "1"}, timeout_s=TIMEOUT_S, folder=folder
        )
    except subprocess.TimeoutExpired:
        raise SwapmeetError(
            f"{application.name} took more than {TIMEOUT_S:.0f} s (half a minute on two idle cores) and was ended: try "
            "again when this machine does less"
        ) from None
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        output = (done.stdout + done.stderr).strip()[-2000:]
        raise SwapmeetError(f"{application.name} failed with status {done.returncode}:\n{output}")
    return Run(application.answer(folder, done.stdout), seconds, intercepted(statistics) if with_swapmeet else "")


def intercepted(statistics: Path) -> str:
    """What the library counted on rank 0."""
    calls: dict[str, int] = {}
    for row in json.loads(statistics.read_text())["calls"]:
        calls[row["collective"]] = calls.get(row["collective"], 0) + row["calls"]
    return ", ".join(f"{count} {name}" for name, count in calls.items()) or "none"


def taylor_green(decomposition: str, algorithm: str) -> Application:
    """The Taylor-Green vortex, pseudo-spectral, by mpi4py and SciPy (examples/taylor_green)."""
    script = source_tree() / "examples" / "taylor_green" / "taylor_green.py"
    argv = [sys.executable, str(script), "--decomposition", decomposition, "--output", "answer.json"]
    read = lambda folder, _: (folder / "answer.json").read_text()  # noqa: E731
    return Application(f"Taylor-Green vortex, {decomposition}", mpi.find("mpich"), argv, algorithm, read)


def quantum_espresso(algorithm: str) -> Application | None:
    """Silicon by Debian's pw.x (examples/quantum_espresso); None where that is not installed."""
    folder = source_tree() / "examples" / "quantum_espresso"
    program = shutil.which("pw.x")
    try:
        target = mpi.find("openmpi-system")
    except SwapmeetError:
        return None
    if program is None:
        return None

    def without_timings(_: Path, output: str) -> str:
        words = [sys.executable, "-c", "import sys, compare; print(compare.without_timings(sys.stdin.read()))"]
        kept = subprocess.run(words, input=output, cwd=folder, capture_output=True, text=True, check=True)
        return kept.stdout

    argv = [program, "-in", str(folder / "si.in")]
    return Application("Quantum ESPRESSO, silicon", target, argv, algorithm, without_timings)


def main() -> int:
    """Run everything; 0 if all answers are the same."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    applications = [taylor_green("slab", "tra"), taylor_green("pencil", "multipair-waitany")]
    espresso = quantum_espresso("random-sendrecv")
    applications += [espresso] if espresso else []
    table = Table(title=f"Unmodified applications on {RANKS} ranks, {os.cpu_count()} cores, without and with Swapmeet")
    for column in ("application", "MPI", "algorithm", "intercepted (rank 0)", "without (s)", "with (s)", "answers"):
        table.add_column(column)
    different = 0
    with tempfile.TemporaryDirectory(prefix="swapmeet-demo-") as temporary:
        for number, application in enumerate(applications):
            console.print(f"running {application.name} ...")
            plain, ours = (run(application, Path(temporary) / f"{number}-{with_}", with_) for with_ in (False, True))
            same = plain.answer == ours.answer and ours.calls != "none"
            different += not same
            mpi_name = f"{application.target.kind} {application.target.version}"
            row = [application.name, mpi_name, application.algorithm, ours.calls]
            table.add_row(*row, f"{plain.seconds:.2f}", f"{ours.seconds:.2f}", "identical" if same else "DIFFERENT")
    console.print(table)
    if not espresso:
        console.print(
            "Quantum ESPRESSO was left out: it takes Debian's quantum-espresso and openmpi-bin (make test as root)."
        )
    console.print(
        "Times include the start of the job, on cores that ranks share: they show that it works, not a speed-up."
    )
    return 1 if different else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SwapmeetError as problem:
        sys.exit(f"swapmeet: {problem}")
