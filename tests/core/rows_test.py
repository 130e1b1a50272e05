"""Which exchanges can use rows of shared memory."""

import pytest

from swapmeet import _core


@pytest.mark.parametrize(
    ("text", "ranks"),
    [("direct(window=2,intra=rows)", 4), ("direct(segment=8,intra=rows)", 2), ("bruck(intra=rows)", 3)]
    + [("node-leaders(intra=rows)", 3), ("pairwise(intra=rows)", 3)]
    + [("direct(order=groups:2,window=4,intra=rows)", 5)],  # six slots, for some are idle
)
def test_rows_take_one_round_in_which_each_writes_to_all(text: str, ranks: int) -> None:
    assert "intra=rows" in _core.parse_spec(text).unsuitable(ranks)


@pytest.mark.parametrize(
    "text", ["direct(intra=rows)", "direct(window=3,intra=rows)", "direct(order=random,intra=rows)"]
)
def test_a_window_of_all_peers_is_one_round(text: str) -> None:
    spec = _core.parse_spec(text)
    assert spec.unsuitable(4) == ""
    assert _core.verify(spec, 4).proved
