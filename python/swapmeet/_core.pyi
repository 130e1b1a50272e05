"""
The core of Swapmeet: schedules, their verifier, options, the automatic choice, workloads, networks. Knows no MPI.
"""

from collections.abc import Callable, Sequence
import enum
from typing import Final, overload


class Spec:
    """One point of the family of schedules."""

    def __init__(self) -> None: ...

    @property
    def family(self) -> str:
        """'native', 'direct', 'bruck' or 'leaders'."""

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """(key, value as one would type it) of each parameter."""

    def unsuitable(self, ranks: int, nodes: str = '') -> str:
        """
        Why the spec cannot serve so many ranks, placed by a node map; '' if it can.
        """

    def __str__(self) -> str: ...

    def __eq__(self, arg: object, /) -> bool: ...

def parse_spec(text: str) -> Spec:
    """Read a spec; ValueError says what was expected and in which column."""

def families() -> list[str]:
    """Names of the families."""

def aliases() -> list[tuple[str, str, str, str]]:
    """(name, expansion, meaning, source) of each alias."""

def parameters() -> list[tuple[str, str, str, str, list[str]]]:
    """(key, synonym, values, meaning, families) of each parameter."""

class Schedule:
    """What one rank does. str() is its text form."""

    @property
    def ranks(self) -> int:
        """P."""

    @property
    def rank(self) -> int:
        """Whose schedule it is."""

    @property
    def scratch_blocks(self) -> int:
        """Room for so many blocks is needed besides the application's buffers."""

    @property
    def segment_bytes(self) -> int:
        """Bytes of a block that one pass moves; 0: all."""

    @property
    def messages(self) -> int:
        """Messages that the rank sends (K)."""

    @property
    def blocks(self) -> int:
        """Blocks that the rank sends (D)."""

    @property
    def steps(self) -> list[tuple[int, str, str, list[tuple[str, str]], list[tuple[int, list[str]]], list[tuple[int, list[str]]]]]:
        """
        (window, completion, posting, copies [(from, to)], sends [(peer, runs)], receives [(peer, runs)]) of each step; runs in their text form.
        """

    @property
    def purposes(self) -> list[str]:
        """What the copies of each step are for: 'copy', 'pack' or 'unpack'."""

    @property
    def memory_bytes(self) -> int:
        """The room that it takes."""

    def __str__(self) -> str: ...

    def __eq__(self, arg: object, /) -> bool: ...

class Flow:
    """
    What travels to and from one rank, wherever blocks are kept.

    Blocks are numbered: d is the rank's own block for rank d, P + i the i-th that it takes in to pass on, and a block
    that arrives from source s to stay is -1 - s.
    """

    def __init__(self, ranks: int, rank: int, rounds: Sequence[tuple[int, str, Sequence[tuple[int, bool, Sequence[int]]], Sequence[tuple[int, bool, Sequence[int]]]]]) -> None: ...

    @property
    def ranks(self) -> int:
        """P."""

    @property
    def rank(self) -> int:
        """Whose flow it is."""

    @property
    def passed_on(self) -> int:
        """Blocks that are taken in to be passed on."""

    @property
    def rounds(self) -> list[tuple[int, str, list[tuple[int, bool, list[int]]], list[tuple[int, bool, list[int]]]]]:
        """
        (window, completion, sends [(peer, last, blocks)], receives [(peer, last, blocks)]) of each round; `last`: the blocks end there; window 0: all messages may be in flight together.
        """

    def peak_blocks(self) -> int:
        """
        The most blocks in working memory at a time, in any execution, if each is of the same size.
        """

def flow(spec: Spec, ranks: int, rank: int, nodes: str = '') -> Flow:
    """
    What travels to and from one rank; `nodes` as of generate(), and ValueError likewise.
    """

def flow_of(schedule: Schedule) -> Flow:
    """
    What a schedule without segments makes travel, by following blocks; ValueError if it is out of bounds.
    """

def parse_schedule(text: str) -> Schedule:
    """
    Read the text form; ValueError says what was expected, in which line and column. Nothing is verified.
    """

def generate(spec: Spec, ranks: int, rank: int, nodes: str = '') -> Schedule:
    """
    The schedule of one rank; `nodes` is a node map such as '4+2', 'cyclic:3', '0,1,0,2' or '2/8'.

    Raises ValueError if the spec cannot serve so many ranks.
    """

def parse_node_map(text: str, ranks: int) -> list[list[int]]:
    """
    The group of each rank at each level, the innermost (nodes) first; ValueError says what was expected.
    """

def grid_sizes(text: str, ranks: int) -> list[int]:
    """The sizes of the dimensions in which a node map arranges ranks."""

def coordinates(spec: Spec, ranks: int, nodes: str = '') -> list[list[int]]:
    """
    The coordinates of each rank on the grid of a spec, in the order of its dimensions; of leaders: none.
    """

def shuffled_ranks(n: int, seed: int) -> list[int]:
    """0..n-1 in random order, the same for a seed on every machine."""

class Verdict:
    """What the verifier found."""

    @property
    def findings(self) -> list[str]:
        """What is wrong, at most 8; empty: proved."""

    @property
    def messages(self) -> int:
        """Of all ranks."""

    @property
    def blocks(self) -> int:
        """In all messages."""

    @property
    def proved(self) -> bool:
        """Whether nothing was found."""

def verify(spec: Spec, ranks: int, progress: Callable[[float], bool] | None = None, nodes: str = '') -> Verdict:
    """
    Verify all ranks of a spec; `progress` gets the fraction done and returns False to give up.
    """

def verify_schedules(schedules: Sequence[Schedule]) -> Verdict:
    """Verify schedules, one for each rank in order."""

def verify_flows(flows: Sequence[Flow]) -> Verdict:
    """
    Verify what is executed for blocks of unequal size, whatever the sizes: a flow of each rank in order.
    """

class Neighbourhood:
    """
    The neighbours of one rank in a virtual topology: to whom it sends its blocks, and from whom it receives.
    """

    def __init__(self, ranks: int, rank: int, to: Sequence[int], from_: Sequence[int], grid: bool = False) -> None:
        """
        `to`, `from_`: by block, -1 where there is none; of a grid two for each dimension.
        """

def schedules_for_neighbours(spec: Spec, neighbourhoods: Sequence[Neighbourhood], nodes: str = '') -> list[Schedule]:
    """
    The schedules of all ranks of an exchange with neighbours: a neighbourhood of each rank in order; `nodes` as of generate().
    """

def flows_for_neighbours(spec: Spec, neighbourhoods: Sequence[Neighbourhood], nodes: str = '') -> list[Flow]:
    """What travels in it, whatever the sizes of blocks."""

