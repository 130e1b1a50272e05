"""What users run to judge an MPI, and how to read what it prints."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "scaling"))

from launches import Cell
from places import compiled, spent
from problems import PROBLEMS

from swapmeet.errors import SwapmeetError
from swapmeet.mpi.library import program, source_tree
from swapmeet.mpi.mpis import Mpi

LOOP, ALL_TO_ALLS = "loop", "all-to-alls"
STEPS = 20
PARTS = 4  #: of an exchange, each on its way while the next is transformed
CALLS = 1000  #: of small sizes, by default
TYPED = ("typed-pairs", "typed-boxes")  #: benchmarks whose rows are pairs of datatypes, and redistributions
FORMS = ("forms-calls", "forms-threads", "forms-objects")  #: benchmarks whose rows are forms of the call
NEIGHBOURS = ("neighbours", "neighbours-graphs")  #: whose rows are exchanges on grids, and on graphs
LARGEST_BOX = 1 << 27  #: bytes for each destination, of redistributions
LARGEST_FORM = 2 << 20  #: bytes for each destination, of forms
WHOLE = re.compile(r"^\s*PWSCF\s*:.*CPU\s+(?:(\d+)h\s*)?(?:(\d+)m\s*)?([\d.]+)?s? WALL", re.MULTILINE)
NUMBERS = re.compile(r"^\s*\d+(?:\s+[\d.]+)+\s*$")
IMB_TITLE = re.compile(r"#\s*Benchmarking\s+(\w+?)(?:_pure)?\s*$")  #: IMB-NBC's "pure" is a start and a wait at once
INTELS = source_tree() / ".venv" / "mpi" / "intel" / "bin"  #: Intel's own programs, which `make intel` installs


@dataclass(frozen=True)
class Sizes:
    """Of micro-benchmarks."""

    most: int  #: bytes for each destination
    calls: int  #: of a size, at most


@dataclass(frozen=True)
class Benchmark:
    """One program and its command line."""

    name: str
    title: str
    words: Callable[[Mpi, Sizes], Sequence[str | Path]]
    cells: Callable[[str], Sequence[Cell]]  #: out of what it printed
    on_clusters: bool = True  #: else it would take too long there
    mpi: str | None = None  #: the only one that it runs on
    most_ranks: int | None = None


def osu_cells(what: str) -> Callable[[str], list[Cell]]:
    """Read a table in OSU's form: size, mean, least and greatest over ranks, calls."""

    def cells(text: str) -> list[Cell]:
        rows = [line.split() for line in text.splitlines() if NUMBERS.match(line)]
        return [Cell(what, int(row[0]), *map(float, row[1:4]), int(row[4])) for row in rows]

    return cells


def imb_cells(text: str) -> list[Cell]:
    """Read tables in IMB's form: bytes, calls, and the least, greatest and mean time of the ranks."""
    found, what = [], ""
    for line in text.splitlines():
        if title := IMB_TITLE.match(line):
            what = title[1]
        elif what and NUMBERS.match(line):
            row = line.split()
            found.append(Cell(what, int(row[0]), float(row[4]), float(row[2]), float(row[3]), int(row[1])))
    return found


def application_cells(text: str) -> list[Cell]:
    """Read what the applications of examples/ report: means over ranks of the loop, and of its exchanges."""
    return [
        Cell(what, None, seconds * 1e6)
        for one in spent(text)
        for what, seconds in ((LOOP, one.seconds), (ALL_TO_ALLS, one.all_to_all_seconds))
    ]


def espresso_cells(text: str) -> list[Cell]:
    """Read the wall time that pw.x reports of a finished calculation."""
    whole = WHOLE.search(text)
    if whole is None or "JOB DONE" not in text:
        return []
    hours, minutes, seconds = (float(part or 0) for part in whole.groups())
    return [Cell(LOOP, None, 1e6 * (3600 * hours + 60 * minutes + seconds))]


