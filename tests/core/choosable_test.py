"""Every spec that may be selected passes the verifier, which the library itself does not run.

That is: what the automatic choice compares and tries, on nodes of equal and of unequal sizes, and what users may ask
for by SWAPMEET_ALGORITHM or a rule of a tuning file.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import limits
import pytest
from core.strategies import has_schedule, spec_texts
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from limits import examples

from swapmeet import _core

ALL = (_core.Collective.alltoall, _core.Collective.alltoallv)
NARROW = ("SWAPMEET_REQUEST_LIMIT=6", "SWAPMEET_UNEXPECTED_LIMIT=4KiB")  #: with which candidates are narrowed
MOST = 64  #: ranks that are verified one by one; more are drawn


def on_nodes(ranks: int, draw: random.Random) -> Iterator[str]:
    """One node, nodes of each equal size, and some of unequal size, in the order of ranks and in turn."""
    yield ""
    for per_node in range(1, ranks):
        if ranks % per_node == 0:
            yield str(per_node)
    for _ in range(2):
        least = draw.randint(1, max(1, ranks // 3))
        sizes: list[int] = []
        while sum(sizes) < ranks:
            sizes.append(min(draw.randint(least, 2 * least), ranks - sum(sizes)))
        yield "+".join(map(str, sizes))
        if ranks > 2:
            yield f"cyclic:{draw.randint(2, ranks - 1)}"


def selectable(ranks: int, nodes: str) -> set[str]:
    """What the automatic choice compares, and what it tries where limits are low; each without what is unsuitable."""
    narrow = _core.read_options(list(NARROW), ranks)
    assert not narrow.problems
    specs: set[_core.Spec] = set()
    for collective in ALL:
        for shared_memory in (True, False):
            for crowded in (True, False):
                specs.update(_core.priced_specs(collective, ranks, nodes, shared_memory, crowded))
            for block_bytes in (8, 1 << 12):
                tried = _core.candidates(collective, ranks, block_bytes, shared_memory, nodes, narrow)
                specs.update(one.spec for one in tried)
    return {str(spec) for spec in specs if spec.family != "native" and not spec.unsuitable(ranks, nodes)}


def verify(cases: list[tuple[str, int, str]]) -> None:
    for spec, ranks, nodes in cases:
        findings = _core.verify(_core.parse_spec(spec), ranks, nodes=nodes).findings
        assert findings == [], (spec, ranks, nodes)


@pytest.mark.slow
@pytest.mark.parametrize("residue", range(4))
def test_what_the_automatic_choice_may_select(residue: int) -> None:
    """By day a sample of it."""
    draw = random.Random(residue)
    cases = [
        (spec, ranks, nodes)
        for ranks in range(2 + residue, MOST + 1, 4)
        for nodes in on_nodes(ranks, draw)
        for spec in sorted(selectable(ranks, nodes))
    ]
    assert len(cases) > 1000
    families = {spec.partition("(")[0] for spec, _, _ in cases}
    assert families == {"direct", "bruck", "leaders"}
    verify(cases if limits.everything else draw.sample(cases, 300))


@pytest.mark.long
@pytest.mark.parametrize("ranks", [65, 96, 128, 131, 192, 255, 256])
def test_what_it_may_select_for_more_ranks(ranks: int) -> None:
    draw = random.Random(ranks)
    for nodes in on_nodes(ranks, draw):
        specs = sorted(selectable(ranks, nodes))
        verify([(spec, ranks, nodes) for spec in draw.sample(specs, min(len(specs), 8))])


@st.composite
def node_maps(draw: st.DrawFn) -> tuple[int, str]:
    """Ranks, and the node of each."""
    sizes = draw(st.lists(st.integers(1, 16), min_size=1, max_size=12).filter(lambda sizes: sum(sizes) <= MOST))
    node_of = [node for node, size in enumerate(sizes) for _ in range(size)]
    if draw(st.booleans()):
        node_of = draw(st.permutations(node_of))
    return len(node_of), ",".join(map(str, node_of)) if len(set(node_of)) > 1 else ""


@pytest.mark.slow
@settings(max_examples=examples(2000))
@given(spec_texts().filter(has_schedule), node_maps())
def test_what_users_may_ask_for(text: str, map_of_ranks: tuple[int, str]) -> None:
    ranks, nodes = map_of_ranks
    spec = _core.parse_spec(text)
    assume(not spec.unsuitable(ranks, nodes))
    verify([(str(spec), ranks, nodes)])