def work_for_neighbours(spec: Spec, neighbourhoods: Sequence[Neighbourhood], nodes: str = '') -> Work:
    """
    The work that trials are chosen by: the most of any rank, and of a node its share of what is sent.
    """

def verify_neighbours(schedules: Sequence[Schedule], neighbourhoods: Sequence[Neighbourhood]) -> Verdict:
    """
    Verify an exchange with neighbours: a schedule and a neighbourhood of each rank in order.
    """

def verify_neighbour_flows(flows: Sequence[Flow], neighbourhoods: Sequence[Neighbourhood]) -> Verdict:
    """
    The same of what is executed for blocks of unequal size, whatever the sizes: a flow of each rank in order.
    """

def verify_symmetric(spec: Spec, ranks: int, nodes: str = '') -> Verdict:
    """
    Verify a spec that looks alike from every rank, from the schedules of a few ranks; a finding if it does not.
    """

def verify_symmetric_schedules(sample: Sequence[Schedule], sizes: Sequence[int]) -> Verdict:
    """
    Verify the schedules of some ranks on a grid of `sizes`, all other ranks taken to behave alike.
    """

def verify_memory_bytes(ranks: int) -> int:
    """Memory that verify() needs, in bytes."""

def search_orders(schedules: Sequence[Schedule], most_states: int = 1000000) -> tuple[Verdict, int]:
    """
    Walk through every order of completion; returns the verdict and the number of states seen.
    """

class Bounds:
    """
    What a rank, or all ranks of a node, hold at most at a time, in every execution.
    """

    @property
    def requests(self) -> int:
        """Sends and receives outstanding."""

    @property
    def peers(self) -> int:
        """Ranks that messages go to or come from."""

    @property
    def early_messages(self) -> int:
        """Messages that have arrived while their receives are not posted."""

    @property
    def early_blocks(self) -> int:
        """Blocks in such messages."""

    @property
    def scratch_blocks(self) -> int:
        """Working memory."""

    def early_bytes(self, block_bytes: int) -> int:
        """
        Room that early messages may take, in bytes: each at most 64 KiB, with its entry in a queue.
        """

class Certificate:
    """What an exchange holds at most."""

    @property
    def rank(self) -> Bounds:
        """Of the rank that has most, each number by itself."""

    @property
    def node(self) -> Bounds:
        """Summed over the ranks of a node."""

    @property
    def exact(self) -> bool:
        """
        Whether some execution reaches each number of `rank` but scratch_blocks.
        """

def certify(spec: Spec, ranks: int, nodes: str = '') -> Certificate:
    """
    Exact bounds where these are found in less than a second, else ceiling().

    Raises ValueError if the spec cannot serve so many ranks.
    """

def certify_schedules(schedules: Sequence[Schedule], nodes: str = '') -> Certificate:
    """Exact bounds of verified schedules, one for each rank in order."""

def ceiling(spec: Spec, ranks: int, nodes: str = '') -> Certificate:
    """
    Upper bounds in closed form, good for any number of ranks.

    Raises ValueError if the spec cannot serve so many ranks.
    """

class UnequalBounds:
    """What a rank holds at most where blocks have unequal sizes."""

    @property
    def rank(self) -> Bounds:
        """Blocks count as the largest."""

    @property
    def early_sums(self) -> int:
        """
        Early bytes are at most so many times the most that any rank sends, or receives.
        """

def ceiling_of_unequal(spec: Spec, ranks: int, nodes: str = '') -> UnequalBounds:
    """
    Upper bounds of blocks of unequal size, for any number of ranks: none empty, or ranks agree on sizes.

    Raises ValueError if the spec cannot serve so many ranks.
    """

class Counts:
    """What an exchange costs a rank."""

    @property
    def sizes(self) -> list[int]:
        """Of the dimensions; of leaders: ranks of the largest node, nodes."""

    @property
    def radices(self) -> list[list[int]]:
        """Of the digits of each dimension, least significant first."""

    @property
    def messages(self) -> int:
        """That a rank sends: K."""

    @property
    def blocks(self) -> int:
        """In them: D."""

    @property
    def grants(self) -> int:
        """Messages without data that a rank sends to grant others theirs."""

    @property
    def batches(self) -> int:
        """Of messages in flight together, one after the other."""

    @property
    def scratch_blocks(self) -> int:
        """Room for so many blocks is enough."""

    @property
    def ranks_differ(self) -> bool:
        """
        Ranks differ (nodes are unequal, or some ranks lead): each number is the largest of any rank.
        """

def count(spec: Spec, ranks: int, nodes: str = '') -> Counts:
    """
    Messages, blocks and scratch of a rank, without making its schedule: closed forms, good for any P.

    Raises ValueError if the spec cannot serve so many ranks.
    """

def count_rounds(spec: Spec, ranks: int, nodes: str = '') -> list[tuple[int, int, int, int, int, int]]:
    """
    (dimension, digit, weight, value, messages, blocks) of each round of a rank.

    Of leaders: (0, 0), (1, 0) and (0, 1) are dimension and digit of gather, exchange and scatter; values are positions.
    """

def size_class(bytes: int) -> int:
    """
    The class of a block of so many bytes: 0 of empty ones, c of 2**(c-1) to 2**c - 1 bytes.
    """

def forwarding(spec: Spec, ranks: int, nodes: str = '') -> tuple[float, float]:
    """
    (messages of a rank, those with sizes included; hops of a block on average) where blocks differ in size.
    """

def direct_threshold(counts_by_class: Sequence[int], messages: float, hops: float) -> int:
    """
    The largest block, in bytes, that a schedule of so many messages and hops passes on; 0: all are sent directly.

    Parameters
    ----------
    counts_by_class : the most blocks of each class (see size_class) that any rank sends or receives
    """

def within(spec: Spec, largest: int, bound: int) -> bool:
    """
    Whether the ranks may exchange blocks of at most `largest` bytes by such a spec, of which none may have more than `bound`; else the host MPI serves the call.
    """

class RankCounts:
    """What a rank sends and keeps in one exchange of blocks of unequal size."""

    @property
    def messages(self) -> int:
        """
        Sent; without what a padded plan itself sends, as SWAPMEET_STATS reports them.
        """

    @property
    def message_bytes(self) -> int:
        """In these messages."""

    @property
    def size_bytes(self) -> int:
        """Of message_bytes, what tells sizes of blocks and lengths of messages."""

    @property
    def working_bytes(self) -> int:
        """
        The most working memory at a time; without what a padded plan itself uses.
        """

    @property
    def plan_messages(self) -> int:
        """
        Of the plan that exchanges padded blocks of N bytes: K, or a multiple if blocks are cut into segments.
        """

    @property
    def plan_bytes(self) -> int:
        """Of that plan: D * N."""

    @property
    def plan_scratch_bytes(self) -> int:
        """Of that plan, besides the 2 * P * N bytes of padded blocks."""

