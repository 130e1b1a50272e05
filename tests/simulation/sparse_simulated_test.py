"""Sparse exchanges of the library on more ranks than this machine has: simulated by SimGrid, answers checked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from limits import scaled

from swapmeet.simulate.job import Simulator

PROGRAM = Path(__file__).parent / "sparse.c"


@pytest.mark.parametrize(
    ("ranks", "spec"),
    [
        *(pytest.param(128, spec, marks=pytest.mark.slow) for spec in ("nbx", "sparse-bruck(r=4)")),
        pytest.param(192, "census", marks=pytest.mark.long),
        *(pytest.param(512, spec, marks=pytest.mark.long) for spec in ("nbx", "two-layer(sparse=forward)")),
    ],
)
def test_on_hundreds_of_ranks(simulator: Simulator, tmp_path: Path, ranks: int, spec: str) -> None:
    """Each of three calls in turn; a wrong answer aborts, and what waits for ever is a deadlock."""
    words = ["simulate", "-n", str(ranks), "--ranks-per-node", "8", spec, "--", PROGRAM]
    done = subprocess.run(
        [sys.executable, "-m", "swapmeet", *words], capture_output=True, text=True, timeout=scaled(300), cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path), "SWAPMEET_EXPLAIN": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"swapmeet: sparse Alltoallv on {ranks} ranks: " in done.stderr
    assert re.search(r"sparse=\w+\) \(by SWAPMEET_ALGORITHM\)", done.stderr)
