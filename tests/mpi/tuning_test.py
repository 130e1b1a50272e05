"""Tuning files on real MPIs: followed, refused, and differing between ranks. And `swapmeet tune` as a whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ranks import RANK_VARIABLE

from swapmeet import _core
from swapmeet.mpi import mpis

CASES = ["--only", "alltoall/int/"]


def page(mpi: str, rules: str) -> str:
    target = mpis.find(mpi)
    return f"swapmeet-tuning 1\nmpi: {target.kind} {target.version}\nmachine: {_core.machine_signature()}\n{rules}end\n"


RULES = "rule: alltoall ranks=2..8 bytes=0..100 use=tuna(r=2)\nrule: alltoall ranks=2..8 bytes=101.. use=pairwise\n"


@pytest.fixture
def served(launch, built, tallies, tmp_path: Path, wheel: str):
    """Run all-to-alls with a tuning file; what they were served by, and standard error."""

    def served(rules: str, text: str | None = None, ranks: int = 3, **env: str) -> tuple[set[str], str]:
        statistics, file = tmp_path / "statistics.json", tmp_path / "a.tuning"
        file.write_text(page(wheel, rules) if text is None else text)
        env = {"SWAPMEET_TUNING_FILE": str(file), "SWAPMEET_STATS": str(statistics), **env}
        done = launch(ranks, [built(wheel, "conformance"), *CASES], mpi=wheel, env=env)
        assert done.returncode == 0 and " 0 failed" in done.stdout, done.stdout + done.stderr
        calls = [tally for tally in tallies(statistics) if tally["communicator_ranks"] == ranks]
        return {tally["algorithm"] for tally in calls}, done.stderr

    return served


def test_rules_are_followed(served) -> None:
    algorithms, complaints = served(RULES)
    assert algorithms == {str(_core.parse_spec(spec)) for spec in ("tuna(r=2)", "pairwise")}
    assert complaints == ""


def test_nodes_count(served) -> None:
    rules = "rule: alltoall ranks=2..8 nodes=2 use=pairwise\n"
    assert str(_core.parse_spec("pairwise")) in served(rules, SWAPMEET_NODES="2")[0]
    assert str(_core.parse_spec("pairwise")) not in served(rules, SWAPMEET_NODES="1")[0]


def test_a_file_that_cannot_be_used_costs_one_warning(served, wheel: str) -> None:
    _, complaints = served("", page(wheel, "rule: alltoall use=nonsense\n"))
    (line,) = [line for line in complaints.splitlines() if "swapmeet" in line]
    assert 'use="nonsense"' in line and "(line 4, column" in line and line.endswith("doing without it")


def test_ranks_with_other_rules_leave_all_to_the_mpi_underneath(launch, built, wheel: str, tmp_path: Path) -> None:
    done = _other_file_on_rank_1(launch, built, wheel, tmp_path, page(wheel, RULES.replace("pairwise", "spread-out")))
    assert "the ranks disagree on the SWAPMEET_ variables" in done.stderr
    assert "the same tuning file" in done.stderr


def test_a_file_that_only_another_rank_cannot_use_is_told(launch, built, wheel: str, tmp_path: Path) -> None:
    done = _other_file_on_rank_1(launch, built, wheel, tmp_path, page(wheel, "rule: alltoall use=nonsense\n"))
    assert "the ranks disagree on the SWAPMEET_ variables" in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "nonsense" in line]
    assert f'rank 1: tuning file "{tmp_path}/1": ' in line and "(line 4, column" in line


def _other_file_on_rank_1(launch, built, wheel: str, tmp_path: Path, text: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "0").write_text(page(wheel, RULES))
    (tmp_path / "1").write_text(text)
    script = (
        f'export SWAPMEET_TUNING_FILE={tmp_path}/$([ "${RANK_VARIABLE[wheel]}" = 1 ] && echo 1 || echo 0); exec "$@"'
    )
    done = launch(3, ["sh", "-c", script, "sh", built(wheel, "conformance"), *CASES], mpi=wheel)
    assert done.returncode == 0 and " 0 failed" in done.stdout, done.stdout + done.stderr
    return done


@pytest.mark.in_turn
def test_tune_as_a_whole(tmp_path: Path, wheel: str) -> None:
    """It measures, writes, and is followed; and it fits once more what it has measured."""
    swapmeet = [sys.executable, "-m", "swapmeet"]
    words = ["tune", "pairwise", "-n", "2", "--mpi", wheel, "-S", "8,1KiB", "--budget", "8s", "--launches", "2"]
    done = subprocess.run(
        [*swapmeet, *words, "--into", "mine", "-o", "a.tuning"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    tuning = _core.parse_tuning((tmp_path / "a.tuning").read_text())
    assert {rule.collective for rule in tuning.rules} == {_core.Collective.alltoall, _core.Collective.alltoallv}
    again = [*swapmeet, "tune", "--mpi", wheel, "--from", "mine-alltoall.jsonl", "--from", "mine-alltoallv.jsonl"]
    subprocess.run([*again, "-o", "b.tuning"], cwd=tmp_path, check=True, capture_output=True)
    assert _core.parse_tuning((tmp_path / "b.tuning").read_text()).fingerprint == tuning.fingerprint
    asked = subprocess.run(
        [*swapmeet, "explain", "-P", "2", "-S", "8", "--mpi", wheel],
        cwd=tmp_path, env={**os.environ, "SWAPMEET_TUNING_FILE": "a.tuning"}, capture_output=True, text=True,
    )  # fmt: skip
    assert "because: rule: a.tuning, line" in asked.stdout, asked.stdout + asked.stderr