class VaryingCounts:
    """What one exchange of blocks of unequal size costs."""

    @property
    def sizes(self) -> str:
        """
        How sizes get to ranks that do not know them: as the parameter of specs; 'auto': all are known.
        """

    @property
    def agreement_bytes(self) -> int:
        """
        That an allreduce exchanges first; 0 if there is none. Counted nowhere else.
        """

    @property
    def direct_bytes(self) -> int | None:
        """
        Blocks of more bytes are sent directly to their destination; None: none does for its size.
        """

    @property
    def each_bytes(self) -> int:
        """
        Of every block, where they are of one size and all ranks know it, so that none is sent; else 0.
        """

    @property
    def padded_bytes(self) -> int:
        """The bytes N of a padded block; 0 if nothing is padded."""

    @property
    def bound_bytes(self) -> int:
        """No rank's working_bytes is more."""

    @property
    def largest_bytes(self) -> int:
        """Of a block for another rank."""

    @property
    def mean_bytes(self) -> float:
        """Of the blocks for other ranks, empty ones included."""

    @property
    def declined(self) -> bool:
        """
        Working memory would exceed the limit: the host MPI serves the call, and nothing is counted.
        """

    @property
    def plan_known(self) -> bool:
        """False: the host MPI exchanges the padded blocks."""

    @property
    def ranks(self) -> list[RankCounts]:
        """Of each rank."""

class VaryingCounter:
    """
    A spec on a number of ranks, prepared to be counted for any sizes. ValueError: see varying_problem().
    """

    def __init__(self, spec: Spec, ranks: int, nodes: str = '') -> None: ...

    def count(self, sizes: Sequence[Sequence[int]], limit_bytes: int = 1073741824) -> VaryingCounts:
        """Count one exchange: see count_varying()."""

    def count_workload(self, workload: Workload, seed: int = 0, scale: float = 1.0, limit_bytes: int = 1073741824) -> VaryingCounts:
        """
        Count one exchange of blocks of a workload's sizes, each multiplied by `scale` and rounded.
        """

def count_varying(spec: Spec, ranks: int, sizes: Sequence[Sequence[int]], nodes: str = '', limit_bytes: int = 1073741824) -> VaryingCounts:
    """
    What every rank sends and keeps in one exchange of blocks of unequal size, as SWAPMEET_STATS would report it.

    Parameters
    ----------
    spec : one for which varying_problem() is empty
    ranks : P
    sizes : (P, P) nested sequences, bytes
        [source][destination], as of workload_sizes().
    nodes : a node map
    limit_bytes : SWAPMEET_SCRATCH_LIMIT

    Raises
    ------
    ValueError
        If such an exchange cannot be counted, or the sizes are not P times P, or one is not from 0 to 2**40.
    """

def varying_problem(spec: Spec, ranks: int, nodes: str = '') -> str:
    """
    Why an exchange of blocks of unequal size cannot be counted; '' if it can.
    """

def varying_memory_bytes(spec: Spec, ranks: int, nodes: str = '') -> int:
    """
    About the memory that a VaryingCounter and the sizes take, in bytes. Requires varying_problem() to be empty.
    """

class Link:
    """
    What messages of one kind cost: microseconds, and nanoseconds for a byte. See src/model/machine.hpp.
    """

    def __init__(self) -> None: ...

    @property
    def latency_us(self) -> float: ...

    @latency_us.setter
    def latency_us(self, arg: float, /) -> None: ...

    @property
    def overhead_us(self) -> float: ...

    @overhead_us.setter
    def overhead_us(self, arg: float, /) -> None: ...

    @property
    def gap_us(self) -> float: ...

    @gap_us.setter
    def gap_us(self, arg: float, /) -> None: ...

    @property
    def byte_ns(self) -> float: ...

    @byte_ns.setter
    def byte_ns(self, arg: float, /) -> None: ...

    @property
    def rendezvous_us(self) -> float: ...

    @rendezvous_us.setter
    def rendezvous_us(self, arg: float, /) -> None: ...

    @property
    def eager_bytes(self) -> int: ...

    @eager_bytes.setter
    def eager_bytes(self, arg: int, /) -> None: ...

    @property
    def handshake_trips(self) -> float: ...

    @handshake_trips.setter
    def handshake_trips(self, arg: float, /) -> None: ...

    @property
    def fragment_byte_ns(self) -> float: ...

    @fragment_byte_ns.setter
    def fragment_byte_ns(self, arg: float, /) -> None: ...

    @property
    def fragment_bytes(self) -> int: ...

    @fragment_bytes.setter
    def fragment_bytes(self, arg: int, /) -> None: ...

    @property
    def cached_peers(self) -> int: ...

    @cached_peers.setter
    def cached_peers(self, arg: int, /) -> None: ...

    @property
    def cold_us(self) -> float: ...

    @cold_us.setter
    def cold_us(self, arg: float, /) -> None: ...

    @property
    def start_us(self) -> float:
        """A message without bytes: L + 2o."""

class Copying:
    """What copies cost: for each byte, and for each piece of memory."""

    def __init__(self) -> None: ...

    @property
    def byte_ns(self) -> float: ...

    @byte_ns.setter
    def byte_ns(self, arg: float, /) -> None: ...

    @property
    def piece_us(self) -> float: ...

    @piece_us.setter
    def piece_us(self, arg: float, /) -> None: ...

    @property
    def uncached_byte_ns(self) -> float: ...

    @uncached_byte_ns.setter
    def uncached_byte_ns(self, arg: float, /) -> None: ...

class MachineCosts:
    """
    What messages, bytes and copies cost. See swapmeet.machines for descriptions with sources.
    """

    def __init__(self) -> None: ...

    @property
    def shared(self) -> Link: ...

    @shared.setter
    def shared(self, arg: Link, /) -> None: ...

    @property
    def within(self) -> Link: ...

    @within.setter
    def within(self, arg: Link, /) -> None: ...

    @property
    def between(self) -> Link: ...

    @between.setter
    def between(self, arg: Link, /) -> None: ...

    @property
    def node_byte_ns(self) -> float: ...

    @node_byte_ns.setter
    def node_byte_ns(self, arg: float, /) -> None: ...

    @property
    def node_message_us(self) -> float: ...

    @node_message_us.setter
    def node_message_us(self, arg: float, /) -> None: ...

    @property
    def memory_byte_ns(self) -> float: ...

    @memory_byte_ns.setter
    def memory_byte_ns(self, arg: float, /) -> None: ...

    @property
    def pack(self) -> Copying: ...

    @pack.setter
    def pack(self, arg: Copying, /) -> None: ...

    @property
    def datatype(self) -> Copying: ...

    @datatype.setter
    def datatype(self, arg: Copying, /) -> None: ...

    @property
    def datatype_us(self) -> float: ...

    @datatype_us.setter
    def datatype_us(self, arg: float, /) -> None: ...

    @property
    def cache_bytes(self) -> float: ...

    @cache_bytes.setter
    def cache_bytes(self, arg: float, /) -> None: ...

    @property
    def call_us(self) -> float: ...

    @call_us.setter
    def call_us(self, arg: float, /) -> None: ...

