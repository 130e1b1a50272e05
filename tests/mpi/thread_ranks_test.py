"""Communicators in which threads are ranks, which MPICH has: the host MPI makes no others of them."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(("ranks", "spec", "nodes"), [(2, "auto", "1"), (2, "auto", ""), (3, "pairwise", "")])
def test_threads_may_be_ranks(launch, compiled, ranks: int, spec: str, nodes: str) -> None:
    env = {"SWAPMEET_ALGORITHM": spec, **({"SWAPMEET_NODES": nodes} if nodes else {})}
    done = launch(ranks, [compiled("mpich", "thread_ranks", "-pthread")], mpi="mpich", env=env)
    if done.stdout.count("none") == ranks:
        pytest.skip("no MPIX_Threadcomm_init here")
    assert done.returncode == 0 and done.stdout.count("right") == ranks, done.stdout + done.stderr
