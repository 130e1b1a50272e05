"""What tests report where a command ends badly or takes too long."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli.command import _answer

ROOT = Path(__file__).parents[2]
LATE = """
import subprocess
def test_late():
    raise subprocess.TimeoutExpired(["app"], 1, b"as far as here", "a warning")
"""


def test_a_server_that_ends_is_reported_with_the_command() -> None:
    words = [sys.executable, "-c", "raise SystemExit(3)"]
    complaint = pytest.raises(RuntimeError, match="ended with status 3 during: swapmeet lib --mpi mpich")
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server, complaint:
        _answer(server, ["lib", "--mpi", "mpich"])


def test_what_a_late_command_had_printed_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "late_test.py"
    file.write_text(LATE)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests"))
    alone = ["-p", "conftest", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", f"--rootdir={tmp_path}"]
    done = subprocess.run([sys.executable, "-m", "pytest", *alone, file], capture_output=True, text=True)
    assert done.returncode == 1, done.stdout
    for stream, text in (("stdout", "as far as here"), ("stderr", "a warning")):
        title = f"{stream} of the command, until its time limit"
        assert title in done.stdout and text in done.stdout.split(title)[1]
