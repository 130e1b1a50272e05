"""What is printed of results: tables, and lines in the form of the OSU micro-benchmarks."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from swapmeet.measure.bench import osu, table
from swapmeet.measure.bench.campaign import WRONG
from swapmeet.measure.bench.cells import Cell
from swapmeet.measure.bench.records import Overlap
from swapmeet.measure.bench.results import Results, Writer, read

SMALL = Cell("fake 1.0", 4, "alltoall", "8")
LARGE = Cell("fake 1.0", 4, "alltoall", "4096")
UNEQUAL = Cell("fake 1.0", 4, "alltoallv", "uniform:max=1KiB", 7)
TIMES = {  # seconds in the median
    (SMALL, "native"): 4e-6, (SMALL, "pairwise"): 2e-6, (SMALL, "auto"): 4e-6,
    (LARGE, "native"): 1e-3, (LARGE, "pairwise"): 2e-3, (LARGE, "auto"): 1e-3,
    (UNEQUAL, "native"): 5e-6,
}  # fmt: skip


@pytest.fixture
def results(tmp_path: Path) -> Results:
    draw = np.random.default_rng(1)
    with Writer(tmp_path / "r", {"swapmeet": "0.1.0"}) as writer:
        for block in range(2):
            launch = writer.launch(
                block=block, mpi="fake 1.0", library="", ranks=4, nodes="", command=[], environment={}, started="",
                load=0,
            )  # fmt: skip
            for (cell, spec), time in TIMES.items():
                times = time * draw.lognormal(0, 0.003, 40)
                writer.samples(
                    launch, cell, spec, calls=10, round=0, longest=times, shortest=times / 2, mean=0.75 * times
                )
        writer.problem(0, LARGE, "pairwise", f"{WRONG}byte 3")
        writer.problem(None, None, None, "another MPI does not launch")
    return read(tmp_path / "r")


def printed(results: Results) -> str:
    text = io.StringIO()
    Console(file=text, width=200).print(*table.tables(results), sep="\n")
    return text.getvalue()


def test_the_table_says_what_is_faster(results: Results) -> None:
    lines = printed(results).splitlines()
    (row,) = [line for line in lines if "pairwise" in line and "2 (" in line]
    assert "2.00 (" in row and "faster" in row and "80 in 2" in row
    slower = [line for line in lines if "pairwise" in line and "0.50 (" in line]
    assert "slower" in slower[0]
    ties = [line for line in lines if "auto" in line and "tie" in line]
    assert len(ties) >= 2
    assert "1.00 (" in next(line for line in lines if "pairwise" in line and "cells" not in line and "P = 4" in line)
    assert "not measured: another MPI does not launch" in lines[-1]


def test_a_drift_is_marked(tmp_path: Path) -> None:
    with Writer(tmp_path / "r", {}) as writer:
        launch = writer.launch(
            block=0, mpi="fake 1.0", library="", ranks=4, nodes="", command=[], environment={}, started="", load=0
        )
        times = np.concatenate([np.full(50, 1e-6), np.full(50, 2e-6)]) * np.linspace(1, 1.01, 100)
        writer.samples(launch, SMALL, "native", calls=1, round=0, longest=times, shortest=times, mean=times)
    assert "changed by more than 5%" in printed(read(tmp_path / "r"))


def test_limits_stand_beside_the_times(tmp_path: Path, results: Results) -> None:
    assert "over limit" not in printed(results)
    with Writer(results.path, {}, resume=True) as writer:
        writer.limits(0, SMALL, {"memcpy": 1e-7, "memcpy-shared": 2e-7, "flag": 5e-7})
    (row,) = [line for line in printed(read(results.path)).splitlines() if "pairwise" in line and "2.00 (" in line]
    assert [word.strip() for word in row.split("│")][-5:-1] == ["0.1", "0.2", "0.5", "4.00"]


def test_overlap_by_the_definitions_of_others(tmp_path: Path, results: Results) -> None:
    """Three launches: medians. Alone 10 us, computing 8 us, both 12 us: OSU 1 - 4/10, IMB (10 + 8 - 12)/8."""
    assert "tests" not in printed(results)
    with Writer(results.path, {}, resume=True) as writer:
        for factor in (0.5, 1, 3):
            seconds = {"pure": 10, "computing": 8, "overlapped": 12, "start": 1, "tests": 0.5, "wait": 2.5}
            scaled = {name: factor * 1e-6 * value for name, value in seconds.items()}
            writer.overlap(0, SMALL, "pairwise", calls=10, tests=4, seconds=scaled)
    (row,) = [line for line in printed(read(results.path)).splitlines() if "pairwise" in line and "60%" in line]
    assert [word.strip() for word in row.split("│")][-10:-1] == [
        "pairwise",
        "4",
        "10",
        "1",
        "0.5",
        "2.5",
        "4",
        "60%",
        "75%",
    ]


def test_overlap_is_a_share(results: Results) -> None:
    seconds = {"pure": 1.0, "computing": 1.0, "overlapped": 3.0, "start": 0.0, "tests": 0.0, "wait": 0.0}
    worse = Overlap(0, SMALL, "pairwise", 1, 0, seconds)
    assert (worse.osu, worse.imb) == (0, 0)
    assert Overlap(0, SMALL, "pairwise", 1, 0, {**seconds, "overlapped": 0.9}).imb == 1


def test_osu_columns(results: Results) -> None:
    lines = list(osu.text(results, osu.Columns()))
    at = lines.index("# Swapmeet 0.1.0: pairwise; fake 1.0, 4 ranks")
    assert lines[at - 1] == "# OSU-compatible: MPI All-to-All Personalized Exchange Latency Test"
    assert lines[at + 1] == "# Datatype: MPI_CHAR."
    assert lines[at + 2].split() == ["#", "Size", "Avg", "Latency(us)"]
    rows = [line.split() for line in lines[at + 3 : at + 5]]
    assert [row[0] for row in rows] == ["8", "4096"]
    assert float(rows[0][1]) == pytest.approx(1.5, abs=0.02)
    assert len(lines[at + 3]) == osu.SIZE + osu.NUMBER


def test_osu_columns_in_full(results: Results) -> None:
    lines = list(osu.text(results, osu.Columns(True, True, osu.PERCENTILES)))
    at = lines.index("# Swapmeet 0.1.0: pairwise; fake 1.0, 4 ranks")
    rows = [line.split() for line in lines[at + 3 : at + 5]]
    _, average, least, most, calls, validation, *tails = rows[0]
    assert float(least) < float(average) < float(most)
    assert int(calls) == 800 and validation == "Pass" and rows[1][5] == "Fail"
    assert float(tails[0]) <= float(tails[1]) <= float(tails[2])


def test_osu_sizes_of_workloads(results: Results) -> None:
    lines = list(osu.text(results, osu.Columns()))
    at = lines.index("# OSU-compatible: MPI All-to-Allv Personalized Exchange Latency Test")
    size = int(next(line for line in lines[at:] if not line.startswith("#")).split()[0])
    assert 300 < size < 700
