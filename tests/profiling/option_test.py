"""SWAPMEET_RECORD as an option."""

import pytest

from swapmeet import _core


@pytest.mark.parametrize(("value", "file"), [("0", ""), ("run.jsonl", "run.jsonl"), ("/a b/%r", "/a b/%r")])
def test_a_file_name_or_none(value: str, file: str) -> None:
    options = _core.read_options([f"SWAPMEET_RECORD={value}"])
    assert (options.record_file, options.problems) == (file, [])


def test_what_may_be_meant_otherwise_is_refused() -> None:
    options = _core.read_options(["SWAPMEET_RECORD=1"])
    (problem,) = options.problems
    assert problem.startswith('SWAPMEET_RECORD="1": must be 0, or a file name')
    assert problem.endswith("; not recording")
    assert options.record_file == ""


def test_ranks_that_record_differ_from_those_that_do_not() -> None:
    prints = {_core.read_options(entry).fingerprint for entry in ([], ["SWAPMEET_RECORD=a/b"], ["SWAPMEET_RECORD=c/d"])}
    assert len(prints) == 2