def models() -> list[str]:
    """Names of the models of time."""

class Traffic:
    """
    Messages of one kind in a phase: of the rank with the most, and of the node with the most.
    """

    @property
    def messages(self) -> int: ...

    @property
    def blocks(self) -> int: ...

    @property
    def node_messages(self) -> float: ...

    @property
    def node_blocks(self) -> float: ...

class Phase:
    """
    Messages that no other messages wait for: those of a digit, or of a phase of leaders.
    """

    @property
    def within(self) -> Traffic:
        """Messages that stay within nodes."""

    @property
    def between(self) -> Traffic:
        """Messages between nodes."""

    @property
    def batches(self) -> int:
        """Of messages in flight together."""

    @property
    def by_size(self) -> list[tuple[int, float, int, int]]:
        """
        (messages, blocks in each, batches that begin with one, batches that end with one), the largest first.
        """

class Price:
    """The time of an exchange and its parts, in microseconds."""

    @property
    def latency(self) -> float: ...

    @property
    def overhead(self) -> float: ...

    @property
    def gap(self) -> float: ...

    @property
    def bandwidth(self) -> float: ...

    @property
    def pack(self) -> float: ...

    @property
    def call(self) -> float: ...

    @property
    def total(self) -> float: ...

class Work:
    """
    What an exchange makes ranks and nodes do, for any size of a block and any machine.

    Raises ValueError if the spec cannot serve so many ranks.
    """

    def __init__(self, spec: Spec, ranks: int, nodes: str = '') -> None: ...

    @staticmethod
    def largest_node(ranks: int, nodes: str) -> int:
        """Q: the ranks of the largest node of a node map."""

    @property
    def phases(self) -> list[Phase]: ...

    @property
    def packed(self) -> tuple[float, float]:
        """(blocks, pieces) that a rank copies."""

    @property
    def typed(self) -> tuple[float, float]:
        """(blocks, pieces) that MPI gathers or scatters, by datatypes."""

    @property
    def typed_messages(self) -> float:
        """In which they are."""

    def price(self, machine: MachineCosts, model: str, block_bytes: int) -> Price:
        """The time for blocks of so many bytes, by one of models()."""

def price_radices(spec: Spec, ranks: int, nodes: str, radices: Sequence[int], machine: MachineCosts, model: str, sizes: Sequence[int]) -> list[list[float]]:
    """
    Microseconds of the spec (of the family bruck) with each radix: for each, of blocks of each size.
    """

class Collective(enum.Enum):
    """Which call is served."""

    alltoall = 0

    alltoallv = 1

    alltoallw = 2

class Measurer(enum.Enum):
    """Who measured; a later one outranks those before it."""

    model = 0

    calibration = 1

    trial = 2

    tune = 3

class CallKind:
    """Calls for which one choice is made."""

    def __init__(self, collective: Collective, ranks: int, block_bytes: int, nodes: str = '') -> None: ...

    @property
    def size_class(self) -> int: ...

    @size_class.setter
    def size_class(self, arg: int, /) -> None: ...

    @property
    def nodes(self) -> int: ...

    def __eq__(self, arg: object, /) -> bool: ...

class Evidence:
    """
    A measured time, or a rule of a tuning file (src/evidence/evidence.hpp).
    """

    @overload
    def __init__(self, collective: Collective, ranks: int, nodes: int, per_node: tuple[int, int], size_class: int, spec: Spec, calls: int, mean_s: float, spread_s: float, by: str = 'trial', date: int = 0, made: int = 0, program: int = 0) -> None: ...

    @overload
    def __init__(self, kind: CallKind, spec: Spec, calls: int, mean_s: float, spread_s: float, by: Measurer = Measurer.trial, date: int = 0, made: int = 0) -> None: ...

    @property
    def kind(self) -> CallKind: ...

    @property
    def collective(self) -> Collective: ...

    @property
    def ranks(self) -> int:
        """The least, of a rule."""

    @property
    def nodes(self) -> int:
        """The least, of a rule."""

    @property
    def rank_range(self) -> tuple[int, int]:
        """(least, most), both included."""

    @property
    def node_range(self) -> tuple[int, int]: ...

    @property
    def per_node(self) -> tuple[int, int]:
        """Ranks of the node that has the fewest, and the most."""

    @property
    def bytes(self) -> tuple[int, int]:
        """Sizes of blocks: (least, most)."""

    @property
    def size_class(self) -> int:
        """k: blocks of about 2**k bytes; -1: unknown."""

    @property
    def spec(self) -> Spec: ...

    @property
    def calls(self) -> int: ...

    @property
    def mean_s(self) -> float: ...

    @property
    def spread_s(self) -> float:
        """Standard deviation of the mean."""

    @property
    def by(self) -> str: ...

    @property
    def date(self) -> int:
        """Seconds since 1970."""

    @property
    def made(self) -> int:
        """
        Such calls on each communicator of the last run, at least; 0: not known.
        """

    @property
    def program(self) -> int:
        """That made them: program_number()."""

    @property
    def origin(self) -> str:
        """Where a rule is in its file."""

    @property
    def line(self) -> str:
        """As a file has it."""

    @property
    def plausible(self) -> bool: ...

def parse_evidence(line: str) -> Evidence:
    """
    Read a line of a file of memory or a tuning file; ValueError with column and reason if it is none.
    """

def block_class(block_bytes: int) -> int: ...

def bytes_of_class(size_class: int) -> tuple[int, int]: ...

def kind_of(collective: Collective, ranks: int, nodes: str = '') -> tuple[int, int, int]:
    """Nodes, ranks of the smallest, ranks of the largest."""

def usable(evidence: Sequence[Evidence]) -> list[Evidence]:
    """What a choice may rest on: evidence of calls on several nodes."""

def merged(evidence: Sequence[Evidence]) -> list[Evidence]:
    """One of each kind, spec and measurer, within the bounds of a file."""

