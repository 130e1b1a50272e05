"""What a campaign does with launches that behave and that do not; launches are stood in for."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from swapmeet.measure.bench import campaign as campaigns
from swapmeet.measure.bench.campaign import Campaign, Settings
from swapmeet.measure.bench.cells import OVERLAP, Cell
from swapmeet.measure.bench.results import Results, Writer, read
from swapmeet.measure.bench.session import LaunchFailed, Ran, Refused, Sample, WrongData

MPI: Any = SimpleNamespace(name="fake", kind="fake", version="1.0", libmpi=None)
OTHER: Any = SimpleNamespace(name="other", kind="other", version="2.0", libmpi=None)
EXCHANGES = tuple(("alltoall", size, 0, "byte") for size in ("8", "64", "512"))


class FakeSession:
    """Answers as a launch would, at once; `events` holds what it was asked."""

    events: list[tuple[Any, ...]] = []
    disturb: Callable[..., None] = staticmethod(lambda *_: None)  #: may raise
    noise = 0.001
    clock = 0.0

    def __init__(self, target: Any, ranks: int, **options: Any) -> None:
        self.target, self.ranks, self.specs = target, ranks, list[str]()
        self.command, self.environment, self.description = ["mpirun"], {"SWAPMEET_STATS": "0"}, {"cores": "2"}
        self.cell: Cell | None = None
        self.draw = random.Random(1)

    def ask(self, *event: Any) -> None:
        self.events.append((self.target.name, self.ranks, *event))
        type(self).disturb(self, *event)

    def __enter__(self) -> FakeSession:
        self.ask("launch")
        return self

    def __exit__(self, *_: object) -> None:
        self.events.append((self.target.name, self.ranks, "end"))

    def call(self, cell: Cell) -> None:
        self.cell = cell
        self.ask("call", cell)

    def candidate(self, spec: str) -> int:
        self.ask("candidate", spec)
        if spec not in self.specs:
            self.specs.append(spec)
        return self.specs.index(spec)

    def check(self, candidate: int) -> None:
        self.ask("check", self.specs[candidate])

    def ran(self, candidate: int) -> Ran:
        return Ran(self.specs[candidate], "")

    def seconds(self, candidate: int) -> float:
        return 1e-3

    def batch(self, seconds: float, least_s: float = 2e-3) -> int:
        return 2

    def measure(self, batches: Sequence[tuple[int, int]]) -> list[Sample]:
        self.ask("measure", [self.specs[candidate] for candidate, _ in batches])
        samples = []
        for candidate, calls in batches:
            time = 1e-3 / (1 + candidate) * self.draw.lognormvariate(0, self.noise)
            type(self).clock += calls * time
            samples.append(Sample(time, 0.5 * time, 0.7 * time))
        return samples

    def phases(self, candidate: int, calls: int) -> dict[str, list[float]]:
        return {"wait": [1e-3] * self.ranks}

    def overlap(self, candidate: int, calls: int, tests: int) -> dict[str, float]:
        self.ask("overlap", (self.specs[candidate], calls, tests))
        return dict.fromkeys(OVERLAP, 1e-6)

    def limits(self) -> dict[str, float]:
        return {"memcpy": 1e-6}


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FakeSession]]:
    kind = type("Fresh", (FakeSession,), {"events": []})
    monkeypatch.setattr(campaigns, "Session", kind)
    yield kind


class Told:
    def __init__(self) -> None:
        self.visits = self.over = 0
        self.problems: list[str] = []

    def begin(self, visits: int) -> None:
        self.visits = visits

    def visit(self, cell: Cell, fraction: float) -> None:
        assert 0 <= fraction <= 1

    def done(self) -> None:
        self.over += 1

    def problem(self, message: str) -> None:
        self.problems.append(message)


def settings(**changes: Any) -> Settings:
    standard: dict[str, Any] = {
        "targets": (MPI,), "ranks": (4,), "patterns": ("pairwise", "tra(r=2:3)"), "exchanges": EXCHANGES,
        "launches": 2, "least": 10, "most": 40,
    }  # fmt: skip
    return Settings(**{**standard, **changes})


def run(file: Path, chosen: Settings, resume: bool = False, clock: Callable[[], float] = lambda: 0) -> Told:
    told = Told()
    with Writer(file, {"options": {}}, resume) as writer:
        Campaign(chosen, writer, told, clock).run()
    return told


def taken(results: Results) -> dict[tuple[str, str], list[int]]:
    return {
        (cell.sizes, spec): [len(run.longest) for run in results.samples(cell, spec)]
        for cell in results.cells()
        for spec in results.specs(cell)
    }


SPECS = ("native", "pairwise", "tra(r=2)", "tra(r=3)")


def test_everything_is_measured_side_by_side(tmp_path: Path, fake: type[FakeSession]) -> None:
    told = run(tmp_path / "r", settings())
    assert (told.visits, told.over, told.problems) == (6, 6, [])
    results = read(tmp_path / "r")
    assert set(taken(results)) == set(itertools.product(("8", "64", "512"), SPECS))
    assert all(len(counts) == 2 and min(counts) >= 10 for counts in taken(results).values())
    assert set(results.finished.values()) == {"converged"}
    for event in fake.events:
        if event[2] != "measure":
            continue
        rounds = [sorted(event[3][i : i + 4]) for i in range(0, len(event[3]), 4)]
        assert all(one == sorted(SPECS) for one in rounds)  # each takes its turn in every round
    orders = {tuple(event[3][:4]) for event in fake.events if event[2] == "measure"}
    assert len(orders) > 3


def test_orders_differ_from_block_to_block_and_can_be_repeated(tmp_path: Path, fake: type[FakeSession]) -> None:
    run(tmp_path / "a", settings(launches=8))
    order = [event[3].sizes for event in fake.events if event[2] == "call"]
    assert len({tuple(order[i : i + 3]) for i in range(0, 24, 3)}) > 2
    again = list(fake.events)
    fake.events.clear()
    run(tmp_path / "b", settings(launches=8))
    assert fake.events == again


def test_what_is_not_known_well_enough_is_measured_longer(tmp_path: Path, fake: type[FakeSession]) -> None:
    fake.noise = 1.0
    run(tmp_path / "r", settings())
    results = read(tmp_path / "r")
    assert {count for counts in taken(results).values() for count in counts} == {40}
    assert set(results.finished.values()) == {"samples"}


def test_a_budget_is_shared_by_all_cells(tmp_path: Path, fake: type[FakeSession]) -> None:
    fake.noise, budget = 1.0, 1.0
    told = run(tmp_path / "r", settings(budget_s=budget, most=10**5), clock=lambda: fake.clock)
    results = read(tmp_path / "r")
    assert told.over == 6 and len(taken(results)) == 12
    assert 0.7 * budget < fake.clock < 1.5 * budget
    assert set(results.finished.values()) == {"budget"}
    counts = [count for counts in taken(results).values() for count in counts]
    assert max(counts) < 4 * min(counts)


def test_a_budget_that_is_spent_still_gives_every_cell_an_interval(tmp_path: Path, fake: type[FakeSession]) -> None:
    fake.noise = 1.0
    run(tmp_path / "r", settings(budget_s=1e-6), clock=lambda: fake.clock)
    assert all(min(counts) >= campaigns.LEAST_ROUNDS for counts in taken(read(tmp_path / "r")).values())


@pytest.mark.parametrize("at", [1, 5, 12, 25, 45])
def test_an_interruption_loses_nothing(tmp_path: Path, fake: type[FakeSession], at: int) -> None:
    countdown = itertools.count(1)

    def interrupt(*_: Any) -> None:
        if next(countdown) == at:
            raise KeyboardInterrupt

    fake.disturb = staticmethod(interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "r", settings())
    before = read(tmp_path / "r")
    fake.disturb = staticmethod(lambda *_: None)
    fake.events.clear()
    told = run(tmp_path / "r", settings(), resume=True)
    after = read(tmp_path / "r")
    assert set(taken(after)) == set(itertools.product(("8", "64", "512"), SPECS))
    block_of = {launch.launch: launch.block for launch in after.launches}
    for cell in after.cells():
        for spec in after.specs(cell):
            counts = {0: 0, 1: 0}
            for one in after.samples(cell, spec):
                counts[block_of[one.launch]] += len(one.longest)
            assert min(counts.values()) >= 10
    visited = [cell for cell in before.cells() if min(map(len, (before.samples(cell, s) for s in SPECS))) == 2]
    assert told.visits <= 6 - len(visited)
    for cell in before.cells():
        for spec in before.specs(cell):
            for old, new in zip(before.samples(cell, spec), after.samples(cell, spec), strict=False):
                assert old.longest.tolist() == new.longest[: len(old.longest)].tolist()


def test_more_launches_later(tmp_path: Path) -> None:
    run(tmp_path / "r", settings(launches=1))
    told = run(tmp_path / "r", settings(launches=3), resume=True)
    assert told.visits == 6
    assert all(len(counts) == 3 for counts in taken(read(tmp_path / "r")).values())


def test_a_candidate_that_is_added_later(tmp_path: Path) -> None:
    run(tmp_path / "r", settings(launches=1, patterns=("pairwise",)))
    told = run(tmp_path / "r", settings(launches=1, patterns=("pairwise", "spread-out")), resume=True)
    assert told.visits == 3
    assert {spec for _, spec in taken(read(tmp_path / "r"))} == {"native", "pairwise", "spread-out"}
    assert run(tmp_path / "r", settings(launches=1, patterns=("pairwise",)), resume=True).visits == 0


def test_what_was_refused_is_not_asked_for_again(tmp_path: Path, fake: type[FakeSession]) -> None:
    def refuse(session: FakeSession, what: str, *words: Any) -> None:
        if what == "candidate" and words[0] == "tra(r=2)":
            raise Refused("not today")

    fake.disturb = staticmethod(refuse)
    run(tmp_path / "r", settings())
    assert run(tmp_path / "r", settings(), resume=True).visits == 0


def test_a_budget_that_is_too_short_is_told_once(tmp_path: Path, fake: type[FakeSession]) -> None:
    fake.noise = 1.0
    told = run(tmp_path / "r", settings(budget_s=1e-3), clock=lambda: fake.clock)
    assert len(told.problems) == 1 and "budget of 0.001 s is too short" in told.problems[0]
    told = run(tmp_path / "s", settings(budget_s=1e-3, budget_share=0.25), clock=lambda: fake.clock)
    assert "budget of 0.004 s is too short" in told.problems[0]  # what the user gave
    assert not read(tmp_path / "r").problems


def test_an_mpi_that_does_not_launch_does_not_stop_the_others(tmp_path: Path, fake: type[FakeSession]) -> None:
    def refuse(session: FakeSession, what: str, *_: Any) -> None:
        if what == "launch" and session.target is MPI:
            raise LaunchFailed("the launcher's own words")

    fake.disturb = staticmethod(refuse)
    told = run(tmp_path / "r", settings(targets=(MPI, OTHER)))
    results = read(tmp_path / "r")
    assert told.over == told.visits == 12
    assert {cell.mpi for cell in results.cells()} == {"other 2.0"} and len(taken(results)) == 12
    assert any("the launcher's own words" in problem.message for problem in results.problems)
    assert sum(event[:3] == ("fake", 4, "launch") for event in fake.events) == 2 * campaigns.MOST_FAILURES


def test_a_launch_that_dies_is_replaced_but_not_its_cell(tmp_path: Path, fake: type[FakeSession]) -> None:
    def die(session: FakeSession, what: str, *_: Any) -> None:
        if what == "measure" and session.cell and session.cell.sizes == "64":
            raise LaunchFailed("killed")

    fake.disturb = staticmethod(die)
    told = run(tmp_path / "r", settings())
    results = read(tmp_path / "r")
    assert told.over == told.visits == 6
    assert {cell.sizes for cell in results.cells()} == {"8", "512"}
    assert {p.cell.sizes for p in results.problems if p.cell} == {"64"}


def test_candidates_that_are_refused_or_wrong_are_left_out(tmp_path: Path, fake: type[FakeSession]) -> None:
    def refuse(session: FakeSession, what: str, *words: Any) -> None:
        if what == "candidate" and words[0] == "tra(r=2)":
            raise Refused("not today")
        if what == "check" and words[0] == "tra(r=3)":
            raise WrongData("byte 3 from 0 to 1")

    fake.disturb = staticmethod(refuse)
    run(tmp_path / "r", settings())
    results = read(tmp_path / "r")
    assert {spec for _, spec in taken(results)} == {"native", "pairwise"}
    told = {(problem.spec, problem.message) for problem in results.problems}
    assert told == {("tra(r=2)", "not today"), ("tra(r=3)", "wrong data: byte 3 from 0 to 1")}


def test_data_are_checked_again_and_again(tmp_path: Path, fake: type[FakeSession]) -> None:
    checks = itertools.count()

    def spoil(session: FakeSession, what: str, *words: Any) -> None:
        if what == "check" and words[0] == "pairwise" and next(checks) == 2:
            raise WrongData("later")

    fake.disturb, fake.noise = staticmethod(spoil), 1.0
    run(tmp_path / "r", settings(validate=10, launches=1, exchanges=EXCHANGES[:1]))
    results = read(tmp_path / "r")
    assert [problem.message for problem in results.problems] == ["wrong data: later"]
    counts = taken(results)
    assert counts["8", "pairwise"][0] < counts["8", "native"][0] == 40


def test_phases_and_limits(tmp_path: Path) -> None:
    run(tmp_path / "r", settings(launches=1, exchanges=EXCHANGES[:1], phases=True, limits=True))
    results = read(tmp_path / "r")
    assert {one.spec for one in results.phases} == set(SPECS) - {"native"}
    assert results.limits[0].seconds == {"memcpy": 1e-6}


def test_overlap_is_measured_of_all_with_each_number_of_tests(tmp_path: Path) -> None:
    run(tmp_path / "r", settings(launches=2, exchanges=EXCHANGES[:1], overlap=(0, 10)))
    found = [(one.launch, one.tests, one.spec) for one in read(tmp_path / "r").overlaps]
    assert sorted(found) == sorted((launch, tests, spec) for launch in (0, 1) for tests in (0, 10) for spec in SPECS)
