"""Communicators of sessions may be used after MPI_Finalize, by which the library ends: they are the host MPI's."""

from __future__ import annotations

from pathlib import Path

import pytest

SESSION = "all ranks have called MPI_Session_init"


@pytest.mark.in_turn
@pytest.mark.parametrize("when", ["before", "later"])
@pytest.mark.parametrize("how", ["persistent", "blocking", "anew"])
@pytest.mark.parametrize("algorithm", ["auto", "pairwise"])
def test_communicators_of_sessions_outlive_the_world(
    launch, compiled, tallies, tmp_path: Path, wheel: str, algorithm: str, how: str, when: str
) -> None:
    """MPI_COMM_WORLD is ours all the same."""
    env = {"SWAPMEET_NODES": "mpi", "SWAPMEET_STATS": str(tmp_path / "%r.json")}
    done = launch(2, [compiled(wheel, "sessions"), how, when], mpi=wheel, algorithm=algorithm, env=env, timeout=20)
    assert done.returncode == 0, done.stdout + done.stderr
    if "sessions: none" in done.stdout:
        pytest.skip("this MPI has no sessions")
    assert "sessions: right" in done.stdout, done.stdout + done.stderr
    if algorithm == "auto":  # which may choose the host MPI
        return
    for rank in range(2):
        calls = {tally["algorithm"]: tally for tally in tallies(tmp_path / f"{rank}.json")}
        host = calls.pop("native", None)
        (ours,) = calls.values()
        assert (ours["collective"], ours["calls"]) == ("Alltoall", 4)
        if how == "blocking":  # persistent ones that are the host MPI's are not counted
            assert host and host["calls"] == 4 and host["reason"].startswith(SESSION)
        else:
            assert host is None