class MemoryKey:
    """What evidence holds for."""

    def __init__(self, mpi: str, machine: str, library: str) -> None: ...

    def __eq__(self, arg: object, /) -> bool: ...

    @property
    def mpi(self) -> str: ...

    @property
    def machine(self) -> str: ...

    @property
    def library(self) -> str: ...

    @property
    def file_name(self) -> str: ...

class EvidenceFile:
    """A file of memory, or a tuning file, that was read."""

    @property
    def file(self) -> str:
        """Empty: no file."""

    @property
    def key(self) -> MemoryKey: ...

    @property
    def mpi(self) -> str: ...

    @property
    def machine(self) -> str: ...

    @property
    def evidence(self) -> list[Evidence]: ...

    @property
    def rules(self) -> list[Evidence]:
        """The evidence of a tuning file."""

    @property
    def fingerprint(self) -> int:
        """The same for files with the same rules."""

    @property
    def lines(self) -> int: ...

    @property
    def unusable(self) -> int:
        """Lines that say nothing that can be true."""

    @property
    def problem(self) -> str:
        """Of the first of these."""

def parse_memory(text: str) -> EvidenceFile:
    """Read a file of memory; ValueError with line and reason if it is none."""

def parse_tuning(text: str) -> EvidenceFile:
    """
    Read what a tuning file says; ValueError with line and reason if it is none.
    """

def find_tuning(named: str, mpi: str) -> tuple[EvidenceFile, list[str]]:
    """
    The file that the library would use, and what is wrong with those before it.
    """

def standard_tuning_files(kind: str) -> list[str]:
    """
    Where a file for an MPI of that kind is looked for, the first one first.
    """

def machine_signature() -> str:
    """The processor and how many cores of it this machine has."""

def mpi_signature(library_version: str) -> str:
    """
    As in "openmpi 5.0.11", of what MPI_Get_library_version() says; empty for others.
    """

def memory_text(key: MemoryKey, evidence: Sequence[Evidence]) -> str: ...

def memory_folder() -> str:
    """Where the user's files are; empty: there is no such place."""

def site_memory_folders() -> list[str]: ...

def program_number() -> int:
    """Of the command line of this process."""

def cluster_signature() -> str:
    """The machine, as files of memory name it."""

def host_class(host: str) -> str: ...

def add_to_memory(file: str, key: MemoryKey, evidence: Sequence[Evidence], replace_other: bool = False) -> str:
    """Merge evidence into a file; empty, or why not."""

def change_memory(file: str, change: Callable[[Sequence[Evidence]], Sequence[Evidence]]) -> str:
    """
    Replace the evidence of a file by what is made of it; empty, or why not.
    """

class Options:
    """The library's options, as read from an environment."""

    @property
    def problems(self) -> list[str]:
        """A sentence for each value that could not be used."""

    @property
    def explain(self) -> bool:
        """SWAPMEET_EXPLAIN."""

    @property
    def statistics(self) -> bool:
        """Calls are counted."""

    @property
    def statistics_table(self) -> bool:
        """SWAPMEET_STATS=1."""

    @property
    def statistics_file(self) -> str:
        """Of SWAPMEET_STATS; '': none."""

    @property
    def statistics_log(self) -> str:
        """'': SWAPMEET_STATS_LOG is off."""

    @property
    def record_file(self) -> str:
        """'': SWAPMEET_RECORD is off."""

    @property
    def nodes(self) -> str:
        """A node map; "" to ask MPI."""

    @property
    def scratch_limit_bytes(self) -> int:
        """SWAPMEET_SCRATCH_LIMIT."""

    @property
    def algorithm(self) -> Spec | None:
        """SWAPMEET_ALGORITHM; None: the automatic choice."""

    @property
    def tuning(self) -> EvidenceFile:
        """The tuning file that counts, if read_options() was told the MPI."""

    @property
    def memory(self) -> str: ...

    @property
    def trials_share(self) -> float:
        """Of the time of all-to-alls, that trials may cost; 0: none."""

    @property
    def fingerprint(self) -> int:
        """The same on two ranks exactly if their choices will be."""

def read_options(environment: Sequence[str], world_ranks: int = 1, mpi: str = '') -> Options:
    """
    Read options from a list of 'NAME=value', of a job of so many ranks; with the tuning file for `mpi`, if given.
    """

def option_table() -> list[tuple[str, str, str, str]]:
    """(name, type, default, meaning) of each option."""

class MemoryStore:
    """What a process remembers of earlier runs, and adds."""

    def __init__(self) -> None: ...

    def begin(self, options: Options, mpi: str, library: str, usual_places: bool = True) -> None: ...

    def recall(self, ranks: int) -> list[Evidence]: ...

    def remember(self, evidence: Evidence) -> None: ...

    def made(self, kind: CallKind, calls: int) -> None:
        """A communicator that ends has made so many such calls."""

    def write(self) -> None: ...

    def take_problem(self) -> str: ...

    @property
    def file(self) -> str: ...

class Expectation:
    """What a spec is expected to take (src/choose/expectation.hpp)."""

    @property
    def spec(self) -> Spec: ...

    @property
    def seconds(self) -> float: ...

    @property
    def deviation(self) -> float:
        """Of the logarithm."""

    @property
    def price_s(self) -> float: ...

    @property
    def calls(self) -> int: ...

    @property
    def by(self) -> Measurer: ...

    @property
    def date(self) -> int: ...

    @property
    def basis(self) -> str:
        """As in "by the model" or "3 calls of this run"."""

class MeasuredNetwork:
    """
    What messages between nodes and copies take (src/choose/description.hpp).
    """

    def __init__(self, start_us: float, message_us: float = -1.0, byte_ns: float = -1.0, piece_us: float = -1.0, copy_ns: float = -1.0) -> None: ...

class Knowledge:
    """
    What is known of the machine: its description, how far the model may be off by it, and evidence.
    """

    def __init__(self, machine: MachineCosts | None = None, common: float = 1.0, own: float = 0.3, evidence: Sequence[Evidence] = []) -> None: ...

    @property
    def evidence(self) -> list[Evidence]: ...

    @evidence.setter
    def evidence(self, arg: Sequence[Evidence], /) -> None: ...

    @property
    def ranks_per_core(self) -> float:
        """The most of any host."""

    @ranks_per_core.setter
    def ranks_per_core(self, arg: float, /) -> None: ...

    def describe(self, network: MeasuredNetwork) -> None:
        """Prices rest on this network from now on."""

