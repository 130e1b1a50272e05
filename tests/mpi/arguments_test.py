"""Arrays and buffers that end where memory ends are read to their end and not beyond (tests/conformance/guarded.h).

The conformance suite puts all its arrays there (conformance_test.py), and so do the exchanges with neighbours
(neighbour_calls_test.py) and the sparse ones (sparse_calls_test.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest


def observing(folder: Path) -> dict[str, dict[str, str]]:
    """What else reads the arguments of calls."""
    return {
        "default": {},
        "checked": {"SWAPMEET_CHECK": "1"},
        "observed": {
            "SWAPMEET_STATS": str(folder / "statistics"),
            "SWAPMEET_RECORD": str(folder / "%r"),
            "SWAPMEET_WATCHDOG": f"60s,{folder / 'waits'}",
            "SWAPMEET_PHASES": "1",
        },
    }


@pytest.mark.in_turn
@pytest.mark.parametrize("how", ["default", "checked", "observed"])
@pytest.mark.parametrize("ranks", [2, 3, pytest.param(5, marks=pytest.mark.long)])
def test_arrays_of_intercommunicators_have_an_entry_for_each_remote_rank(
    launch, compiled, guarded: list[str], tmp_path: Path, wheel: str, ranks: int, how: str
) -> None:
    argv = [compiled(wheel, "unequal_groups", *guarded)]
    done = launch(ranks, argv, mpi=wheel, env=observing(tmp_path)[how])
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert f"unequal_groups: {27 * (ranks - 1)} calls, 0 wrong\n" in done.stdout
