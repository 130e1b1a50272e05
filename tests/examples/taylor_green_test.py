"""The Taylor-Green solver checks itself; these tests check that it does, and that ranks agree."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "taylor_green"
RUNS = Path(__file__).with_name("taylor_green_runs.py")
SMALL = ["--grid", "18", "--steps", "4"]  # 18 points: even blocks for 2 and 3 ranks, not for 4, 5
DECOMPOSITIONS = ("slab", "pencil")


class Solved(NamedTuple):
    """What became of a run."""

    status: int  #: on all ranks
    output: str
    errors: str


def solve(launch, ranks: int, *runs: list[str]) -> list[Solved]:
    """Do runs of the application on so many ranks, one after the other."""
    done = launch(ranks, [sys.executable, RUNS, json.dumps(runs)], mpi="mpich", timeout=60 + 60 * len(runs))
    assert done.returncode == 0, done.stdout + done.stderr
    solved = []
    for line in done.stdout.splitlines():
        statuses, outputs, errors = zip(*json.loads(line), strict=True)
        assert len(set(statuses)) == 1 and len(statuses) == ranks
        solved.append(Solved(statuses[0], "".join(outputs), "".join(errors)))
    assert len(solved) == len(runs)
    return solved


def solve_to(launch, folder: Path, ranks: int, *runs: list[str]) -> list[bytes]:
    """The same of runs that are right; what they write."""
    files = [folder / f"{number}.json" for number in range(len(runs))]
    words = [[*SMALL, *run, "--output", str(file)] for run, file in zip(runs, files, strict=True)]
    for one in solve(launch, ranks, *words):
        assert one.status == 0, one
    return [file.read_bytes() for file in files]


@pytest.fixture(scope="module")
def series():
    """Return the module that derives the exact power series."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        import early_time_series
    finally:
        sys.path.remove(str(EXAMPLE))
    return early_time_series


def test_series_begins_as_published(series) -> None:
    """G. I. Taylor, A. E. Green (1937): 1 - 6t/R + (5/48 + 18/R^2)t^2 - (5/3 + 36/R^2)t^3/R."""
    reynolds = Fraction(7)
    coefficients = series.enstrophy_series(1 / reynolds, order=3)
    assert coefficients[0] == Fraction(3, 8)
    assert [c / coefficients[0] for c in coefficients] == [
        1,
        -6 / reynolds,
        Fraction(5, 48) + 18 / reynolds**2,
        -(Fraction(5, 3) + 36 / reynolds**2) / reynolds,
    ]


@pytest.fixture(scope="module")
def reference(launch, tmp_path_factory) -> dict:
    """Return the result of one rank, of the application as users start it."""
    output = tmp_path_factory.mktemp("reference") / "run.json"
    argv = [sys.executable, EXAMPLE / "taylor_green.py", *SMALL, "--output", output]
    completed = launch(1, argv, mpi="mpich")
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return json.loads(output.read_text())


def check_flow(result: dict, reference: dict) -> None:
    assert [check["passed"] for check in result["checks"]] == [True] * 3
    assert len(result["samples"]) == 5
    for sample, expected in zip(result["samples"], reference["samples"], strict=True):
        assert sample == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    "ranks", [pytest.param(1, marks=pytest.mark.long), 2, 3, pytest.param(4, marks=pytest.mark.long), 5]
)
def test_every_decomposition_gives_the_same_flow(launch, tmp_path, reference, ranks: int) -> None:
    for written in solve_to(launch, tmp_path, ranks, *(["--decomposition", one] for one in DECOMPOSITIONS)):
        check_flow(json.loads(written), reference)


@pytest.mark.parametrize("ranks", [pytest.param(3, marks=pytest.mark.long), 4])
def test_plane_flow_matches_its_exact_solution(launch, ranks: int) -> None:
    runs = ([*SMALL, "--flow", "2d", "--decomposition", one] for one in DECOMPOSITIONS)
    for solved in solve(launch, ranks, *runs):
        assert solved.status == 0, solved
        assert "passed  exact solution" in solved.output


@pytest.mark.long  # applications_test.py in CI, with and without the library
def test_equal_runs_write_equal_bytes(launch, tmp_path) -> None:
    first, second = ([*solve_to(launch, tmp_path, 4, ["--decomposition", "pencil"])] for _ in range(2))
    assert first == second


@pytest.mark.parametrize("decomposition", [pytest.param("slab", marks=pytest.mark.long), "pencil"])
def test_planned_exchanges_give_the_same_bytes(launch, tmp_path, decomposition: str) -> None:
    plain = ["--decomposition", decomposition]
    first, second = solve_to(launch, tmp_path, 6, plain, [*plain, "--plan", "radix(r=2)"])
    assert first == second


CALLS = [["--calls", "nonblocking"], ["--calls", "persistent"], ["--plan", "auto"]]


@pytest.mark.parametrize(
    "decompositions",
    [("slab", "pencil", "slab"), pytest.param(("pencil", "slab", "pencil"), marks=pytest.mark.long)],
    ids="-".join,
)
def test_exchanges_in_parts_give_the_same_flow(launch, tmp_path, reference, decompositions: tuple[str, ...]) -> None:
    runs = [[*calls, "--parts", "4", "--decomposition", one] for calls, one in zip(CALLS, decompositions, strict=True)]
    for written in solve_to(launch, tmp_path, 4, *runs):
        check_flow(json.loads(written), reference)


#: (words, the one message): where a run cannot begin.
MISTAKES = [
    (["--grid", "7"], "--grid 7: need at least 8"),
    (["--flow", "4d"], "argument --flow"),
    (["--parts", "0"], "--parts 0: need at least 1"),
    (["--plan", "nonsense"], 'unknown algorithm "nonsense"'),
    (["--dt", "nan"], "--dt nan: must be positive and finite"),
]


def check_mistake(solved: Solved, message: str) -> None:
    assert solved.status == 2
    assert solved.errors.count(message) == 1
    assert "Traceback" not in solved.errors


def test_mistakes_are_told_once_and_too_long_a_time_step_fails_the_checks(launch) -> None:
    late, *refused = solve(launch, 2, [*SMALL, "--dt", "1.0"], *(words for words, _ in MISTAKES))
    assert late.status == 1
    assert "FAILED  energy balance" in late.output
    for solved, (_, message) in zip(refused, MISTAKES, strict=True):
        check_mistake(solved, message)


@pytest.mark.long
def test_too_many_ranks_are_told_once(launch) -> None:
    (solved,) = solve(launch, 9, ["--grid", "8"])
    check_mistake(solved, "9 ranks do not fit, need at most 8 ranks")