def choose(collective: Collective, ranks: int, block_bytes: int, options: Options, shared_memory: bool = True, single_copy: bool = True, nodes: str = '', knowledge: Knowledge = ...) -> tuple[Spec, str, int]:
    """
    (spec, reason, largest block in bytes with the same choice); ranks share a node unless `nodes` says otherwise.
    """

def within_scratch_limit(spec: Spec, ranks: int, block_bytes: int, options: Options, nodes: str = '') -> bool:
    """
    Whether an Alltoall that is not in place stays within SWAPMEET_SCRATCH_LIMIT; else the host MPI serves it.
    """

TOO_MUCH_MEMORY: str = ...

def give_up_order(spec: Spec, problem: str, options: Options, knowledge: Knowledge) -> str:
    """
    Take an order of the topology that cannot be had, and all that asks for it, out of options and evidence; returns a warning.
    """

def candidates(collective: Collective, ranks: int, block_bytes: int, shared_memory: bool = True, nodes: str = '', options: Options = ..., knowledge: Knowledge = ..., also: Spec = ...) -> list[Expectation]:
    """
    The host MPI, and what may be tried on the running application, within the limits of `options` (the defaults); and `also`.

    Ranks share a node unless `nodes` says otherwise.
    """

def priced_specs(collective: Collective, ranks: int, nodes: str = '', shared_memory: bool = True, crowded: bool = False) -> list[Spec]:
    """
    All specs that the automatic choice compares, but for those in evidence; `crowded`: ranks share cores.

    Some may be unsuitable for `nodes`: nodes of equal size are assumed.
    """

def small_calls(collective: Collective, ranks: int, block_bytes: int, nodes: str = '', knowledge: Knowledge = ...) -> float:
    """
    How many calls with the smallest blocks the host MPI is expected to make in the time of one such call.
    """

def tries(collective: Collective, ranks: int, options: Options, nodes: str = '') -> bool:
    """
    Whether the running application tries candidates(): nobody asked for an algorithm, no file has rules.
    """

def tuned(collective: Collective, ranks: int, options: Options, nodes: str = '') -> bool:
    """Whether a tuning file has rules for such calls."""

class Trials:
    """
    Finds the fastest of several algorithms while an application runs (src/choose/trials.hpp).
    """

    @overload
    def __init__(self, share: float, arms: Sequence[tuple[float, float, int]], usual: int, common: float = 1.0, own: float = 0.3, calls: int = 0, in_a_row: int = 1, early_calls: float = 4.0) -> None:
        """
        `arms`: (seconds, deviation of the logarithm, measured calls) that are expected; the host MPI first. `calls`: so far. `in_a_row`: calls of one trial. `early_calls`: calls that trials may cost beyond their share.
        """

    @overload
    def __init__(self, share: float, arms: Sequence[Expectation], usual: int, common: float = 1.0, own: float = 0.3, calls: int = 0, early_calls: float = 4.0) -> None: ...

    @property
    def pause(self) -> int:
        """Calls that go as usual before the next trial."""

    @staticmethod
    def of_starts(share: float) -> Trials:
        """
        Of the schedule that blocking calls would use, and of one of a single step.
        """

    def next(self, waiting_s: float, since_s: float) -> int:
        """The arm of the trial that begins."""

    @property
    def usual(self) -> int: ...

    @property
    def left(self) -> int:
        """Calls of the trial that have not begun."""

    def call_begins(self) -> None: ...

    def took(self, call_s: float) -> None:
        """Records a call of the trial."""

    def took_all(self, call_s: float) -> None:
        """Records all calls of the trial."""

    def cut_short(self) -> None:
        """No further calls of the trial are made."""

    @property
    def awaits_learning(self) -> bool: ...

    @property
    def times(self) -> list[float]: ...

    def learn(self, times: Sequence[float]) -> None:
        """Replaces the times by those of all ranks, and learns from them."""

    def seconds(self, arm: int) -> float:
        """Median; negative: it was never tried."""

    def spread_s(self, arm: int) -> float:
        """Deviation of that."""

    def samples(self, arm: int) -> int: ...

    @property
    def trials(self) -> int: ...

    @property
    def calls(self) -> int: ...

    @property
    def cost_s(self) -> float: ...

    setup_s: Final[float] = ...
    """(arg: object, /) -> float"""

    early_calls: Final[float] = ...
    """(arg: object, /) -> float"""

def promise_much(arms: Sequence[Expectation]) -> bool:
    """
    Whether something is expected to take less than 0.9 of the time of the host MPI, which comes first.
    """

def first_calls(collective: Collective, ranks: int, block_bytes: int, options: Options, nodes: str, host: bool) -> int:
    """
    Calls that go as usual, `host`: by the host MPI, before anything is tried.
    """

FIRST_UNPROMISING: int = 64

class SetupPolicy:
    """When a communicator is worth setting up (src/choose/setup_policy.hpp)."""

    def __init__(self) -> None: ...

    def leave(self, calls: int) -> None:
        """The next calls are left to the host MPI before the ranks meet."""

    def leaves_call(self) -> bool:
        """Whether the call that comes is; counts it."""

    def setup_begins(self) -> None:
        """
        The exchange of parameters takes place: no further call is left to the host MPI before it.
        """

    def over(self, measured: bool, small_calls: float, made: int = 0) -> bool:
        """
        Counts a call; whether setting up is worth it now. measured, made: in earlier runs.
        """

    first_calls: Final[float] = ...
    """(arg: object, /) -> float"""

    first_known_calls: Final[float] = ...
    """(arg: object, /) -> float"""

    repeated_calls: Final[float] = ...
    """(arg: object, /) -> float"""

class SparseRehearsal:
    """What came of a sparse exchange of all ranks in one process."""

    @property
    def problem(self) -> str:
        """Empty if every message arrived once, whole and in order."""

    @property
    def working_bytes(self) -> int:
        """That a rank takes at most."""

    @property
    def hops(self) -> int:
        """That a rank sends at most, where messages are passed on."""

    @property
    def header_bytes(self) -> int:
        """Of all ranks, in all hops."""

    @property
    def messages(self) -> int:
        """Of all ranks."""

def rehearse_sparse(spec: Spec, ranks: int, messages: float = 2, most_bytes: int = 16, seed: int = 0, calls: int = 1, nodes: str = '', loses_hops: bool = False, late: bool = False) -> SparseRehearsal:
    """
    Have all ranks make `calls` exchanges of `messages` messages each on average (tools/proofs/rehearsal.hpp).
    """

def choose_sparse(ranks: int, algorithm: str = 'auto') -> tuple[str, str]:
    """(spec, reason) of sparse exchanges on so many ranks."""

