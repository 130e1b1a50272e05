"""Where the bytes of datatypes lie, read out of what they were made by: against MPI_Pack and MPI_Unpack."""

from __future__ import annotations

import re

import pytest

from swapmeet.mpi import mpis
from swapmeet.mpi.library import program


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_types(launch, wheel: str, seed: int) -> None:
    done = launch(1, [program(mpis.find(wheel), "typemaps"), str(seed), "3000"], mpi=wheel, preload=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counted = re.search(r"typemaps: (\d+) right, 0 wrong, 0 not understood", done.stdout)
    assert counted and int(counted[1]) > 2900
