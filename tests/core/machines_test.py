"""Descriptions of machines: those that are built in, and what is refused."""

import json
from pathlib import Path

import pytest

from swapmeet import SwapmeetError, machines
from swapmeet.model import hockney

LINK = {"latency_us": 1, "byte_ns": 0.1}
LEAST = {"format": "swapmeet-machine", "version": 1, "between": LINK}


@pytest.mark.parametrize("name", machines.names())
def test_built_in_numbers_have_sources(name: str) -> None:
    machine = machines.load(name)
    assert machine.name == name and machine.note
    for place, number in machine.numbers.items():
        if place != "ranks_per_node" and not place.startswith(("within", "shared")):
            assert number.source or machine.numbers.get(place) == number and place == "call_us", place
        assert number.low <= number.value <= number.high


def test_what_is_left_out() -> None:
    machine = machines.parse(json.dumps(LEAST), "x.json")
    assert machine.name == "x" and machine.nodes("") == "1" and machine.nodes("4+2") == "4+2"
    assert machine.costs.shared.latency_us == machine.costs.within.latency_us == 1
    assert machine.costs.between.eager_bytes > 10**18
    assert hockney.AlphaBeta.of(machine) == hockney.AlphaBeta(1, 0.1)
    assert machines.parse(json.dumps(LEAST | {"ranks_per_node": None}), "x").nodes("") == ""


def test_what_was_tested_when_it_was_measured() -> None:
    assert machines.parse(json.dumps(LEAST), "x").ratios_off_by == 1
    tested = {"held_out": {"ratios off by": 4.5, "more": "words"}, "else": [1]}
    assert machines.parse(json.dumps(LEAST | {"measured": tested}), "x").ratios_off_by == 4.5
    for bad in ([1], {"held_out": 3}, {"held_out": {"ratios off by": "much"}}):
        with pytest.raises(SwapmeetError, match="measured"):
            machines.parse(json.dumps(LEAST | {"measured": bad}), "x")


def test_all_numbers_arrive() -> None:
    link = {**LINK, "overhead_us": 2, "gap_us": 3, "rendezvous_us": 4, "eager_bytes": 5}
    node = {"byte_ns": 6, "message_us": 7, "memory_byte_ns": 8}
    whole = {**LEAST, "within": link, "node": node, "pack": {"byte_ns": 9, "piece_us": 10}, "call_us": {"value": 11}}
    costs = machines.parse(json.dumps(whole), "x").costs
    assert (costs.shared.overhead_us, costs.within.gap_us, costs.within.rendezvous_us) == (2, 3, 4)
    assert (costs.within.eager_bytes, costs.node_byte_ns, costs.node_message_us, costs.memory_byte_ns) == (5, 6, 7, 8)
    assert (costs.pack.byte_ns, costs.datatype.piece_us, costs.call_us, costs.between.gap_us) == (9, 10, 11, 0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1, column 1"),
        ('{"format": "swapmeet-machine",\n "version" 1}', "line 2, column 12"),
        ("[]", "expected an object"),
        ("[" * 100_000, "nested too deeply"),
        (json.dumps(LEAST | {"format": "x"}), 'format: expected "swapmeet-machine", not "x"'),
        (json.dumps(LEAST | {"version": 2}), "version: expected 1, not 2"),
        (json.dumps({"format": "swapmeet-machine", "version": 1}), "between: is missing"),
        (json.dumps(LEAST | {"speed": 1}), '"speed": not one of'),
        (json.dumps(LEAST | {"between": {"latency_us": 1}}), "between.byte_ns: is missing"),
        (json.dumps(LEAST | {"between": LINK | {"byte_ns": -1}}), "between.byte_ns: expected a number from 0"),
        (json.dumps(LEAST | {"between": LINK | {"byte_ns": "fast"}}), 'between.byte_ns: expected .* not "fast"'),
        (json.dumps(LEAST | {"between": LINK | {"byte_ns": True}}), "not true"),
        (json.dumps(LEAST | {"between": LINK | {"eager_bytes": 1.5}}), "between.eager_bytes: expected a whole number"),
        (json.dumps(LEAST | {"call_us": {"value": 1, "low": 2}}), "call_us: 1 is not within 2 to 1"),
        (json.dumps(LEAST | {"call_us": {"low": 2}}), "call_us: has no value"),
        (json.dumps(LEAST | {"call_us": {"value": 1, "source": 3}}), "call_us.source: expected a text"),
        (json.dumps(LEAST | {"ranks_per_node": 0}), "ranks_per_node: expected a whole number from 1"),
        (json.dumps(LEAST | {"node": []}), "node: expected an object"),
        (json.dumps(LEAST | {"name": "a\0b"}), "name: holds what cannot be printed"),
        (json.dumps(LEAST | {"name": "\ud800"}), "name: holds what cannot be printed"),
        (json.dumps(LEAST | {"name": 300 * "x"}), "name: has 300 characters; 200 at most"),
        ('{"version": 1, "version": 1}', "version: given twice"),
        ('{"version": NaN}', "NaN is no number"),
        ('{"version": ' + "1" * 5000 + "}", "too long"),
    ],
)
def test_refusals(text: str, problem: str) -> None:
    with pytest.raises(SwapmeetError, match=problem) as refusal:
        machines.parse(text, "m.json")
    assert str(refusal.value).startswith('--machine "m.json": ')
    assert len(str(refusal.value)) < 400


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    with pytest.raises(SwapmeetError, match="no such file, and no built-in machine .*theta"):
        machines.load(str(file))
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(SwapmeetError, match="not UTF-8"):
        machines.load(str(file))
    file.write_bytes(b" " * (machines.MOST_BYTES + 1))
    with pytest.raises(SwapmeetError, match="describes no machine"):
        machines.load(str(file))
    with pytest.raises(SwapmeetError, match="directory"):
        machines.load(str(tmp_path))
    file.write_text(json.dumps(LEAST))
    assert machines.load(str(file)).costs.between.byte_ns == 0.1
