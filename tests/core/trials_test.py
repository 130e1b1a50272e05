"""Trials of other algorithms while an application runs: what they cost, what they find, that all ranks do the same."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some
from limits import examples

from swapmeet import _core

NATIVE = 0
EARLY = _core.Trials.early_calls


def beliefs(expected_s: list[float], deviation: float = 0.3) -> list[tuple[float, float, int]]:
    return [(seconds, deviation, 0) for seconds in expected_s]


@dataclass
class Application:
    """Makes calls; an arm takes `call_s` on the slowest rank, and trials let all wait for one another."""

    call_s: list[float]
    usual: int = NATIVE
    expected_s: list[float] = field(default_factory=list)  #: by the model; none: all as the host MPI
    share: float = 0.01
    noise: float = 0.1
    waiting_s: float = 2e-6
    alone_s: float = 0.0  #: that a call takes longer for which ranks have waited for one another
    computing_s: float = 0.0  #: for each call
    first_s: float = 0.0  #: that the first call of an arm takes longer
    host_known: bool = False  #: the host MPI was measured before
    host_first_s: float = 0.0  #: that its first call takes longer
    in_a_row: int = 1  #: calls of a trial
    early: float = EARLY  #: calls that trials may cost beyond their share
    cut_after: int = 0  #: so many of them, such calls come no more
    seed: int = 1
    done: int = 0
    lost_s: float = 0.0  #: by trials
    spent_s: float = 0.0
    arms: list[int] = field(default_factory=list)  #: of all trials

    def __post_init__(self) -> None:
        expected = self.expected_s or [self.call_s[0]] * len(self.call_s)
        arms = beliefs(expected)
        if self.host_known:
            arms[NATIVE] = (self.call_s[NATIVE], 0.1, 2)
        self.trials = _core.Trials(self.share, arms, self.usual, in_a_row=self.in_a_row, early_calls=self.early)
        self.random = random.Random(self.seed)

    def call(self, arm: int) -> float:
        first = 0.0 if arm in self.arms or arm == self.usual else self.host_first_s if arm == NATIVE else self.first_s
        return self.alone_s + first + self.call_s[arm] * self.random.lognormvariate(0, self.noise)

    @property
    def now(self) -> int:
        """The arm of calls."""
        return self.trials.usual

    def run(self, calls: int) -> Application:
        end = self.done + calls
        while self.done < end:
            pause = min(self.trials.pause, end - self.done)
            since_s = pause * (self.call_s[self.now] + self.computing_s)
            self.spent_s += pause * self.call_s[self.now]
            self.done += pause
            if self.trials.pause > pause or self.done == end:
                break  # the last trial may be called off: the application ends
            self.trial(since_s)
        return self

    def trial(self, since_s: float) -> None:
        usual = self.now
        arm = self.trials.next(self.waiting_s, since_s)
        calls = self.cut_after or self.in_a_row
        row = [self.call(arm) for _ in range(calls)]
        call_s = sum(row) / calls
        for one in row:
            self.trials.call_begins()
            self.trials.took(one)
        if self.cut_after:
            self.trials.cut_short()
        prepared = arm in self.arms or arm in (NATIVE, self.usual)
        self.arms.append(arm)
        self.lost_s += self.waiting_s + sum(max(0.0, one - self.call_s[usual]) for one in row)
        self.lost_s += 0.0 if prepared else _core.Trials.setup_s
        self.spent_s += calls * min(call_s, self.call_s[usual])
        self.done += calls
        self.trials.learn(self.trials.times)

    @property
    def within(self) -> bool:
        """Whether trials cost no more than they may: but for how far the last one was off, and for noise."""
        calls = self.spent_s / min(self.call_s)
        most = self.share * calls + min(10 * self.share * calls, 100 * EARLY * self.share)
        return self.lost_s < 1.5 * (most + 3) * max(self.call_s) + _core.Trials.setup_s


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("call_s", [1e-5, 1e-4, 1e-3])
def test_the_fastest_is_found_at_little_cost(seed: int, call_s: float) -> None:
    app = Application([call_s * f for f in (1, 1.2, 0.6, 3, 0.9, 10)], seed=seed).run(10**6)
    assert app.now == 2
    assert app.lost_s < 0.012 * app.spent_s + 10 * call_s * EARLY


@pytest.mark.parametrize("seed", range(10))
def test_what_is_expected_to_take_half_the_time_is_taken_within_the_first_calls(seed: int) -> None:
    app = Application([1e-3, 0.5e-3, 0.9e-3], expected_s=[1e-3, 0.5e-3, 0.6e-3], host_known=True, seed=seed).run(25)
    assert app.now == 1


@pytest.mark.parametrize("seed", range(10))
def test_what_has_lost_clearly_is_not_tried_again(seed: int) -> None:
    app = Application([1e-3, 6e-3], expected_s=[1e-4, 0.8e-4], seed=seed).run(200)
    assert app.arms.count(1) == 1
    app = Application([1e-3, 1.3e-3], expected_s=[1e-4, 0.5e-4], seed=seed).run(200)
    assert app.arms.count(1) <= 4, "its first call may have made connections"


@pytest.mark.parametrize("seed", range(10))
def test_a_choice_of_the_model_that_is_wrong_is_dropped_within_the_first_calls(seed: int) -> None:
    app = Application([1e-3, 1.3e-3], usual=1, expected_s=[1e-3, 0.6e-3], host_known=True, seed=seed).run(30)
    assert app.now == NATIVE


def test_the_first_call_of_an_arm_may_take_long() -> None:
    app = Application([1e-3, 0.5e-3], expected_s=[1e-3, 0.5e-3], first_s=2e-3).run(200)
    assert app.now == 1


@pytest.mark.parametrize("seed", range(10))
def test_the_first_call_of_the_host_mpi_may_take_long(seed: int) -> None:
    """Then it tells nothing: what is left for ours may be the faster one all the same."""
    app = Application(
        [1e-3, 1.2e-3], usual=1, expected_s=[1.6e-3, 1.1e-3], host_first_s=9e-3, waiting_s=1e-4, seed=seed
    ).run(1000)
    assert app.now == NATIVE


@pytest.mark.parametrize("seed", range(10))
def test_trials_of_several_calls_find_the_fastest_and_cost_as_little(seed: int) -> None:
    app = Application([f * 1e-3 for f in (1, 1.2, 0.6, 2)], in_a_row=4, waiting_s=5e-4, seed=seed)
    app.run(50)
    assert app.lost_s < 0.01 * app.spent_s + (EARLY + 4) * 1e-3, "what one trial may cost more than was thought"
    app.run(10**5)
    assert app.now == 2
    assert app.lost_s < 0.012 * app.spent_s + 10 * EARLY * 1e-3


@pytest.mark.parametrize("in_a_row", [1, 4])
def test_each_call_of_a_trial_counts(in_a_row: int) -> None:
    trials = _core.Trials(0.01, [(1e-3, 0.1, 2), (0.5e-3, 0.3, 0)], NATIVE, in_a_row=in_a_row)
    pause = trials.pause
    assert trials.next(1e-4, pause * 1e-3) == 1
    trials.took_all(3e-3)
    trials.learn(trials.times)
    assert trials.calls == pause + in_a_row
    assert trials.cost_s == pytest.approx(1e-4 + in_a_row * 2e-3 + _core.Trials.setup_s)


@pytest.mark.parametrize("calls", [1, 2])
def test_a_trial_that_is_cut_short_is_one_of_fewer_calls(calls: int) -> None:
    app = Application([1e-4, 0.5e-4, 3e-4], in_a_row=4, cut_after=calls).run(10**5)
    assert app.now == 1 and app.within
    assert [app.trials.seconds(arm) for arm in (0, 1)] == pytest.approx(app.call_s[:2], rel=0.2)


def test_a_trial_of_which_nothing_is_told_is_no_sample() -> None:
    trials = _core.Trials(0.01, beliefs([1e-4, 0.8e-4, 0.9e-4]), NATIVE, in_a_row=4)
    for _ in range(100):
        arm = trials.next(1e-6, 1e-3)
        trials.call_begins()
        trials.cut_short()
        trials.learn(trials.times)
        assert trials.samples(arm) == 0 and trials.usual == NATIVE


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1])
def test_a_program_that_ends_early_loses_little_too(share: float) -> None:
    """Whenever it ends. A single trial may cost more than was thought, which is made up for afterwards."""
    for calls in (10, 100, 1000, 10**4, 10**5):
        for seed in range(10):
            app = Application([1e-3 * f for f in (1, 1.5, 0.7, 2)], seed=seed, share=share).run(calls)
            assert app.within, (calls, seed, app.lost_s, app.spent_s)


@pytest.mark.parametrize("seed", range(20))
def test_without_early_calls_trials_cost_their_share_and_the_host_mpi_is_measured(seed: int) -> None:
    """Where what is usual is ours, and the model has no doubt of it."""
    app = Application([1e-3 * f for f in (1.2, 1, 1.1, 1.3)], usual=1, early=0, seed=seed).run(60)
    assert app.arms[0] == NATIVE
    assert app.lost_s < 0.01 * app.spent_s + 1e-3, "that one"


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("calls", [20, 30, 50, 100])
def test_who_calls_the_host_mpi_loses_little_where_nothing_is_expected_to_gain(calls: int, seed: int) -> None:
    """A program of thirty calls has no other to make up for a trial by."""
    app = Application([1e-2 * f for f in (1, 1.2, 1.1)], waiting_s=5e-3, seed=seed, noise=0.05).run(calls)
    assert app.lost_s < 0.025 * app.spent_s + 0.5 * 1e-2, "half a call: what one may cost more than was thought"


@pytest.mark.parametrize("seed", range(5))
def test_calls_that_wait_for_one_another_do_not_count_as_usual(seed: int) -> None:
    """Where ranks share cores and spin, each trial lasts until all have had a turn, and others do not."""
    app = Application([1e-5, 2e-5, 0.6e-5], usual=2, alone_s=4e-3, waiting_s=8e-3, seed=seed)
    for calls in (10**4, 10**6, 10**7):
        app.run(calls)
        assert app.lost_s < 0.015 * app.spent_s + 60e-3, calls


def test_computing_between_calls_is_not_spent_in_them() -> None:
    app = Application([1e-4, 0.75e-4], computing_s=1e-3).run(10**5)
    assert app.lost_s < 0.012 * app.spent_s + 10 * EARLY * 1e-4


def test_nothing_is_prepared_before_it_is_worth_it() -> None:
    expected = [1e-6, 0.7e-6]
    assert 1 not in Application(expected, expected_s=expected).run(100).arms
    assert 1 in Application(expected, expected_s=expected).run(10**6).arms


def test_the_host_mpi_is_kept_where_nothing_is_faster() -> None:
    chosen = [Application([1e-4, 1e-4, 1.02e-4, 0.99e-4], seed=seed).run(10**6).now for seed in range(40)]
    assert chosen.count(NATIVE) >= 34, "samples vary by 10 %"
    assert 2 not in chosen, "what is slower"


@pytest.mark.parametrize("seed", range(20))
def test_a_choice_that_is_slower_than_the_host_mpi_is_dropped(seed: int) -> None:
    app = Application([1e-4, 1.2e-4, 2e-4], usual=1, expected_s=[1e-4, 0.5e-4, 1e-4], seed=seed).run(10**6)
    assert app.now == NATIVE


@pytest.mark.parametrize("seed", range(10))
def test_other_times_begin_all_anew(seed: int) -> None:
    app = Application([1e-4, 0.5e-4, 2e-4, 0.8e-4], seed=seed).run(10**5)
    assert app.now == 1
    app.call_s[1:] = [3e-4, 2e-4, 0.5e-4]
    app.run(2 * 10**6)
    assert app.now == 3
    assert app.lost_s < 0.025 * app.spent_s


def test_little_is_tried_once_all_is_known() -> None:
    app = Application([1e-4, 0.5e-4, 0.9e-4]).run(10**6)
    before = len(app.arms)
    app.run(10**7)
    assert len(app.arms) - before < 60


@settings(max_examples=examples(60), derandomize=True)
@example(times=[1.3125, 1.1875, 1.0], errors=[-0.5, 0, 0, 0, 0, 0, 0], seed=1)  # cheap trials ate the budget
@given(
    times=some.lists(some.floats(0.3, 3), min_size=2, max_size=7),
    errors=some.lists(some.floats(-0.5, 0.5), min_size=7, max_size=7),
    seed=some.integers(0, 1000),
)
def test_regret_is_bounded_whatever_the_machine_and_however_wrong_the_model(
    times: list[float], errors: list[float], seed: int
) -> None:
    """Against an oracle: what calls cost in the end, and in all."""
    call_s = [1e-3 * time for time in times]
    expected = [time * math.exp(error) for time, error in zip(call_s, errors, strict=False)]
    usual = min(range(len(expected)), key=expected.__getitem__)
    app = Application(call_s, usual=usual, expected_s=expected, seed=seed, noise=0.05).run(20000)
    assert app.call_s[app.now] < 1.12 * min(call_s)
    calls = 20000
    assert app.spent_s + app.lost_s < 1.2 * calls * min(call_s) + 30 * max(call_s)


def test_ranks_with_other_clocks_do_the_same() -> None:
    """They learn from the same numbers, whatever each has measured."""
    ranks = [_core.Trials(0.05, beliefs([1e-4, 0.5e-4, 1e-4, 2e-4, 0.9e-4]), 1) for _ in range(3)]
    draw = random.Random(3)
    for _ in range(2000):
        assert len({(t.pause, t.usual) for t in ranks}) == 1
        assert len({trials.next(draw.random() * 1e-5, draw.random()) for trials in ranks}) == 1
        for trials in ranks:
            trials.took_all(draw.random() * 1e-4)
        assert all(trials.awaits_learning for trials in ranks)
        most = [max(values) for values in zip(*(trials.times for trials in ranks), strict=True)]
        for trials in ranks:
            trials.learn(most)


def test_a_rank_that_is_always_late_hides_nothing_and_costs_nothing() -> None:
    """The others wait for it in each trial; what counts is the wait of the one that came last."""
    call_s, late_s = [1e-4, 0.5e-4, 2e-4], 5e-3
    ranks = [_core.Trials(0.01, beliefs([1e-4, 1e-4, 1e-4]), NATIVE) for _ in range(3)]
    draw = random.Random(5)
    while ranks[0].calls + ranks[0].pause < 20000:
        assert len({(trials.pause, trials.usual) for trials in ranks}) == 1
        since_s = ranks[0].pause * (call_s[ranks[0].usual] + late_s)
        arms = {trials.next(1e-6 if rank == 2 else late_s, since_s) for rank, trials in enumerate(ranks)}
        assert len(arms) == 1
        for trials in ranks:
            trials.took_all(call_s[arms.copy().pop()] * draw.lognormvariate(0, 0.05))
        most = [max(values) for values in zip(*(trials.times for trials in ranks), strict=True)]
        for trials in ranks:
            trials.learn(most)
    assert {trials.usual for trials in ranks} == {1}
    assert ranks[0].cost_s < 0.01 * 20000 * 1e-4 + 4e-4 + 3 * _core.Trials.setup_s


@pytest.mark.parametrize("changes", [1, 3])
def test_phases_cost_a_few_calls_each(changes: int) -> None:
    """A program whose calls take other times every now and then, for other reasons than their size."""
    app = Application([1e-4, 0.5e-4, 2e-4])
    for phase in range(changes + 1):
        app.call_s = [1e-4, 0.5e-4, 2e-4] if phase % 2 == 0 else [1e-4, 4e-4, 0.4e-4]
        app.run(10**5)
    assert app.lost_s < (0.012 * (changes + 1) * 10**5 + 20 * (changes + 1)) * 1e-4


def test_what_was_known_is_forgotten_where_it_is_not_so_any_more() -> None:
    """At the next doubling of calls, however often it was measured before."""
    app = Application([1e-4, 0.5e-4, 2e-4]).run(10**5)
    assert app.now == 1
    app.call_s = [1e-4, 4e-4, 2e-4]
    app.run(2 * 10**5)
    assert app.now == NATIVE


def test_a_share_of_all_time_tries_each_in_turn() -> None:
    app = Application([1e-3, 2e-3, 5e-3], share=1).run(60)
    assert [app.arms.count(arm) for arm in range(3)] == [10, 10, 10]


@pytest.mark.parametrize(("call_s", "samples"), [(0.6e-3, 1), (1.5e-3, 0)])
def test_a_first_call_that_is_shorter_than_the_usual_ones_counts(call_s: float, samples: int) -> None:
    """Connections can only have made it longer."""
    trials = _core.Trials(0.1, [(2e-3, 0.1, 2), (1e-3, 0.1, 2), (0.9e-3, 0.4, 0)], usual=1)
    pause = trials.pause
    assert trials.next(1e-6, pause * 1e-3) == 2
    trials.took_all(call_s)
    trials.learn(trials.times)
    assert trials.samples(2) == samples


def remembered(slower: float) -> tuple[list[_core.Expectation], int]:
    """Arms of a later run; and the usual one, which has taken so much of its price before, the host MPI its own."""
    of, known = (_core.Collective.alltoall, 128, 64), _core.Knowledge()
    known.describe(_core.MeasuredNetwork(28.5, 14.0, 0.1, 0.1, 0.75))
    native, usual, *_ = _core.candidates(*of, nodes="64", knowledge=known)
    known.evidence = [
        _core.Evidence(_core.CallKind(*of, "64"), one.spec, 100, took_s, 0, date=1_750_000_000)
        for one, took_s in ((native, native.price_s), (usual, slower * usual.price_s))
    ]
    arms = _core.candidates(*of, nodes="64", knowledge=known, also=usual.spec)
    return arms, [arm.spec for arm in arms].index(usual.spec)


@pytest.mark.parametrize("slower", [1, 2.2])
@pytest.mark.parametrize("really", [3, 100])
def test_a_wrong_memory_costs_at_most_250_calls(slower: float, really: float) -> None:
    """However much other trials have cost before."""
    arms, mine = remembered(slower)
    host_s = arms[NATIVE].seconds
    call_s = [(2 + 0.1 * arm) * host_s for arm in range(len(arms))]
    call_s[NATIVE], call_s[mine] = host_s, really * host_s
    app = Application(call_s, usual=mine)
    app.trials = _core.Trials(0.01, arms, mine)
    assert app.run(250 + 3).now == NATIVE


@pytest.mark.parametrize(("slower", "soon"), [(1.0, False), (2.2, True)])
def test_a_later_run_tries_early_what_promises_much(slower: float, soon: bool) -> None:
    """Another run has paid for the first trials, but not for those of specs that it has not come to."""
    arms, mine = remembered(slower)
    assert (min(arm.seconds for arm in arms) < 0.9 * arms[mine].seconds) == soon
    trials = _core.Trials(0.01, arms, mine, calls=1)
    assert (trials.pause < 50) == soon
