"""What the watchdogs of all ranks report of a job that hangs, as one page: which rank waits for which, and why."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from swapmeet.errors import SwapmeetError
from swapmeet.mpi.hang_reports import GONE, STOPPED, Ends, NoCall, Place, Rank, Waits, read
from swapmeet.specs import runs_text
from swapmeet.texts import without_controls

POLL_S = 0.2
LATE_S = 3.0  #: that the last report of a hang may come later than the limit behind the first
STACK_LIMIT_S = 60
MOST_PAGES = 5  #: of one hang, which is over once none of the waits on its pages goes on
MOST_STACKS = 4
MOST_FRAMES = 25
OUTSIDE = -1  #: a rank that is not in MPI_COMM_WORLD
ALL, PERHAPS = "for", "perhaps for"  #: why a rank waits for others, where no message is known
OF_NEIGHBOURS = ("MPI_Neighbor_", "MPI_Ineighbor_")


@dataclass(frozen=True)
class Edge:
    """A rank waits for another, which has perhaps ended that call."""

    call: Waits  #: in which it waits
    awaited: int  #: may be OUTSIDE
    why: str  #: ALL, PERHAPS, or which message
    ended: bool
    behind: Waits | None  #: the call in which the awaited rank has to go on first, if that is known

    @property
    def waiter(self) -> int:
        """The rank that waits."""
        return self.call.rank


def edges(ranks: Mapping[int, Rank]) -> list[Edge]:
    """Which rank waits for which."""
    found = []
    for rank in ranks.values():
        for call in rank.calls:
            for peer, why in _awaited(call):
                other = ranks.get(call.members[peer]) if peer < len(call.members) else None
                if other is None:
                    found.append(Edge(call, OUTSIDE, why, False, None))
                elif other is not rank:
                    found += _edges_to(other, call, why)
    return found


def _edges_to(other: Rank, call: Waits, why: str) -> list[Edge]:
    ended = other.calls_ended(call)
    if why in (ALL, PERHAPS) and other.waits and ended == call.call - 1:
        return []  # a rank in the same call is not what all ranks wait for
    if ended is not None and ended >= call.call:
        return [Edge(call, other.rank, why, True, None)]
    first = other.instead_of(call)
    return [Edge(call, other.rank, why, False, behind) for behind in first or (None,)]


def _awaited(call: Waits) -> Iterable[tuple[int, str]]:
    """(rank in the communicator, why): of the messages that it has reported, or of all ranks, or neighbours."""
    messages = [message for message in call.messages if message.peer >= 0] if call.doing == "exchanging" else []
    receives = [message for message in messages if message.direction == "receive"]
    if not messages:
        of_neighbours = call.doing == "host" and (call.collective or "").startswith(OF_NEIGHBOURS)
        peers_of_all = set(call.neighbours) if of_neighbours else range(len(call.members))
        return [(peer, ALL) for peer in peers_of_all if peer >= 0]
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
    """A circle of calls that wait for one another, the shortest; nothing if there is none."""
    after: dict[Place, list[Edge]] = {}
    for edge in all_edges:
        after.setdefault(edge.call.place, []).append(edge)
    best: list[Edge] = []
    for start in after:
        paths: list[list[Edge]] = [[edge] for edge in after[start]]
        seen = {start}
        while paths:
            path = paths.pop(0)
            behind = path[-1].behind
            if behind is None:
                continue
            end = behind.place
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


def where_text(call: Waits) -> str:
    """Which call of which communicator that is."""
    kind = "non-blocking call" if call.background else "call"
    return f"{kind} {call.call} on {call.name or 'a communicator without a name'}"


def call_text(call: Waits) -> str:
    """Which call a rank waits in."""
    where = where_text(call)
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
    return "is in no all-to-all" if isinstance(rank.last, NoCall) else "has reported no wait"


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
    of_calls: dict[Place, list[Edge]] = {}
    for edge in waits:
        of_calls.setdefault(edge.call.place, []).append(edge)
    for number, rank in everyone.items():
        lines += [f"  {line}" for line in _rank_lines(number, rank, of_calls)]
    return "\n".join(map(without_controls, lines))


def _rank_lines(number: int, rank: Rank, of_calls: Mapping[Place, list[Edge]]) -> list[str]:
    process = f" (process {rank.process} on {rank.host})" if rank.process else ""
    if not rank.process:
        return [f"rank {number}: has reported nothing: it runs without the library, or cannot write here"]
    if not rank.waits:
        return [f"rank {number}{process}: {away_text(rank)}"]
    lines = []
    for call in rank.calls:
        step = f", step {call.step}" if call.doing == "exchanging" and call.step >= 0 else ""
        lines.append(f"rank {number}{process}: {call.seconds:.1f} s in {call_text(call)}: {call.says}{step}")
        by_why: dict[str, list[int]] = {}
        for edge in of_calls.get(call.place, ()):
            by_why.setdefault(edge.why, []).append(edge.awaited)
        for why, awaited in by_why.items():
            others = " and others" if call.more_messages and why not in (ALL, PERHAPS) else ""
            lines.append(f"    waits {why} {listed(awaited)}{others}")
    return lines


def _cause(ranks: Mapping[int, Rank], waits: list[Edge], stack_of: Callable[[int], list[str]]) -> list[str]:
    inside = [edge for edge in waits if edge.awaited != OUTSIDE]
    stacks = _Stacks(stack_of)
    lines = _absent(ranks, inside, stacks)
    elsewhere = _elsewhere(ranks, inside, stacks)
    if lines:
        return lines + elsewhere
    for some in ([edge for edge in inside if edge.why != PERHAPS], inside):
        if lines := _ended(some) or _circle(some):
            break
    else:
        lines = _circle(_by_one_thread(ranks, inside), ", unless another thread comes") if elsewhere else []
    lines += elsewhere
    if outside := {edge.waiter for edge in waits if edge.awaited == OUTSIDE}:
        where = f"{listed([OUTSIDE])} (spawned or connected), of which there are no reports"
        lines.append(f"{waiting(outside)} for {where}")
    if lines:
        return lines
    explained = {edge.call.place for edge in waits}
    others = [call for rank in ranks.values() for call in rank.calls if call.place not in explained]
    unsure = any(call.communicator == -1 and not call.name for call in others)
    waiters = {call.rank for call in others}
    return [
        f"{waiting(waiters)}, with all awaited ranks of MPI_COMM_WORLD in the same call; what is missing, only the "
        "host MPI knows: counts that differ, perhaps"
        + ("; these may be calls on different communicators of the same ranks" if unsure else "")
    ]


class _Stacks:
    """Those of a few ranks, for they take long, once each."""

    def __init__(self, stack_of: Callable[[int], list[str]]) -> None:
        self._stack_of = stack_of
        self._shown: set[int] = set()

    def of(self, rank: Rank) -> list[str]:
        if rank.state in (*GONE, "?") or rank.rank in self._shown or len(self._shown) == MOST_STACKS:
            return []
        self._shown.add(rank.rank)
        return self._stack_of(rank.process)


def _absent(ranks: Mapping[int, Rank], waits: list[Edge], stacks: _Stacks) -> list[str]:
    """Ranks that wait in no call, and have not come to the call in which others wait for them."""
    awaited: dict[int, list[Edge]] = {}
    for edge in waits:
        awaited.setdefault(edge.awaited, []).append(edge)
    lines: list[str] = []
    for number, incoming in sorted(awaited.items()):
        rank = ranks[number]
        if rank.waits or all(edge.ended for edge in incoming):
            continue
        waiters = waiting({edge.waiter for edge in incoming})
        lines.append(f"rank {number} has not come: it {away_text(rank)}; {waiters} for it")
        lines += [f"    {line}" for line in stacks.of(rank)]
    return lines


def _elsewhere(ranks: Mapping[int, Rank], waits: list[Edge], stacks: _Stacks) -> list[str]:
    """Ranks of which threads wait in other calls: they have reported nothing of those in which others wait for them."""
    awaited: dict[int, dict[str, set[int]]] = {}
    for edge in waits:
        if edge.behind is None and not edge.ended and ranks[edge.awaited].waits:
            awaited.setdefault(edge.awaited, {}).setdefault(where_text(edge.call), set()).add(edge.waiter)
    alike: dict[tuple[str, str], tuple[set[int], set[int]]] = {}
    for number, by_call in sorted(awaited.items()):
        there = " and ".join(where_text(call) for call in ranks[number].calls)
        for where, waiters in by_call.items():
            numbers, all_waiters = alike.setdefault((where, there), (set(), set()))
            numbers.add(number)
            all_waiters |= waiters
    lines: list[str] = []
    for (where, there), (numbers, waiters) in alike.items():
        have, do, them = ("has", "it waits", "it") if len(numbers) == 1 else ("have", "they wait", "them")
        nothing = f"{listed(numbers)} {have} reported nothing of {where}"
        lines.append(f"{nothing}: {do} in {there}; {waiting(waiters)} for {them}")
        if frames := stacks.of(ranks[min(numbers)]):
            lines += [f"    {line}" for line in (f"the first thread of rank {min(numbers)}:", *frames)]
    return lines


def _ended(waits: list[Edge]) -> list[str]:
    """Calls that the awaited rank has ended."""
    return [
        f"rank {edge.waiter} waits {edge.why} rank {edge.awaited} in {call_text(edge.call)}, which rank {edge.awaited} "
        "has ended: the counts of the two differ, or a message was lost"
        for edge in waits
        if edge.ended
    ]


def _by_one_thread(ranks: Mapping[int, Rank], waits: list[Edge]) -> list[Edge]:
    """What holds if one thread makes all calls of a rank, as in many programs that might use more.

    No rank may wait in two calls then.
    """
    if any(len(rank.calls) > 1 for rank in ranks.values()):
        return []
    return [
        edge if edge.behind or edge.ended else replace(edge, behind=next(iter(ranks[edge.awaited].calls), None))
        for edge in waits
    ]


def _circle(waits: list[Edge], unless: str = "") -> list[str]:
    found = circle(waits)
    return [f"ranks wait for one another{unless}:"] * bool(found) + [
        f"  rank {edge.waiter}, in {call_text(edge.call)}, waits {edge.why} rank {edge.awaited}" for edge in found
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


class Pages:
    """When a page of the waits that ranks report is due.

    Once for a hang, when all ranks have reported, or are late; and again where some of its waits are over and others
    are not, or other ranks wait, too.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._since: dict[tuple[Place, int], float] = {}  #: when each wait was first seen, of those that go on
        self._changed = 0.0  #: when these were others
        self._begin: float | None = None  #: of what the next page is to explain, if there is something
        self._shown: list[frozenset[tuple[Place, int]]] = []  #: of this hang

    def due(self, ranks: Mapping[int, Rank], now: float) -> bool:
        """Whether it is due at this time, in seconds: then it is as good as printed."""
        waits = self._followed(ranks, now)
        self._shown = [shown for shown in self._shown if not shown.isdisjoint(waits)]
        if not waits or waits in self._shown or len(self._shown) == MOST_PAGES:
            self._begin = None
            return False
        self._begin = now if self._begin is None else self._begin
        total = max(rank.ranks for rank in ranks.values())
        settled = sum(rank.settled for rank in ranks.values()) == total
        # a rank that has reported one wait may be about to report that of another thread, or that one is over
        several = bool(self._shown) or any(rank.threads for rank in ranks.values())
        calm = not several or now - self._changed >= min(self._limit_s, LATE_S)
        if not (settled and calm) and now - self._begin <= self._limit_s + LATE_S:
            return False
        self._begin = None
        self._shown.append(waits)
        return True

    def _followed(self, ranks: Mapping[int, Rank], now: float) -> frozenset[tuple[Place, int]]:
        waits = frozenset(
            (call.place, call.call)
            for rank in ranks.values()
            for call in (rank.reported.values() if rank.state in STOPPED else rank.calls)
        )
        if waits != self._since.keys():
            self._changed = now
        self._since = {wait: self._since.get(wait, now) for wait in waits}
        return waits

    def lengthen(self, ranks: Mapping[int, Rank], now: float) -> None:
        """Add to waits how long ago they were reported."""
        for rank in ranks.values():
            for call in rank.calls:
                call.seconds += now - self._since.get((call.place, call.call), now)


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
        pages = Pages(self._limit_s)
        while not self._over.wait(POLL_S):
            try:
                ranks = read(self._folder)
            except SwapmeetError as problem:
                self._show(without_controls(str(problem)))
                return
            now = time.monotonic()
            if pages.due(ranks, now):
                pages.lengthen(ranks, now)
                self._show(page(ranks, stack))
