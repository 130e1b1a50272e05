"""Files of tests have names of their own, so that all can be run together."""

from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_no_two_files_have_one_name() -> None:
    names = Counter(path.name for path in TESTS.rglob("*_test.py"))
    assert [name for name, count in names.items() if count > 1] == []
