"""Estimates beside simulations: how far off they are in cells that take SimGrid no time, and the command."""

from __future__ import annotations

from pathlib import Path

import pytest
from plain import MakeJob
from typer.testing import CliRunner

from swapmeet.cli.app import app
from swapmeet.measure.bench.cells import Cell
from swapmeet.measure.bench.results import Writer, read
from swapmeet.simulate.deviation import LABEL, Deviation, deviations
from swapmeet.simulate.expecting import Estimator
from swapmeet.simulate.job import Simulator
from swapmeet.simulate.platform import platform

#: platform, ranks, ranks a node, spec, bytes of a block, by what share the estimate may be off
CELLS = [
    ("cluster", 32, 8, "tra(r=2)", "64", 0.06),
    ("cluster", 32, 8, "tra(r=6)", "4096", 0.03),
    ("cluster", 32, 8, "direct(window=8)", "8", 0.01),
    ("theta", 32, 8, "two-layer(r1=2,r2=all)", "512", 0.1),
    ("cscs-slimfly", 32, 1, "pairwise", "16384", 0.05),
    ("fat-tree", 32, 8, "random-sendrecv", "16384", 0.03),  # which of the ranks that start together goes first, counts
]


@pytest.mark.slow
@pytest.mark.parametrize("name, ranks, per_node, spec, sizes, share", CELLS)
def test_an_estimate_is_near_what_is_simulated(
    simulator: Simulator, make_job: MakeJob, name: str, ranks: int, per_node: int, spec: str, sizes: str, share: float
) -> None:
    job = make_job(platform(name, ranks, per_node=per_node), spec, sizes)
    simulated, estimated = simulator.run(job), Estimator().run(job)
    assert simulated.problem == estimated.problem == ""
    assert estimated.longest == pytest.approx(simulated.longest, rel=share)


def invoke(*words: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, ["simulate", *words])
    assert done.exit_code == status, done.output
    return done.output


def test_estimates_are_results(tmp_path: Path) -> None:
    file = tmp_path / "estimates.jsonl"
    words = ("--machine", "theta", "-n", "4096", "-S", "8,128", "tra(r=64)", "pairwise", "two-layer(intra=shm)")
    output = invoke("--estimate", *words, "-o", str(file))
    assert "intra=mpi" in output
    results = read(file)
    assert [(cell.mpi, cell.ranks, cell.nodes) for cell in results.cells()] == [("theta (estimate)", 4096, "64")] * 2
    for cell in results.cells():
        assert results.specs(cell) == ["pairwise", "tra(r=64)"]
    assert any("not measured and not simulated" in note for note in results.launches[0].notes)


@pytest.mark.parametrize(
    "words, problem",
    [
        (["--estimate"], "the automatic choice can only be simulated"),
        (["--estimate", "tra", "auto"], "the automatic choice can only be simulated"),
        (["--estimate", "--scoreboard", "tra"], "--scoreboard can only be simulated"),
        (["--against", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--against", "nowhere.jsonl", "tra"], "give nothing else"),
        (["--estimate", "tra", "-n", "100000", "--machine", "fat-tree"], "ranks at most, not 100000"),
    ],
)
def test_bad_input_is_one_line(words: list[str], problem: str) -> None:
    assert problem in invoke(*words, status=2)


def test_a_file_is_compared_with_estimates(tmp_path: Path) -> None:
    file = tmp_path / "simulated.jsonl"
    job_cells = [Cell("theta (SimGrid 3.32)", 64, "alltoall", size, nodes="16") for size in ("8", "512", "0")]
    with Writer(file, {"simulated": "3.32"}) as writer:
        launch = writer.launch(
            block=0, mpi=job_cells[0].mpi, library="", ranks=64, nodes="16", command=[], environment={},
            started="2026-11-22T00:00:00", load=None, notes=[],
        )  # fmt: skip
        for cell in job_cells:
            for spec in ("tra(r=2)", "native:bruck"):
                seconds = [0.0 if cell.sizes == "0" else 1e-3] * 6
                writer.samples(launch, cell, spec, calls=1, round=0, longest=seconds, shortest=seconds, mean=seconds)
    found = deviations([file])
    assert found == deviations([file, file])
    assert [(one.spec, one.simulated) for one in found] == [("tra(r=2)", 1e-3)] * 2
    assert found[0].estimated < found[1].estimated
    output = invoke("--against", str(file))
    assert "tra(r=2)" in output and "median error" in output and "native" not in output


def test_words_of_a_deviation() -> None:
    one = Deviation(Cell("theta (SimGrid 3.32)", 8, "alltoall", "8"), "tra(r=2)", 2.0, 3.0)
    assert one.family == "tra" and one.percent == pytest.approx(50)
    label = LABEL.fullmatch("cscs-slimfly slim-fly(q=7,hosts=5) (SimGrid 3.32)")
    assert label and label["machine"] == "cscs-slimfly" and label["topology"] == "slim-fly(q=7,hosts=5)"


@pytest.mark.parametrize(("ranks", "expected"), [("8", True), ("512", False)])
def test_a_part_of_a_torus_is_no_torus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ranks: str, expected: bool
) -> None:
    file = str(tmp_path / "estimates.jsonl")
    output = invoke("--estimate", "--machine", "fugaku", "-P", ranks, "-S", "8", "spread-out", "-o", file)
    assert ("ranks are on the first 8 of 512 nodes" in output + capsys.readouterr().err) == expected
