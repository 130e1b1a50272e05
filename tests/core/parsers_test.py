"""Texts from outside, damaged: each is read, or refused with one sentence; what is read is written as it was meant.

tests/fuzz looks for such texts by what code they reach; what it has found is in tests/fuzz/corpus.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from evidence import KEY, took
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import examples

from swapmeet import _core

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"
RANKS = 12
SPECS = [str(_core.parse_spec(name)) for name, *_ in _core.aliases()] + [name for name, *_ in _core.aliases()]
TUNING = f"""\
swapmeet-tuning 1
mpi: openmpi 5.0.11
machine: {_core.machine_signature()}
rule: alltoall ranks=2..4 nodes=1 bytes=0..512 use=shared-memory  # measured
rule: alltoallv ranks=2..1000 use=tuna(r=2)
end
"""
SEEDS: dict[str, list[str]] = {
    "spec": [*SPECS, "direct(order=topology(slim-fly(q=5,hosts=4)),window=3)", "bruck(dims=2x3,radix=4-2/all)"],
    "nodes": ["", "8", "4+2", "cyclic:3", ",".join("0102" * 3), "2/4", "3+1/6"],
    "schedule": [str(_core.generate(_core.parse_spec(name), 5, 2)) for name in ("pairwise", "tra", "random-segmented")],
    "tuning": [TUNING],
    "workload": ["uniform:max=2KiB", "power-law:exponent=0.99,max=4KiB", "sparse:density=0.2,bytes=700"]
    + ["hot-spot:bytes=8,hot=256KiB,source=0,destination=1", "constant:bytes=0"],
    "network": [
        str(_core.named_network(name)) for name in ("fat-tree(leaves=2,hosts=3,spines=2)", "slim-fly(q=3,hosts=1)")
    ],
    "slots": ["swapmeet-slots 1\nkey 0123456789abcdef\nranks 3\nslots 2\nbound 2\n- 0 1\n1 - 0\n0 1 -\n"],
    "options": ["SWAPMEET_TRACE=t.json,call=3", "SWAPMEET_NODES=4+2", "SWAPMEET_REQUEST_LIMIT=64"]
    + ["SWAPMEET_UNEXPECTED_LIMIT=4MiB", "SWAPMEET_STATS=a/%r.json", "SWAPMEET_TRIALS=0.5"],
    "memory": [_core.memory_text(KEY, [took("pairwise", 12.3), took("tuna(r=2)", 9)])],
    "placement": ["", "block:12", "cyclic", "random:1", "n3*4,n1*4,n0,n2*3"],
}


def read_options(text: str) -> None:
    options = _core.read_options([text], RANKS)
    for problem in options.problems:
        assert "\n" not in problem


def written_again(read: Callable[[str], Any]) -> Callable[[str], None]:
    def both_ways(text: str) -> None:
        value = read(text)
        try:
            again = read(str(value))
        except ValueError as problem:
            raise AssertionError(f"what was written is refused: {problem}") from problem
        assert again == value

    return both_ways


def read_spec(text: str) -> None:
    spec = _core.parse_spec(text)
    assert _core.parse_spec(str(spec)) == spec
    if spec.family != "native" and "order" in dict(spec.parameters) and "topology" in str(spec):
        return
    if spec.family != "native" and not spec.unsuitable(RANKS):
        assert _core.certify(spec, RANKS).rank.requests >= 2


def read_memory(text: str) -> None:
    read = _core.parse_memory(text)
    again = _core.parse_memory(_core.memory_text(read.key, read.evidence))
    assert again.unusable == 0 and [one.line for one in again.evidence] == [one.line for one in read.evidence]


TORUS = _core.named_network("torus(dims=3x2,hosts=2)")
READERS: dict[str, Callable[[str], Any]] = {
    "spec": read_spec,
    "nodes": lambda text: _core.parse_node_map(text, RANKS),
    "schedule": written_again(_core.parse_schedule),
    "tuning": _core.parse_tuning,
    "workload": _core.parse_workload,
    "network": written_again(_core.parse_network),
    "slots": written_again(_core.parse_slots),
    "options": read_options,
    "memory": read_memory,
    "placement": lambda text: _core.PlacedNetwork(TORUS, placement=text, ranks=RANKS),
}

#: What texts are damaged with: numbers at the ends of types, and what separates.
PIECES = [
    *("0", "-1", "1", "2147483647", "2147483648", "9223372036854775807", "18446744073709551616", "1e999", "nan"),
    *("(", ")", "=", ",", ":", "/", "+", "..", "#", "\n", "\r", "\t", " ", "\0", "\x7f", "é", "KiB", "%r", "all"),
]


@st.composite
def damaged(draw: st.DrawFn, seeds: Iterable[str]) -> str:
    """A text, or two of them joined, in which some pieces are left out, doubled, or replaced."""
    choice = st.sampled_from(list(seeds))
    text = draw(choice)
    for _ in range(draw(st.integers(0, 5))):
        parts = re.findall(r"\w+|\W", text) or [""]
        first = draw(st.integers(0, len(parts) - 1))
        last = min(len(parts), first + draw(st.integers(0, 6)))
        how = draw(st.sampled_from(["leave out", "double", "replace", "put in", "join", "cut"]))
        piece = draw(st.sampled_from(PIECES) | st.text(max_size=3))
        middle = {
            "leave out": [],
            "double": parts[first:last] * 2,
            "replace": [piece],
            "put in": [piece, *parts[first:last]],
            "join": [draw(choice)],
            "cut": [],
        }[how]
        text = "".join([*parts[:first], *middle, *([] if how == "cut" else parts[last:])])
    return text


@pytest.mark.parametrize("kind", READERS)
def test_seeds_are_read(kind: str) -> None:
    for text in SEEDS[kind]:
        READERS[kind](text)


def test_a_name_of_an_option_breaks_no_line() -> None:
    (problem,) = _core.read_options(["SWAPMEET_TRACE\n=t.json"], RANKS).problems
    assert "\n" not in problem
    assert "did you mean SWAPMEET_TRACE?" in problem


@pytest.mark.parametrize("kind", [path.name for path in sorted(CORPUS.iterdir())])
def test_what_the_fuzzer_has_found_is_read_or_refused(kind: str) -> None:
    files = sorted((CORPUS / kind).iterdir())
    assert files
    for file in files:
        try:
            text = file.read_bytes().decode()
        except UnicodeDecodeError:
            continue  # Python passes no such text on
        try:
            READERS[kind](text)
        except ValueError as problem:
            assert 0 < len(str(problem)) < 2000, file


@pytest.mark.parametrize("kind", READERS)
@settings(max_examples=examples(300))
@given(data=st.data())
def test_damaged_texts_are_read_or_refused(kind: str, data: st.DataObject) -> None:
    text = data.draw(damaged(SEEDS[kind]))
    try:
        READERS[kind](text)
    except ValueError as problem:
        assert str(problem), "a refusal says why"
        assert len(str(problem)) < 2000
