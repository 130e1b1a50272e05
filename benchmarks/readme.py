"""The figures of README.md, out of the data of docs/measurements: `python benchmarks/readme.py` writes them.

A mean is the geometric mean over all cells of a row, the worst is the cell with the least speed-up. A cell is one
program, MPI, number of ranks and block size; its speed-up is the median over turns.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "users"))

import provenance
from launches import AUTO, RAW, Case, Results, read
from page import compared
from ratios import ratios, speedup
from usual import LOOP

from swapmeet.tables import between, markdown

README = provenance.ROOT / "README.md"
SIMULATED = provenance.MEASUREMENTS / "computed.jsonl"
BEGIN, END = "<!-- made by `python benchmarks/readme.py`: begin -->\n", "<!-- end -->\n"
MPIS = ("MPICH", "Open MPI")
FFT = "3-D FFT of 20 steps"
KIB = 1024
SMALL = 4 * KIB  #: bytes; the largest small block
BETWEEN_NODES = 512  #: bytes; the largest block that gains between nodes
CHART = "cores"  #: the data of the chart
WIDTH = 150  #: of the README's lines
STEP = 10  #: commits: ages are stated in multiples, so that not every commit makes the sentence wrong


@dataclass(frozen=True)
class Cell:
    """One program, MPI, number of ranks and block size."""

    case: Case
    what: str
    bytes: int  #: 0 for applications
    speedup: float


@dataclass(frozen=True)
class Row:
    """A row of the table: which cells it is about."""

    name: str
    data: str  #: the file in docs/measurements, and the page of the same name
    place: str
    wanted: Callable[[Cell], bool]


BLOCKING, NONBLOCKING = ("Alltoall", "Alltoallv"), ("Ialltoall", "Ialltoallv")


def _small(cell: Cell, *collectives: str) -> bool:
    return cell.what in (collectives or BLOCKING) and cell.bytes <= SMALL


def _large(cell: Cell, *collectives: str) -> bool:
    return cell.what in (collectives or BLOCKING) and cell.bytes > SMALL


OWN_CORES = "8 and 16 ranks, a core each"
TWO_CORES = "2, 4 and 8 ranks on 2 cores"
VIRTUAL = "4 and 8 virtual hosts on 2 cores"
ROWS = (
    Row(FFT, "users", TWO_CORES, lambda cell: cell.case.benchmark.startswith("fft3d")),
    Row("Quantum ESPRESSO", "users", "2 and 4 ranks on 2 cores", lambda cell: cell.case.benchmark == "espresso"),
    Row("`MPI_Alltoall(v)`, up to 4 KiB", "cores", OWN_CORES, _small),
    Row("`MPI_Alltoall(v)`, larger blocks", "cores", OWN_CORES, _large),
    Row("`MPI_Alltoall(v)`, up to 4 KiB", "users", TWO_CORES, lambda cell: _small(cell, *BLOCKING)),
    Row("`MPI_Alltoall(v)`, larger blocks", "users", TWO_CORES, lambda cell: _large(cell, *BLOCKING)),
    Row("`MPI_Ialltoall(v)`, up to 4 KiB", "users", TWO_CORES, lambda cell: _small(cell, *NONBLOCKING)),
    Row("`MPI_Ialltoall(v)`, larger blocks", "users", TWO_CORES, lambda cell: _large(cell, *NONBLOCKING)),
    Row("Intel's IMB, up to 4 KiB", "imb", "2 and 4 ranks on 2 cores", lambda cell: cell.bytes <= SMALL),
    Row("Intel's IMB, larger blocks", "imb", "2 and 4 ranks on 2 cores", lambda cell: cell.bytes > SMALL),
    Row("`MPI_Alltoallw` of derived types", "typed", "2 and 4 ranks on 2 cores", lambda cell: True),
    Row("Other forms: in place, threads, ...", "forms", "2 and 4 ranks on 2 cores", lambda cell: True),
    Row("`MPI_Neighbor_alltoall(w)`", "neighbours", "2 and 4 ranks on 2 cores", lambda cell: True),
    Row("Between nodes, up to 512 B", "clusters", VIRTUAL, lambda cell: True),
    Row(
        "Neighbours between nodes, up to 512 B",
        "neighbours-clusters",
        "4 virtual hosts on 2 cores",
        lambda cell: cell.bytes <= BETWEEN_NODES,
    ),
    Row(
        "Neighbours between nodes, larger",
        "neighbours-clusters",
        "4 virtual hosts on 2 cores",
        lambda cell: cell.bytes > BETWEEN_NODES,
    ),
)


def rows() -> list[Row]:
    """The rows whose data are committed: IMB's own programs are measured where `make intel` was run."""
    return [row for row in ROWS if (provenance.MEASUREMENTS / f"{row.data}.jsonl").exists()]


@cache
def results(data: str) -> Results:
    """The launches of a file of docs/measurements."""
    return read(provenance.MEASUREMENTS / f"{data}.jsonl")


@cache
def cells(data: str) -> list[Cell]:
    """The speed-ups by default in a file: of each block size, or of an application as a whole."""
    launches, found = results(data).launches, []
    for case, candidate in compared(launches):
        for (what, size), turns in ratios(launches, case, candidate).items() if candidate == AUTO else ():
            if size or what == LOOP:
                found.append(Cell(case, what, size or 0, speedup(turns).median))
    return found


