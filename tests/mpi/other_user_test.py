"""A rank that gives up the rights of root after MPI_Init: whose memory the others may then not read, nor it theirs."""

from __future__ import annotations

import os
import re

import pytest

#: B. Where memory of another user cannot be read, MPICH 5.0.2 itself fails with larger messages.
SIZES = {"mpich": ["8", "2000"], "openmpi": ["8", "2000", "100000"]}


@pytest.mark.in_turn
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("when", ["first", "later"])
@pytest.mark.parametrize("who", ["0", "1"])
@pytest.mark.parametrize("algorithm", ["auto", "direct(intra=cma)"])
def test_a_rank_becomes_another_user(launch, compiled, wheel: str, algorithm: str, who: str, when: str) -> None:
    program = compiled(wheel, "other_user", "-ldl")
    done = launch(3, [program, who, when, *SIZES[wheel]], mpi=wheel, algorithm=algorithm, timeout=30)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(re.findall(r"other_user (\d): right", done.stdout)) == ["0", "1", "2"]
