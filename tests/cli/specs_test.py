"""Numbers as text (python/swapmeet/specs.py)."""

import pytest

from swapmeet.specs import gaps, parse_ranks, ranges_text, runs_text, text_of_runs


@pytest.mark.parametrize(
    ("numbers", "most", "text"),
    [
        ([], None, ""),
        ([3], None, "3"),
        ([7, 0, 1, 2, 3, 3], None, "0-3, 7"),
        ([0, 2, 4, 6], 3, "0, 2, 4, ..."),
        ([0, 2, 4], 3, "0, 2, 4"),
    ],
)
def test_numbers_in_a_sentence(numbers: list[int], most: int | None, text: str) -> None:
    assert runs_text(numbers, most) == text


@pytest.mark.parametrize(
    ("numbers", "end", "text"),
    [
        ([], 0, ""),
        ([], 1, "0"),
        ([1, 2, 5], 8, "0, 3-4, 6-7"),
        ([0, 1], 2, ""),
        ([9, -1, 1], 2, "0"),
        ([1], 10**30, f"0, 2-{10**30 - 1}"),
    ],
)
def test_numbers_that_are_not_there(numbers: list[int], end: int, text: str) -> None:
    assert text_of_runs(gaps(numbers, end)) == text


@pytest.mark.parametrize(("numbers", "text"), [([2, 3, 4, 128], "2:4,128"), ([1, 2], "1,2"), ([5], "5")])
def test_numbers_as_they_are_typed(numbers: list[int], text: str) -> None:
    assert ranges_text(numbers) == text
    assert list(parse_ranks(text)) == numbers
