"""What the watchdogs of all ranks report of a job that hangs, as one page: which rank waits for which, and why."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from swapmeet.errors import SwapmeetError
from swapmeet.mpi.hang_reports import GONE, Ends, NoCall, Rank, Waits, read
from swapmeet.specs import runs_text

POLL_S = 0.2
LATE_S = 3.0  #: that the last report of a hang may come later than the limit behind the first
STACK_LIMIT_S = 60
MOST_STACKS = 4
MOST_FRAMES = 25
OUTSIDE = -1  #: a rank that is not in MPI_COMM_WORLD
ALL, PERHAPS = "for", "perhaps for"  #: why a rank waits for others, where no message is known
OF_NEIGHBOURS = ("MPI_Neighbor_", "MPI_Ineighbor_")


@dataclass(frozen=True)
class Edge:
    """A rank waits for another, which has perhaps ended that call."""

    waiter: int
    awaited: int  #: may be OUTSIDE
    why: str  #: ALL, PERHAPS, or which message
    ended: bool


def edges(ranks: Mapping[int, Rank]) -> list[Edge]:
    """Which rank waits for which."""
    found = []
    for rank in ranks.values():
        call = rank.call
        if call is None:
            continue
        for peer, why in _awaited(call):
            awaited = call.members[peer] if peer < len(call.members) else OUTSIDE
            if awaited == rank.rank:
                continue
            other = ranks.get(awaited)
            ended = other.calls_ended(call) if other else None
            late = ended is not None and ended >= call.call
            same = other is not None and other.waits and ended == call.call - 1
            if why not in (ALL, PERHAPS) or not same:  # whoever is in the same call is not what all ranks wait for
                found.append(Edge(rank.rank, max(awaited, OUTSIDE), why, late))
    return found


def _awaited(call: Waits) -> Iterable[tuple[int, str]]:
    """(rank in the communicator, why): of the messages that it has reported, or of all ranks, or neighbours."""
    messages = call.messages if call.doing == "exchanging" else []
    receives = [message for message in messages if message.direction == "receive"]
    if not messages:
        of_neighbours = call.doing == "host" and (call.collective or "").startswith(OF_NEIGHBOURS)
        return [(peer, ALL) for peer in (set(call.neighbours) if of_neighbours else range(len(call.members)))]
    peers: dict[int, str] = {}
    for message in receives or messages:
        size = f"{message.bytes} B " if message.bytes > 0 else "a message "
        verb = f"to receive {size}from" if receives else f"to send {size}to"
        peers.setdefault(message.peer, verb)
    if call.more_messages:
        for peer in range(len(call.members)):
            peers.setdefault(peer, PERHAPS)
    return peers.items()


def circle(all_edges: Iterable[Edge]) -> list[Edge]:
    """A circle of waiting, the shortest; nothing if there is none."""
    after: dict[int, list[Edge]] = {}
    for edge in all_edges:
        after.setdefault(edge.waiter, []).append(edge)
    best: list[Edge] = []
    for start in after:
        paths: list[list[Edge]] = [[edge] for edge in after[start]]
        seen = {start}
        while paths:
            path = paths.pop(0)
            end = path[-1].awaited
            if end == start:
                if not best or len(path) < len(best):
                    best = path
                break
            if end not in seen:
                seen.add(end)
                paths += [[*path, edge] for edge in after.get(end, ())]
    return best


def listed(ranks: Collection[int]) -> str:
    """As in "rank 3", or "ranks 0-2, 5"; and ranks outside MPI_COMM_WORLD."""
    numbers = set(ranks) - {OUTSIDE}
    outside = ["ranks outside MPI_COMM_WORLD"] if OUTSIDE in ranks else []
    inside = [f"rank{'' if len(numbers) == 1 else 's'} {runs_text(numbers)}"] if numbers else []
    return " and ".join(inside + outside)


def waiting(ranks: Collection[int]) -> str:
    """As in "rank 3 waits", or "ranks 0-2, 5 wait"."""
    text = listed(ranks)
    return f"{text} {'wait' if text.startswith('ranks') else 'waits'}"


def call_text(call: Waits) -> str:
    """Which call a rank waits in."""
    kind = "non-blocking call" if call.background else "call"
    where = f"{kind} {call.call} on {call.name or 'a communicator without a name'}"
    what = [call.collective or "", f"sends {call.bytes} B" if call.bytes > 0 else "", call.algorithm]
    details = ", ".join(word for word in what if word)
    return f"{where} ({details})" if details else where


def away_text(rank: Rank) -> str:
    """What a rank does that does not wait."""
    if rank.state in GONE:
        return GONE[rank.state]
    if isinstance(rank.last, Ends):
        return "has ended"
    if isinstance(rank.last, NoCall) and rank.last.finalizes:
        return "has called MPI_Finalize"
    return "is in no all-to-all"


def page(ranks: Mapping[int, Rank], stack_of: Callable[[int], list[str]]) -> str:
    """One page: the cause, as far as it is known, and what each rank does.

    Parameters
    ----------
    ranks : mapping
        What `hang_reports.read` returned.
    stack_of : callable
        The frames of a process, or a line on why there are none.
    """
    total = max((rank.ranks for rank in ranks.values()), default=0)
    everyone = {number: ranks.get(number, Rank(number)) for number in range(total)}
    waits = edges(everyone)
    waiters = [number for number, rank in everyone.items() if rank.waits]
    how = "waits in an all-to-all" if len(waiters) == 1 else "wait in all-to-alls"
    lines = [f"{listed(waiters)} of {total} {how}", ""]
    lines += ["Cause:", *(f"  {line}" for line in _cause(everyone, waits, stack_of)), "", "Ranks:"]
    for number, rank in everyone.items():
        lines += [f"  {line}" for line in _rank_lines(number, rank, waits)]
    return "\n".join(lines)


def _rank_lines(number: int, rank: Rank, waits: list[Edge]) -> list[str]:
    process = f" (process {rank.process} on {rank.host})" if rank.process else ""
    if not rank.process:
        return [f"rank {number}: has reported nothing: it runs without the library, or cannot write here"]
    call = rank.call
    if call is None:
        return [f"rank {number}{process}: {away_text(rank)}"]
    step = f", step {call.step}" if call.doing == "exchanging" and call.step >= 0 else ""
    lines = [f"rank {number}{process}: {call.seconds:.1f} s in {call_text(call)}: {call.says}{step}"]
    by_why: dict[str, list[int]] = {}
    for edge in waits:
        if edge.waiter == number:
            by_why.setdefault(edge.why, []).append(edge.awaited)
    for why, awaited in by_why.items():
        others = " and others" if call.more_messages and why not in (ALL, PERHAPS) else ""
        lines.append(f"    waits {why} {listed(awaited)}{others}")
    return lines


def _cause(ranks: Mapping[int, Rank], waits: list[Edge], stack_of: Callable[[int], list[str]]) -> list[str]:
    inside = [edge for edge in waits if edge.awaited != OUTSIDE]
    if lines := _absent(ranks, inside, stack_of):
        return lines
    for some in ([edge for edge in inside if edge.why != PERHAPS], inside):
        if lines := _ended(ranks, some) or _circle(ranks, some):
            break
    if outside := {edge.waiter for edge in waits if edge.awaited == OUTSIDE}:
        where = f"{listed([OUTSIDE])} (spawned or connected), of which there are no reports"
        lines.append(f"{waiting(outside)} for {where}")
    if lines:
        return lines
    explained = {edge.waiter for edge in waits}
    others = {n: call for n, rank in ranks.items() if (call := rank.call) is not None and n not in explained}
    unsure = any(call.communicator == -1 and not call.name for call in others.values())
    return [
        f"{waiting(others)}, with all awaited ranks of MPI_COMM_WORLD in the same call; what is missing, only the host "
        "MPI knows: counts that differ, perhaps"
        + ("; these may be calls on different communicators of the same ranks" if unsure else "")
    ]


def _absent(ranks: Mapping[int, Rank], waits: list[Edge], stack_of: Callable[[int], list[str]]) -> list[str]:
    """Ranks that have not come to the call in which others wait for them."""
    awaited: dict[int, list[Edge]] = {}
    for edge in waits:
        awaited.setdefault(edge.awaited, []).append(edge)
    lines: list[str] = []
    stacks = 0
    for number, incoming in sorted(awaited.items()):
        rank = ranks[number]
        if rank.waits or all(edge.ended for edge in incoming):
            continue
        waiters = waiting({edge.waiter for edge in incoming})
        lines.append(f"rank {number} has not come: it {away_text(rank)}; {waiters} for it")
        if rank.state not in (*GONE, "?") and stacks < MOST_STACKS:
            stacks += 1
            lines += [f"    {line}" for line in stack_of(rank.process)]
    return lines


def _ended(ranks: Mapping[int, Rank], waits: list[Edge]) -> list[str]:
    """Calls that the awaited rank has ended."""
    return [
        f"rank {edge.waiter} waits {edge.why} rank {edge.awaited} in {call_text(call)}, which rank {edge.awaited} has "
        "ended: the counts of the two differ, or a message was lost"
        for edge in waits
        if edge.ended and (call := ranks[edge.waiter].call) is not None
    ]


def _circle(ranks: Mapping[int, Rank], waits: list[Edge]) -> list[str]:
    found = circle(waits)
    calls = [call_text(call) for edge in found if (call := ranks[edge.waiter].call) is not None]
    return ["ranks wait for one another:"] * bool(found) + [
        f"  rank {edge.waiter}, in {call}, waits {edge.why} rank {edge.awaited}"
        for edge, call in zip(found, calls, strict=True)
    ]


def stack(process: int) -> list[str]:
    """The stack of a process's first thread, by gdb or eu-stack."""
    number = str(process)
    tools = {
        "gdb": ["gdb", "-p", number, "-batch", "-nx", "-ex", f"bt {MOST_FRAMES}"],
        "eu-stack": ["eu-stack", "-1", "-n", str(MOST_FRAMES), "-p", number],
    }
    words = next((words for name, words in tools.items() if shutil.which(name)), None)
    if words is None:
        return [f"(its stack: install gdb or eu-stack, or `cat /proc/{number}/stack`)"]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=STACK_LIMIT_S, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return [f"({words[0]} has no stack: {problem})"]
    frames = [line for line in done.stdout.splitlines() if line.lstrip().startswith("#")]
    return frames or [f"({words[0]} has no stack: {(done.stderr.strip().splitlines() or ['it printed nothing'])[-1]})"]


class Attendant:
    """Prints a page, by `show`, of each hang that the watchdogs report into `folder`, while it lives."""

    def __init__(self, folder: Path, limit_s: float, show: Callable[[str], None]) -> None:
        self._folder, self._limit_s, self._show = folder, limit_s, show
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._attend, daemon=True)

    def __enter__(self) -> Attendant:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _attend(self) -> None:
        first: float | None = None
        shown = False
        while not self._over.wait(POLL_S):
            try:
                ranks = read(self._folder)
            except SwapmeetError as problem:
                self._show(str(problem))
                return
            if not any(rank.waits for rank in ranks.values()):
                first, shown = None, False
                continue
            first = time.monotonic() if first is None else first
            total = max(rank.ranks for rank in ranks.values())
            settled = sum(rank.settled for rank in ranks.values()) == total
            if not shown and (settled or time.monotonic() - first > self._limit_s + LATE_S):
                shown = True
                self._show(page(ranks, stack))
