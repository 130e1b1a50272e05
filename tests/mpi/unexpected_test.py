"""The queue of unexpected messages that an MPI reports is as long as the certificate says, where a rank comes late.

Open MPI counts it (pml_ob1_unexpected_msgq_length); the MPICH of PyPI has no performance variables at all. Of both the
private memory is measured.
"""

from __future__ import annotations

import pytest

from swapmeet import _core

RANKS = 8


def programs(schedules: list[_core.Schedule]) -> list[str]:
    """What each rank does, twice, for programs/late.c."""
    texts = []
    for schedule in schedules:
        words = []
        for window, completion, posting, _, sends, receives in schedule.steps * 2:
            assert completion == "all"
            assert posting == "receives-first"
            width = window or max(len(sends), len(receives), 1)
            for first in range(0, max(len(sends), len(receives)), width):
                words += [f"r{peer}" for peer, _ in receives[first : first + width]]
                words += [f"s{peer}" for peer, _ in sends[first : first + width]]
                words.append("w")
        texts.append(" ".join(words))
    return texts


@pytest.mark.parametrize(
    "spec", ["spread-out", "pairwise", "direct(window=2)", "direct(order=xor,window=1)", "bruck(radix=2)", "tra"]
)
def test_a_late_rank_finds_as_many_messages(launch, compiled, spec: str) -> None:
    schedules = [_core.generate(_core.parse_spec(spec), RANKS, rank) for rank in range(RANKS)]
    argv = [compiled("openmpi", "late"), "3", *programs(schedules)]
    done = launch(RANKS, argv, mpi="openmpi", preload=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) == _core.certify_schedules(schedules).rank.early_messages


def test_mpich_has_no_such_counter(launch, compiled) -> None:
    done = launch(1, [compiled("mpich", "late"), "0", "w"], mpi="mpich", preload=False)
    assert done.stdout == "no such variable\n", done.stderr


@pytest.mark.long
@pytest.mark.parametrize("spec", ["spread-out", "direct(window=8)", "pairwise"])
def test_the_memory_of_a_late_rank_grows_by_no_more_than_is_certified(launch, compiled, wheel: str, spec: str) -> None:
    """In its third call: in the first ones MPIs make pools of some megabytes."""
    ranks, block_bytes = 64, 4000
    argv = [compiled(wheel, "early_memory"), "3", str(block_bytes)]
    done = launch(ranks, argv, mpi=wheel, algorithm=spec, env={"SWAPMEET_NODES": "1"}, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    bounds = _core.certify(_core.parse_spec(spec), ranks).rank
    assert int(done.stdout.split()[-1]) <= bounds.early_bytes(block_bytes), (done.stdout, bounds)
