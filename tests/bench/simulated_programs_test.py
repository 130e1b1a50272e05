"""Programs under the automatic choice on simulated machines: benchmarks/programs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from swapmeet import _core

FOLDER = Path(__file__).parents[2] / "benchmarks" / "programs"


@pytest.fixture(scope="module")
def programs() -> ModuleType:
    """The benchmark as a module."""
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("programs", FOLDER / "__main__.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules["programs"] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


def test_the_page_is_what_the_library_does_now(programs: ModuleType) -> None:
    made = (programs.DOCS / "programs.md").read_text().partition(programs.BEGIN)[2].partition(programs.END)[0]
    cells = programs.read(programs.FILE)
    tables, _, applications = made.partition("\n\nApplications:\n\n")
    assert programs.contents(list(map(programs.outcome, cells))) == tables.strip()
    assert programs.applications(programs.APPLICATIONS) == applications.strip()


@pytest.mark.parametrize(
    ("collective", "per_node", "most_first", "most_second", "worst_second"),
    [("alltoall", 8, 0.055, 0.015, 0.065), ("alltoall", 64, 0.085, 0.03, 0.065), ("alltoallv", 8, 0.11, 0.055, 0.12)],
)
def test_the_second_run_loses_less(
    programs: ModuleType, collective: str, per_node: int, most_first: float, most_second: float, worst_second: float
) -> None:
    cells = [one for one in programs.read(programs.FILE) if (one.collective, one.per_node) == (collective, per_node)]
    found = list(map(programs.outcome, cells))
    first = [one.lost(one.first_us) for one in found]
    second = [one.lost(one.second_us) for one in found]
    assert sum(first) / len(first) < most_first and sum(second) / len(second) < most_second
    assert max(second) < worst_second
    assert min(one.peer_us / one.first_us for one in found) >= 0.9
    assert min(one.peer_us / one.second_us for one in found) >= 0.97


def test_a_program_of_one_call_is_left_to_the_host(programs: ModuleType) -> None:
    cell, network = programs.read(programs.FILE)[0], _core.MeasuredNetwork(2.0)
    run = programs.Program(cell.calls, lambda spec: 1e-6 * cell.times_us[spec], 1e-5, network).run(1)
    assert run.chosen == "native" and run.trials == 0
    assert run.seconds == pytest.approx(1e-6 * cell.times_us["native"])
    assert _core.SetupPolicy.first_calls == 6


@pytest.mark.parametrize("wrong", ["a slow spec is fast", "the host MPI is slow", "all of ours are slow"])
def test_a_store_that_is_wrong_is_found_out_after_250_calls(programs: ModuleType, wrong: str) -> None:
    """Times a hundredth of what is true, or a hundred times that, of a hundred calls each."""
    calls = 2000
    for cell in programs.read(programs.FILE):
        if cell.collective != "alltoall" or (cell.ranks, cell.mean_bytes) not in ((64, 64), (128, 8), (64, 32768)):
            continue
        times_us = {spec: time for spec, time in cell.times_us.items() if not spec.startswith("native:")}
        slowest = max(times_us, key=lambda spec: times_us[spec])
        kind = _core.CallKind(_core.Collective.alltoall, cell.ranks, cell.mean_bytes, str(cell.per_node))
        factors = {
            "a slow spec is fast": {"native": 1.0, slowest: 0.01},
            "the host MPI is slow": {"native": 100.0, slowest: 1.0},
            "all of ours are slow": {spec: 1.0 if spec == "native" else 100.0 for spec in times_us},
        }[wrong]
        poison = [
            _core.Evidence(kind, _core.parse_spec(spec), 100, 1e-6 * factor * times_us[spec], 0, date=1_750_000_000)
            for spec, factor in factors.items()
        ]

        def call_s(spec: str, times_us: dict[str, float] = times_us, slowest: str = slowest) -> float:
            return 1e-6 * times_us.get(spec, times_us[slowest])

        program = programs.Program(
            cell.calls, call_s, 1e-6 * cell.collective_us, _core.MeasuredNetwork(*cell.network), poison
        )
        most_us = (calls - 250) * times_us["native"] + 250 * times_us[slowest]
        assert 1e6 * program.run(calls).seconds < 1.05 * most_us, cell.key
