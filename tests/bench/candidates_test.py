"""What a pattern names."""

from __future__ import annotations

import pytest

from swapmeet import SwapmeetError
from swapmeet.measure.bench.candidates import candidates, require_candidates, unsuitable


def test_native_is_always_among_them_and_first() -> None:
    assert candidates([], 4) == ["native"]
    assert candidates(["pairwise", "native", "auto"], 4) == ["native", "pairwise", "auto"]


def test_globs_name_aliases() -> None:
    found = candidates(["padded-*"], 4)
    assert found[0] == "native"
    assert {"padded-bruck", "padded-alltoall"} <= set(found)
    assert all(name.startswith("padded-") for name in found[1:])


def test_ranges_of_parameters() -> None:
    assert candidates(["tra(r=2:P)"], 5) == ["native", "tra(r=2)", "tra(r=3)", "tra(r=4)", "tra(r=5)"]
    assert candidates(["tra(r=2:P:3)"], 8) == ["native", "tra(r=2)", "tra(r=5)", "tra(r=8)"]
    assert candidates(["tra(r=2:P)"], 1) == ["native", "tra(r=2)"]
    two = candidates(["direct(order=xor,window=1:2,segment=8KiB)"], 4)
    assert two[1:] == [f"direct(order=xor,window={w},segment=8KiB)" for w in (1, 2)]
    assert len(candidates(["two-layer(r1=2:3,r2=2:4)"], 16)) == 1 + 2 * 3


def test_each_is_measured_once() -> None:
    assert candidates([" pairwise ", "pairwise"], 4)[1:] == ["pairwise"]
    assert candidates(["pairwise", "pairwise", "tra(r=2:3)", "tra(r=3)"], 4)[1:] == ["pairwise", "tra(r=2)", "tra(r=3)"]


@pytest.mark.parametrize(
    "pattern", ["nothing*", "tra(r=3:2)", "tra(r=1)", "pairwise(", "tra(r=2:)", "tra(r=2:1000000000)"]
)
def test_what_names_nothing_is_refused_before_a_launch(pattern: str) -> None:
    with pytest.raises(SwapmeetError):
        require_candidates([pattern])


def test_too_many_are_refused() -> None:
    with pytest.raises(SwapmeetError, match="choose at most"):
        candidates(["tra(r=2:P)"], 5000)


def test_what_cannot_serve_says_why() -> None:
    assert unsuitable("native", "alltoall", 3, "") == unsuitable("auto", "alltoallv", 3, "") == ""
    assert unsuitable("pairwise", "alltoall", 4, "") == ""
    assert "power of two" in unsuitable("direct(order=xor)", "alltoall", 3, "")
