"""Programs whose calls are not always the same: ranks choose alike.

What that costs is tested where time is simulated: tests/core/trials_test.py, tests/bench/simulated_programs_test.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from swapmeet import _core

pytestmark = pytest.mark.in_turn

CALLS = {"sizes": 300, "phases": 150, "slow": 150}
OFTEN = {"SWAPMEET_TRIALS": "100"}  #: every other call


@pytest.mark.parametrize("env", [{}, OFTEN], ids=["usually", "often"])
@pytest.mark.parametrize("how", CALLS)
def test_ranks_do_alike_and_remember_alike(
    launch, compiled, tallies, tmp_path: Path, wheel: str, how: str, env: dict[str, str]
) -> None:
    """In a first run, and in one that remembers it. A rank that does otherwise hangs, or gets a wrong byte."""
    statistics = tmp_path / "statistics.json"
    env = {
        "SWAPMEET_STATS": str(statistics),
        "SWAPMEET_MEMORY": "auto",
        "XDG_STATE_HOME": f"{tmp_path}/state",
        "SWAPMEET_NODES": "2",
        **env,
    }
    for _ in range(2):
        done = launch(3, [compiled(wheel, "changes"), how, str(CALLS[how])], mpi=wheel, env=env, timeout=120)
        assert done.returncode == 0 and done.stdout == "changes: right\n", done.stdout + done.stderr
        assert "warning" not in done.stderr
        calls = [int(tally["calls"]) for tally in tallies(statistics)]
        assert sum(calls) == CALLS[how] * (3 if how == "phases" else 1)
        (store,) = (tmp_path / "state/swapmeet").iterdir()
        took_s = [one.mean_s for one in _core.parse_memory(store.read_text()).evidence]
        assert took_s and min(took_s) > 1e-7, "trials that other sizes have cut short took some time, too"


@pytest.mark.parametrize("algorithm", ["bruck-modified-dt", "bruck-zero-copy-dt"])
def test_types_of_messages_follow_the_size_of_blocks(launch, compiled, wheel: str, algorithm: str) -> None:
    """In the same buffers. From four ranks on a message has several blocks."""
    done = launch(5, [compiled(wheel, "changes"), "sizes", "40"], mpi=wheel, algorithm=algorithm, timeout=60)
    assert (done.returncode, done.stdout) == (0, "changes: right\n"), done.stdout + done.stderr
