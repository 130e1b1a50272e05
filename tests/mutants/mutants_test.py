"""The list of mistakes is true to the code. Which tests notice them, `make mutants` finds out."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from applying import Change, changed
from mistake import CHECK, TEST
from mistakes import MISTAKES, with_mistakes
from run import Outcome, weak

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = {"component"}  #: for Open MPI 4
LEAST = 60
LEAST_BY_CHECK = 0.6


def switch(number: int) -> str:
    return f"made({number})"


def test_every_mistake_can_be_made() -> None:
    """Its old text is there, and once."""
    assert sum(text.count("mistake_is_made(") - 1 for text in with_mistakes(ROOT / "src").values()) == len(MISTAKES)


def test_every_folder_has_some() -> None:
    folders = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
    assert folders - {mistake.file.split("/")[0] for mistake in MISTAKES} == WITHOUT & folders
    assert len(MISTAKES) >= LEAST


def test_names_are_given_once() -> None:
    assert max(Counter(mistake.name for mistake in MISTAKES).values()) == 1


def test_most_are_for_the_quick_tests() -> None:
    assert {mistake.by for mistake in MISTAKES} <= {CHECK, TEST}
    assert sum(mistake.by == CHECK for mistake in MISTAKES) >= LEAST_BY_CHECK * len(MISTAKES)


def test_tests_that_are_named_exist() -> None:
    """Those of the mistakes, and those of `make check`: pytest finds each, with its parameters."""
    check = subprocess.check_output(["make", "--dry-run", "check"], cwd=ROOT, text=True)
    named = {test for mistake in MISTAKES for test in mistake.tests} | set(re.findall(r"'(tests/\S+::.+?)'", check))
    assert len(named) > len(MISTAKES) / 2
    words = [sys.executable, "-m", "pytest", "--collect-only", "--quiet", "-p", "no:xdist", "-p", "no:cacheprovider"]
    done = subprocess.run([*words, *sorted(named)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, "\n".join(re.findall(r"^ERROR.*", done.stderr, re.MULTILINE))


def test_expressions_and_statements() -> None:
    text = "int f(int a) { return a + 1; } int g = a - 1;"
    changes = [
        Change(1, "return a + 1;", "return a;"),
        Change(2, "return a + 1;", ""),
        Change(3, "a - 1", "a"),
        Change(4, "int g", "MUTANT int g"),
    ]
    assert changed("x.cpp", text, changes, switch) == (
        "int f(int a) { { if (made(1)) { return a; } else if (made(2)) {  } else { return a + 1; } } } "
        "made(4) int g = (made(3) ? (a) : (a - 1));"
    )


@pytest.mark.parametrize(
    ("olds", "problem"),
    [
        (["a - 2"], "has this text 0 times"),
        (["a"], "has this text 2 times"),
        (["int g = a - 1; "], "ends with a blank"),
        (["b + a", "a - 1"], "overlap at: a"),
    ],
)
def test_what_does_not_apply_is_refused(olds: list[str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        changed("x.cpp", "b + a - 1 + a", [Change(1, old, "0") for old in olds], switch)


@pytest.mark.parametrize(
    ("of_all", "problems"), [(True, ["make check notices less than 60% of the mistakes"]), (False, [])]
)
def test_the_share_of_some_mistakes_is_not_judged(of_all: bool, problems: list[str]) -> None:
    """`make mutants MISTAKES=...` may try those alone that `make test` is to notice."""
    assert weak([Outcome("a mistake", "x.cpp", "", TEST, noticed=TEST)], of_all) == problems
