"""The grammar of specs, its aliases and its messages."""

import pytest
from core.strategies import ALIASES, spec_texts
from hypothesis import given
from hypothesis import strategies as st

from swapmeet import _core


@given(spec_texts())
def test_text_of_a_spec_parses_back(text: str) -> None:
    spec = _core.parse_spec(text)
    assert _core.parse_spec(str(spec)) == spec
    assert str(_core.parse_spec(str(spec))) == str(spec)


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
    | st.text(alphabet="direct(,=) orwnall19", max_size=40)
)
def test_no_text_crashes_the_parser(text: str) -> None:
    try:
        spec = _core.parse_spec(text)
    except ValueError as problem:
        assert "(column " in str(problem)
    else:
        assert _core.parse_spec(str(spec)) == spec


@pytest.mark.parametrize(("name", "expansion"), [(name, expansion) for name, expansion, *_ in _core.aliases()])
def test_an_alias_is_its_expansion(name: str, expansion: str) -> None:
    assert _core.parse_spec(name) == _core.parse_spec(expansion)
    assert str(_core.parse_spec(name)) == expansion


def test_the_algorithms_of_the_papers_have_names() -> None:
    wanted = {"spread-out", "nonblocking", "pairwise", "multipair-waitall", "multipair-waitany", "multipair-testany"}
    assert wanted | {"random-scatter", "random-sendrecv", "random-segmented"} <= set(ALIASES)
    assert _core.parse_spec("native").family == "native"


def test_specs_differ_where_their_parameters_do() -> None:
    texts = [
        f"direct({p})"
        for p in ("order=xor", "window=2", "complete=any", "post=interleaved", "post=granted", "segment=1", "seed=1")
    ]
    specs = [_core.parse_spec(text) for text in ("direct", *texts)]
    assert all((a == b) == (i == j) for i, a in enumerate(specs) for j, b in enumerate(specs))


def test_parameters_override_those_of_an_alias() -> None:
    spec = dict(_core.parse_spec("multipair-waitany(stride=10, order=random)").parameters)
    assert (spec["window"], spec["order"], spec["complete"]) == ("10", "random", "any")


@pytest.mark.parametrize(
    ("text", "value"),
    [("8192", "8KiB"), ("8k", "8KiB"), ("1G", "1GiB"), ("1025", "1025"), ("0", "0"), ("3MiB", "3MiB")],
)
def test_bytes_have_units(text: str, value: str) -> None:
    assert dict(_core.parse_spec(f"direct(segment={text})").parameters)["segment"] == value


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, "expected the name of an algorithm"),
        ("auto", 1, '"auto" is a choice among specs, not one of them; `swapmeet explain`'),
        ("  pairwize", 3, 'unknown algorithm "pairwize"; did you mean "pairwise"?'),
        ("spredout", 1, 'did you mean "spread-out"?'),
        ("zzzzzzzzzzzzzzzz", 1, "known: native, direct"),
        ("direct(window=0)", 15, 'window must be all, or 1 to 1048576, not "0"'),
        ("direct(window=1048577)", 15, "window must be"),
        ("direct(window=)", 15, "window must be"),
        ("direct(wndow=3)", 8, 'unknown parameter "wndow"; did you mean "window"?'),
        ("direct(test=yes)", 8, 'unknown parameter "test"; did you mean complete=test?'),
        ("direct(complete=all,xor=1)", 21, "did you mean order=xor?"),
        ("direct(order=shift, order=xor)", 21, '"order" is given twice'),
        ("direct(window=2,stride=3)", 17, '"stride" is given twice'),
        ("direct(order)", 13, 'expected "=" behind "order"'),
        ("direct(order=shift", 19, 'expected ")"'),
        ("direct(order=shift)x", 20, 'nothing may follow the ")"'),
        ("direct(order=shift,)", 20, "expected a parameter"),
        ("direct(,)", 8, "expected a parameter"),
        ("direct(segment=2GiB)", 16, "segment must be"),
        ("direct(segment=-1)", 16, "segment must be"),
        ("direct(seed=18446744073709551616)", 13, "seed must be"),
        ("x" + "é" * 60, 1, "unknown algorithm"),
        ("native(window=1)", 8, '"window" is no parameter of native'),
    ],
)
def test_messages_say_what_and_where(text: str, column: int, words: str) -> None:
    with pytest.raises(ValueError, match="column") as problem:
        _core.parse_spec(text)
    assert words in str(problem.value)
    assert str(problem.value).endswith(f"(column {column})")


def test_xor_needs_a_power_of_two() -> None:
    spec = _core.parse_spec("direct(order=xor)")
    served = [p for p in range(1, 130) if not spec.unsuitable(p)]
    assert served == [1, 2, 4, 8, 16, 32, 64, 128]
    assert spec.unsuitable(6) == "order=xor needs a power of two of ranks, not 6"
    with pytest.raises(ValueError, match="power of two"):
        _core.generate(spec, 6, 0)


@pytest.mark.parametrize(("ranks", "rank"), [(0, 0), (-1, 0), (4, 4), (4, -1)])
def test_ranks_that_do_not_exist_are_refused(ranks: int, rank: int) -> None:
    with pytest.raises(ValueError, match="rank"):
        _core.generate(_core.parse_spec("pairwise"), ranks, rank)


def test_native_has_no_schedule() -> None:
    with pytest.raises(ValueError, match="no schedule"):
        _core.generate(_core.parse_spec("native"), 4, 0)
