"""`swapmeet profile` as a user would run it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from cli.command import swapmeet
from recordings import END, communicator, exchange, header, skewed, total, write

from swapmeet.mpi import mpis

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parents[1] / "mpi" / "programs"


def profile(*words: str | Path, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    return swapmeet("profile", *words, timeout=timeout)


def refused(*words: str | Path) -> str:
    done = profile(*words)
    assert (done.returncode, done.stdout) == (2, ""), done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    return line


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/record.c for Open MPI."""
    output = tmp_path_factory.mktemp("programs") / "record"
    subprocess.run([mpis.find("openmpi").mpicc, PROGRAMS / "record.c", "-O1", "-o", output], check=True)
    return output


def test_run_replay_and_advice(program: Path, tmp_path: Path) -> None:
    """An Alltoall, an Alltoallv of equal and one of unequal blocks, on an odd number of ranks."""
    page = tmp_path / "page.json"
    words = ["-n", "3", "--candidates", "pairwise", "--budget", "3s", "-o", page, "--keep", tmp_path / "kept"]
    done = profile(*words, "--", program, "alternate=100", "skew=4096")
    assert done.returncode == 0, done.stderr
    assert "3 ranks, Open MPI" in done.stdout
    assert done.stdout.splitlines()[-1].split(":")[0] in (
        "Worth it",
        "Not worth it",
        "Hardly worth it",
        "Not decided",
    )
    found = json.loads(page.read_text())
    kinds = {kind["collective"]: (kind["calls"], kind["block_bytes"]) for kind in found["kinds"]}
    assert kinds == {"alltoall": (100, [8, 8, 8]), "alltoallv": (101, [16, 32, 12288])}
    assert found["replayed"]
    assert all(set(one["candidates"]) == {"pairwise"} for one in found["replayed"])
    assert (tmp_path / "kept" / "samples.jsonl").exists()
    again = profile("--from", tmp_path / "kept" / "recording", "--no-replay")
    assert again.returncode == 0
    assert "MPI_Alltoallv" in again.stdout


def test_sizes_that_differ_are_replayed_as_they_were(program: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.json"
    words = ["-n", "2", "--candidates", "pairwise", "--budget", "1s", "-o", page]
    done = profile(*words, "--", program, *(["skew=65536"] * 5))
    assert done.returncode == 0, done.stderr
    (one,) = json.loads(page.read_text())["replayed"]
    assert one["bytes"] == {"least": 65536, "mean": 98304.0, "most": 131072}
    assert one["calls"] == 5


def test_the_status_of_a_program_that_fails_is_passed_on(program: Path) -> None:
    done = profile("-n", "2", "--no-replay", "--", program, "skew=8", "abort=1")
    assert done.returncode == 7, done.stderr
    assert "MPI_Alltoallv" in done.stdout
    assert "what was recorded follows" in done.stderr


def test_a_program_without_an_all_to_all(program: Path) -> None:
    done = profile("-n", "2", "--", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "No all-to-all was called by 2 processes that used MPI: nothing to gain.\n"


def test_from_files(tmp_path: Path) -> None:
    page = tmp_path / "page.json"
    (tmp_path / "run").mkdir()
    folder = skewed(tmp_path / "run")
    done = profile("--no-replay", "-o", page, "--from", folder / "0.jsonl", folder / "1.jsonl")
    assert done.returncode == 0, done.stderr
    assert "in all-to-alls 120 ms of a rank: 12 %" in done.stdout
    found = json.loads(page.read_text())
    assert [kind["seconds"] for kind in found["kinds"]] == pytest.approx([0.09, 0.03])


def test_a_recording_without_an_all_to_all(tmp_path: Path) -> None:
    (tmp_path / "unused-1").write_text(json.dumps(header(None, None)) + "\n")
    done = profile("--from", tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("No all-to-all was called by 1 processes")


def test_ranks_that_are_missing_are_said(tmp_path: Path) -> None:
    lines = [communicator(0, [0, 1], "0.0"), exchange(0, 0, 8), total(0, 1, 1), END]
    done = profile("--no-replay", "--from", write(tmp_path, {1: lines}, 2))
    assert done.returncode == 0
    assert "note: of 2 ranks, 1 left no recording: 0" in done.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["-n", "2"], "what is to be profiled?"),
        (["--", "app"], "what is to be profiled?"),
        (["-n", "2", "--", "no-such-program"], "no-such-program is no program"),
        (["--from", "/nowhere"], "/nowhere: No such file"),
        (["--from", __file__], "was not written by SWAPMEET_RECORD"),
        (["-n", "2", "--from", "/tmp"], "leave one out"),
        (["-n", "2", "--candidates", "pairwize", "--", "true"], 'did you mean "pairwise"?'),
        (["-n", "2", "--budget", "soon", "--", "true"], '--budget "soon"'),
        (["-n", "2", "--launcher", "srun", "--", "true"], "does not contain {ranks}"),
        (["-n", "2", "-o", "/proc/nowhere/page.json", "--", "true"], "/proc/nowhere/page.json: No such file"),
        (["-n", "2", "--keep", "a folder", "--", "true"], "blanks"),
        (["-n", "2", "--mpi", "lam", "--", "true"], 'no MPI is called "lam"'),
    ],
)
def test_bad_input(words: list[str], complaint: str) -> None:
    assert complaint in refused(*words)


def test_a_program_that_is_not_mpis() -> None:
    assert "left no recording" in refused("-n", "2", "--mpi", "openmpi", "--", "true")
