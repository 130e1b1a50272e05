"""The text form of schedules."""

import re

import pytest
from core.strategies import schedules
from hypothesis import given
from hypothesis import strategies as st

from swapmeet import _core

HEAD = "schedule ranks=4 rank=1 scratch=3 segment=0\n"
STEP = "step window=all complete=all post=receives-first\n"


@given(schedules())
def test_text_of_a_schedule_parses_back(schedule: _core.Schedule) -> None:
    again = _core.parse_schedule(str(schedule))
    assert again == schedule
    assert str(again) == str(schedule)


def test_runs_and_comments_and_blanks() -> None:
    text = f"# a schedule\n\n{HEAD}{STEP}  copy send[0..3] receive[0..3]  # all\n"
    text += "\tsend 2 send[1..3/2] scratch[2..0/-1]\r\n"
    schedule = _core.parse_schedule(text)
    (window, completion, posting, copies, sends, receives) = schedule.steps[0]
    assert (window, completion, posting, receives) == (0, "all", "receives-first", [])
    assert copies == [("send[0..3]", "receive[0..3]")]
    assert sends == [(2, ["send[1..3/2]", "scratch[2..0/-1]"])]
    assert (schedule.messages, schedule.blocks) == (1, 5)
    assert _core.parse_schedule(str(schedule)) == schedule


def test_schedules_differ_where_their_meaning_does() -> None:
    texts = [HEAD, HEAD + STEP, HEAD + STEP + "send 0 send[0]\n", HEAD + STEP + "receive 0 receive[0]\n"]
    texts += [
        HEAD + STEP + "send 0 send[1]\n",
        HEAD + STEP + "send 2 send[0]\n",
        HEAD.replace("scratch=3", "scratch=4"),
    ]
    texts += [HEAD + STEP.replace("complete=all", "complete=any"), HEAD + STEP.replace("window=all", "window=1")]
    parsed = [_core.parse_schedule(text) for text in texts]
    assert all((a == b) == (i == j) for i, a in enumerate(parsed) for j, b in enumerate(parsed))


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("", 1, 1, "an empty text is not a schedule"),
        ("plan\n", 1, 1, "expected the header"),
        ("schedule ranks=four", 1, 16, "expected ranks=P"),
        (HEAD + "send 0 send[0]\n", 2, 1, 'expected "step"'),
        (HEAD + "step window=all complete=none", 2, 26, "expected complete="),
        (HEAD + STEP + "  send\n", 3, 7, "expected the rank of the peer, found the end of the line"),
        (HEAD + STEP + "  send 0 sent[0]\n", 3, 10, "expected a run of blocks"),
        (HEAD + STEP + "  jump 0\n", 3, 3, "expected step, copy, send or receive"),
        (HEAD + STEP + "  copy send[0] receive[0] x\n", 3, 27, "expected the end of the line"),
        (HEAD + STEP + "  send 0 send[99999999999]\n", 3, 15, "expected a run of blocks"),
        (HEAD + STEP + "  send 0 send[0..2147483647]\n", 3, 28, "expected a run of blocks"),
        (HEAD + STEP + "  send 0 send[0..6/4]\n", 3, 21, "expected a run of blocks"),
        (HEAD + STEP + "  send 0 send[3..0]\n", 3, 19, "expected a run of blocks"),
        (HEAD + STEP + "  send 0 send[0..3/0]\n", 3, 21, "expected a run of blocks"),
    ],
)
def test_messages_say_line_and_column(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(ValueError, match="line") as problem:
        _core.parse_schedule(text)
    assert words in str(problem.value)
    assert str(problem.value).endswith(f"(line {line}, column {column})")


@given(schedules(8), st.data())
def test_damaged_texts_are_refused_or_mean_something(schedule: _core.Schedule, data: st.DataObject) -> None:
    text = str(schedule)
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 6))
    damaged = text[:at] + data.draw(st.text(alphabet="0123456789-[]./ #\nsendrciv=x", max_size=4)) + text[at + cut :]
    try:
        again = _core.parse_schedule(damaged)
    except ValueError as problem:
        assert re.search(r"\(line \d+, column \d+\)$", str(problem))
    else:
        assert _core.parse_schedule(str(again)) == again
        _core.verify_schedules([again])  # says what is wrong; must not crash
