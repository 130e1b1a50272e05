"""Measuring, comparing and drawing for real, as users do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.command import refused, swapmeet
from limits import scaled

from swapmeet.measure.bench.results import Results, read

pytestmark = pytest.mark.slow

SHORT = ("-n", "2", "-S", "8,4KiB", "-i", "6", "--launches", "2", "--precision", "50")


def bench(file: Path, *words: str) -> Results:
    done = swapmeet("bench", *words, "-o", str(file))
    assert done.returncode == 0, done.stderr
    return read(file)


def samples(results: Results) -> dict[tuple[str, str, str], int]:
    return {
        (cell.mpi.split()[0], cell.sizes, spec): sum(len(run.longest) for run in results.samples(cell, spec))
        for cell in results.cells()
        for spec in results.specs(cell)
    }


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("bench") / "both.jsonl"
    bench(file, "auto", "tra(r=2:P)", *SHORT, "--mpi", "mpich,openmpi")
    return file


@pytest.fixture(scope="module")
def detailed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """By Open MPI only: ranks of MPICH keep the cores that they share with other tests, here for minutes."""
    file = tmp_path_factory.mktemp("bench") / "detailed.jsonl"
    bench(file, "auto", "tra(r=2:P)", *SHORT, "--mpi", "openmpi", "--phases", "--limits", "--overlap", "2")
    return file


def test_every_candidate_is_measured_in_every_cell(measured: Path) -> None:
    results = read(measured)
    expected = {
        (mpi, size, spec): 12
        for mpi in ("mpich", "openmpi")
        for size in ("8", "4096")
        for spec in ("native", "auto", "tra(r=2)")
    }
    assert samples(results) == expected
    assert not results.problems
    assert len(results.finished) == 4
    header = results.header
    assert header["machine"]["cores"] >= 1 and header["options"]["specs"] == ["auto", "tra(r=2:P)"]
    assert all(launch.command and launch.library for launch in results.launches)


def test_phases_and_limits_are_those_of_the_library(detailed: Path) -> None:
    results = read(detailed)
    assert {phases.spec for phases in results.phases} == {"auto", "tra(r=2)"}
    for phases in results.phases:
        assert all(len(seconds) == 2 for seconds in phases.seconds.values())
        assert sum(seconds.sum() for seconds in phases.seconds.values()) > 0
        if phases.spec == "tra(r=2)":
            assert phases.seconds["native"].sum() == 0
    assert all(set(limits.seconds) == {"memcpy", "memcpy-shared", "flag"} for limits in results.limits)
    assert {(one.spec, one.tests) for one in results.overlaps} == {(s, 2) for s in ("native", "auto", "tra(r=2)")}


def test_the_same_results_have_not_changed(measured: Path) -> None:
    done = swapmeet("compare", str(measured), str(measured))
    assert done.returncode == 0 and "0 slower, 0 faster, 12 within noise" in done.stdout
    assert json.loads(swapmeet("compare", "--json", str(measured), str(measured)).stdout)


def test_everything_can_be_drawn(detailed: Path, tmp_path: Path) -> None:
    done = swapmeet("plot", str(detailed), "-o", str(tmp_path / "pictures"))
    assert done.returncode == 0, done.stderr
    names = {path.name.split("-")[0] for path in (tmp_path / "pictures").iterdir()}
    assert {"heat", "latency", "phases", "samples", "report.html"} <= names


def test_results_can_be_printed_again(measured: Path) -> None:
    before = measured.read_bytes()
    assert "speed-up" in swapmeet("bench", "--report", str(measured)).stdout
    assert "# Size" in swapmeet("bench", "--report", str(measured), "--osu").stdout
    assert measured.read_bytes() == before


def test_results_of_another_machine_are_not_gone_on_with(measured: Path, tmp_path: Path) -> None:
    lines = measured.read_text().splitlines(keepends=True)
    header = json.loads(lines[0])
    header["machine"]["host"] = "elsewhere"
    (tmp_path / "r").write_text("".join([json.dumps(header) + "\n", *lines[1:]]))
    assert "measured on elsewhere" in refused("bench", "--resume", str(tmp_path / "r"))


def test_unequal_sizes_and_derived_types(tmp_path: Path) -> None:
    words = ["two-phase-bruck", "-n", "3", "--workload", "sparse:density=0.5,bytes=64", "--datatype", "byte,strided"]
    results = bench(tmp_path / "r", *words, "--mpi", "openmpi", "-i", "6", "--launches", "1")
    assert {cell.datatype for cell in results.cells()} == {"byte", "strided"}
    assert all(results.specs(cell) == ["native", "two-phase-bruck"] for cell in results.cells())


def test_osu_s_form(tmp_path: Path) -> None:
    words = ["pairwise", "-n", "2", "-m", "4:8", "-i", "6", "-x", "0", "-f", "-c", "-z", "--launches", "1", "--osu"]
    done = swapmeet("bench", *words, "--mpi", "mpich", "-o", str(tmp_path / "r"))
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line and not line.startswith("#")]
    assert [row[0] for row in rows] == ["4", "8"] * 2
    assert all(row[5] == "Pass" and len(row) == 9 for row in rows)


def test_an_interrupted_campaign_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "r"
    words = ["bench", "pairwise", "-n", "2", "-S", "8,64,512", "-i", "8", "--launches", "6", "--mpi", "openmpi"]
    process = subprocess.Popen(
        [sys.executable, "-m", "swapmeet", *words, "-o", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + scaled(200)
    while time.monotonic() < deadline and not (file.exists() and b'"type":"samples"' in file.read_bytes()):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=scaled(60))
    assert process.returncode == 130
    assert f"swapmeet bench --resume {file}" in errors and "alltoall" in output
    before = samples(read(file))
    assert before
    assert swapmeet("bench", "--resume", str(file)).returncode == 0
    after = samples(read(file))
    assert set(after) == {("openmpi", size, spec) for size in ("8", "64", "512") for spec in ("native", "pairwise")}
    assert all(count >= 16 for count in after.values())
    assert all(after[key] >= count for key, count in before.items())


def test_an_mpi_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    launcher = tmp_path / "launcher"
    launcher.write_text("#!/bin/sh\necho 'no such host' >&2\nexit 7\n")
    launcher.chmod(0o755)
    words = ["pairwise", "-n", "2", "-S", "8", "-i", "6", "--launches", "1", "--mpi", "openmpi"]
    done = swapmeet("bench", *words, "--launcher", f"{launcher} {{ranks}}", "-o", str(tmp_path / "r"))
    assert done.returncode == 2
    assert "no such host" in done.stderr and "nothing was measured" in done.stderr
    assert not (tmp_path / "r").exists()
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("no-such-thing",), "no-such-thing"),
        (("-S", "8 apples"), "8 apples"),
        (("-n", "512", "-S", "1GiB"), "choose smaller blocks or fewer ranks"),
        (("-f",), "without --osu"),
        (("--launcher", "srun -n 4"), "{ranks}"),
        (("--resume", "/no/such/file"), "/no/such/file"),
    ],
)
def test_bad_options_are_refused_before_anything_starts(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    before = set(os.listdir())
    assert told in refused("bench", *words)
    assert set(os.listdir()) == before


def test_results_that_are_there_are_not_overwritten(measured: Path) -> None:
    assert "--resume" in refused("bench", "pairwise", "-o", str(measured))


@pytest.mark.parametrize(
    "text", ["", "what?\n", '{"type":"campaign","schema":99}\n', '{"type":"campaign","schema":1}\n{]\n{}\n']
)
@pytest.mark.parametrize("command", ["plot", "compare"])
def test_files_that_are_no_results_are_refused(tmp_path: Path, command: str, text: str) -> None:
    file = tmp_path / "bad"
    file.write_text(text)
    assert "bad" in refused(command, *[str(file)] * (2 if command == "compare" else 1))
