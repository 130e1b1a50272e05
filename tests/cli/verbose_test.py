"""`swapmeet --verbose`: the commands that are run, and the files that are read and written."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.command import refused, swapmeet


def printed(*words: str) -> list[str]:
    """What stands on standard error of a command that succeeds."""
    done = swapmeet("--verbose", *words)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def test_files_are_named_once(tmp_path: Path) -> None:
    file = tmp_path / "tra.goal"
    lines = printed("goal", "tra", "-P", "4", "-S", "64", "--machine", "theta", "-o", str(file))
    assert lines.count(f"swapmeet: writes {file}") == 1
    assert [line for line in lines if line.startswith("swapmeet: reads ") and line.endswith("machines/theta.json")]
    assert not [line for line in lines if ".py" in line or "/proc/" in line or "/dev/" in line]


def test_a_file_that_is_replaced_is_named(tmp_path: Path) -> None:
    """Texts that others may read meanwhile are written beside their place first."""
    assert f"swapmeet: writes {tmp_path / 'a.html'}" in printed(
        "draw", "tra", "-P", "4", "-o", str(tmp_path / "a.html")
    )


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_commands_are_printed_as_a_shell_reads_them(mpi: str, tmp_path: Path) -> None:
    lines = printed("run", "--native", "--mpi", mpi, "-n", "1", "--launcher", "env A='a b' echo {ranks}", "--", "true")
    (line,) = (line for line in lines if line.startswith("swapmeet: becomes "))
    assert "'A=a b'" in line and line.endswith(" 1 true")


def test_without_it_nothing_is_printed(tmp_path: Path) -> None:
    done = swapmeet("draw", "tra", "-P", "4", "-o", str(tmp_path / "a.html"))
    assert done.returncode == 0 and done.stderr == ""


def test_quiet_contradicts_it() -> None:
    assert "--quiet and --verbose contradict each other" in refused("--quiet", "--verbose", "info")
