"""The Taylor-Green solver checks itself; these tests check that it does, and that ranks agree."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "taylor_green"
SMALL = ["--grid", "18", "--steps", "4"]  # 18 points: even blocks for 2 and 3 ranks, not for 4, 5


def solve(launch, ranks: int, *arguments: str):
    """Run the application on so many ranks."""
    return launch(ranks, [sys.executable, str(EXAMPLE / "taylor_green.py"), *arguments], mpi="mpich")


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
    """Return the result of one rank."""
    output = tmp_path_factory.mktemp("reference") / "run.json"
    completed = solve(launch, 1, *SMALL, "--output", str(output))
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return json.loads(output.read_text())


@pytest.mark.parametrize("decomposition", ["slab", "pencil"])
@pytest.mark.parametrize(
    "ranks", [pytest.param(1, marks=pytest.mark.long), 2, 3, pytest.param(4, marks=pytest.mark.long), 5]
)
def test_every_decomposition_gives_the_same_flow(launch, tmp_path, reference, ranks: int, decomposition: str) -> None:
    output = tmp_path / "run.json"
    arguments = ["--decomposition", decomposition, "--output", str(output)]
    completed = solve(launch, ranks, *SMALL, *arguments)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    result = json.loads(output.read_text())
    assert [check["passed"] for check in result["checks"]] == [True] * 3
    assert len(result["samples"]) == 5
    for sample, expected in zip(result["samples"], reference["samples"], strict=True):
        assert sample == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize(("ranks", "decomposition"), [(3, "slab"), (4, "pencil")])
def test_plane_flow_matches_its_exact_solution(launch, ranks: int, decomposition: str) -> None:
    completed = solve(launch, ranks, *SMALL, "--flow", "2d", "--decomposition", decomposition)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "passed  exact solution" in completed.stdout


def test_equal_runs_write_equal_bytes(launch, tmp_path) -> None:
    outputs = [tmp_path / "first.json", tmp_path / "second.json"]
    for output in outputs:
        solve(launch, 4, *SMALL, "--decomposition", "pencil", "--output", str(output))
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.parametrize("decomposition", [pytest.param("slab", marks=pytest.mark.long), "pencil"])
def test_planned_exchanges_give_the_same_bytes(launch, tmp_path, decomposition: str) -> None:
    outputs = [tmp_path / "plain.json", tmp_path / "planned.json"]
    for output, plan in zip(outputs, ([], ["--plan", "radix(r=2)"]), strict=True):
        arguments = [*SMALL, "--decomposition", decomposition, *plan, "--output", str(output)]
        assert solve(launch, 6, *arguments).returncode == 0
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.parametrize(
    ("calls", "decomposition"),
    [
        (["--calls", "nonblocking"], "slab"),
        (["--calls", "persistent"], "pencil"),
        (["--plan", "auto"], "slab"),
        pytest.param(["--calls", "nonblocking"], "pencil", marks=pytest.mark.long),
        pytest.param(["--calls", "persistent"], "slab", marks=pytest.mark.long),
        pytest.param(["--plan", "auto"], "pencil", marks=pytest.mark.long),
    ],
)
def test_exchanges_in_parts_give_the_same_flow(
    launch, tmp_path, reference, calls: list[str], decomposition: str
) -> None:
    output = tmp_path / "run.json"
    arguments = [*SMALL, *calls, "--parts", "4", "--decomposition", decomposition, "--output", str(output)]
    completed = solve(launch, 4, *arguments)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    for sample, expected in zip(json.loads(output.read_text())["samples"], reference["samples"], strict=True):
        assert sample == pytest.approx(expected, rel=1e-12, abs=0)


def test_too_long_a_time_step_fails_the_checks(launch) -> None:
    completed = solve(launch, 2, *SMALL, "--dt", "1.0")
    assert completed.returncode == 1
    assert "FAILED  energy balance" in completed.stdout


@pytest.mark.parametrize(
    ("ranks", "arguments", "message"),
    [
        (2, ["--grid", "7"], "--grid 7: need at least 8"),
        (2, ["--flow", "4d"], "argument --flow"),
        (2, ["--parts", "0"], "--parts 0: need at least 1"),
        (2, ["--plan", "nonsense"], 'unknown algorithm "nonsense"'),
        (2, ["--dt", "nan"], "--dt nan: must be positive and finite"),
        (9, ["--grid", "8"], "9 ranks do not fit, need at most 8 ranks"),
    ],
)
def test_bad_arguments_are_told_once(launch, ranks: int, arguments: list[str], message: str) -> None:
    completed = solve(launch, ranks, *arguments)
    assert completed.returncode == 2
    assert completed.stderr.count(message) == 1
    assert "Traceback" not in completed.stderr
