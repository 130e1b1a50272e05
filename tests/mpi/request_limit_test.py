"""An algorithm above a limit gets a narrower window, or is granted, on all ranks alike, and one warning says so."""

from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.in_turn  # the tested code is ours, whichever the host MPI is

ASKED, NARROWED = "direct(order=shift,window=all,complete=all)", "direct(order=shift,window=2,complete=all)"
GRANTED = "direct(order=shift,window=all,complete=all,post=granted)"


@pytest.mark.parametrize(
    ("limits", "spec"),
    [
        ({"SWAPMEET_REQUEST_LIMIT": "5"}, NARROWED),
        ({"SWAPMEET_UNEXPECTED_LIMIT": "1000"}, "native"),
        ({"SWAPMEET_UNEXPECTED_LIMIT": "1536"}, GRANTED),  # 3 · 512 bytes
        ({"SWAPMEET_REQUEST_LIMIT": "6", "SWAPMEET_UNEXPECTED_LIMIT": "1548"}, ASKED),  # 3 · (512 + 4) bytes
    ],
)
def test_what_is_executed_and_said(
    launch, compiled, tallies, tmp_path: Path, wheel: str, limits: dict[str, str], spec: str
) -> None:
    statistics = tmp_path / "statistics.json"
    env = {**limits, "SWAPMEET_STATS": str(statistics)}
    done = launch(4, [compiled(wheel, "one_exchange")], mpi=wheel, algorithm="spread-out", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    (tally,) = tallies(statistics)
    assert tally["algorithm"] == spec
    warnings = [line for line in done.stderr.splitlines() if "warning" in line]
    assert len(warnings) == (spec != ASKED)
    for warning in warnings:
        assert f'SWAPMEET_ALGORITHM="{ASKED}"' in warning or f"SWAPMEET_ALGORITHM={ASKED}" in warning
        assert f"using {'the host MPI' if spec == 'native' else repr(spec)[1:-1]}" in warning.replace('"', "")
        assert max(limits) in warning


@pytest.mark.parametrize("gathered", ["512", "2"])
def test_ranks_with_other_limits_use_the_host_mpi(launch, compiled, wheel: str, tmp_path: Path, gathered: str) -> None:
    """Also where they are too many for each to hear of all."""
    script = tmp_path / "limited.sh"
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    script.write_text(f'#!/bin/sh\n[ "{rank}" = 1 ] && export SWAPMEET_REQUEST_LIMIT=7\nexec "$@"\n')
    script.chmod(0o755)
    argv, env = [script, compiled(wheel, "one_exchange")], {"SWAPMEET_GATHERED_RANKS": gathered}
    done = launch(4, argv, mpi=wheel, algorithm="spread-out", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the ranks disagree on the SWAPMEET_ variables" in done.stderr
