"""The direct family: every block directly from its source to its destination."""

import itertools

import pytest
from core.strategies import ORDERS, SCHEDULED

from swapmeet import _core

CORNERS = [
    f"direct(order={order},window={window},complete={complete},post={post},segment={segment},seed={seed})"
    for order, window, complete, post, segment, seed in itertools.product(
        ORDERS,
        ("1", "3", "all"),
        ("all", "any", "test"),
        ("receives-first", "interleaved", "granted"),
        ("0", "8KiB"),
        (0, 2**64 - 1),
    )
    if seed == 0 or order in ("random", "scatter")
]
SMALL = range(1, 33)
LARGE = (47, 61, 64, 96, 97, 127, 128)


@pytest.mark.parametrize("text", SCHEDULED)
def test_every_alias_is_proved(text: str) -> None:
    spec = _core.parse_spec(text)
    for ranks in (*SMALL, *LARGE):
        assert _core.verify(spec, ranks).findings == [], f"P = {ranks}"


@pytest.mark.slow
@pytest.mark.parametrize("most", [16, pytest.param(97, marks=pytest.mark.long)])
def test_every_corner_is_proved(most: int) -> None:
    for text in CORNERS:
        spec = _core.parse_spec(text)
        for ranks in (*SMALL, 64, 97):
            if ranks <= most and not spec.unsuitable(ranks):
                assert _core.verify(spec, ranks).findings == [], f"{text}, P = {ranks}"


@pytest.mark.parametrize(
    ("text", "ranks"),
    [(text, ranks) for text in ("spread-out", "random-segmented", "random-scatter") for ranks in (1, 2, 3, 4, 7, 64)]
    + [("direct(order=xor)", ranks) for ranks in (1, 2, 4, 16)],
)
def test_cost_is_as_stated(text: str, ranks: int) -> None:
    spec = _core.parse_spec(text)
    for rank in range(ranks):
        schedule = _core.generate(spec, ranks, rank)
        assert (schedule.messages, schedule.blocks, schedule.scratch_blocks) == (ranks - 1, ranks - 1, 0)
    verdict = _core.verify(spec, ranks)
    assert (verdict.messages, verdict.blocks) == (ranks * (ranks - 1),) * 2


def test_policies_reach_the_schedule() -> None:
    schedule = _core.generate(_core.parse_spec("direct(window=3,complete=test,post=interleaved,segment=5)"), 9, 4)
    assert schedule.segment_bytes == 5
    ((window, completion, posting, copies, sends, receives),) = schedule.steps
    assert (window, completion, posting) == (3, "test", "interleaved")
    assert copies == [("send[4]", "receive[4]")]
    assert [peer for peer, _ in sends] == [5, 6, 7, 8, 0, 1, 2, 3]
    assert [peer for peer, _ in receives] == [3, 2, 1, 0, 8, 7, 6, 5]
    assert all(runs == [f"send[{peer}]"] for peer, runs in sends)
    assert all(runs == [f"receive[{peer}]"] for peer, runs in receives)
