"""A program that makes one call again and again, under the automatic choice.

What the library does from call to call is decided by its own code: the choice, the candidates, the trials, what is
remembered. What a call by each spec takes is given. Not counted: opening shared memory, measuring the network, noise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from swapmeet import _core

NATIVE = "native"
SHARE = 0.01  #: of the time that trials may take: the default of SWAPMEET_TRIALS
#: Small collectives of the host MPI that a communicator on several nodes takes: two to gather, two to agree; to make a
#: communicator counts as two.
SETUP_COLLECTIVES = 6
UNSURE = 0.15  #: deviation of what first calls take, as a share
COLLECTIVES = {"alltoall": _core.Collective.alltoall, "alltoallv": _core.Collective.alltoallv}


@dataclass(frozen=True)
class Calls:
    """All of one kind."""

    collective: str  #: of COLLECTIVES
    ranks: int
    nodes: str  #: as of SWAPMEET_NODES
    block_bytes: int  #: in the mean


@dataclass(frozen=True)
class Run:
    """What became of a program."""

    seconds: float  #: in its calls, trials and setting up included
    chosen: str  #: the spec of the last call
    trials: int
    evidence: tuple[_core.Evidence, ...]  #: that it leaves to the next run


def ordered_s(spec: str, calls: int, call_s: float, collective_s: float) -> float:
    """What so many calls take by one spec from the first one on, setting up included: seconds."""
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
    network : MeasuredNetwork
        What the job measures of it when a communicator is set up.
    remembered : sequence of Evidence
        Of earlier runs.
    """

    def __init__(
        self,
        kind: Calls,
        call_s: Callable[[str], float],
        collective_s: float,
        network: _core.MeasuredNetwork,
        remembered: Sequence[_core.Evidence] = (),
    ) -> None:
        self._kind, self._call_s, self._collective_s, self._network = kind, call_s, collective_s, network
        self._collective = COLLECTIVES[kind.collective]
        self._options = _core.read_options([], kind.ranks)
        self._knowledge = _core.Knowledge(evidence=_core.usable(list(remembered)))
        self._spent_s = 0.0
        self._trials = 0

    def run(self, calls: int) -> Run:
        """All calls."""
        chosen = self._choose()
        waits = dict(chosen.parameters).get("intra", "mpi") != "mpi"
        known = any(str(one.spec) != NATIVE for one in self._knowledge.evidence)
        policy, early = _core.SetupPolicy(), 0
        while waits and early < calls and not policy.over(known, self._small_calls()):
            early += 1
        self._spent_s += early * self._call_s(NATIVE)
        if early > 1:  # the first one is not timed
            self._note(_core.parse_spec(NATIVE), early - 1, self._call_s(NATIVE), UNSURE * self._call_s(NATIVE))
        last = NATIVE
        if calls > early:
            if dict(chosen.parameters).get("intra", "mpi") != "mpi":
                self._knowledge.describe(self._network)
            chosen = self._choose()
            self._spent_s += setup_s(str(chosen), self._collective_s)
            expected = self._candidates(chosen)
            last = self._call(calls - early, str(chosen), [one.spec for one in expected], expected)
        return Run(self._spent_s, last, self._trials, tuple(self._left()))

    def _choose(self) -> _core.Spec:
        where = (self._collective, self._kind.ranks, self._kind.block_bytes, self._options)
        return _core.choose(*where, nodes=self._kind.nodes, knowledge=self._knowledge)[0]

    def _small_calls(self) -> float:
        where = (self._collective, self._kind.ranks, self._kind.block_bytes)
        return _core.small_calls(*where, nodes=self._kind.nodes, knowledge=self._knowledge)

    def _candidates(self, also: _core.Spec) -> list[_core.Expectation]:
        where = (self._collective, self._kind.ranks, self._kind.block_bytes)
        known = {"options": self._options, "knowledge": self._knowledge}
        return _core.candidates(*where, nodes=self._kind.nodes, also=also, **known)

    def _call(
        self,
        calls: int,
        usual: str,
        specs: Sequence[_core.Spec],
        arms: Sequence[_core.Expectation] | Sequence[tuple[float, float, int]],
    ) -> str:
        """Make calls with trials of these arms; the spec of the last one."""
        names = [str(spec) for spec in specs]
        prepared = {names.index(usual), names.index(NATIVE)}
        trials = _core.Trials(SHARE, arms, names.index(usual), calls=1)
        left = calls - 2  # one call before trials are prepared, and the one that prepares them
        self._spent_s += min(calls, 2) * self._call_s(usual)
        while left > trials.pause:
            pause_s = trials.pause * self._call_s(names[trials.usual])
            left -= trials.pause + 1
            arm = trials.next()
            tried_s = self._call_s(names[arm])
            self._spent_s += pause_s + 2 * self._collective_s + tried_s
            self._spent_s += 0 if arm in prepared else _core.Trials.setup_s
            prepared.add(arm)
            trials.took(self._collective_s, tried_s, pause_s)
            trials.learn(trials.times)
            if trials.samples(arm) > 0:
                self._note(specs[arm], trials.samples(arm), trials.seconds(arm), trials.spread_s(arm))
        self._trials += trials.trials
        self._spent_s += max(0, left) * self._call_s(names[trials.usual])
        return names[trials.usual]

    def _note(self, spec: _core.Spec, calls: int, mean_s: float, spread_s: float) -> None:
        kind = _core.CallKind(self._collective, self._kind.ranks, self._kind.block_bytes, self._kind.nodes)
        others = [one for one in self._knowledge.evidence if str(one.spec) != str(spec) or one.date != 0]
        self._knowledge.evidence = [*others, _core.Evidence(kind, spec, calls, mean_s, spread_s)]

    def _left(self) -> list[_core.Evidence]:
        kind = _core.CallKind(self._collective, self._kind.ranks, self._kind.block_bytes, self._kind.nodes)
        if self._kind.collective != "alltoall":
            kind.size_class = -1  # sizes that ranks do not know
        mine = [one for one in self._knowledge.evidence if one.date == 0]
        now = int(time.time())
        return [_core.Evidence(kind, one.spec, one.calls, one.mean_s, one.spread_s, date=now) for one in mine]
