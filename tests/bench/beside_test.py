"""benchmarks/beside: speed-ups are of the right direction, and the pages show the data."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "beside"


@pytest.fixture(scope="module")
def pages() -> Any:
    spec = importlib.util.spec_from_file_location("beside_pages", FOLDER / "pages.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["beside_pages"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def line(**fields: object) -> dict[str, object]:
    where = {"page": "direct", "mpi": "mpich 5.0.2", "ranks": 2, "spec": "pairwise", "size": "8"}
    return where | {"ours_us": [1.0, 1.1, 0.9] * 5, "base_us": [2.0, 2.2, 1.8] * 5} | fields


def test_above_one_is_faster(pages: Any) -> None:
    value, low, high = pages.Cell.of(line()).speedup
    assert value == 2 and 1 < low <= value <= high < 3
    kept = pages.Cell.of(line(speedup=[0.5, 0.4, 0.6], ours_us=[]))
    assert kept.speedup == (0.5, 0.4, 0.6)
    assert pages.interval(kept.speedup) == "0.50 (0.40-0.60)"
    assert pages.number(0.0058) == "0.0058"


def test_the_later_line_of_a_cell_counts(pages: Any, tmp_path: Path) -> None:
    import json

    file = tmp_path / "lines"
    lines = [line(speedup=[1, 1, 1]), line(speedup=[3, 2, 4]), line(size="64", speedup=[0.5, 0.4, 0.6])]
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))
    cells = pages.read(file)
    assert [cell.speedup[0] for cell in cells] == [3, 0.5]
    table = pages.contents("direct", cells)
    assert "| mpich 5.0.2 | 2 | pairwise | 3.00 (2.00-4.00) | 0.50 (0.40-0.60) |" in table
    assert "| all sizes | 1.75 |" in table and "the least is 0.50 (mpich 5.0.2, P = 2, `pairwise`, 64 B)" in table


def test_the_pages_show_the_data(pages: Any) -> None:
    made = dict(pages.documents(pages.FILE))
    assert {path.name for path in made} == {"direct.md", "bruck.md", "varying.md"}
    for path, text in made.items():
        assert path.read_text() == text, path
