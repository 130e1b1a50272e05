"""From times to a machine's numbers: times of machines that are known."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from swapmeet import _core, machines
from swapmeet.machines import Number
from swapmeet.measure.calibration import fit, held_out
from swapmeet.measure.calibration.description import Measured, document, node_map
from swapmeet.measure.calibration.parts import LIBRARY, MEANS, Part, Taken, parts
from swapmeet.model.prices import Pricing

RANKS = 8
LINK = {
    "within": {"latency_us": 0.5, "overhead_us": 0.1, "gap_us": 0.05, "byte_ns": 0.1, "rendezvous_us": 3.0},
    "between": {"latency_us": 2.0, "overhead_us": 0.3, "gap_us": 0.4, "byte_ns": 0.5, "rendezvous_us": 0.0},
    "shared": {"latency_us": 0.1, "overhead_us": 0.04, "byte_ns": 0.2},
}
EAGER = (16 << 10) - 1  #: within nodes: a message of 16 KiB, with its header, is too large
NODE = {"byte_ns": 0.25, "message_us": 0.2, "memory_byte_ns": 0.01}
COPY = {"memcpy": (0.05, 0.004), "datatype": (0.07, 0.02)}
CALL_US = 0.3
PRICED = (*LIBRARY, "shared-memory")  #: by the model


def truth(nodes: int) -> machines.Machine:
    def link(name: str) -> dict[str, Number]:
        return {f"{name}.{key}": Number(value, value, value) for key, value in LINK[name].items()}

    found = link("within") | link("between") | link("shared")
    found["within.eager_bytes"] = Number(EAGER, EAGER, EAGER)
    found |= {f"node.{key}": Number(value, value, value) for key, value in NODE.items()}
    for name, means in zip(("pack", "datatype"), MEANS, strict=True):
        found |= {
            f"{name}.{key}": Number(value, value, value)
            for key, value in zip(("byte_ns", "piece_us"), COPY[means], strict=True)
        }
    found["call_us"] = Number(CALL_US, CALL_US, CALL_US)
    return machines.parse(document("truth", "", None, found), "truth")


def seconds(part: Part, machine: machines.Machine, nodes: int) -> float:
    """What an exchange or a copy takes there."""
    if part.what in COPY:
        byte, piece = COPY[part.what]
        return part.many * (1e-9 * byte * part.bytes + 1e-6 * piece)
    if part.what in PRICED:
        work = _core.Work(_core.parse_spec(part.what), RANKS, node_map(RANKS, nodes))
        return 1e-6 * work.price(machine.costs, "max-rate", part.bytes).total
    link, senders = LINK[part.what], part.pairs * (2 if part.what == "within" else 1)
    each = 2 * link["overhead_us"] + max(link["gap_us"], NODE["message_us"] * senders if part.what == "between" else 0)
    shared_byte = NODE["memory_byte_ns" if part.what == "within" else "byte_ns"] * senders
    byte = 1e-3 * max(link["byte_ns"], shared_byte)
    rendezvous = link["rendezvous_us"] if part.bytes > EAGER else 0
    return 1e-6 * (link["latency_us"] + rendezvous + part.many * (each + part.bytes * byte))


def taken(nodes: int, noise: float = 0.0, rounds: int = 12) -> list[Taken]:
    draw, machine = random.Random(1), truth(nodes)
    found = []
    for _ in range(2):
        one = Taken(rounds=rounds)
        exact = {part: seconds(part, machine, nodes) for part in parts(RANKS, nodes)}
        exact |= {Part(f"posting {way}"): 2e-6 * LINK[way]["overhead_us"] for way in ("within", "between")}
        exact[Part("flag")] = 1e-6 * LINK["shared"]["latency_us"]
        for part, time in exact.items():
            one.seconds[part] = [time * draw.lognormvariate(0, noise) for _ in range(rounds)]
        found.append(one)
    return found


@pytest.mark.parametrize("nodes", [1, 2])
def test_known_numbers_are_found(nodes: int) -> None:
    found = fit.numbers(fit.Rounds(taken(nodes)), RANKS, nodes)
    links = ("within", "shared") if nodes == 1 else ("within",)
    for place, value in ((f"{name}.{key}", value) for name in links for key, value in LINK[name].items()):
        assert found[place].value == pytest.approx(value, rel=0.02, abs=1e-3), place
    assert (found["within.eager_bytes"].low, found["within.eager_bytes"].value) == (8 << 10, EAGER)
    for name, means in zip(("pack", "datatype"), MEANS, strict=True):
        assert (found[f"{name}.byte_ns"].value, found[f"{name}.piece_us"].value) == pytest.approx(COPY[means], rel=0.02)
    if nodes == 1:
        assert not any(place.startswith("between") for place in found)
        assert found["call_us"].value == pytest.approx(CALL_US, rel=0.05)
    else:
        assert found["between.byte_ns"].value == pytest.approx(LINK["between"]["byte_ns"], rel=0.02)
        assert "between.eager_bytes" not in found  # there is no switch
        assert found["node.byte_ns"].value > NODE["byte_ns"]  # with latency and overheads, of all ranks at once


def test_noise_widens_intervals_which_hold_the_truth() -> None:
    found = fit.numbers(fit.Rounds(taken(1, noise=0.1)), RANKS, 1)
    for key, value in LINK["within"].items():
        number = found[f"within.{key}"]
        assert number.low < value < number.high, (key, number)
        assert number.low <= number.value <= number.high


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    found = fit.numbers(fit.Rounds(taken(1, noise=0.05)), RANKS, 1)
    measured = Measured("openmpi 5.0.11", "a machine, 8 cores", None, {"rounds": 12})
    file = tmp_path / "m.json"
    file.write_text(document("here", "a note", measured, found))
    machine = machines.load(str(file))
    assert (machine.name, machine.note, machine.mpi, machine.signature) == (
        "here", "a note", "openmpi 5.0.11", "a machine, 8 cores",
    )  # fmt: skip
    assert machine.costs.within.latency_us == pytest.approx(0.5, rel=0.2)
    assert machine.costs.within.eager_bytes == EAGER
    assert machine.numbers["between.byte_ns"].source.startswith("not measured")
    assert machine.nodes("") == ""


def test_errors_are_those_of_the_predictions() -> None:
    machine = truth(1)
    some = list(held_out.exchanges(RANKS, ""))
    exact = {one: [seconds(Part(one.spec, one.bytes), machine, 1)] for one in some if one.spec in PRICED}
    assert exact
    found = held_out.predictions([exact], RANKS, "", Pricing(machine))
    assert held_out.summary(found)["worst"] == pytest.approx(0)
    twice = {one: [2 * time for time in times] for one, times in exact.items()}
    found = held_out.predictions([twice, twice], RANKS, "", Pricing(machine))
    assert held_out.summary(found) == pytest.approx(
        {"exchanges": len(exact), "median": 0.5, "worst": 0.5, "within 10%": 0, "within 25%": 0, "within 50%": 1},
    )


def test_a_model_that_predicts_little_is_told() -> None:
    def found(*errors: float) -> dict[str, float]:
        some = [held_out.Prediction(held_out.Exchange("bruck", 8), 1.0, 1.0 + error) for error in errors]
        return held_out.summary(some)

    assert held_out.predicts_little(found(0.1, 0.6, 80.0))
    assert not held_out.predicts_little(found(0.1, -0.3, 80.0))


def test_the_order_of_specs_counts() -> None:
    def prediction(spec: str, measured: float, expected: float) -> held_out.Prediction:
        return held_out.Prediction(held_out.Exchange(spec, 8), measured, expected)

    right = [prediction("a", 1, 10), prediction("b", 2, 20), prediction("c", 3, 15)]
    found = held_out.order(right)
    assert found["pairs in order"] == pytest.approx(2 / 3)
    assert 1.8 < found[machines.RATIO] <= 2  # c over a, or over b, is expected to be half of what it is
    assert held_out.order(right[:1]) == {}
