"""swapmeet.exchange: Swapmeet's functions in a program with mpi4py, the library preloaded and loaded late."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "exchange.py"

pytestmark = pytest.mark.skipif(
    not (importlib.util.find_spec("mpi4py") and importlib.util.find_spec("numpy")), reason="needs mpi4py and NumPy"
)


@pytest.fixture(params=[True, False], ids=["preloaded", "late"])
def preload(request: pytest.FixtureRequest, preloaded, wheel: str) -> bool:
    """Whether the process has the library before it asks for it; built it is in any case."""
    assert preloaded(wheel).exists()
    chosen: bool = request.param
    return chosen


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_function(launch, wheel: str, ranks: int, preload: bool) -> None:
    done = launch(ranks, [sys.executable, PROGRAM], mpi=wheel, preload=preload, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "exchange: right\n"


@pytest.mark.in_turn
def test_through_the_front_it_is_the_library_that_serves(
    launch, tallies, front: Path, tmp_path: Path, wheel: str
) -> None:
    """Not a second one: what the calls of MPI and of ours have done is counted together."""
    statistics = tmp_path / "statistics.json"
    argv = ["env", f"LD_PRELOAD={front}", f"SWAPMEET_STATS={statistics}", "SWAPMEET_ALGORITHM=pairwise"]
    done = launch(2, [*argv, sys.executable, PROGRAM, "count"], mpi=wheel, preload=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [tally] = tallies(statistics)
    assert tally["calls"] == 3


def test_loaded_late_it_serves_no_other_calls(launch, tallies, tmp_path: Path, wheel: str, preload: bool) -> None:
    statistics = tmp_path / "statistics.json"
    env = {"SWAPMEET_STATS": str(statistics), "SWAPMEET_ALGORITHM": "pairwise"}
    done = launch(2, [sys.executable, PROGRAM, "count"], mpi=wheel, preload=preload, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    [tally] = tallies(statistics)
    assert tally["algorithm"].startswith("direct(")
    assert tally["calls"] == (3 if preload else 1)


def test_says_what_to_install() -> None:
    code = "import sys; sys.modules['mpi4py'] = None; import swapmeet.exchange"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: swapmeet.exchange needs mpi4py 4 or newer: pip install" in done.stderr