def of_mpi(row: Row, mpi: str) -> list[float]:
    """The speed-ups of a row by an MPI."""
    return [cell.speedup for cell in cells(row.data) if row.wanted(cell) and cell.case.mpi.startswith(mpi)]


def mean(speedups: Sequence[float]) -> float:
    """Their geometric mean."""
    return math.exp(sum(map(math.log, speedups)) / len(speedups))


def both(speedups: Sequence[float]) -> list[str]:
    """Mean and worst, as the table has them."""
    return [f"{mean(speedups):.2f}", f"{min(speedups):.2f}"] if speedups else ["", ""]


def table() -> Iterator[str]:
    """A row for each kind of exchange and place."""
    heads = ["", *(f"{mpi}: {value}" for mpi in MPIS for value in ("mean", "worst")), "where"]
    lines = []
    for row in rows():
        numbers = [number for mpi in MPIS for number in both(of_mpi(row, mpi))]
        lines.append([row.name, *numbers, f"[{row.place}](docs/measurements/{row.data}.md)"])
    return markdown(heads, lines)


def simulated() -> str:
    """A sentence on simulated networks: the default against the best of other MPIs' algorithms."""
    found = []
    for line in map(json.loads, SIMULATED.read_text().splitlines()):
        if line["table"] == "scoreboard" and "answer" in line:
            found += [(int(one["sizes"]), one["speedup"]) for one in line["answer"]]
    small, large = ([value for size, value in found if (size <= BETWEEN_NODES) == wanted] for wanted in (True, False))
    numbers = [f"{mean(some):.2f} (worst {min(some):.2f})" for some in (small, large)]
    return (
        "[Simulated](docs/simulation.md) on five networks with 64 ranks, the default is compared with the best of four "
        f"MPIs' algorithms: the mean is {numbers[0]} up to 512 B and {numbers[1]} for 4 and 32 KiB."
    )


def applications() -> str:
    """A sentence on the application that gains little, for each MPI."""
    numbers = [f"{mean(of_mpi(ROWS[0], mpi)):.2f} times as fast with {mpi}" for mpi in MPIS]
    settings = {mpi: len(of_mpi(ROWS[0], mpi)) for mpi in MPIS}
    return (
        f"A small 3-D FFT runs {' and '.join(numbers)}, in the mean of {settings['MPICH']} settings each. Most of an "
        "application is not all-to-alls, so it gains less than they do."
    )


def ages() -> tuple[int, int]:
    """How many commits the chart is old at least, and the oldest of the other data."""
    chart, *others = (max(map(provenance.age, provenance.commits(file))) for file in data())
    return chart // STEP * STEP, max(others) // STEP * STEP


def without_data() -> str:
    """How much longer a call takes that has nothing to send: the worst median of any setting."""
    longer = []
    for name in ("users", "cores", "imb"):
        times: dict[tuple[object, ...], dict[str, list[float]]] = {}
        for launch in results(name).launches:
            for cell in launch.cells:
                if cell.bytes == 0 and cell.what != LOOP and launch.candidate in (RAW, AUTO):
                    times.setdefault((launch.case, cell.what), {}).setdefault(launch.candidate, []).append(cell.mean_us)
        longer += [statistics.median(both[AUTO]) - statistics.median(both[RAW]) for both in times.values()]
    return f"{max(longer):.1f}"


def caption(age: int) -> str:
    """What the chart shows, where and when it was measured."""
    head = results(CHART).header
    machine = head["machine"]
    return (
        "The chart shows the speed-up of `MPI_Alltoall` over the host MPI without the library in the process, on 8 and "
        f"16 ranks of one node with {machine['cores']} cores ({machine['processor']}). Its program is our own and "
        f"times as `osu_alltoall` does. It was measured on {head['created'][:10]} at commit {head['commit']}, at "
        f"least {age} commits to `src` ago."
    )


def contents(age: int, oldest: int) -> str:
    """What stands between BEGIN and END. Ages in commits: of the chart, and of the oldest of the other data."""
    picture = f"docs/measurements/{CHART}/users-osu-alltoall.svg"
    chart = f"![Speed-up of MPI_Alltoall over the host MPI, by block size]({picture})"
    below = (
        "Speed-ups over the host MPI, with nothing set; above 1 is faster. *Mean* is the geometric mean over programs, "
        "numbers of ranks and block sizes, *worst* the least of them. Calls without data (0 B) are left out; they take "
        f"up to {without_data()} µs longer. MPICH 5.0.2, Open MPI 5.0.11 (Quantum ESPRESSO: 4.1.4). The rows of 8 and "
        f"16 ranks are of the chart's data; the oldest of the others were measured at least {oldest} commits to `src` "
        "ago. Links lead to intervals, dates, commits and raw data."
    )
    sentences = [
        textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)
        for text in (applications(), caption(age), below, simulated())
    ]
    paragraphs = [sentences[0], chart, sentences[1], "\n".join(table()), *sentences[2:]]
    return "\n" + "\n\n".join(paragraphs) + "\n\n"


def data() -> list[Path]:
    """The files that the figures come from."""
    names = dict.fromkeys([CHART, *(row.data for row in rows())])
    return [*(provenance.MEASUREMENTS / f"{name}.jsonl" for name in names), SIMULATED]


if __name__ == "__main__":
    README.write_text(between(README.read_text(), BEGIN, END, contents(*ages())))
