"""Trials of other algorithms while an application runs: what they cost, what they find, that all ranks do the same."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from swapmeet import _core

NATIVE = 0


@dataclass
class Application:
    """Makes calls; an arm takes `call_s` on the slowest rank, and trials let all wait for one another."""

    call_s: list[float]
    usual: int = NATIVE
    share: float = 0.01
    noise: float = 0.1
    waiting_s: float = 2e-6
    alone_s: float = 0.0  #: that a call takes longer for which ranks have waited for one another
    computing_s: float = 0.0  #: for each call
    seed: int = 1
    done: int = 0
    lost_s: float = 0.0
    spent_s: float = 0.0
    arms: list[int] = field(default_factory=list)  #: of all trials

    def __post_init__(self) -> None:
        self.trials = _core.Trials(self.share, self.seed)
        self.random = random.Random(self.seed)
        self.prepared = False
        self.since_s = 0.0

    def call(self, arm: int) -> float:
        return self.alone_s + self.call_s[arm] * self.random.lognormvariate(0, self.noise)

    @property
    def now(self) -> int:
        """The arm of calls."""
        return self.trials.usual if self.prepared else self.usual

    def run(self, calls: int) -> Application:
        end = self.done + calls
        while self.done < end:
            pause = min(self.trials.pause, end - self.done)
            self.since_s = pause * (self.call_s[self.now] + self.computing_s)
            self.spent_s += pause * self.call_s[self.now]
            self.done += pause
            if self.trials.pause > pause or self.done == end:
                break  # the last trial may be called off: the application ends
            self.trial()
        return self

    def trial(self) -> None:
        if self.trials.wants_arms:
            self.lost_s += _core.Trials.setup_s
            self.prepared = True
            return self.trials.begin(len(self.call_s), self.usual)
        usual = self.now
        arm = self.trials.next() if self.prepared else (self.trials.next(), self.usual)[1]
        call_s = self.call(arm)
        self.trials.took(self.waiting_s, call_s, self.since_s)
        self.arms.append(arm)
        self.lost_s += self.waiting_s + max(0.0, call_s - self.call_s[usual])
        self.spent_s += min(call_s, self.call_s[usual])
        self.done += 1
        if self.trials.round_over:
            self.trials.learn(self.trials.times)
        return None


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("call_s", [1e-6, 20e-6, 1e-3])
def test_the_fastest_is_found_at_little_cost(seed: int, call_s: float) -> None:
    app = Application([call_s * f for f in (1, 1.2, 0.6, 3, 0.9, 10)], seed=seed).run(10**7)
    assert app.trials.settled
    assert app.now == 2
    assert app.lost_s < 0.012 * app.spent_s


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1])
def test_a_program_that_ends_early_loses_little_too(share: float) -> None:
    """Whenever it ends. A single trial may cost more than was thought, which is made up for afterwards."""
    for calls in (10, 1000, 10**4, 10**5, 10**6):
        for seed in range(10):
            app = Application([20e-6 * f for f in (1, 1.5, 0.7, 2)], seed=seed, share=share).run(calls)
            assert app.lost_s < 1.2 * share * app.spent_s + 40e-6, (calls, seed)


@pytest.mark.parametrize("seed", range(5))
def test_calls_that_wait_for_one_another_do_not_count_as_usual(seed: int) -> None:
    """Where ranks share cores and spin, each trial lasts until all have had a turn, and others do not."""
    app = Application([1e-5, 2e-5, 0.6e-5], usual=2, alone_s=4e-3, waiting_s=8e-3, seed=seed)
    for calls in (10**4, 10**6, 10**8):
        app.run(calls)
        assert app.lost_s < 0.015 * app.spent_s + 40e-3, calls


def test_computing_between_calls_is_not_spent_in_them() -> None:
    app = Application([2e-5, 1.5e-5], computing_s=1e-3).run(10**6)
    assert app.lost_s < 0.012 * app.spent_s


def test_nothing_is_prepared_before_it_is_worth_it() -> None:
    assert not Application([1e-6, 0.5e-6]).run(50_000).prepared
    assert Application([1e-6, 0.5e-6]).run(500_000).prepared


@pytest.mark.parametrize("seed", range(20))
def test_the_mpi_underneath_is_kept_where_nothing_is_faster(seed: int) -> None:
    assert Application([1e-4, 1e-4, 1.02e-4, 0.99e-4], seed=seed).run(10**6).now == NATIVE


@pytest.mark.parametrize("seed", range(20))
def test_a_choice_that_is_slower_than_the_mpi_underneath_is_dropped(seed: int) -> None:
    app = Application([1e-4, 1.2e-4, 2e-4], usual=1, seed=seed).run(10**6)
    assert app.now == NATIVE


@pytest.mark.parametrize("seed", range(10))
def test_other_times_begin_all_anew(seed: int) -> None:
    app = Application([1e-4, 0.5e-4, 2e-4, 0.8e-4], seed=seed).run(10**6)
    assert app.now == 1
    app.call_s[1:] = [3e-4, 2e-4, 0.5e-4]
    app.run(10**7)
    assert app.now == 3
    assert app.lost_s < 0.02 * app.spent_s


def test_little_is_tried_once_all_is_known() -> None:
    app = Application([1e-4, 0.5e-4, 0.9e-4]).run(10**6)
    before = len(app.arms)
    app.run(10**7)
    assert len(app.arms) - before < 60
    assert set(app.arms[before:]) <= {NATIVE, 1}


def test_ranks_with_other_clocks_do_the_same() -> None:
    """They learn from the same numbers, whatever each has measured."""
    ranks = [_core.Trials(0.05, 7) for _ in range(3)]
    draw = random.Random(3)
    prepared = False
    for _ in range(2000):
        assert len({(t.pause, t.usual, t.wants_arms) for t in ranks}) == 1
        if ranks[0].wants_arms:
            for trials in ranks:
                trials.begin(5, 1)
            prepared = True
        assert len({trials.next() for trials in ranks}) == 1
        for trials in ranks:
            trials.took(draw.random() * 1e-5, draw.random() * 1e-4, draw.random())
        if ranks[0].round_over:
            most = [max(values) for values in zip(*(trials.times for trials in ranks), strict=True)]
            for trials in ranks:
                trials.learn(most)
    assert prepared
