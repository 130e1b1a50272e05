"""`make demo`: what it prints, and that it fails where an answer differs."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from limits import scaled

from swapmeet import demo
from swapmeet.demo import Case

#: The demo with two turns of shorter programs.
FEWER = """
from swapmeet import demo
demo.LEAST_TURNS = demo.MOST_TURNS = 2
demo.CALLS = demo.FEWER = 20
demo.GRAPH = {"node": "chain:200", "cluster": "chain:20"}
raise SystemExit(demo.main())
"""


def case(*turns: tuple[float, float], answers: tuple[str, str] = ("a", "a")) -> Case:
    found = Case("x", "here", "7 Alltoall")
    for without, with_it in turns:
        found.without.append(without)
        found.with_it.append(with_it)
    found.answers.update(answers)
    return found


def test_a_speed_up_is_taken_within_a_turn() -> None:
    cells = case((2.0, 1.0), (3e-3, 1e-3), (1.2, 1.0)).cells()
    assert cells == ["x", "here", "7 Alltoall", "1.2 s", "1 s", "2.00 (1.20-3.00)", "", "identical"]
    assert case((4e-3, 2e-6)).cells()[3:5] == ["4 ms", "2 µs"]


def test_one_other_answer_is_enough() -> None:
    assert case((1.0, 1.0), answers=("a", "b")).cells()[-1] == "DIFFERENT"


@pytest.mark.parametrize("n", range(1, 40))
def test_the_interval_of_a_median(n: int) -> None:
    """As exact as binomial distributions are: one value less on both sides would not do."""
    low, high = (int(value) for value in demo.median_interval([float(i) for i in range(n)]))

    def chance(below: int) -> float:
        return 1 - 2 * sum(math.comb(n, i) for i in range(below + 1)) / 2**n

    assert high == n - 1 - low
    assert low == 0 or chance(low) >= 0.95
    assert low + 1 >= n - low - 1 or chance(low + 1) < 0.95


def test_what_is_no_faster_is_said_and_why() -> None:
    slow, fast = case((1.0, 1.1), (1.0, 1.2)), case((2.0, 1.0))
    slow.reason = "native (online choice)"
    assert demo.remarks([slow, fast], "no namespaces", False)[:2] == [
        "x (here) is not faster: native (online choice).",
        "No virtual cluster: no namespaces",
    ]
    assert demo.remarks([fast], "", False) == []


@pytest.mark.slow
@pytest.mark.usefixtures("napping")
def test_it_ends_with_what_to_type(tmp_path: Path) -> None:
    words = [sys.executable, "-c", FEWER]
    done = subprocess.run(words, capture_output=True, text=True, timeout=scaled(180), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(
        r"│ (.+?) +│ (.+?) +│ .*?(\d+).*? │.*│ ([\d.]+) \(([\d.]+)-([\d.]+)\) +│.*│ identical │", done.stdout
    )
    names = [(name, where) for name, where, *_ in rows]
    node = f"{demo.RANKS} ranks, one node"
    expected = [
        (demo.APPLICATION, node),
        (demo.APPLICATION, f"{demo.HOSTS * demo.RANKS_PER_HOST} ranks, {demo.HOSTS} virtual hosts"),
        ("Alltoall timed as by OSU, 64 B", node),
        ("Alltoall timed as by OSU, 1 MiB", node),
    ]
    if "No virtual cluster: " in done.stdout:
        del expected[1]
    assert names == expected
    for *_, calls, middle, low, high in rows:
        assert int(calls) > 0 and float(low) <= float(middle) <= float(high)
    assert (tmp_path / demo.PICTURE).stat().st_size > 1000
    words = [line.split("#")[0].split()[1:] for line in done.stdout.splitlines()[-3:]]
    assert words == [["doctor", "./app"], ["run", "-n", "4", "--stats", "-", "--", "./app"], ["env", "./app"]]
