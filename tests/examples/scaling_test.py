"""benchmarks/scaling: times are read as programs print them, and no point is measured twice."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from limits import scaled

FOLDER = Path(__file__).parents[2] / "benchmarks" / "scaling"
DOCS = FOLDER.parents[1] / "docs"
sys.path.insert(0, str(FOLDER))

import pictures  # noqa: E402
import places  # noqa: E402
import records  # noqa: E402
from problems import PROBLEMS, STRONG, WEAK  # noqa: E402


def scale(*words: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    done = [sys.executable, str(FOLDER), *map(str, words)]
    return subprocess.run(done, capture_output=True, text=True, timeout=scaled(timeout))


def test_times_are_read_as_programs_print_them() -> None:
    ours = "time 0.002910500 s, in all-to-alls 0.001 s (means of 16 ranks): 34 %; 23592960 operations"
    python = "wall time 1.25 s, in all-to-all 0.50 s (mean of the ranks), 40%"
    assert places.spent(ours) == [places.Spent(0.0029105, 0.001, 23592960)]
    assert places.spent(f"x\n{python}\n{ours}\n")[0] == places.Spent(1.25, 0.5, 0)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_sizes(problem) -> None:
    assert (FOLDER.parents[1] / "examples" / problem.source).is_file()
    assert (problem.operation_ns > 0) == problem.simulated
    assert problem.arguments(STRONG, 4)
    if problem.weak:
        assert problem.arguments(WEAK, 4) != problem.arguments(WEAK, 128)


def test_weak_scaling_of_the_transform_keeps_what_a_rank_has() -> None:
    problem = next(problem for problem in PROBLEMS if problem.name == "fft1d")
    for ranks in (4, 8, 16, 32, 64, 128):
        words = problem.arguments(WEAK, ranks)
        assert words and abs(int(words[-1]) ** 2 * ranks / 16384 - 1) < 0.06
        assert int(problem.arguments(STRONG, ranks)[-1]) * ranks == 512


def point(**fields: object) -> records.Point:
    standard = {"where": "here", "program": "fft1d", "scaling": "strong", "ranks": 4, "spec": "native", "arguments": "",
                "seconds": 2.0, "all_to_all_seconds": 1.0, "operations": 7}  # fmt: skip
    return records.Point(**{**standard, **fields})


def test_tables_and_pictures(tmp_path: Path) -> None:
    points = [point(ranks=ranks, spec=spec, seconds=seconds) for ranks, spec, seconds in
              [(4, "native", 2.0), (4, "tra", 3.0), (8, "native", 1.0), (8, "tra", 0.5)]]  # fmt: skip
    table = pictures.tables(points)
    assert "| `fft1d`, strong | 4 | 2.00 s | 50% | 0.667 |" in table
    assert "| `fft1d`, strong | 8 | 1.00 s | 100% | 2.00 |" in table
    file = tmp_path / "points.jsonl"
    records.append(file, points)
    assert records.read(file) == points
    page = tmp_path / "page.md"
    page.write_text(f"before\n{pictures.BEGIN}{pictures.END}between\n{pictures.PRICES}{pictures.END}after\n")
    done = scale("draw", file, "--picture", tmp_path / "scaling", "--document", page)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "scaling-1.png").stat().st_size > 10_000
    assert page.read_text().endswith("after\n") and "`tra`" in page.read_text()


def test_the_page_shows_the_results() -> None:
    page = (DOCS / "scaling.md").read_text()
    assert pictures.document(page, records.read(DOCS / "measurements" / "scaling.jsonl")) == page


def test_mistakes_are_told(tmp_path: Path) -> None:
    for words, problem in (
        (("simulated", "--programs", "taylor_green"), "it is in Python"),
        (("machine", "--programs", "fft4d"), "there are fft1d"),
        (("machine", "-n", "x"), "-n"),
    ):
        done = scale(*words, "-o", tmp_path / "none.jsonl")
        assert done.returncode == 2 and problem in done.stderr and "Traceback" not in done.stderr, done.stderr
    (tmp_path / "bad.jsonl").write_text("{}\n")
    assert "bad.jsonl, line 1" in scale("draw", tmp_path / "bad.jsonl").stderr


def test_a_sort_is_scaled_in_a_simulation(tmp_path: Path) -> None:
    if shutil.which("smpicxx") is None:
        pytest.skip("no smpicxx: apt-get install libsimgrid-dev")
    words = ("simulated", "-n", "2,4", "--programs", "sample_sort", "--specs", "native;tra(r=2)", "-o")
    done = scale(*words, tmp_path / "one.jsonl")
    assert done.returncode == 0, done.stderr
    points = records.read(tmp_path / "one.jsonl")
    assert [(one.scaling, one.ranks) for one in points[::2]] == [("strong", 2), ("strong", 4), ("weak", 2), ("weak", 4)]
    assert all(0 < one.all_to_all_seconds < one.seconds for one in points)
    assert points[2].seconds < 0.7 * points[0].seconds, "twice the ranks"
    again = scale(*words, tmp_path / "one.jsonl")
    assert again.returncode == 0 and again.stdout == "" and len(records.read(tmp_path / "one.jsonl")) == 8


@pytest.mark.long
def test_a_sort_is_scaled_on_this_machine(tmp_path: Path) -> None:
    done = scale(
        "machine", "-n", "2,4", "--programs", "sample_sort,taylor_green", "-o", tmp_path / "one.jsonl", timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert len(records.read(tmp_path / "one.jsonl")) == 2 * 2 * 2 * 6
