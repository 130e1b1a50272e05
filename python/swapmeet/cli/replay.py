"""The output of `swapmeet explain --replay`: a recorded run under the automatic choice, decision by decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from swapmeet import machines
from swapmeet.choose.program import BEFORE, NATIVE, TRIAL, Decision, Settings
from swapmeet.choose.surroundings import surroundings
from swapmeet.errors import SwapmeetError
from swapmeet.mpi.mpis import Mpi
from swapmeet.output import print_json
from swapmeet.units import duration, in_symbols

if TYPE_CHECKING:
    from swapmeet.choose.replay import Kind, Replayed

MOST_TRIALS = 8  #: that have lines of a kind; of later ones the number is printed
MODELLED = "decisions that rest on measurements may differ in a real run"


def replayed_run(path: Path, nodes: str, target: Mpi, machine: str | None, as_json: bool) -> None:
    """Read a recording, go through its calls, and print the decisions.

    Raises
    ------
    SwapmeetError
        If it cannot be read, or has no calls, or the node map does not fit.
    """
    try:
        from swapmeet.choose import replay
        from swapmeet.measure.profiling import recording
    except ImportError as problem:
        raise SwapmeetError(f"--replay needs {problem.name}: `pip install 'swapmeet[bench]'`") from None
    recorded = recording.read([path])
    present = surroundings(target, max(1, recorded.ranks))
    settings = Settings(present.options, None if machine is None else machines.load(machine).costs)
    found = replay.found(recorded, nodes or present.options.nodes)
    algorithms = {file.header.algorithm for file in recorded.files.values()}
    host_recorded = algorithms == {NATIVE}
    runs = [replay.replayed(kind, host_recorded, present.recall(kind.ranks), settings) for kind in found.kinds]
    warnings = list(dict.fromkeys([*present.warnings, *recorded.problems]))
    times = _times(host_recorded, algorithms)
    if as_json:
        fields = {"recording": str(path), "mpi": present.mpi, "recorded_mpi": recorded.mpi, "warnings": warnings}
        print_json(
            "explain",
            **fields,
            host_recorded=host_recorded,
            times=times,
            replayed=[_record(run) for run in runs],
            left_out=[{"calls": calls, "reason": reason} for reason, calls in found.left_out.items()],
        )
        return
    for warning in warnings:
        print(f"warning: {warning}")
    print(f"times: {times}; each kind of calls is gone through as if it were alone")
    for run in runs:
        print(f"\n{_heading(run.kind)}")
        for line in [*_timeline(run), *_sums(run)]:
            print(f"  {line}")
    if found.left_out:
        print("\nnot gone through:")
    for reason, calls in found.left_out.items():
        print(f"  {_calls(calls)} {reason}")


def _times(host_recorded: bool, algorithms: set[str]) -> str:
    """What calls take in the replay."""
    if host_recorded:
        return f"of the host MPI as recorded; of specs the model's, scaled by the host MPI's: {MODELLED}"
    by = ", ".join(sorted(algorithms)) or "?"
    return f"the model's, for the run was recorded with SWAPMEET_ALGORITHM={by}, not native: {MODELLED}"


def _calls(number: int) -> str:
    return "1 call" if number == 1 else f"{number:,} calls"


def _heading(kind: Kind) -> str:
    where = "" if not kind.nodes else f", {kind.nodes} on a node" if kind.nodes.isdigit() else f", nodes {kind.nodes}"
    size = f"{kind.block_bytes:,} B" if kind.collective == "alltoall" else f"{kind.block_bytes:,} B on average"
    several = "" if kind.communicators == 1 else f" on each of {kind.communicators:,} communicators"
    calls = f"{_calls(kind.calls_each)}{several}, recorded {duration(kind.recorded_s)} each"
    return f"{kind.collective} on {kind.ranks} ranks{where}, blocks of {size}: {calls}"


def _name(spec: str) -> str:
    return "the host MPI" if spec == NATIVE else spec


def _range(first: int, last: int, end: int) -> str:
    if first == last:
        return f"call {first:,}"
    return f"from call {first:,}" if last == end else f"calls {first:,} to {last:,}"


def _merged(decisions: Sequence[Decision]) -> list[Decision]:
    """Calls as usual in a row as one decision."""
    found: list[Decision] = []
    for one in decisions:
        if found and one.phase != TRIAL and (found[-1].phase, found[-1].spec) == (one.phase, one.spec):
            before = found.pop()
            one = replace(before, calls=before.calls + one.calls, seconds=before.seconds + one.seconds)
        found.append(one)
    return found


def _timeline(run: Replayed) -> Iterator[str]:
    """A line for each decision; of many trials, one for each choice that they were made beside."""
    end = run.decisions[-1].last
    usual, shown = "", 0
    mentioned: set[str] = set()
    rest: list[Decision] = []
    for one in _merged(run.decisions):
        trial = one.phase == TRIAL
        shown += trial
        if rest and not trial and one.spec != usual:
            yield _summed(rest, usual, end)
            rest = []
        if rest or (trial and shown > MOST_TRIALS):
            rest.append(one)
            continue
        if one.sets_up:
            yield f"call {one.first:,}: sets up"
        known = one.spec == NATIVE or (trial and one.spec in mentioned)
        times = "" if known else f", {_compared(run, one.spec)}"
        mentioned.add(one.spec)
        what = "trial of " + _name(one.spec) + times
        if not trial:
            why = ", before setting up" if one.phase == BEFORE else f" ({in_symbols(one.reason)})" if one.reason else ""
            what = "as before" if one.spec == usual and one.phase != BEFORE else _name(one.spec) + times + why
            usual = one.spec
        yield f"{_range(one.first, one.last, end)}: {what}"
    if rest:
        yield _summed(rest, usual, end)


def _compared(run: Replayed, spec: str) -> str:
    return f"{duration(run.call_s[spec])} a call, the host MPI {duration(run.call_s[NATIVE])}"


def _summed(decisions: Sequence[Decision], usual: str, end: int) -> str:
    tried = Counter(one.spec for one in decisions if one.phase == TRIAL)
    number = sum(tried.values())
    what = ", ".join(f"{times:,} of {_name(spec)}" for spec, times in tried.most_common())
    trials = "1 trial" if number == 1 else f"{number:,} trials"
    return f"{_range(decisions[0].first, decisions[-1].last, end)}: {_name(usual)}, beside {trials}: {what}"


def _sums(run: Replayed) -> Iterator[str]:
    calls = [f"{_calls(number)} by {_name(spec)}" for spec, number in run.calls_by_spec.items()]
    trials = "no trials"
    if run.trials:
        trials = (
            f"{run.trials:,} {'trial' if run.trials == 1 else 'trials'}, which cost {run.trials_share:.2%} of the time"
        )
    yield f"in all: {', '.join(calls)}; {trials}"
    recorded_s = run.kind.recorded_s * run.kind.calls_each
    ratio = f" (speed-up {recorded_s / run.seconds:.2f})" if run.seconds else ""
    yield f"expected: {duration(run.seconds)}, recorded {duration(recorded_s)}{ratio}"


def _record(run: Replayed) -> dict[str, object]:
    kind = run.kind
    return {
        "collective": kind.collective,
        "ranks": kind.ranks,
        "nodes": kind.nodes,
        "block_bytes": kind.block_bytes,
        "communicators": kind.communicators,
        "calls": kind.calls_each,
        "recorded_us": 1e6 * kind.recorded_s,
        "recorded_seconds": kind.recorded_s * kind.calls_each,
        "expected_seconds": run.seconds,
        "trials": run.trials,
        "trials_percent": 100 * run.trials_share,
        "by_spec": [
            {"spec": spec, "calls": calls, "expected_us": 1e6 * run.call_s[spec]}
            for spec, calls in run.calls_by_spec.items()
        ],
        "decisions": [
            {
                "first": one.first,
                "last": one.last,
                "spec": one.spec,
                "phase": one.phase,
                "reason": one.reason,
                "sets_up": one.sets_up,
            }
            for one in run.decisions
        ],
    }
