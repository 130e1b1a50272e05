"""Rows of shared memory that are used in turn: no rank overwrites what another has yet to read, in whatever order."""

import pytest

from swapmeet import _core


@pytest.mark.parametrize(("ranks", "exchanges"), [(1, 3), (2, 9), (3, 4)])
def test_rows_are_used_again_without_acknowledgements(ranks: int, exchanges: int) -> None:
    verdict, states = _core.search_rows(ranks, exchanges=exchanges)
    assert verdict.proved, verdict.findings
    assert states > exchanges * ranks


@pytest.mark.parametrize(("rows", "lead"), [(4, 1), (4, 2), (4, 3), (8, 7)])
def test_any_lead_below_the_number_of_rows_will_do(rows: int, lead: int) -> None:
    assert _core.search_rows(2, rows, lead, exchanges=rows + 3)[0].proved


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize(("rows", "lead"), [(1, 1), (2, 2), (4, 4), (2, 3)])
def test_a_larger_lead_overwrites_what_is_read(ranks: int, rows: int, lead: int) -> None:
    verdict, _ = _core.search_rows(ranks, rows, lead, exchanges=lead + 2)
    assert any("overwritten" in finding or "never sees" in finding for finding in verdict.findings)


@pytest.mark.parametrize("rows", [1, 2])
def test_without_a_lead_ranks_wait_for_one_another(rows: int) -> None:
    verdict, _ = _core.search_rows(2, rows, 0)
    assert verdict.findings == ["ranks wait for one another for ever"]


def test_a_search_of_rows_that_is_cut_short_says_so() -> None:
    verdict, states = _core.search_rows(3, most_states=10)
    assert verdict.findings == ["more than 10 states"]
    assert states == 10


def test_what_rows_cannot_be() -> None:
    for ranks, rows in ((9, 2), (0, 2), (2, 3), (2, 0)):
        with pytest.raises(ValueError, match="ranks"):
            _core.search_rows(ranks, rows)


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
