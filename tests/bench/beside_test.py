"""benchmarks/beside: samples of both sides are recorded, speed-ups have the right direction, pages show the data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from limits import scaled

from swapmeet import _core
from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.measure.bench.results import Writer, read
from swapmeet.measure.bench.statistics import Estimate
from swapmeet.mpi import mpis

FOLDER = Path(__file__).parents[2] / "benchmarks" / "beside"
sys.path.insert(0, str(FOLDER))

import measured  # noqa: E402
import measuring  # noqa: E402
import speedups  # noqa: E402

HEADER = {
    "swapmeet": "0.2.0",
    "commit": "abc",
    "created": "2026-01-31T00:00:00+00:00",
    "machine": {"processor": "some", "cores": 2},
    "options": {},
}
MPI = "openmpi 5.0.11"


def write(file: Path, launches: list[dict[str, float]], cell: Cell) -> None:
    """A results file with a launch for each entry: spec -> seconds of all its samples."""
    with Writer(file, HEADER) as writer:
        for block, specs in enumerate(launches):
            number = writer.launch(
                block=block, mpi=MPI, library="", ranks=2, nodes="", command=[], environment={}, started="", load=None
            )
            for spec, time in specs.items():
                times = [time] * 8
                writer.samples(number, cell, spec, calls=1, round=0, longest=times, shortest=times, mean=times)


def test_above_one_is_faster_beside_the_loop_of_the_same_launch(tmp_path: Path) -> None:
    cell = Cell(MPI, 2, "alltoall", "8")
    slow, fast = {"loop 2": 4e-6, "radix(r=2)": 2e-6}, {"loop 4": 1e-6, "radix(r=4)": 2e-6}
    write(tmp_path / "bruck.jsonl", [slow, fast, slow, fast], cell)
    page = measured.load("bruck", tmp_path)
    assert {one.spec: (one.speedup.value, one.speedup.launches) for one in page.cells} == {
        "radix(r=2)": (pytest.approx(2), 2),
        "radix(r=4)": (pytest.approx(0.5), 2),
    }
    assert page.about == "some, 2 cores; 2026-01-31, commit abc; Open MPI 5.0.11; 4 launches in 4 turns."


def test_unequal_blocks_are_compared_with_the_host_mpi(tmp_path: Path) -> None:
    cell = Cell(MPI, 8, "alltoallv", "uniform:max=64", seed=1)
    specs = {NATIVE: 2e-6, speedups.AHEAD: 4e-6, speedups.COMBINED: 1e-6}
    write(tmp_path / "varying.jsonl", [specs, specs], cell)
    text = speedups.contents("varying", measured.load("varying", tmp_path))
    assert "| workload | `native`, µs | `two-phase-bruck` | `two-phase-bruck(sizes=combined)` |" in text
    assert "| uniform:max=64 | 2 | 0.50 (0.50-0.50) | 2.00 (2.00-2.00) |" in text
    assert "in 1 of 1 cells" in text


def test_tables() -> None:
    def cell(size: str, value: float) -> measured.Cell:
        return measured.Cell(MPI, 2, size, "pairwise", Estimate(value, value / 2, 2 * value, 8, 1), 1e-6)

    page = measured.Page([cell("8", 3), cell("64", 0.5)], "some", 2, "2026-01-31", "abc", "one launch")
    table = speedups.contents("direct", page)
    assert "| openmpi 5.0.11 | 2 | pairwise | 3.00 (1.50-6.00) | 0.50 (0.25-1.00) |" in table
    assert "| all sizes | 1.75 |" in table and "the least is 0.50 (openmpi 5.0.11, P = 2, `pairwise`, 64 B)" in table
    assert speedups.number(0.0058) == "0.0058"


def test_the_pages_show_the_data() -> None:
    made = dict(speedups.documents())
    assert {path.name for path in made} == {"direct.md", "bruck.md", "varying.md"}
    for path, text in made.items():
        assert path.read_text() == text, f"{path}: run python benchmarks/beside page"


def test_the_workloads_and_specs_are_valid() -> None:
    for text in measuring.WORKLOADS.split():
        _core.parse_workload(text)
    for text in measuring.SPECS.split():
        _core.parse_spec(text)


def beside(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Measure two turns of two ranks into `folder`."""
    mpi = mpis.default().name
    done = [sys.executable, str(FOLDER), "measure", *words, "--mpi", mpi, "-P", "2", "--turns", "2", "--rounds", "6"]
    return subprocess.run([*done, "-o", str(folder)], capture_output=True, text=True, timeout=scaled(300))


@pytest.mark.slow
@pytest.mark.usefixtures("napping")
@pytest.mark.parametrize("name", ["direct", "bruck"])
def test_measures(name: str, tmp_path: Path) -> None:
    done = beside(tmp_path, name)
    assert done.returncode == 0, done.stderr
    results = read(tmp_path / f"{name}.jsonl")
    assert results.header["commit"] and results.header["machine"]["cores"]
    launches, cells = {"direct": (4, 2 * 7), "bruck": (2, 4 * 6)}[name]
    assert (len(results.launches), len(measured.load(name, tmp_path).cells)) == (launches, cells)
    for cell in results.cells():
        for spec in results.specs(cell):
            assert [len(run.longest) for run in results.samples(cell, spec)] == [6, 6]
            assert all((run.shortest <= run.mean).all() for run in results.samples(cell, spec))


@pytest.mark.slow
@pytest.mark.usefixtures("napping")
def test_measures_unequal_blocks(tmp_path: Path) -> None:
    done = beside(tmp_path, "varying", "--workload", "uniform:max=64", "--budget", "20s")
    assert done.returncode == 0, done.stderr
    page = measured.load("varying", tmp_path)
    assert {speedups.AHEAD, speedups.COMBINED} <= {cell.spec for cell in page.cells}
    assert " of 1 cells." in speedups.contents("varying", page)


def test_a_page_that_is_none_is_refused(tmp_path: Path) -> None:
    done = beside(tmp_path, "brook")
    assert done.returncode == 2 and "no such page; give some of direct, bruck, varying" in done.stderr
