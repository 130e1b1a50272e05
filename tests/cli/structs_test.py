"""What is wrong with a record, in words (python/swapmeet/structs.py)."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from swapmeet.structs import Count, read_lines, reason


class Inner(msgspec.Struct):
    ranks: Count


class Outer(msgspec.Struct):
    cell: Inner
    sizes: list[int] | int | None = None
    seconds: dict[str, float] = {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON object"),
        ("[1]", "no JSON object"),
        ("{", "no JSON object"),
        ("{}", '"cell" is missing'),
        ('{"cell": {}}', '"cell.ranks" is missing'),
        ('{"cell": {"ranks": true}}', '"cell.ranks": expected a whole number, got true or false'),
        ('{"cell": {"ranks": -1}}', '"cell.ranks": expected a whole number >= 0'),
        ('{"cell": 3}', '"cell": expected an object, got a whole number'),
        ('{"cell": {"ranks": 3}, "sizes": "x"}', '"sizes": expected a whole number or a list or null, got a text'),
        ('{"cell": {"ranks": 3}, "sizes": ["x"]}', '"sizes[0]": expected a whole number, got a text'),
        ('{"cell": {"ranks": 3}, "seconds": {"a": []}}', '"seconds": expected a number, got a list'),
    ],
)
def test_reasons_name_the_field(text: str, said: str) -> None:
    with pytest.raises(msgspec.MsgspecError) as problem:
        msgspec.json.decode(text, type=Outer)
    assert reason(problem.value) == said


def test_lines_are_objects(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text('{"a": 1, "b": ["µ"]}\n{}\n')
    assert list(read_lines(file)) == [{"a": 1, "b": ["µ"]}, {}]
    file.write_text('{}\n{"a": }\n')
    with pytest.raises(ValueError, match="line 2: no JSON object"):
        list(read_lines(file))
