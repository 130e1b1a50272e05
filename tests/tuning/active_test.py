"""What is measured, and what is not: candidates that are left out, and launches where most is at stake."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from plots.synthetic import write

from swapmeet import _core, machines
from swapmeet.choose import active, measuring, pruning
from swapmeet.cli import tune as command
from swapmeet.measure.bench.request import Request
from swapmeet.measure.bench.results import Writer, read
from swapmeet.measure.bench.statistics import Estimate
from swapmeet.mpi import mpis
from swapmeet.mpi.places import machine_file

UNCLEAR, CLEAR = 1024, 64


def law(spec: str, ranks: int, size: float) -> float:
    """At 64 B one is twice as fast; at 1 KiB two differ by half a percent."""
    clear = {"pairwise": 2.0, "bruck": 1.0}
    unclear = {"pairwise": 1.5, "bruck": 1.5 * 1.005}
    return 1e-5 / (clear if size == CLEAR else unclear).get(spec, 1.0)


def estimate(value: float, width: float, launches: int = 5) -> Estimate:
    return Estimate(value, value / (1 + width), value * (1 + width), 100, launches)


def test_what_is_surely_worse_has_nothing_at_stake() -> None:
    found = active.stakes({"a": estimate(2.0, 0.01), "b": estimate(1.0, 0.01), "c": estimate(1.97, 0.1)})
    assert found["b"] < 1e-12 and found["native"] < 1e-12
    assert active.WORTH < found["c"] < 0.1  # it may be the best


def test_the_stake_is_the_expected_improvement() -> None:
    """Of two that are equal up to errors s it is s / sqrt(pi): the mean of the positive half of their difference."""
    error = math.log(1.1) / 1.96
    found = active.stakes({"a": estimate(2.0, 0.1, 1000), "b": estimate(2.0, 0.1, 1000)})
    assert found["b"] == pytest.approx(error / math.sqrt(math.pi), rel=0.01)
    few = active.stakes({"a": estimate(2.0, 0.1, 1), "b": estimate(2.0, 0.1, 1)})
    assert few["b"] > found["b"]  # one launch does not show how much launches differ


def test_the_next_launch_is_where_it_matters(tmp_path: Path) -> None:
    results = read(
        write(tmp_path / "r", specs=("pairwise", "bruck", "tuna"), sizes=(CLEAR, UNCLEAR), law=law, launches=2)
    )
    step = active.next_step(results, results.cells(), 5)
    assert step and (step.ranks, step.sizes, step.launches) == (4, (str(UNCLEAR),), 3)
    assert set(step.specs) == {"pairwise", "bruck"}
    assert active.next_step(results, results.cells(), 2) is None  # all launches are made


@dataclass
class Stand:
    """In the place of campaigns: writes what the law says, and how launches differ; keeps what it was asked."""

    asked: list[Request] = field(default_factory=list)
    draw: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def campaign(self, request: Request, file: Path, resume: bool, share: float) -> None:
        self.asked.append(request)
        settings = request.settings()
        with Writer(file, {"options": {}}, resume) as writer:
            for ranks in settings.ranks:
                for block in range(settings.launches):
                    cells = settings.cells(settings.targets[0], ranks)
                    before = writer.before
                    done = {run.launch for cell in cells for run in before.samples(cell, "native")} if before else set()
                    blocks = {launch.block for launch in before.launches if launch.launch in done} if before else set()
                    if block in blocks:
                        continue
                    place = {"mpi": cells[0].mpi, "library": "", "ranks": ranks, "nodes": "", "command": []}
                    launch = writer.launch(block=block, environment={}, started="", load=0, **place)
                    for cell in cells:
                        for spec in ("native", *settings.patterns):
                            middle = law(spec, ranks, cell.block_bytes or 0) * self.draw.lognormal(0, 0.002)
                            some = middle * self.draw.lognormal(0, 0.01, 30)
                            writer.samples(launch, cell, spec, calls=9, round=0, longest=some, shortest=some, mean=some)


@pytest.fixture
def stand(monkeypatch: pytest.MonkeyPatch) -> Stand:
    found = Stand()
    monkeypatch.setattr(measuring.running, "campaign", found.campaign)
    return found


@pytest.mark.slow
def test_the_first_look_is_at_everything_and_the_others_at_what_is_unclear(stand: Stand, tmp_path: Path) -> None:
    sizes = f"{CLEAR},{UNCLEAR}"
    plan = measuring.Plan("openmpi", ["pairwise", "bruck", "tuna"], "4", sizes, None, "1h", 6, None)
    files = [tmp_path / "equal", tmp_path / "unequal"]
    measuring.measure(plan, files)
    equal = [request for request in stand.asked if request.collective == "alltoall"]
    assert equal[0].launches == 1 and equal[0].sizes == sizes and set(equal[0].specs or []) >= {"bruck", "tuna"}
    # In one launch nothing is certain; from then on it is clear that 64 B are.
    assert len(equal) >= 2 and all(request.sizes == str(UNCLEAR) for request in equal[2:])
    assert [request.launches for request in equal] == list(range(1, len(equal) + 1))
    asked = len(stand.asked)
    measuring.measure(plan, files)  # as after an interruption: the looks are taken, and nothing is worth more
    assert [request.launches for request in stand.asked[asked:] if request.collective == "alltoall"][0] == 1
    assert len(read(files[0]).launches) <= 6


def test_an_interruption_tells_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(measuring, "measure", interrupt)
    with pytest.raises(KeyboardInterrupt):
        command.tune(into="mine", output=tmp_path / "a.tuning")
    assert "--into mine" in capsys.readouterr().err


def test_models_leave_out_what_is_far_from_the_best() -> None:
    machine = machines.load("fat-tree")
    specs = ["pairwise", "tra(r=2)", "spread-out"]
    small = pruning.pruned(specs, [256], [8], "", machine)
    assert "tra(r=2)" in small and "pairwise" not in small
    assert "pairwise" in pruning.pruned(specs, [256], [8, 1 << 20], "", machine)
    assert len(small) > 1  # the models' own candidates besides
    careful = dataclasses.replace(machine, ratios_off_by=1000.0)
    assert "pairwise" in pruning.pruned(specs, [256], [8], "", careful)
    for spec in small:
        assert not _core.parse_spec(spec).unsuitable(256, machine.nodes(""))


def test_only_a_description_of_this_mpi_and_machine_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    target = mpis.find("openmpi")
    assert pruning.find_machine(None, target) is None
    place = machine_file("openmpi")
    place.parent.mkdir()
    here = {"mpi": f"openmpi {target.version}", "machine": _core.machine_signature()}
    page = {"format": "swapmeet-machine", "version": 1, "between": {"latency_us": 1, "byte_ns": 0.1}}
    place.write_text(json.dumps(page | here))
    assert pruning.find_machine(None, target) is not None
    assert pruning.find_machine("none", target) is None
    place.write_text(json.dumps(page | here | {"mpi": "openmpi 1.0"}))
    assert pruning.find_machine(None, target) is None
    place.write_text("{")
    assert pruning.find_machine(None, target) is None
    assert "no candidate is left out" in capsys.readouterr().out
