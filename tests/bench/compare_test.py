"""Two results files: what changed is found, noise is not, and what is not known is said."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from swapmeet.measure.bench.cells import Cell
from swapmeet.measure.bench.compare import Comparison, as_json, compare, plain, table
from swapmeet.measure.bench.results import Results, Writer, read

MACHINE = {"host": "node1", "processor": "A [x86]", "cores": 64, "memory_bytes": 1, "kernel": "6.1"}
SPECS = ("native", "tra(r=2)", "tra(r=16)")
CELLS = [Cell("mpich 5.0.2", 8, "alltoall", str(2**i)) for i in range(10)]
Measure = Callable[..., Results]


@pytest.fixture
def measure(tmp_path: Path) -> Measure:
    """A campaign whose launches differ by 1 % and whose samples by 5 %; `factors` slows some of it down."""

    def measure(
        seed: int,
        factors: Mapping[tuple[Cell, str], float] | None = None,
        launches: int = 5,
        cells: list[Cell] = CELLS,
        machine: Mapping[str, object] = MACHINE,
        mpi: str = "mpich 5.0.2",
    ) -> Results:
        random = np.random.default_rng(seed)
        path = tmp_path / f"{seed}.jsonl"
        header = {"swapmeet": "0.1.0", "commit": "abc", "machine": machine, "options": {}}
        with Writer(path, header) as writer:
            for block in range(launches):
                number = writer.launch(
                    block=block,
                    mpi=mpi,
                    library="/lib/libmpi.so",
                    ranks=8,
                    nodes="",
                    command=["mpirun"],
                    environment={},
                    started="",
                    load=0,
                )
                for cell in cells:
                    for spec in SPECS:
                        scale = 1e-5 * (factors or {}).get((cell, spec), 1) * np.exp(random.normal(0, 0.01))
                        times = scale * np.exp(random.normal(0, 0.05, 30))
                        writer.samples(
                            number, cell, spec, calls=10, round=0, longest=times, shortest=times / 2, mean=times
                        )
        return read(path)

    return measure


def screen(comparison: Comparison, everything: bool = False, width: int = 160) -> str:
    console = Console(file=io.StringIO(), width=width)
    for part in table(comparison, everything):
        console.print(part)
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def test_what_changed_is_found(measure: Measure) -> None:
    slower, faster = (CELLS[3], "tra(r=16)"), (CELLS[7], "native")
    found = compare(measure(1), measure(2, {slower: 1.3, faster: 0.8}))
    assert {(c.cell, c.spec): c.verdict for c in found.changes if c.verdict != "within noise"} == {
        slower: "slower",
        faster: "faster",
    }
    assert len(found.changes) == 30
    assert found.changed_for_worse
    assert not found.warnings
    (worse,) = (change for change in found.changes if change.verdict == "slower")
    assert worse.speedup.low < 1 / 1.3 < worse.speedup.high
    assert worse.before.value == pytest.approx(1e-5, rel=0.05)
    text = screen(found)
    assert text.count("tra(r=16)") == 1
    assert text.index("slower") < text.index("faster")
    assert "1 slower, 1 faster, 28 within noise, of 30" in text
    assert screen(found, everything=True).count("within noise") == 29


def test_what_became_faster_is_no_change_for_the_worse(measure: Measure) -> None:
    found = compare(measure(1), measure(2, {(CELLS[0], "native"): 0.5}))
    assert [change.verdict for change in found.changes].count("faster") == 1
    assert not found.changed_for_worse


def test_noise_is_no_change(measure: Measure) -> None:
    """Of twenty pairs of equal campaigns with 30 cells each, one in twenty may name anything."""
    named = 0
    for seed in range(0, 40, 2):
        found = compare(measure(seed, launches=3, cells=CELLS[:3]), measure(seed + 1, launches=3, cells=CELLS[:3]), 0)
        named += any(change.verdict != "within noise" for change in found.changes)
    assert named <= stats.binom.ppf(1 - 1e-4, 20, 0.05)


def test_changes_below_the_threshold_do_not_count(measure: Measure) -> None:
    every = {(cell, spec): 1.3 for cell in CELLS for spec in SPECS}
    before, after = measure(1), measure(2, every)
    assert compare(before, after, tie=0.01).changed_for_worse
    assert not compare(before, after, tie=0.5).changed_for_worse
    overall = compare(before, after).overall
    assert overall is not None
    assert overall.low < 1 / 1.3 < overall.high


def test_the_same_file_twice(measure: Measure) -> None:
    results = measure(1)
    found = compare(results, results)
    assert {change.speedup.value for change in found.changes} == {1.0}
    assert not found.changed_for_worse


def test_one_launch_is_not_judged(measure: Measure) -> None:
    every = {(cell, spec): 2.0 for cell in CELLS for spec in SPECS}
    found = compare(measure(1, launches=1), measure(2, every, launches=1))
    assert {change.verdict for change in found.changes} == {"one launch"}
    assert not found.changed_for_worse
    assert "measure with more launches" in screen(found)
    half = compare(measure(3, launches=4), measure(4, every, launches=1))  # launches differ as they did before
    assert {change.verdict for change in half.changes} == {"slower"}


def test_cells_in_one_file_only(measure: Measure) -> None:
    found = compare(measure(1, cells=CELLS[:2]), measure(2, cells=CELLS[1:4]))
    assert {cell for cell, _ in found.only_before} == {CELLS[0]}
    assert {cell for cell, _ in found.only_after} == {CELLS[2], CELLS[3]}
    text = " ".join(screen(found).split())
    assert "only before: native on mpich 5.0.2, P = 8, alltoall, 1 B" in text
    assert "and 3 more" in text


def test_nothing_in_common(measure: Measure) -> None:
    found = compare(measure(1, cells=CELLS[:1]), measure(2, cells=CELLS[1:2]))
    assert found.overall is None
    assert not found.changed_for_worse
    assert "Nothing was measured in both files" in screen(found)
    json.dumps(as_json(found), allow_nan=False)


def test_other_circumstances_are_told_first(measure: Measure) -> None:
    found = compare(measure(1), measure(2, machine={**MACHINE, "processor": "B [arm]"}, mpi="openmpi 5.0.11"))
    assert found.warnings == [
        "processor differs: A [x86] before, B [arm] after",
        "MPI differs: mpich 5.0.2 before, openmpi 5.0.11 after",
    ]
    first, second, *_ = screen(found).splitlines()
    assert first == "warning: processor differs: A [x86] before, B [arm] after"
    assert second.startswith("warning: MPI differs")


def test_versions_of_one_mpi_are_compared(measure: Measure) -> None:
    newer = Cell("mpich 5.0.3", 8, "alltoall", "1")
    found = compare(measure(1, cells=CELLS[:2]), measure(2, cells=[newer], mpi="mpich 5.0.3"))
    assert {change.cell for change in found.changes} == {CELLS[0]}
    assert found.warnings == ["MPI differs: mpich 5.0.2 before, mpich 5.0.3 after"]
    other = Cell("openmpi 5.0.11", 8, "alltoall", "1")
    assert not compare(measure(3, cells=CELLS[:2]), measure(4, cells=[other])).changes


def test_for_machines(measure: Measure) -> None:
    found = compare(measure(1, launches=1), measure(2, {(CELLS[3], "native"): 3.0}, launches=1))
    data = json.loads(json.dumps(as_json(found), allow_nan=False))
    assert data["changed_for_worse"] is False
    assert data["changes"][0]["speedup"]["high"] is None
    assert data["changes"][0]["cell"]["ranks"] == 8
    header, *lines = plain(found)
    assert header.startswith("# verdict\tspeedup")
    assert len(lines) == 30
    assert all(len(line.split("\t")) == 8 for line in lines)


def test_the_table_fits_a_terminal(measure: Measure) -> None:
    found = compare(measure(1), measure(2, {(CELLS[3], "tra(r=16)"): 1.3}))
    text = screen(found, width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "slower" in text
