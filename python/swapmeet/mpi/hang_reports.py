"""What the watchdog of each rank reports: JSON lines (SWAPMEET_WATCHDOG, docs/howto/hangs.md).

Ranks here are those of MPI_COMM_WORLD.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import msgspec

from swapmeet.errors import SwapmeetError
from swapmeet.structs import decoded, reason

STOPPED = ("T", "t")
GONE = {"X": "has died", "Z": "has died", **dict.fromkeys(STOPPED, "is stopped (state T)")}


Place: TypeAlias = tuple[int | str, ...]


class Event(msgspec.Struct, tag_field="event"):
    """A line of a rank's file."""

    rank: int
    process: int


class Watches(Event, tag="watches"):
    """The rank begins."""

    ranks: int  #: of the job
    host: str
    process_namespace: int = 0  #: inode of its /proc/self/ns/pid; 0: not known
    threads: bool = False  #: several may call MPI at once (MPI_THREAD_MULTIPLE)


class GoesOn(Event, tag="goes on"):
    """A wait is over."""

    local_communicator: int = 0  #: as of Waits; 0: older libraries do not report it, nor several waits


class Ends(Event, tag="ends"):
    """The rank ends as it should."""


class PastCalls(msgspec.Struct):
    """The calls that a rank has ended on a communicator."""

    communicator: int  #: -1: its ranks have not met
    background: bool  #: for calls that do not block
    members: list[int]  #: in MPI_COMM_WORLD; -1: not in it. Of both groups of an intercommunicator, sorted
    calls: int
    name: str = ""  #: of the communicator


class NoCall(Event, tag="no call"):
    """The rank is in no all-to-all."""

    communicators: list[PastCalls]
    finalizes: bool = False


class Message(msgspec.Struct):
    """A message that a rank waits for."""

    direction: str  #: send or receive
    peer: int  #: in the communicator
    bytes: int  #: 0 or less: not known


class Waits(Event, tag="waits"):
    """The rank waits in a call."""

    seconds: float
    communicator: int  #: this and the next three as of PastCalls
    background: bool
    members: list[int]
    name: str
    call: int  #: its number on the communicator, from 1
    collective: str | None
    bytes: int
    algorithm: str
    doing: str
    step: int  #: -1: in none
    messages: list[Message]
    says: str
    more_messages: int = 0  #: for which the list had no room
    neighbours: list[int] = []  #: in the communicator, of the rank
    #: of the calls that block, or of the others, in this process, also before their ranks have met; 0: not known
    local_communicator: int = 0

    @property
    def place(self) -> Place:
        """Where the rank waits once at a time."""
        if self.local_communicator:
            return (self.rank, self.local_communicator)
        return (self.rank, self.communicator, self.background, self.name)


Line: TypeAlias = Watches | Waits | GoesOn | NoCall | Ends
LINES: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


@dataclass
class Rank:
    """What is known of a rank."""

    rank: int
    ranks: int = 0  #: of the job
    process: int = 0
    host: str = ""
    process_namespace: int = 0
    threads: bool = False  #: several of it may wait
    reported: dict[Place, Waits] = field(default_factory=dict)  #: waits that go on
    last: NoCall | Ends | None = None  #: reported since its last wait
    state: str = "?"  #: of its process, as in /proc/PID/stat; X: there is none; ?: it cannot be looked at from here

    @property
    def calls(self) -> list[Waits]:
        """The calls in which it has reported waits that go on, while it is there: of each communicator two at most."""
        return [] if self.state in GONE else list(self.reported.values())

    @property
    def waits(self) -> bool:
        """Whether there are any."""
        return bool(self.calls)

    @property
    def settled(self) -> bool:
        """Whether nothing more is to be expected from it."""
        return self.state in GONE or self.last is not None or self.waits

    def calls_ended(self, call: Waits) -> int | None:
        """How many calls it has ended on the communicator of a wait; None: it is not known."""
        ended: list[tuple[Waits | PastCalls, int]] = [(own, own.call - 1) for own in self.calls]
        if isinstance(self.last, NoCall):
            ended += [(row, row.calls) for row in self.last.communicators]
        return max((calls for one, calls in ended if may_have_ended(one, calls, call)), default=None)

    def instead_of(self, call: Waits) -> list[Waits]:
        """The calls in which it has to go on before it can do its part of another rank's; none: it is not known.

        A thread that waits elsewhere keeps no other from coming.
        """
        there = [own for own in self.calls if may_have_ended(own, own.call - 1, call)]
        if there or self.threads:
            return there
        return [own for own in self.calls if not own.background] or self.calls


def may_have_ended(one: Waits | PastCalls, calls: int, call: Waits) -> bool:
    """Whether a rank's report of calls it has ended may be of the communicator of another rank's call.

    A call in which one of two ranks is yet to meet, the other has not ended: that is another communicator.
    """
    return same_communicator(one, call) and (one.communicator == call.communicator or calls < call.call)


def same_communicator(one: Waits | PastCalls, other: Waits) -> bool:
    """Whether two ranks speak of the same communicator, as far as members and names show before its ranks have met."""
    if one.members != other.members or one.background != other.background:
        return False
    if -1 not in (one.communicator, other.communicator):
        return one.communicator == other.communicator
    return one.name == other.name or "" in (one.name, other.name)


def read(folder: Path) -> dict[int, Rank]:
    """The ranks that have written into `folder`.

    Raises
    ------
    SwapmeetError
        If a line is none of a watchdog: with its file and number.
    """
    ranks: dict[int, Rank] = {}
    here = {(socket.gethostname(), namespace) for namespace in (0, process_namespace())}
    for file in sorted(folder.glob("*.jsonl")):
        *lines, _ = file.read_text(errors="replace").split("\n")  # what has no end of line is being written
        for number, line in enumerate(lines, 1):
            try:
                event = decoded(LINES.decode, line)
            except msgspec.MsgspecError as problem:
                raise SwapmeetError(f"{file}, line {number}: {reason(problem)}") from None
            rank = ranks.setdefault(event.rank, Rank(event.rank, process=event.process))
            if event.process != rank.process:
                continue  # a spawned one, of another MPI_COMM_WORLD
            if isinstance(event, Watches):
                rank.ranks, rank.host, rank.process_namespace = event.ranks, event.host, event.process_namespace
                rank.threads = event.threads
            note(rank, event)
    for rank in ranks.values():
        if (rank.host, rank.process_namespace) in here:
            rank.state = process_state(rank.process)
        if isinstance(rank.last, Ends):
            rank.state = "?"  # it ended as it should
    return ranks


def note(rank: Rank, event: Line) -> None:
    """Which waits go on after a line."""
    rank.last = event if isinstance(event, NoCall | Ends) else None
    if isinstance(event, Waits):
        rank.reported[event.place] = event
    elif isinstance(event, GoesOn) and event.local_communicator:
        rank.reported.pop((rank.rank, event.local_communicator), None)
    else:
        rank.reported.clear()


def process_namespace() -> int:
    """That of this process, by its inode; 0: it is not known."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return 0


def process_state(process: int) -> str:
    """As in /proc/PID/stat; X: there is no such process."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return "X"
    return text.rpartition(")")[2].split()[0]
