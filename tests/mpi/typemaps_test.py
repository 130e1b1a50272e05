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


def test_types_of_too_many_loops_take_little_memory(launch, wheel: str) -> None:
    """Each rank of a node reads the types at the same time."""
    done = launch(1, [program(mpis.find(wheel), "typemaps"), "refused"], mpi=wheel, preload=False)
    assert done.returncode == 0, done.stdout + done.stderr
    taken = [int(number) for number in re.findall(r"refused, (\d+) bytes", done.stdout)]
    assert len(taken) == 2 and max(taken) < 32 << 20, done.stdout
