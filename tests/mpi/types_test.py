"""Derived types whose data lie side by side are served as bytes; others are not taken for such."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapmeet.mpi import mpis
from swapmeet.mpi.library import library

INCLUDE = Path(__file__).parents[2] / "include"


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("algorithm", ["tra(r=2)", "pairwise", "shared-memory"])
def test_types_of_plain_bytes(launch, compiled, wheel: str, ranks: int, algorithm: str) -> None:
    folder = library(mpis.find(wheel)).parent
    program = compiled(wheel, "types", f"-I{INCLUDE}", f"-L{folder}", "-lswapmeet", f"-Wl,-rpath,{folder}")
    done = launch(ranks, [program], mpi=wheel, algorithm=algorithm)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "types: right" in done.stdout