def micro(
    name: str, method: str, collectives: Sequence[str], real: Path | None = None, on_clusters: bool = False
) -> Benchmark:
    """A micro-benchmark: ours, or the real program if one is named."""

    def words(mpi: Mpi, sizes: Sizes) -> list[str | Path]:
        if real is None:
            return [program(mpi, "users"), method, str(sizes.most), str(sizes.calls), *collectives]
        fewer, calls = sizes.calls < CALLS, str(sizes.calls)
        if method == "osu":
            return [
                real,
                "-f",
                "-m",
                f"1:{sizes.most}",
                *(["-i", calls, "-x", str(sizes.calls // 10)] if fewer else []),
            ]
        most = str(sizes.most.bit_length() - 1)  # -npmin: on all ranks only
        return [real, *collectives, "-npmin", "100000", "-msglog", most, *(["-iter", calls] if fewer else [])]

    cells = imb_cells if method == "imb" else osu_cells(*collectives)
    return Benchmark(name, method.upper(), words, cells, on_clusters)


def intels(name: str, program: str, collectives: Sequence[str]) -> Benchmark:
    """Intel's own micro-benchmark, unmodified; it is linked with MPICH's ABI, so it runs on MPICH and on Intel MPI."""

    def words(mpi: Mpi, sizes: Sizes) -> Sequence[str | Path]:
        path = INTELS / program
        if not path.exists():
            raise SwapmeetError(f"{path} is missing: make intel")
        return micro(name, "imb", collectives, path).words(mpi, sizes)

    return Benchmark(name, program, words, imb_cells)


def tabled(name: str, title: str, most: int | None = None) -> Benchmark:
    """Several exchanges by one program, PROGRAM-WHAT; `most`: bytes for each destination, else as elsewhere."""
    what, _, part = name.partition("-")

    def words(mpi: Mpi, sizes: Sizes) -> list[str | Path]:
        return [program(mpi, what), part, str(most or sizes.most), str(sizes.calls)]

    return Benchmark(name, title, words, imb_cells, on_clusters=False)


def neighbours(name: str, on_clusters: bool) -> Benchmark:
    """Exchanges with the neighbours of a virtual topology, by one program, PROGRAM-WHAT."""
    what, _, part = name.partition("-")

    def words(mpi: Mpi, sizes: Sizes) -> list[str | Path]:
        return [program(mpi, what), str(sizes.most), str(sizes.calls), *([part] if part else [])]

    return Benchmark(name, what, words, imb_cells, on_clusters)


def benchmarks(osu: Path | None = None, imb: Path | None = None) -> list[Benchmark]:
    """All of them; `osu`: a folder of OSU's programs, `imb`: an IMB-MPI1, in place of ours."""
    fft = next(problem for problem in PROBLEMS if problem.name == "fft3d")
    grid = fft.strong(0)

    def transform(*more: str) -> Callable[[Mpi, Sizes], list[str]]:
        return lambda mpi, _: [*compiled(fft, mpi), *map(str, grid), "--repeat", str(STEPS), *more]

    def in_parts(calls: str) -> Benchmark:
        title = f"3-D FFT, {STEPS} steps in {PARTS} parts, {calls}"
        words = transform("--parts", str(PARTS), "--calls", calls)
        return Benchmark(f"fft3d-{calls}", title, words, application_cells)

    def objects(_: Mpi, sizes: Sizes) -> list[str | Path]:
        return [sys.executable, Path(__file__).parent / "objects.py", str(LARGEST_FORM), str(sizes.calls)]

    def silicon(_: Mpi, __: Sizes) -> list[str]:
        where = shutil.which("pw.x")
        if where is None:
            raise SwapmeetError("pw.x is not installed (Debian: quantum-espresso, quantum-espresso-data)")
        return [where, "-in", str(source_tree() / "examples" / "quantum_espresso" / "si.in")]

    return [
        micro("osu-alltoall", "osu", ["Alltoall"], osu and osu / "osu_alltoall", on_clusters=True),
        micro("osu-alltoallv", "osu", ["Alltoallv"], osu and osu / "osu_alltoallv"),
        micro("imb", "imb", ["Alltoall", "Alltoallv"], imb),
        micro("imb-nbc", "imb", ["Ialltoall", "Ialltoallv"], on_clusters=True),
        intels("intels-imb", "IMB-MPI1", ["Alltoall", "Alltoallv"]),
        intels("intels-imb-nbc", "IMB-NBC", ["Ialltoall_pure", "Ialltoallv_pure"]),
        tabled(TYPED[0], "types"),
        tabled(TYPED[1], "redistribution", LARGEST_BOX),
        tabled(FORMS[0], "form", LARGEST_FORM),
        tabled(FORMS[1], "form", LARGEST_FORM),
        Benchmark(FORMS[2], "form", objects, imb_cells, on_clusters=False),
        neighbours(NEIGHBOURS[0], on_clusters=False),
        neighbours(NEIGHBOURS[1], on_clusters=True),
        Benchmark("fft3d", f"3-D FFT, {STEPS} steps", transform(), application_cells),
        *map(in_parts, ("blocking", "nonblocking", "persistent")),
        # Debian's is linked with Debian's Open MPI; silicon is too small for more ranks
        Benchmark("espresso", "Quantum ESPRESSO, silicon", silicon, espresso_cells, False, "openmpi-system", 4),
    ]


def named(names: str, known: Sequence[Benchmark]) -> list[Benchmark]:
    """Those of a list `NAME,NAME`.

    Raises
    ------
    SwapmeetError
        If there is none of a name.
    """
    by_name = {one.name: one for one in known}
    wanted = names.split(",")
    for name in wanted:
        if name not in by_name:
            raise SwapmeetError(f'--benchmarks "{name}": there are {", ".join(by_name)}')
    return [by_name[name] for name in wanted]
