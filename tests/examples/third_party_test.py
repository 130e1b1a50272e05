"""examples/applications: descriptions are consistent, and answers are told from what changes from run to run."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swapmeet import SwapmeetError
from swapmeet.mpi import mpis
from swapmeet.specs import parse_spec

FOLDER = Path(__file__).parents[2] / "examples" / "applications"
PAGE = FOLDER.parents[1] / "docs" / "applications.md"
RESULTS = FOLDER.parents[1] / "docs" / "measurements" / "applications.jsonl"
sys.path.insert(0, str(FOLDER))

import answers  # noqa: E402
import results  # noqa: E402
from configurations import CONFIGURATIONS  # noqa: E402
from registry import Application, all_applications, load  # noqa: E402
from runs import Run  # noqa: E402

APPLICATIONS = {application.folder.name: application for application in all_applications()}


@pytest.mark.parametrize("application", APPLICATIONS.values(), ids=APPLICATIONS)
def test_descriptions_are_complete(application: Application) -> None:
    assert application.command and application.packages and application.about and application.why
    assert application.mpi in mpis.NAMES
    unused = {file.name for file in application.folder.iterdir()} - {"application.json", *application.inputs}
    assert not unused - {"__pycache__"}


def test_every_algorithm_is_known() -> None:
    for configuration in CONFIGURATIONS:
        if configuration.algorithm not in (None, "auto"):
            parse_spec(configuration.algorithm, "CONFIGURATIONS")
    names = [configuration.name for configuration in CONFIGURATIONS]
    assert len(set(names)) == len(names)
    assert [configuration.algorithm for configuration in CONFIGURATIONS[:2]] == [None, None], "is it repeatable?"


@pytest.mark.parametrize(
    "change, problem",
    [
        ({"answer": {"file": "-", "keep": ["("]}}, "answer: \\(:"),
        ({"inputs": ["nothing.inp"]}, "there is no nothing.inp"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_mistakes_in_descriptions_are_told(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    right = {
        "name": "one", "about": "two", "packages": ["three"], "inputs": [], "command": ["four"],
        "answer": {"file": "-"}, "tolerance": 0, "why": "five",
    }  # fmt: skip
    file = tmp_path / "application.json"
    file.write_text(json.dumps(right))
    assert load(file).ranks == 4
    file.write_text(json.dumps({**right, **change}))
    with pytest.raises(SwapmeetError, match=problem):
        load(file)
    with pytest.raises(SwapmeetError, match="no application is called abinot: there are abinit"):
        all_applications(["abinot"])


#: What Debian's programs printed: (what may change and what it may become, what must not change and what it became).
RECORDED = {
    "abinit": (
        " ETOT  8  -8.8674856404734    -6.750E-14 7.403E-10 4.979E-15\n"
        "           etotal     -8.8674856405E+00\n"
        "+Overall time at end (sec) : cpu=          1.1  wall=          1.3\n Calculation completed.\n",
        ("1.3", "2.4"),
        ("04734 ", "04735 "),
    ),
    "hpcc": (
        "Success=1\nHPL_Tflops=0.000316\nPTRANS_residual=0\nMPIFFT_maxErr=8.69254e-16\nMPIFFT_Gflops=0.03\n"
        "End of Summary section.\n",
        ("=0.03", "=0.04"),
        ("8.69254e-16", "8.69255e-16"),
    ),
    "cp2k": (
        " ENERGY| Total FORCE_EVAL ( QS ) energy [a.u.]:              -17.157461929287653\n"
        " CP2K                                 1  1.0    0.012    0.036    5.361    5.371\n"
        "  **** **** ******  **  PROGRAM ENDED AT                 2026-11-22 22:50:01.123\n",
        ("5.371", "6.002"),
        ("287653", "287654"),
    ),
    "quantum_espresso": (
        "     init_run     :      0.05s CPU      0.06s WALL (       1 calls)\n"
        "!    total energy              =     -15.79441843 Ry\n   JOB DONE.\n",
        ("0.06s", "1.17s"),
        ("41843", "41844"),
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_times_are_no_answer_and_digits_are(tmp_path: Path, name: str) -> None:
    text, time, digit = RECORDED[name]
    application = APPLICATIONS[name]

    def extracted(output: str) -> str:
        if application.answer.file != "-":
            (tmp_path / application.answer.file).write_text(output)
        return answers.extracted(application, tmp_path, output)

    plain = extracted(text)
    assert text.count(time[0]) == text.count(digit[0]) == 1
    assert answers.verdict(plain, extracted(text.replace(*time)), 0) == (True, "identical")
    same, how = answers.verdict(plain, extracted(text.replace(*digit)), application.tolerance)
    assert not same and how.startswith("DIFFERENT")
    with pytest.raises(SwapmeetError, match="is an answer"):
        extracted(text.splitlines()[0])


def test_bytes_are_compared_as_they_are(tmp_path: Path) -> None:
    fftw = APPLICATIONS["fftw"]
    (tmp_path / fftw.answer.file).write_bytes(bytes(range(256)))
    first = answers.extracted(fftw, tmp_path, "")
    (tmp_path / fftw.answer.file).write_bytes(bytes([*range(255), 0]))
    second = answers.extracted(fftw, tmp_path, "")
    assert answers.verdict(first, second, 0) == (False, "DIFFERENT: byte 255 of 256 and 256")
    with pytest.raises(SwapmeetError, match="left no answer.bin"):
        answers.extracted(fftw, tmp_path / "elsewhere", "")


def test_a_tolerance_is_of_numbers_only() -> None:
    assert answers.verdict("energy -1.0D+00\n", "energy -1.000000001D+00\n", 1e-8) == (True, "within 1e-09")
    assert not answers.verdict("energy -1.0D+00\n", "energy -1.0000001D+00\n", 1e-8)[0]
    assert not answers.verdict("energy 1.0\n", "Energy 1.0\n", 1e-8)[0]
    assert not answers.verdict("1.0 2.0\n", "1.0\n", 1e-8)[0]


def test_results_say_what_was_served_and_what_differs(tmp_path: Path) -> None:
    rows = [
        {"collective": "Alltoall", "algorithm": "native", "calls": 8, "bytes_sent": 80,
         "calls_by_mean_block": {"8": 8}},
        {"collective": "Alltoall", "algorithm": "pairwise", "calls": 2, "bytes_sent": 9000,
         "calls_by_mean_block": {"64": 0, "1024": 2}},
    ]  # fmt: skip
    runs = [
        (configuration, Run("1.5", 2.0, rows if configuration.algorithm else [])) for configuration in CONFIGURATIONS
    ]
    runs[-1] = (runs[-1][0], replace(runs[-1][1], answer="1.6"))
    record = results.record(APPLICATIONS["lammps"], "openmpi 4.1.4", runs)
    assert [entry["same"] for entry in record["runs"]] == [True] * (len(runs) - 1) + [False]
    assert not results.all_right(record)
    table = results.markdown([record])
    assert "10 Alltoall of 8 B to 1 KiB" in table and "yes (2)" in table and "DIFFERENT by 6e-02" in table
    file = tmp_path / "results.jsonl"
    results.write(file, record)
    results.write(file, results.left_out(APPLICATIONS["gpaw"], "not installed: gpaw"))
    assert [record["application"] for record in results.read(file)] == ["gpaw", "lammps"]
    assert "not installed: gpaw" in results.markdown(results.read(file))


def test_the_page_shows_the_results() -> None:
    records = results.read(RESULTS)
    assert results.document(PAGE.read_text(), records) == PAGE.read_text()
    assert {record["application"] for record in records} == set(APPLICATIONS)


def drive(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, FOLDER / "driver.py", *map(str, words)], capture_output=True, text=True)


def test_the_driver_refuses_what_it_does_not_know() -> None:
    done = drive("--packages")
    assert done.returncode == 0 and "libfftw3-mpi-dev" in done.stdout.split()
    done = drive("fftww")
    assert done.returncode == 2 and done.stderr.startswith("driver.py: no application is called fftww")


def run_for_real(application: Application, tmp_path: Path) -> list[Any]:
    missing = application.missing()
    if missing:
        pytest.skip(f"not installed: {' '.join(missing)}")
    done = drive(application.folder.name, "--results", tmp_path / "results.jsonl")
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = results.read(tmp_path / "results.jsonl")
    runs: list[Any] = record["runs"]
    return runs


def served(entry: Any) -> int:
    return sum(calls["served"] for calls in entry["calls"].values())


@pytest.mark.other_mpi
def test_transposes_of_fftw(tmp_path: Path) -> None:
    runs = run_for_real(APPLICATIONS["fftw"], tmp_path)
    for entry in runs:
        assert entry["same"]
        if entry["with_library"] and entry["configuration"] != "auto":
            assert served(entry) == 22, "of which half are Alltoallv"


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(APPLICATIONS) - {"fftw"}))
def test_other_applications(tmp_path: Path, name: str) -> None:
    runs = run_for_real(APPLICATIONS[name], tmp_path)
    assert sum(served(entry) for entry in runs) > 0
