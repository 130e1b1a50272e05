"""What the automatic choice would do in a run that was recorded: `swapmeet explain --replay` (docs/tuning.md).

Each kind of exchange is gone through as if nothing else happened on its communicator, by the library's own decisions
(program.py). What the host MPI takes is what was recorded, if its all-to-alls were; what specs take is the model's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from swapmeet import _core
from swapmeet.choose.program import COLLECTIVES, NATIVE, TRIAL, Calls, Decision, Program, Settings
from swapmeet.errors import SwapmeetError
from swapmeet.measure.profiling import exchanges
from swapmeet.measure.profiling.recording import OF_NEIGHBOURS, Exchange, RankFile, Recording
from swapmeet.specs import require_map

NO_HOST = "on ranks whose host was not recorded (--nodes gives a map)"
BEYOND = "beyond the recorder's limits, or of ranks without a recording"

Places = Sequence[tuple[RankFile, int]]


@dataclass
class Kind:
    """Calls of communicators that are alike."""

    ranks: int
    collective: str
    nodes: str  #: a node map; empty: one node
    communicators: int = 0
    calls: float = 0  #: on all of them
    rank_seconds: float = 0  #: in these calls, over all ranks
    bytes: float = 0  #: of the mean blocks of all calls

    @property
    def calls_each(self) -> int:
        """On a communicator."""
        return max(1, round(self.calls / self.communicators))

    @property
    def block_bytes(self) -> int:
        """In the mean."""
        return round(self.bytes / self.calls)

    @property
    def recorded_s(self) -> float:
        """Of a call, in the mean."""
        return self.rank_seconds / self.ranks / self.calls

    def add(self, other: Kind) -> None:
        """Calls of another communicator, or of another size of the same class."""
        self.communicators += other.communicators
        self.calls += other.calls
        self.rank_seconds += other.rank_seconds
        self.bytes += other.bytes


@dataclass(frozen=True)
class Replayed:
    """What the automatic choice does with calls of a kind, on one communicator."""

    kind: Kind
    call_s: Mapping[str, float]  #: what a call takes by each spec that was used
    decisions: tuple[Decision, ...]

    @property
    def seconds(self) -> float:
        """Of all calls, trials and setting up included."""
        return sum(one.seconds for one in self.decisions)

    @property
    def trials(self) -> int:
        """How many were made."""
        return sum(one.phase == TRIAL for one in self.decisions)

    @property
    def trials_share(self) -> float:
        """Of all time, what trials cost beyond calls as usual."""
        return sum(one.extra_s for one in self.decisions) / self.seconds if self.seconds else 0.0

    @property
    def calls_by_spec(self) -> dict[str, int]:
        """Most calls first."""
        count: Counter[str] = Counter()
        for one in self.decisions:
            count[one.spec] += one.calls
        return dict(count.most_common())


@dataclass
class Found:
    """The exchanges of a recording."""

    kinds: list[Kind]  #: the most expensive first
    left_out: dict[str, int] = field(default_factory=dict)  #: calls that are not gone through, by reason


def found(recording: Recording, nodes: str) -> Found:
    """The kinds of exchange of a recording, and the rest.

    Parameters
    ----------
    nodes : str
        A node map of MPI_COMM_WORLD; empty: ranks are on nodes as on the recorded hosts.

    Raises
    ------
    SwapmeetError
        If the map does not fit, or nothing was recorded.
    """
    node_of = _nodes(recording, nodes)
    left_out: Counter[str] = Counter()
    kinds: dict[object, Kind] = {}
    beyond = [sum(e.calls for e in file.exchanges if e.communicator is None) for file in recording.files.values()]
    left_out[BEYOND] += max(beyond, default=0)
    for places in recording.communicators().values():
        for one in _of_communicator(places, node_of, left_out):
            key = (one.ranks, one.collective, one.nodes, _class(one), one.calls_each.bit_length())
            kinds.setdefault(key, Kind(one.ranks, one.collective, one.nodes)).add(one)
    if not kinds and not any(left_out.values()):
        raise SwapmeetError("the recording has no all-to-all")
    ordered = sorted(kinds.values(), key=lambda kind: -kind.rank_seconds)
    return Found(ordered, {reason: calls for reason, calls in left_out.items() if calls})


def _class(kind: Kind) -> int:
    return _core.block_class(kind.block_bytes)


def _nodes(recording: Recording, nodes: str) -> dict[int, int]:
    """The node of each rank of MPI_COMM_WORLD, as far as it is known."""
    if nodes:
        require_map(nodes, [recording.ranks])
        return dict(enumerate(_core.parse_node_map(nodes, recording.ranks)[0]))
    hosts = {rank: file.header.host for rank, file in recording.files.items() if file.header.host not in ("", "?")}
    number = {host: i for i, host in enumerate(dict.fromkeys(hosts[rank] for rank in sorted(hosts)))}
    return {rank: number[host] for rank, host in hosts.items()}


def _map(members: Sequence[int]) -> str:
    """A node map for the nodes of a communicator's ranks, as short as it can be."""
    number = {node: i for i, node in enumerate(dict.fromkeys(members))}
    if len(number) == 1:
        return ""
    places = [number[node] for node in members]
    each, rest = divmod(len(places), len(number))
    if rest == 0 and places == [rank // each for rank in range(len(places))]:
        return str(each)
    return ",".join(map(str, places))


def _of_communicator(places: Places, node_of: Mapping[int, int], left_out: Counter[str]) -> Iterator[Kind]:
    """What can be gone through, one kind for each collective and class of sizes."""
    file, index = places[0]
    first = file.communicators[index]
    of_ranks = [[e for e in file.exchanges if e.communicator == index] for file, index in places]
    left_out["of neighbours"] += _calls(of_ranks, OF_NEIGHBOURS)
    calls = {collective: _calls(of_ranks, [collective]) for collective in COLLECTIVES}
    members = [node_of.get(-1 if rank is None else rank) for rank in first.members]
    known = [node for node in members if node is not None]
    if first.inter or first.blocks == 1:
        left_out["on intercommunicators" if first.inter else "on communicators of one rank"] += sum(calls.values())
    elif len(known) < first.blocks:
        left_out[NO_HOST] += sum(calls.values())
    else:
        kinds: dict[tuple[str, int], Kind] = {}
        for one in exchanges.of_communicator(places, {}):
            block_bytes = one.total_bytes / one.ranks**2
            kind = Kind(one.ranks, one.collective, _map(known), 0, one.calls, one.rank_seconds, block_bytes * one.calls)
            if one.calls > 0:
                empty = Kind(one.ranks, one.collective, kind.nodes, communicators=1)
                kinds.setdefault((one.collective, _class(kind)), empty).add(kind)
        for collective, number in calls.items():
            left_out[BEYOND] += number - round(sum(k.calls for k in kinds.values() if k.collective == collective))
        yield from kinds.values()


def _calls(of_ranks: Sequence[Sequence[Exchange]], collectives: Sequence[str]) -> int:
    return max(sum(e.calls for e in own if e.collective in collectives) for own in of_ranks)


def replayed(kind: Kind, host_recorded: bool, remembered: Sequence[_core.Evidence], settings: Settings) -> Replayed:
    """Go through the calls of a kind on one communicator.

    Parameters
    ----------
    host_recorded : bool
        Whether the recorded times are the host MPI's.
    remembered : sequence of Evidence
        Of earlier runs.

    Raises
    ------
    SwapmeetError
        If the variables ask for what cannot serve these ranks.
    """
    prices = _Prices(kind, kind.recorded_s if host_recorded else 0.0, settings)
    calls = Calls(kind.collective, kind.ranks, kind.nodes, kind.block_bytes)
    program = Program(calls, prices.call_s, prices.collective_s(), None, remembered, settings)
    try:
        decisions = tuple(program.decisions(kind.calls_each))
    except ValueError as problem:
        raise SwapmeetError(f"{kind.collective} on {kind.ranks} ranks: {problem}") from None
    used = dict.fromkeys([NATIVE, *(one.spec for one in decisions)])
    return Replayed(kind, {spec: prices.call_s(spec) for spec in used}, decisions)


class _Prices:
    """What calls of a kind take by each spec: by the model, scaled so that the host MPI takes what was recorded."""

    def __init__(self, kind: Kind, host_s: float, settings: Settings) -> None:
        self._where = (COLLECTIVES[kind.collective], kind.ranks, kind.block_bytes)
        self._nodes = kind.nodes
        self._options = settings.options or _core.read_options([], kind.ranks)
        self._knowledge = _core.Knowledge(settings.machine)
        self._price_s: dict[str, float] = {}
        self._scale = 1.0
        if host_s > 0:
            self._scale = host_s / self.call_s(NATIVE)

    def call_s(self, spec: str) -> float:
        """Of a call by a spec, in seconds."""
        if spec not in self._price_s:
            also = _core.parse_spec(spec)
            found = _core.candidates(
                *self._where, nodes=self._nodes, options=self._options, knowledge=self._knowledge, also=also
            )
            self._price_s |= {str(one.spec): one.price_s for one in found}
        return self._scale * self._price_s[spec]

    def collective_s(self) -> float:
        """Of a small collective: as many rounds of messages as a call with the smallest blocks."""
        return self.call_s(NATIVE) / _core.small_calls(*self._where, nodes=self._nodes, knowledge=self._knowledge)
