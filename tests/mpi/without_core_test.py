"""What launches programs runs where Python's module of the core was not compiled, as for `make demo`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

#: As if the module were not there.
HIDDEN = """
import sys
sys.modules["swapmeet._core"] = None
from swapmeet.__main__ import main
main()
"""


def said(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", HIDDEN, *map(str, words)], capture_output=True, text=True, timeout=300)


def test_programs_are_launched(compiled) -> None:
    program = compiled("mpich", "calls")
    done = said("run", "-n", "2", "--mpi", "mpich", "--stats", "-", "--", program, "alltoall=40")
    assert done.returncode == 0, done.stderr
    assert "of 40 all-to-alls of rank 0 served" in done.stderr


def test_a_spec_is_read_by_the_library(compiled) -> None:
    words = ["run", "-n", "2", "--mpi", "mpich", "--explain", "--algorithm"]
    program = compiled("mpich", "calls")
    assert "direct(order=shift,window=1" in said(*words, "pairwise", "--", program, "alltoall=2").stderr
    wrong = said(*words, "pairwize", "--", program, "alltoall=2")
    assert wrong.returncode == 0
    assert 'SWAPMEET_ALGORITHM="pairwize"' in wrong.stderr or "SWAPMEET_ALGORITHM=pairwize" in wrong.stderr


def test_what_needs_it_says_how_to_get_it() -> None:
    done = said("show", "pairwise", "-P", "4")
    assert done.returncode != 0
    assert "the core is missing" in done.stderr and "make build" in done.stderr
