"""What is lost where the fastest is known, and rules that were not made of the cells in which they are judged."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from plots.synthetic import write
from typer.testing import CliRunner

from swapmeet.choose import held_out
from swapmeet.cli.app import app
from swapmeet.measure.bench.results import read

pytestmark = pytest.mark.slow

MPI = "openmpi 5.0.11"
SIZES = (8, 64, 512, 8192, 32768)


def crossing(spec: str, ranks: int, size: float) -> float:
    """tra(r=2) is twice as fast below 100 B, pairwise four times above 1000 B; between them native."""
    gain = {"tra(r=2)": 2.0 if size < 100 else 0.5, "pairwise": 4.0 if size > 1000 else 0.7}
    return 1e-5 / gain.get(spec, 1.0)


def losses(path: Path, **options) -> dict[str, dict[str, float]]:
    """By choice and size."""
    options = {"specs": ("pairwise", "tra(r=2)"), "law": crossing, "noise": 0.001, "sizes": SIZES} | options
    found = held_out.losses([read(write(path / "results.jsonl", **options))], MPI)
    return {
        choice: {loss.cell.sizes: loss.regret for loss in found if loss.choice == choice}
        for choice in {loss.choice for loss in found}
    }


def test_regret_is_the_time_over_that_of_the_fastest(tmp_path: Path) -> None:
    found = losses(tmp_path)
    assert found["native"] == pytest.approx({"8": 1, "64": 1, "512": 0, "8192": 3, "32768": 3}, rel=0.02)
    assert found["radix 2"] == pytest.approx({"8": 0, "64": 0, "512": 1, "8192": 7, "32768": 7}, rel=0.02)
    assert found["tune, nothing left out"] == pytest.approx(dict.fromkeys(map(str, SIZES), 0), abs=0.01)


def test_who_was_not_measured_is_not_judged(tmp_path: Path) -> None:
    assert not {"slimfly: random order", "tra: r = √P"} & losses(tmp_path).keys()


def test_the_automatic_choice_is_judged_and_judges_nobody(tmp_path: Path) -> None:
    def law(spec: str, ranks: int, size: float) -> float:
        return 0.9e-5 if spec == "auto" else 1.2e-5 if size < 100 else 1e-5

    found = losses(tmp_path, specs=("pairwise", "auto"), law=law)
    assert set(found["the same, as it ran"].values()) == {0}
    assert found["native"] == pytest.approx(dict.fromkeys(map(str, SIZES), 0), abs=0.01)


def test_rules_know_nothing_of_the_size_left_out(tmp_path: Path) -> None:
    found = losses(tmp_path)["tune, this size left out"]
    assert found.keys() == {"64", "512", "8192"}, "the first and the last have nothing on one side"
    assert found["64"] == pytest.approx(0, abs=0.01)
    assert found["512"] > 0.9, "native is nowhere else the fastest, so nothing speaks for it"
    assert found["8192"] == pytest.approx(0, abs=0.01)


def test_ranks_are_left_out_only_between_others(tmp_path: Path) -> None:
    found = held_out.losses(
        [read(write(tmp_path / "r.jsonl", specs=("pairwise",), law=crossing, sizes=SIZES, ranks=(2, 4, 8)))], MPI
    )
    assert {loss.cell.ranks for loss in found if loss.choice == "tune, these ranks left out"} == {4}


def test_noise_is_lost_by_the_fastest_too(tmp_path: Path) -> None:
    found = losses(tmp_path, law=lambda spec, ranks, size: 1e-5, noise=0.1, launches=8)
    assert max(found["the fastest, by the other launches"].values()) > 0


def test_launches_are_halved_whatever_their_numbers(tmp_path: Path) -> None:
    """Where two MPIs take turns, one of them has the even numbers."""
    path = write(tmp_path / "r.jsonl", specs=("pairwise",), launches=4)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    even = [line | {"launch": 2 * line["launch"]} if "launch" in line else line for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in even))
    assert "the fastest, by the other launches" in {loss.choice for loss in held_out.losses([read(path)], MPI)}


def test_the_command_prints_a_row_for_each_choice_and_writes_csv(tmp_path: Path) -> None:
    path = str(write(tmp_path / "results.jsonl", specs=("pairwise", "tra(r=2)"), law=crossing, sizes=SIZES))
    shown = CliRunner().invoke(app, ["regret", path])
    assert shown.exit_code == 0 and "tune, this size left out" in shown.stdout, shown.output
    rows = list(csv.DictReader(io.StringIO(CliRunner().invoke(app, ["regret", path, "--csv"]).stdout)))
    assert {row["choice"] for row in rows} >= {"native", "radix 2"}
    assert all(float(row["regret"]) >= float(row["surely"]) >= 0 for row in rows)


def test_an_mpi_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = str(write(tmp_path / "results.jsonl", specs=("pairwise",), sizes=SIZES))
    refused = CliRunner().invoke(app, ["regret", path, "--mpi", "mpich 1.0"])
    assert refused.exit_code == 2 and "openmpi 5.0.11" in refused.output
