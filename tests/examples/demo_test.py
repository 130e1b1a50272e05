"""`make demo`: what it prints, and that it fails where an answer differs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from limits import scaled

from swapmeet import demo
from swapmeet.demo import Case


def case(*turns: tuple[float, float], answers: tuple[str, str] = ("a", "a")) -> Case:
    found = Case("x", "7 Alltoall")
    for without, with_it in turns:
        found.add(without, False, answers[0])
        found.add(with_it, True, answers[1])
    return found


def test_a_speed_up_is_taken_within_a_turn() -> None:
    cells = case((2.0, 1.0), (3e-3, 1e-3), (1.2, 1.0)).cells()
    assert cells == ["x", "7 Alltoall", "1.2 s", "1 s", "2.00 (1.20-3.00)", "identical"]
    assert case((4e-3, 2e-6)).cells()[2:4] == ["4 ms", "2 µs"]


def test_one_other_answer_is_enough() -> None:
    assert case((1.0, 1.0), answers=("a", "b")).cells()[-1] == "DIFFERENT"


@pytest.mark.slow
def test_it_ends_with_what_to_type() -> None:
    fewer = "from swapmeet import demo; demo.TURNS = 2; raise SystemExit(demo.main())"
    done = subprocess.run([sys.executable, "-c", fewer], capture_output=True, text=True, timeout=scaled(180))
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(
        r"│ (.+?) +│ (\d+)(?: Alltoall)? +│.*│ ([\d.]+) \(([\d.]+)-([\d.]+)\) +│ identical │", done.stdout
    )
    assert [name for name, *_ in rows] == [
        demo.APPLICATION,
        "Alltoall timed as by OSU, blocks of 64 B",
        "Alltoall timed as by OSU, blocks of 1 MiB",
    ]
    for _, calls, middle, low, high in rows:
        assert int(calls) > 0 and float(low) <= float(middle) <= float(high)
    words = [line.split("#")[0].split()[1:] for line in done.stdout.splitlines()[-3:]]
    assert words == [["doctor", "./app"], ["run", "-n", "4", "--stats", "-", "--", "./app"], ["env", "./app"]]
