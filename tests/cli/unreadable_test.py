"""Files that Python does not read get one line with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from swapmeet.cli.app import app

REASON = "nested too deeply, or a number is too long"
COMMANDS = {
    "compare FILE FILE": REASON,
    "plot FILE": REASON,
    "bench --report FILE": REASON,
    "bench --resume FILE": REASON,
    "profile --from FILE": "was not written by SWAPMEET_RECORD",
    "regret FILE": REASON,
    "regret --data FILE": REASON,
    "validate FILE": REASON,
    "validate --fit FILE": REASON,
    "simulate --dry-run --against FILE": REASON,
    "tune --from FILE": REASON,
    "topology torus(dims=4) --workload FILE": "was not written by SWAPMEET_RECORD",
    "explain -P 4 -S 8 --import FILE": REASON,
    "model tra -P 4 -S 8 --machine FILE": REASON,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_json_that_is_nested_too_deeply(command: str, tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_text('{"type":"campaign","more":' * 40_000)
    done = CliRunner().invoke(app, command.replace("FILE", str(file)).split())
    assert (done.exit_code, done.stdout) == (2, ""), done.exception
    (line,) = done.stderr.splitlines()
    assert line.startswith("swapmeet: ") and COMMANDS[command] in line


def test_a_number_with_more_digits_than_python_reads(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    file.write_text('{"type":"campaign","schema":1,"more":' + "1" * 5000 + "}\n")
    done = CliRunner().invoke(app, ["plot", str(file)])
    assert (done.exit_code, done.stderr) == (2, f"swapmeet: {file}, line 1: {REASON}\n")


@pytest.mark.parametrize(
    "command", ["show SPEC -P 4", "verify SPEC -P 4", "model SPEC -P 4 -S 8", "goal SPEC -P 4 -S 8"]
)
def test_a_network_that_is_not_utf_8(command: str, tmp_path: Path) -> None:
    file = tmp_path / "network"
    file.write_bytes(b"sch\xf6n 1\n")
    done = CliRunner().invoke(app, command.replace("SPEC", f"direct(order=topology({file}))").split())
    assert done.exit_code == 2 and not isinstance(done.exception, UnicodeError), done.exception
    assert (
        f'{file}: expected switch, host, link, arc or route, found "sch?n" (line 1, column 1)'
        in done.stdout + done.stderr
    )