class Workload:
    """
    The sizes of the blocks of a non-uniform exchange. str() is its text, every parameter included.
    """

    @property
    def kind(self) -> str:
        """One of workload_kinds()."""

    @property
    def most_bytes(self) -> int:
        """No block is larger, for any seed."""

    def bytes(self, seed: int, ranks: int, source: int, destination: int) -> int:
        """
        Size in bytes of the block that `source` sends to `destination`; ValueError if one is not a rank.
        """

    def sent(self, seed: int, ranks: int, rank: int) -> tuple[int, int, int]:
        """
        (bytes, bytes of the largest block, blocks that are not empty) that a rank sends, its own included.
        """

    def received(self, seed: int, ranks: int, rank: int) -> tuple[int, int, int]:
        """
        (bytes, bytes of the largest block, blocks that are not empty) that a rank receives, its own included.
        """

    def __str__(self) -> str: ...

def parse_workload(text: str) -> Workload:
    """
    Read a workload such as 'uniform:max=1KiB'; ValueError says what was expected and in which column.

    Kinds, their parameters, the distributions and their sources: tools/workload/workload.h.
    """

@overload
def workload_sizes(workload: Workload, seed: int, ranks: int) -> list[list[int]]: ...

@overload
def workload_sizes(workload: str, seed: int, ranks: int) -> list[list[int]]:
    """
    The size of every block, the same for a seed on every machine.

    Parameters
    ----------
    workload : Workload or its text
    seed : from 0 to 2**64 - 1
    ranks : P, at least 1

    Returns
    -------
    (P, P) nested lists, bytes
        [source][destination]

    Raises
    ------
    ValueError
        If the text is no workload, or there is no rank.
    """

def workload_kinds() -> list[str]:
    """Names of the kinds of workloads."""

class Network:
    """
    Hosts, switches and directed links. str() is its text form (docs/networks.md).
    """

    @property
    def names(self) -> list[str]:
        """Of all hosts, then all switches: a vertex is a number in this list."""

    @property
    def hosts(self) -> int:
        """How many vertices are hosts."""

    @property
    def links(self) -> list[tuple[int, int, int]]:
        """(from, to, capacity) of each direction of each link, by from, then to."""

    @property
    def routes(self) -> int:
        """How many routes are given."""

    def diameter(self) -> int:
        """The most links between two switches that have hosts."""

    def __eq__(self, arg: object, /) -> bool: ...

    def __str__(self) -> str: ...

def parse_network(text: str) -> Network:
    """
    Read our text form, a dump of ibnetdiscover or Slurm's topology.conf; ValueError says what is wrong and where.
    """

def named_network(text: str) -> Network:
    """
    Make a network such as 'slim-fly(q=5,hosts=4)'; ValueError says what was expected and in which column.
    """

def network_names() -> list[tuple[str, str, str]]:
    """(name, parameters, meaning) of each network that is made by name."""

class Spread(enum.Enum):
    """Which of several minimal ways is taken."""

    first = 0

    destination = 1

    hash = 2

class PlacedNetwork:
    """A network with routes, and with ranks on its hosts."""

    def __init__(self, network: Network, spread: Spread = Spread.destination, seed: int = 0, placement: str = '', ranks: int = 0) -> None:
        """
        Route and place.

        Parameters
        ----------
        seed : of Spread.hash
        placement : block[:RANKS], cyclic[:HOSTS], random:SEED[:RANKS], or hosts, as in n3,n1*4
        ranks : P; 0: as many as the placement makes

        Raises
        ------
        ValueError
            If the placement is malformed or does not fit, or given routes lead nowhere.
        """

    @property
    def network(self) -> Network:
        """What it was made of."""

    @property
    def placement(self) -> list[int]:
        """The host of each rank."""

    def link_bound(self) -> LinkBound:
        """
        What the busiest link between switches carries at least, whoever passes blocks on.
        """

    @property
    def key(self) -> int:
        """Another for another network, routing or placement."""

    def path(self, source: int, destination: int) -> list[int]:
        """Numbers of the links from one host to another."""

    def bound(self, sizes: Sequence[Sequence[int]] = []) -> tuple[int, int, int, int, int, float]:
        """
        (slots, of links between switches, of injection, of ejection, the busiest link, blocks on it over its capacity) of an all-to-all at least.

        Parameters
        ----------
        sizes : (P, P), bytes from each rank to each; then the numbers are bytes, too
        """

    def load(self, spec: Spec, sizes: Sequence[Sequence[int]] = []) -> tuple[list[int], list[int]]:
        """
        (largest load of each round, blocks of each link) of a schedule; ValueError if it cannot serve the ranks.

        Parameters
        ----------
        sizes : (P, P), bytes, of a direct exchange; then the numbers are bytes, too
        """

    def order_load(self, spec: Spec) -> tuple[list[int], list[int]]:
        """
        As load(), of a direct exchange in which a rank whose turn is its own is idle for a round.
        """

    def overfull(self, slots: Slots) -> str:
        """
        The first link or rank that has more than its capacity in a slot; '' if none has.
        """

    def slots(self, seed: int = 0, moves: int = 1000000, seconds: float = 10.0, sizes: Sequence[Sequence[int]] = []) -> Slots:
        """
        Compute a conflict-free order; reproducible if it ends by the number of moves, not by the time.

        Parameters
        ----------
        sizes : (P, P), bytes from each rank to each: slots are then as short as can be, rather than few
        """

    def bytes_in_turn(self, slots: Slots, sizes: Sequence[Sequence[int]]) -> int:
        """The sum of the largest messages of all slots, in bytes."""

class Slots:
    """
    In which slot each rank sends to each other. str() is the file's text (docs/networks.md).
    """

    @property
    def ranks(self) -> int:
        """P."""

    @property
    def slots(self) -> int:
        """How many there are."""

    @property
    def bound(self) -> int:
        """No order has fewer."""

    @property
    def key(self) -> int:
        """PlacedNetwork.key of what it was made for."""

    def to(self, rank: int) -> list[int]:
        """For each slot, to whom the rank sends; -1: to nobody."""

    def source(self, rank: int) -> list[int]:
        """For each slot, from whom it receives; -1: from nobody."""

    def slot(self, source: int, destination: int) -> int:
        """Of one message; -1: to itself."""

    def __eq__(self, arg: object, /) -> bool: ...

    def __str__(self) -> str: ...

def parse_slots(text: str) -> Slots:
    """Read a table of slots; ValueError says what is wrong, and where."""

def order_slots(spec: Spec, ranks: int, nodes: str = '') -> Slots:
    """
    What order=topology(...) becomes for so many ranks, or nodes of leaders; ValueError: what is wrong, and where.
    """

