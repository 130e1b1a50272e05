"""Errors in MPI arguments reach the application exactly as the MPI underneath raises them."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("algorithm", ["pairwise", "random-segmented"])
def test_errors_are_those_of_the_mpi_underneath(launch, built, wheel: str, ranks: int, algorithm: str) -> None:
    argv = [built(wheel, "errors")]
    plain = launch(ranks, argv, mpi=wheel, preload=False)
    ours = launch(ranks, argv, mpi=wheel, algorithm=algorithm)
    assert ours.stdout == plain.stdout
    assert ours.returncode == plain.returncode == 0
    assert "swapmeet" not in ours.stderr
    assert plain.stdout.count("MPI_ERR_") >= 10  # the program does make mistakes
