"""A program that makes one call again and again, under the automatic choice.

What the library does from call to call is decided by its own code: the choice, the candidates, the trials, what is
remembered. What a call by each spec takes is given. Not counted: opening shared memory, measuring the network, noise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from swapmeet import _core

NATIVE = "native"
#: Small collectives of the host MPI that a communicator on several nodes takes: two to gather, two to agree; to make a
#: communicator counts as two. On one node: two to gather, and what opening takes (docs/tuning.md).
SETUP_COLLECTIVES, ONE_NODE_COLLECTIVES, ONE_NODE_S = 6, 2, 20e-6
UNSURE = 0.15  #: deviation of what first calls take, as a share
COLLECTIVES = dict(_core.Collective.__members__)

BEFORE, USUAL, TRIAL = "before set-up", "usual", "trial"  #: phases


@dataclass(frozen=True)
class Calls:
    """All of one kind."""

    collective: str  #: of COLLECTIVES
    ranks: int
    nodes: str  #: as of SWAPMEET_NODES; empty: one node
    block_bytes: int  #: in the mean


@dataclass(frozen=True)
class Settings:
    """What a program runs under."""

    options: _core.Options | None = None  #: None: the defaults
    machine: _core.MachineCosts | None = None  #: None: the one that the library assumes


@dataclass(frozen=True)
class Decision:
    """Calls in a row that go by one spec for one reason."""

    first: int  #: from 1
    calls: int
    spec: str
    phase: str
    seconds: float  #: what they take, with what goes before: setting up, or the ranks' waiting for one another
    reason: str = ""
    extra_s: float = 0.0  #: of a trial, beyond a call as usual
    sets_up: bool = False  #: the first of them does

    @property
    def last(self) -> int:
        """Its number."""
        return self.first + self.calls - 1


@dataclass(frozen=True)
class Run:
    """What became of a program."""

    seconds: float  #: in its calls, trials and setting up included
    chosen: str  #: the spec of the last call
    trials: int
    evidence: tuple[_core.Evidence, ...]  #: that it leaves to the next run


def ordered_s(spec: str, calls: int, call_s: float, collective_s: float) -> float:
    """What calls take by one spec from the first one on, setting up included: seconds."""
    return calls * call_s + setup_s(spec, collective_s)


def setup_s(spec: str, collective_s: float) -> float:
    """What a communicator on several nodes takes once, to call by this spec."""
    return 0.0 if spec == NATIVE else SETUP_COLLECTIVES * collective_s + _core.Trials.setup_s


class Program:
    """A run of a program.

    Parameters
    ----------
    kind : Calls
    call_s : callable
        What a call by a spec takes, in seconds.
    collective_s : float
        What a small collective of the host MPI takes.
    network : MeasuredNetwork, optional
        What the job measures of it when a communicator is set up; None: as the machine is described.
    remembered : sequence of Evidence
        Of earlier runs.
    settings : Settings
    """

    def __init__(
        self,
        kind: Calls,
        call_s: Callable[[str], float],
        collective_s: float,
        network: _core.MeasuredNetwork | None = None,
        remembered: Sequence[_core.Evidence] = (),
        settings: Settings = Settings(),
    ) -> None:
        self._kind, self._call_s, self._collective_s, self._network = kind, call_s, collective_s, network
        self._collective = COLLECTIVES[kind.collective]
        self._options = settings.options or _core.read_options([], kind.ranks)
        self._knowledge = _core.Knowledge(settings.machine, evidence=_core.usable(list(remembered)))
        self._several_nodes = _core.kind_of(self._collective, kind.ranks, kind.nodes)[0] > 1

    def run(self, calls: int) -> Run:
        """All calls."""
        seconds, last, trials = 0.0, NATIVE, 0
        for decision in self.decisions(calls):
            seconds += decision.seconds
            if decision.phase == TRIAL:
                trials += 1
            else:
                last = decision.spec
        return Run(seconds, last, trials, tuple(self._left(calls)))

    def decisions(self, calls: int) -> Iterator[Decision]:
        """All calls, in their order; of each run of a program once."""
        chosen, reason = self._choose()
        early = self._early(chosen, calls)
        if early > 0:
            yield Decision(1, early, NATIVE, BEFORE, early * self._call_s(NATIVE))
        if early > 1:  # the first one is not timed
            self._note(_core.parse_spec(NATIVE), early - 1, self._call_s(NATIVE), UNSURE * self._call_s(NATIVE))
        if calls <= early:
            return
        if _ours(chosen) and self._network is not None:
            self._knowledge.describe(self._network)
        chosen, reason = self._choose()
        yield from self._call(early + 1, calls, chosen, reason)

    def _early(self, chosen: _core.Spec, calls: int) -> int:
        """Calls that the host MPI serves before a communicator is set up."""
        where = (self._collective, self._kind.ranks, self._options, self._kind.nodes)
        if self._options.algorithm or _core.tuned(*where) or not self._several_nodes or not _ours(chosen):
            return 0
        mine = self._evidence_kind()
        earlier = [one for one in self._knowledge.evidence if one.date and one.kind == mine]
        measured, made = any(str(one.spec) != NATIVE for one in earlier), max((one.made for one in earlier), default=0)
        policy, early = _core.SetupPolicy(), 0
        while early < calls and not policy.over(measured, self._small_calls(), made):
            early += 1
        return early

    def _choose(self) -> tuple[_core.Spec, str]:
        where = (self._collective, self._kind.ranks, self._kind.block_bytes, self._options)
        return _core.choose(*where, nodes=self._kind.nodes, knowledge=self._knowledge)[:2]

    def _small_calls(self) -> float:
        where = (self._collective, self._kind.ranks, self._kind.block_bytes)
        return _core.small_calls(*where, nodes=self._kind.nodes, knowledge=self._knowledge)

    def _candidates(self, also: _core.Spec) -> list[_core.Expectation]:
        where = (self._collective, self._kind.ranks, self._kind.block_bytes)
        return _core.candidates(
            *where, nodes=self._kind.nodes, options=self._options, knowledge=self._knowledge, also=also
        )

    def _setup_s(self, spec: _core.Spec) -> float:
        if self._several_nodes:
            return setup_s(str(spec), self._collective_s)
        return ONE_NODE_COLLECTIVES * self._collective_s + ONE_NODE_S if _ours(spec) else 0.0

    def _first_calls(self, usual: str, arms: Sequence[_core.Expectation]) -> int:
        """Calls that go as usual before trials are prepared."""
        where = (self._collective, self._kind.ranks, self._kind.block_bytes, self._options, self._kind.nodes)
        first = _core.first_calls(*where, usual == NATIVE)
        waits = self._several_nodes and usual == NATIVE and first > 1 and not _core.promise_much(arms)
        return _core.FIRST_UNPROMISING if waits else first

    def _trials(self, arms: Sequence[_core.Expectation], usual: int, first: int) -> _core.Trials:
        if self._several_nodes:
            return _core.Trials(self._options.trials_share, arms, usual, calls=first)
        so_far = first if self._kind.collective == "alltoall" else 0  # what unequal ones have taken is not known
        return _core.Trials(self._options.trials_share, arms, usual, calls=so_far, early_calls=0)

    def _tries(self) -> bool:
        if self._kind.block_bytes == 0 and self._kind.collective == "alltoall":
            return False
        return _core.tries(self._collective, self._kind.ranks, self._options, self._kind.nodes)

    def _call(self, start: int, calls: int, chosen: _core.Spec, reason: str) -> Iterator[Decision]:
        """Make the calls from `start` on, with trials."""
        arms = self._candidates(chosen) if self._tries() else []
        first = self._first_calls(str(chosen), arms)
        usually = min(calls - start + 1, first + 1 if arms else calls)  # the last one of them prepares trials
        set_up_s, usual_s = self._setup_s(chosen), self._call_s(str(chosen))
        sets_up = set_up_s > 0 and self._several_nodes
        yield Decision(start, usually, str(chosen), USUAL, set_up_s + usually * usual_s, reason=reason, sets_up=sets_up)
        if start + usually <= calls:
            yield from self._try(start + usually, calls, str(chosen), arms, first)

    def _try(
        self, start: int, calls: int, usual: str, arms: Sequence[_core.Expectation], first: int
    ) -> Iterator[Decision]:
        """The calls from `start` on, with trials of these arms."""
        names = [str(one.spec) for one in arms]
        prepared = {names.index(usual), names.index(NATIVE)}
        trials = self._trials(arms, names.index(usual), first)
        reason = ""
        while calls - start + 1 > trials.pause:
            before, pause = names[trials.usual], trials.pause
            pause_s = pause * self._call_s(before)
            if pause > 0:
                yield Decision(start, pause, before, USUAL, pause_s, reason)
            start += pause + 1
            arm = trials.next(self._collective_s, pause_s)
            tried_s = self._call_s(names[arm])
            extra_s = 2 * self._collective_s + (0 if arm in prepared else _core.Trials.setup_s)
            more_s = extra_s + max(0.0, tried_s - self._call_s(before))
            yield Decision(start - 1, 1, names[arm], TRIAL, extra_s + tried_s, arms[arm].basis, more_s)
            prepared.add(arm)
            trials.took_all(tried_s)
            trials.learn(trials.times)
            if trials.samples(arm) > 0:
                self._note(arms[arm].spec, trials.samples(arm), trials.seconds(arm), trials.spread_s(arm))
            reason = f"online choice: {trials.trials} trials in {start - 1} calls"
        if start <= calls:
            left = calls - start + 1
            yield Decision(start, left, names[trials.usual], USUAL, left * self._call_s(names[trials.usual]), reason)

    def _note(self, spec: _core.Spec, calls: int, mean_s: float, spread_s: float) -> None:
        kind = _core.CallKind(self._collective, self._kind.ranks, self._kind.block_bytes, self._kind.nodes)
        others = [one for one in self._knowledge.evidence if str(one.spec) != str(spec) or one.date != 0]
        self._knowledge.evidence = [*others, _core.Evidence(kind, spec, calls, mean_s, spread_s)]

    def _evidence_kind(self) -> _core.CallKind:
        """As of what earlier runs leave."""
        kind = _core.CallKind(self._collective, self._kind.ranks, self._kind.block_bytes, self._kind.nodes)
        if self._kind.collective != "alltoall":
            kind.size_class = -1  # sizes that ranks do not know
        return kind

    def _left(self, made: int) -> list[_core.Evidence]:
        mine = [one for one in self._knowledge.evidence if one.date == 0]
        kind, now = self._evidence_kind(), int(time.time())
        return [
            _core.Evidence(kind, one.spec, one.calls, one.mean_s, one.spread_s, date=now, made=made) for one in mine
        ]


def _ours(spec: _core.Spec) -> bool:
    """Whether ranks have to meet for it: messages within nodes go through shared memory."""
    return dict(spec.parameters).get("intra", "mpi") != "mpi"
