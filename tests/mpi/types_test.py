"""Derived types whose data lie side by side are served as bytes; others are not taken for such."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapmeet.mpi import mpis
from swapmeet.mpi.library import library

INCLUDE = Path(__file__).parents[2] / "include"


@pytest.mark.parametrize("algorithm", ["tra(r=2)", "pairwise", "shared-memory"])
def test_types_of_plain_bytes(cases, wheel: str, algorithm: str) -> None:
    folder = library(mpis.find(wheel)).parent
    flags = [f"-I{INCLUDE}", f"-L{folder}", "-lswapmeet", f"-Wl,-rpath,{folder}"]
    cases(wheel, "types", [2, 3], [[]], "types: right", flags=flags, algorithm=algorithm)
