"""`swapmeet show`, `verify`, `options`, `algorithms`: what needs no MPI."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.command import refused, swapmeet
from limits import scaled

from swapmeet import _core


def test_version_and_help() -> None:
    assert re.fullmatch(r"swapmeet \d+\.\d+\.\d+\n", swapmeet("--version").stdout)
    helped = swapmeet("--help").stdout
    for command in ("run", "show", "verify", "model", "lib", "options", "algorithms", "info", "conformance"):
        assert re.search(rf"^  {command} ", helped, re.MULTILINE)
        assert swapmeet(command, "--help").returncode == 0


@pytest.mark.parametrize("words", [["nonsense"], ["show", "-P", "3"], ["verify"]])
def test_usage_errors_have_status_2(words: list[str]) -> None:
    done = swapmeet(*words)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("swapmeet: ") and " -h` lists what there is" in line


@pytest.mark.parametrize("spec", ["pairwise", "multipair-waitany(stride=2)", "random-segmented"])
def test_plain_text_parses_back(spec: str) -> None:
    expected = _core.generate(_core.parse_spec(spec), 6, 4)
    assert _core.parse_schedule(swapmeet("show", spec, "-P", "6", "--rank", "4", "--plain").stdout) == expected
    everyone = re.split(r"^(?=schedule)", swapmeet("show", spec, "-P", "6", "--plain").stdout, flags=re.MULTILINE)[1:]
    assert len(everyone) == 6
    assert _core.parse_schedule(everyone[4]) == expected
    assert _core.verify_schedules([_core.parse_schedule(text) for text in everyone]).proved


def test_tables_show_what_the_schedule_says() -> None:
    one = swapmeet("show", "multipair-waitall(stride=2)", "-P", "4", "--rank", "1").stdout
    assert "K = 3 messages" in one
    assert "batches of 2 in each direction" in one
    assert "copy send[1] to receive[1]" in one
    rows = re.findall(r"^│ (\d) +│ (\d) +│ send\[(\d)\] +│ (\d) +│ receive\[(\d)\] +│$", one, re.MULTILINE)
    assert rows == [("0", "2", "2", "0", "0"), ("1", "3", "3", "3", "3"), ("2", "0", "0", "2", "2")]
    everyone = swapmeet("show", "pairwise", "-P", "3").stdout
    assert re.search(r"│ 0 │ >1 <2 +│ >2 <0 +│ >0 <1 +│", everyone)


def test_many_ranks_are_cut_with_a_note() -> None:
    text = swapmeet("show", "pairwise", "-P", "100").stdout
    assert "Ranks 0 to 7 of 100" in text
    assert "rank 8" not in text


def test_one_rank_alone() -> None:
    assert "K = 0 messages" in swapmeet("show", "pairwise", "-P", "1").stdout


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = f"{sys.executable} -m swapmeet show pairwise -P 2000 --plain | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=scaled(120))
    assert done.stdout == "schedule ranks=2000 rank=0 scratch=0 segment=0\n"
    assert done.stderr == ""


def test_show_refuses_in_one_line() -> None:
    assert 'did you mean "pairwise"?' in refused("show", "pairwize", "-P", "4")
    assert "(column 15)" in refused("show", "direct(window=0)", "-P", "4")
    assert "has no schedule" in refused("show", "native", "-P", "4")
    assert "power of two" in refused("show", "direct(order=xor)", "-P", "6")
    assert "choose 0 to 3" in refused("show", "pairwise", "-P", "4", "--rank", "4")


def test_verify_proves_and_skips() -> None:
    done = swapmeet("verify", "pairwise", "direct(order=xor)", "-P", "2:9:2,16,5")
    assert done.returncode == 0
    pairwise, xor, skipped = done.stdout.splitlines()
    assert pairwise.startswith("direct(order=shift,window=1,complete=all): proved for P = 2,4:6,8,16 (")
    assert xor.startswith("direct(order=xor,window=all,complete=all): proved for P = 2,4,8,16 (")
    assert skipped == "  skipped P = 5,6: order=xor needs a power of two of ranks"
    assert done.stderr == ""


def test_verify_of_nothing_is_no_success() -> None:
    done = swapmeet("verify", "direct(order=xor)", "-P", "3")
    assert done.returncode == 2
    assert "nothing was verified" in done.stderr


def test_verify_reports_findings(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """No spec of ours is wrong, so one is made wrong."""
    from typer.testing import CliRunner

    from swapmeet.cli.app import app
    from swapmeet.model import verification

    broken = _core.verify_schedules([_core.generate(_core.parse_spec("pairwise"), 2, 0)])
    monkeypatch.setattr(verification, "_verify_in_background", lambda *_: broken)
    result = CliRunner().invoke(app, ["verify", "pairwise", "-P", "7"])
    assert result.exit_code == 1
    assert "P = 7: NOT PROVED: schedule 0 is of rank 0 of 2" in result.stdout


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ("2:x", 'not "2:x"'),
        ("", 'not ""'),
        ("0:4", "not within 1 to"),
        ("5:2", "is empty"),
        ("1:9:0", "is empty"),
        ("2,,3", 'not ""'),
        ("-3", "expected a number"),
        ("99999999999", "not within"),
        ("1:2000000", "more than 1000000 numbers"),
        ("4,1000000", "GiB of memory"),
    ],
)
def test_verify_refuses_numbers_of_ranks_in_one_line(ranks: str, words: str) -> None:
    assert words in refused("verify", "pairwise", f"--ranks={ranks}")


def test_ctrl_c_ends_a_verification_at_once() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "swapmeet", "verify", "pairwise", "-P", "3000"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # jobs in the background ignore it
    )
    maps = Path(f"/proc/{process.pid}/maps")
    while "_core." not in maps.read_text():  # it is still starting
        time.sleep(0.1)
    time.sleep(2)
    os.kill(process.pid, signal.SIGINT)
    begin = time.monotonic()
    _, errors = process.communicate(timeout=scaled(60))
    assert (process.returncode, errors) == (130, "swapmeet: interrupted\n")
    assert time.monotonic() - begin < scaled(10)


def test_options_are_listed() -> None:
    names = [name for name, *_ in _core.option_table()]
    table, markdown = swapmeet("options").stdout, swapmeet("options", "--markdown").stdout
    assert all(name in table and f"| `{name}` |" in markdown for name in names)
    assert len(markdown.splitlines()) == len(names) + 2
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in markdown.splitlines())
    page = Path(__file__).parents[2] / "docs" / "options.md"
    assert page.read_text().endswith("\n\n" + markdown), f"{page}: run `swapmeet options --markdown` again"


def test_algorithms_are_listed() -> None:
    text = swapmeet("algorithms").stdout
    for name, expansion, _, source in _core.aliases():
        first_line = re.escape(expansion[:60])  # long cells are folded
        assert re.search(rf"│ {name} +│ {first_line}[^│]*│.*│ {source} +│", text)
    for key, *_ in _core.parameters():
        assert f"│ {key}" in text
