"""Between what was measured: gains that follow laws which the tests know."""

from __future__ import annotations

import datetime
import itertools
import math
from pathlib import Path

import pytest
from plots.synthetic import write

from swapmeet import _core
from swapmeet.choose import file, fit, surface
from swapmeet.choose.rule import Rule
from swapmeet.measure.bench.results import read

pytest.importorskip("sklearn")

MPI = "openmpi 5.0.11"
SIZES, RANKS = (8, 64, 512, 4096, 32768), (4, 16, 64)
SPECS = ("bruck", "pairwise")


def crossing(ranks: int) -> float:
    """The size from which pairwise is the faster one."""
    return 75.0 * ranks


def gain(spec: str, ranks: int, size: float) -> float:
    away = (size / crossing(ranks)) ** 0.15
    return {"bruck": 2 / away, "pairwise": 2 * away}.get(spec, 1.0)


def law(spec: str, ranks: int, size: float) -> float:
    return 1e-5 / gain(spec, ranks, size)


def rules(path: Path) -> list[Rule]:
    return fit.rules([read(write(path / "r", specs=SPECS, sizes=SIZES, ranks=RANKS, law=law, noise=0.005))], MPI)


def within(value: int, bounds: tuple[int, int | None] | None) -> bool:
    return bounds is not None and bounds[0] <= value and (bounds[1] is None or value <= bounds[1])


def lost(some: list[Rule]) -> list[float]:
    """On all ranks and on sizes that were not measured."""
    found = []
    for ranks, size in itertools.product(range(4, 65, 3), (12, 30, 100, 200, 300, 700, 1500, 3000, 9000, 20000)):
        (spec,) = (rule.spec for rule in some if within(ranks, rule.ranks) and within(size, rule.bytes))
        best = max(gain(candidate, ranks, size) for candidate in (*SPECS, "native"))
        found.append(best / gain(spec, ranks, size) - 1)
    return found


def test_boundaries_are_where_the_law_has_them(tmp_path: Path) -> None:
    found = rules(tmp_path)
    assert all("by a fit" in rule.evidence for rule in found)
    for ranks in RANKS:
        (edge,) = (rule.bytes[1] for rule in found if within(ranks, rule.ranks) and rule.spec == "bruck" and rule.bytes)
        assert edge and abs(math.log2(edge / crossing(ranks))) < 0.5, ranks
    page = file.text(found, MPI, "m, 4 cores", ["r"], f"{datetime.date(2026, 1, 2)}")
    assert len(_core.parse_tuning(page).rules) == len(found)


def test_a_fit_loses_less_than_the_nearest_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_fit = lost(rules(tmp_path))
    monkeypatch.setattr(fit, "fitted", lambda rows: None)
    by_nearest = lost(rules(tmp_path))
    assert sum(by_fit) < 0.6 * sum(by_nearest) and max(by_fit) <= max(by_nearest)


def test_without_the_library_or_with_little_data_there_is_no_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = fit.rules([read(write(tmp_path / "few", specs=SPECS, sizes=SIZES[:2], law=law))], MPI)
    assert few and not any("fit" in rule.evidence for rule in few)

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(surface.importlib, "import_module", missing)
    assert not any("fit" in rule.evidence for rule in rules(tmp_path))


def test_a_fit_that_guesses_no_better_is_not_used(tmp_path: Path) -> None:
    """One spec is the best everywhere: nothing is to be gained."""
    path = write(
        tmp_path / "r", specs=SPECS, sizes=SIZES, ranks=RANKS, law=lambda s, p, b: 1e-5 / (2 if s == "bruck" else 1)
    )
    found = fit.rules([read(path)], MPI)
    assert {rule.spec for rule in found} == {"bruck"} and not any("fit" in rule.evidence for rule in found)