def order_overfull(spec: Spec, ranks: int, nodes: str = '') -> str:
    """
    The first link that carries more than its capacity in a slot of that order; '' if none does.
    """

def order_table_problem(spec: Spec, ranks: int, nodes: str = '') -> str:
    """
    Why the library cannot use that order, which it reads from a table of slots; '' if it can.
    """

def order_source(spec: Spec) -> tuple[str, str, str]:
    """(network, routing, place) of order=topology(...)."""

def goal(spec: Spec, ranks: int, rank: int, block_bytes: int, nodes: str = '', copying: Copying | None = None) -> str:
    """
    The GOAL text of one rank, "rank R { ... }"; copies take no time if it is not said what they cost.

    Raises ValueError if the spec cannot serve so many ranks, or a block has no bytes.
    """

def rounds(spec: Spec, ranks: int, nodes: str = '') -> list[tuple[float, float, bool, list[list[tuple[int, int, int]]]]]:
    """
    (blocks copied, pieces copied, sliding, rounds of messages (from, to, blocks)) of each step of all ranks.
    """

class NetworkCosts:
    """
    What messages cost on a network: microseconds, and nanoseconds for a byte. See tools/estimate/estimate.hpp.
    """

    def __init__(self) -> None: ...

    @property
    def between(self) -> Link:
        """
        message_us, latency_us, byte_ns and eager_bytes are its o, L, G and eager_bytes
        """

    @between.setter
    def between(self, arg: Link, /) -> None: ...

    @property
    def hop_us(self) -> float: ...

    @hop_us.setter
    def hop_us(self, arg: float, /) -> None: ...

    @property
    def node_byte_ns(self) -> float: ...

    @node_byte_ns.setter
    def node_byte_ns(self, arg: float, /) -> None: ...

    @property
    def link_byte_ns(self) -> float: ...

    @link_byte_ns.setter
    def link_byte_ns(self, arg: float, /) -> None: ...

    @property
    def within_latency_us(self) -> float: ...

    @within_latency_us.setter
    def within_latency_us(self, arg: float, /) -> None: ...

    @property
    def within_byte_ns(self) -> float: ...

    @within_byte_ns.setter
    def within_byte_ns(self, arg: float, /) -> None: ...

    @property
    def memory_byte_ns(self) -> float: ...

    @memory_byte_ns.setter
    def memory_byte_ns(self, arg: float, /) -> None: ...

    @property
    def contention(self) -> float: ...

    @contention.setter
    def contention(self, arg: float, /) -> None: ...

    @property
    def overlap(self) -> float: ...

    @overlap.setter
    def overlap(self, arg: float, /) -> None: ...

    @property
    def copying(self) -> Copying: ...

    @copying.setter
    def copying(self, arg: Copying, /) -> None: ...

    @property
    def datatype(self) -> Copying: ...

    @datatype.setter
    def datatype(self, arg: Copying, /) -> None: ...

    @property
    def datatype_us(self) -> float: ...

    @datatype_us.setter
    def datatype_us(self, arg: float, /) -> None: ...

    @property
    def cache_bytes(self) -> float: ...

    @cache_bytes.setter
    def cache_bytes(self, arg: float, /) -> None: ...

    @property
    def call_us(self) -> float: ...

    @call_us.setter
    def call_us(self, arg: float, /) -> None: ...

    @property
    def message_us(self) -> float: ...

    @message_us.setter
    def message_us(self, arg: float, /) -> None: ...

    @property
    def latency_us(self) -> float: ...

    @latency_us.setter
    def latency_us(self, arg: float, /) -> None: ...

    @property
    def byte_ns(self) -> float: ...

    @byte_ns.setter
    def byte_ns(self, arg: float, /) -> None: ...

    @property
    def eager_bytes(self) -> int: ...

    @eager_bytes.setter
    def eager_bytes(self, arg: int, /) -> None: ...

class LinkBound:
    """
    What an all-to-all asks of links between switches, whoever passes blocks on. See tools/network/link_bound.hpp.
    """

    @property
    def blocks(self) -> float:
        """Over capacity, of the busiest link between switches, at least."""

    @property
    def cut(self) -> list[int]:
        """The hosts on one side, if a cut gives the bound; else empty."""

    @property
    def nearest_hops(self) -> int:
        """Links between the switches of two hosts that have ranks, at least."""

    @property
    def host_links(self) -> int:
        """The largest capacity of the links to a host."""

class LowerBound:
    """
    What no exchange can be faster than, in the model of NetworkEstimate. See tools/estimate/lower_bound.hpp.
    """

    @property
    def us(self) -> float: ...

    @property
    def rounds(self) -> int: ...

    @property
    def messages(self) -> float:
        """Of a rank, where the least is."""

    @property
    def blocks(self) -> float:
        """In these messages."""

    @property
    def alone_us(self) -> dict[str, float]:
        """
        What call, latency, messages, nic, links and memory each demand of every exchange.
        """

    @property
    def parts_us(self) -> dict[str, float]:
        """What they take where the least is."""

    @property
    def binding(self) -> str:
        """The name of the largest part."""

def link_bound(network: Network, ranks: int, per_node: int = 1) -> LinkBound:
    """
    The least that the busiest link between switches carries. Rank r is on host r // per_node.

    Raises ValueError if the network is too small.
    """

def lower_bound(ranks: int, per_node: int, links: LinkBound, costs: NetworkCosts, block_bytes: int, ports: int = 0, balanced: bool = False) -> LowerBound:
    """
    What no exchange can be faster than.

    `ports`: messages of a rank in a round at most, each way; 0: any number. `balanced`: only exchanges in which no rank
    receives more than P - 1 blocks in a round, as where all ranks do alike.
    """

def least_blocks(ranks: int, rounds: int, messages: float) -> float:
    """
    Blocks that a rank sends at least, on average, in so many rounds and messages; inf where they do not suffice.
    """

class NetworkEstimate:
    """
    The load that an exchange puts on a network, for any size of a block. Rank r is on host r // per_node.

    Raises ValueError if the spec cannot serve the ranks, the network is too small for them, or ranks that are not
    alike have too many messages to be looked at.
    """

    def __init__(self, spec: Spec, ranks: int, per_node: int, network: Network, costs: NetworkCosts) -> None: ...

    def time_us(self, block_bytes: int, costs: NetworkCosts | None = None) -> float:
        """
        Microseconds for blocks of so many bytes; by other costs than those that it was made with.
        """

    @property
    def messages(self) -> int:
        """Of all ranks."""

    @property
    def operations(self) -> int:
        """
        Messages looked at and links added to: what it took to compute, on any machine.
        """

    @property
    def rounds(self) -> list[int]:
        """Of each step."""
