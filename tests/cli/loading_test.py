"""The command loads the module of the command that is given, and of no other: to load all takes most of a second."""

from __future__ import annotations

import subprocess
import sys

import pytest

from swapmeet.cli.app import NAMES

LOAD = """
import sys
from swapmeet.__main__ import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""
#: What takes long to load, and not every command needs.
LARGE = {"msgspec", "numpy", "rich"}


def loaded(*words: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", LOAD, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "commands"),
    [("--version", set()), ("run --help", {"run"}), ("lib --help", {"lib"}), ("env --help", {"env"})],
)
def test_no_other_command_is_loaded(words: str, commands: set[str]) -> None:
    modules = loaded(*words.split())
    assert {name for name in NAMES if f"swapmeet.cli.{name}" in modules} == commands
    assert not LARGE & modules
