"""`swapmeet calibrate` for real: not whether its numbers are right, but whether they are measured and can be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.command import refused, swapmeet
from cli.json_test import answer

from swapmeet import machines

pytestmark = pytest.mark.slow


def test_one_node(tmp_path: Path) -> None:
    file = tmp_path / "here.json"
    done = swapmeet("calibrate", "--mpi", "openmpi", "-n", "2", "--launches", "1", "--budget", "1s", "-o", str(file))
    assert done.returncode == 0, done.stderr
    assert "all-to-alls that the description is not made of, the model is off by" in done.stdout
    machine = machines.load(str(file))
    assert machine.mpi.startswith("openmpi 5") and machine.ranks_per_node is None
    for place in ("within.latency_us", "within.byte_ns", "node.memory_byte_ns", "pack.byte_ns", "shared.latency_us"):
        assert 0 < machine.numbers[place].value < 1e5, place
    assert json.loads(file.read_text())["measured"]["held_out"]["exchanges"] > 3
    words = ["calibrate", "--mpi", "openmpi", "-n", "2", "--launches", "1", "--budget", "1s", "-o", str(file)]
    found, status = answer(words)
    assert (status, found["description"]) == (0, str(file))
    assert {"within.latency_us", "pack.byte_ns"} <= {one["number"] for one in found["numbers"]}
    assert all(one["expected_us"] > 0 for one in found["predictions"])
    priced = swapmeet("model", "pairwise", "-P", "64", "-S", "512", "--machine", str(file))
    assert priced.returncode == 0 and "max-rate" in priced.stdout


@pytest.mark.long
def test_two_nodes(tmp_path: Path) -> None:
    """MPICH takes ranks with odd numbers for those of another node."""
    file = tmp_path / "here.json"
    done = swapmeet(
        "calibrate", "--mpi", "mpich", "-n", "4", "--launches", "1", "--budget", "1s", "-o", str(file),
        env={"MPIR_CVAR_ODD_EVEN_CLIQUES": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    machine = machines.load(str(file))
    assert machine.ranks_per_node == 2
    assert machine.numbers["between.byte_ns"].value > 0 and machine.numbers["node.byte_ns"].value > 0
    ways = [(row["way"], row["ranks"]) for row in json.loads(file.read_text())["measured"]["by_ranks_of_a_node"]]
    assert ways == [("within", 2), ("between", 1), ("between", 2)]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-n", "1"], "-P 1: expected 2 to"),
        (["--launches", "0"], "--launches 0"),
        (["--budget", "soon"], '--budget "soon"'),
        (["--launcher", "srun"], "does not contain {ranks}"),
        (["-o", "/proc/nowhere/file"], "can be written to"),
        (["--mpi", "nothing"], "no MPI is called"),
    ],
)
def test_bad_input(words: list[str], says: str) -> None:
    assert says in refused("calibrate", *words)
