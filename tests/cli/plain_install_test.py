"""Without the packages of the extras the command starts, and what needs one of them says which."""

import ast
import subprocess
import sys

EXTRAS = ("matplotlib", "mpi4py", "networkx", "numpy", "scipy", "sklearn")
WITHOUT = f"""
import sys
sys.modules.update(dict.fromkeys({EXTRAS}))  # an import of any of them fails
from typer.testing import CliRunner
from swapmeet.cli.app import app
for words in sys.argv[1:]:
    result = CliRunner().invoke(app, words.split())
    print(repr((words, result.exit_code, result.output)))
"""


def run(*commands: str) -> list[tuple[str, int, str]]:
    """Words, exit status and output of each."""
    result = subprocess.run([sys.executable, "-c", WITHOUT, *commands], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return [ast.literal_eval(line) for line in result.stdout.splitlines()]


def test_what_needs_nothing_works() -> None:
    for words, status, output in run("algorithms", "show tra -P 4 --rank 1", "verify tra -P 4", "model tra -P 16 -S 8"):
        assert status == 0 and output, (words, output)


def test_what_needs_a_package_names_it() -> None:
    commands = ("bench", "calibrate", "tune", "regret a", "profile -n 2 -- true", "compare a b", "plot a", "reproduce")
    for words, status, output in run(*commands, "simulate --machine theta -n 64 tra"):
        assert status == 2 and "pip install 'swapmeet[" in output, (words, output)


def test_what_an_installed_package_leaves_out_is_in_the_source() -> None:
    code = WITHOUT.replace(repr(EXTRAS), repr(("swapmeet.reproduction", "swapmeet.demo")))
    words = ["reproduce tra", "validate -o x"]
    result = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    for line in result.stdout.splitlines():
        command, status, output = ast.literal_eval(line)
        assert status == 2 and "needs Swapmeet's source" in output, (command, output)
    assert len(result.stdout.splitlines()) == 2, result.stderr
