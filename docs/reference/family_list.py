"""The families of schedules that have a page, in the order of the site, and what is said of each in words.

Each name that `swapmeet algorithms` lists is on exactly one page: each family, and each alias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Drawn(NamedTuple):
    """The schedule of a picture."""

    spec: str
    ranks: int
    nodes: str = ""


@dataclass(frozen=True)
class Family:
    """One page."""

    name: str
    of: str  #: the family in specs
    title: str
    meaning: str
    wins: str  #: in words, from the counts; numbers come from the data
    example: str
    aliases: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    uncounted: str = ""  #: why there are no counts
    remark: str = ""  #: on the counts
    drawn: Drawn | None = None
    on_nodes: bool = False  #: counted on nodes of 8 ranks
    parameters: tuple[str, ...] = ()  #: those that matter here, if the page is not of a whole family
    sources: tuple[str, ...] = ()  #: besides those of aliases
    origin: str = ""  #: instead of sources

    @property
    def is_family(self) -> bool:
        """Whether the page is of a whole family of specs."""
        return self.name == self.of


FAMILIES = (
    Family(
        "direct",
        "direct",
        "Direct exchange",
        "Each rank sends each block in one message from its source to its destination. Members differ in the order of "
        "peers, in the number of messages in flight (`window`) and in what a rank waits for before it starts the next "
        "message (`complete`).",
        "It sends the fewest bytes and the most messages. Choose it for large blocks, where bytes take the time. "
        "Avoid it for small blocks on many ranks, where P - 1 messages take longer than their bytes.",
        "direct(window=8,complete=any)",
        ("spread-out", "nonblocking", "pairwise", "multipair-waitall", "multipair-waitany", "multipair-testany"),
        ("pairwise", "direct(window=8,complete=any)", "spread-out"),
        drawn=Drawn("pairwise", 6),
    ),
    Family(
        "orders",
        "direct",
        "Direct exchange in random and computed orders",
        "Each block is sent directly, but the order of peers is made for the network: random, so that messages of "
        "different ranks rarely meet on one link, or computed from a file of the topology, so that they never do "
        "within a step.",
        "Bytes and messages are those of direct exchange; only the load of links differs. In simulations of a Slim "
        "Fly a random order is faster than the fixed one from about 2 KiB on; on other simulated networks it lost "
        "(docs/simulation.md). Choose a computed order (docs/networks.md) if you know the topology and the placement "
        "of ranks. Avoid both for small blocks, and within one node, where there are no links to share.",
        "random-sendrecv(window=16)",
        ("random-scatter", "random-sendrecv", "random-segmented"),
        ("random-sendrecv", "random-scatter"),
        drawn=Drawn("random-sendrecv(window=1)", 6),
        parameters=("order", "window", "complete", "segment", "seed"),
    ),
    Family(
        "bruck",
        "bruck",
        "Bruck's algorithm",
        "Blocks travel through other ranks: in round k each rank sends, in one message to the rank 2^k further on, "
        "every block whose way still needs that step. So log2(P) messages are enough, but each block is sent several "
        "times. Members differ in where blocks are kept on their way (`layout`) and in how they get into messages "
        "(`pack`).",
        "It sends few messages, log2(P) of a rank, and each block about log2(P)/2 times. Choose it for the smallest "
        "blocks on many ranks. Avoid it for large blocks, where the forwarded bytes take the time.",
        "bruck-zero-rotation",
        (
            "bruck-dt",
            "bruck-modified",
            "bruck-modified-dt",
            "bruck-zero-rotation",
            "bruck-zero-copy",
            "bruck-zero-copy-dt",
        ),
        ("bruck", "bruck-zero-rotation", "bruck-zero-copy"),
        drawn=Drawn("bruck", 8),
        sources=("bruck1997",),
    ),
    Family(
        "radix",
        "bruck",
        "Bruck's algorithm in radix r",
        "The distance of a block is written in radix r instead of 2. A larger radix has fewer digits, so blocks are "
        "forwarded less often, but each digit takes up to r - 1 messages; radix P is direct exchange.",
        "Radix 2 sends the fewest messages, radix P the fewest bytes. Choose a radix between for blocks of tens to "
        "hundreds of bytes; √P, the default of `tra` and `radix`, is a first guess, `swapmeet model --best` a better "
        "one. With the smallest blocks radix 2 wins, with large ones direct exchange.",
        "tra(r=8,window=all)",
        ("radix", "tra"),
        ("tra(r=2)", "tra", "tra(r=all)"),
        drawn=Drawn("tra(r=3)", 9),
        parameters=("radix", "layout", "window", "complete"),
    ),
    Family(
        "layers",
        "bruck",
        "Two layers: within nodes, then between nodes",
        "Ranks first exchange within their node, so that each holds all blocks of the node for some of the other "
        "nodes. Then ranks exchange between nodes, and blocks for one node share a message. Each layer has its radix "
        "(`r1`, `r2`).",
        "Messages between nodes become fewer and larger; each block is moved once more within the node. Choose it for "
        "small blocks where nodes have many ranks and messages between nodes are expensive. Avoid it on one node, and "
        "for large blocks.",
        "two-layer",
        ("tra2", "two-layer", "two-layer-staggered"),
        ("tra2", "two-layer", "two-layer-staggered"),
        drawn=Drawn("two-layer", 9, "3"),
        on_nodes=True,
        parameters=("dims", "r1", "r2", "order", "window", "messages"),
    ),
    Family(
        "grid",
        "bruck",
        "Grids and tori",
        "Ranks are arranged in two or more dimensions. Blocks travel along one dimension after the other, directly "
        "within each: in two dimensions every block is sent twice, in about 2·√P messages of a rank.",
        "It lies between Bruck's algorithm and direct exchange: more messages than the first, fewer bytes. "
        "Choose it for blocks of tens to hundreds of bytes, and on machines whose network is a torus. Avoid it where "
        "direct exchange is limited by bytes: each additional dimension sends them once more.",
        "grid",
        ("grid", "torus"),
        ("grid", "torus"),
        origin="Source: no paper; it is direct exchange along each dimension of [the family](../family.md).",
        drawn=Drawn("grid", 9),
        parameters=("dims", "radix", "window"),
    ),
    Family(
        "unequal",
        "bruck",
        "Alltoallv: blocks of unequal size",
        "`MPI_Alltoallv` has blocks of different sizes, and only sender and receiver of a block know its size. Where "
        "blocks are forwarded, they are padded to the largest one, or sizes travel ahead of each message or in it. "
        "Blocks above a threshold (`direct`) are sent directly.",
        "Forwarding saves messages, as with equal blocks, but sizes travel too, and padding costs the more the sizes "
        "differ. The papers find it faster for many ranks and small blocks, and so do model and simulation. On the "
        "one machine on which we measured it, where 8 to 32 ranks share two cores, direct exchange (`spread-out`) is "
        "faster. Avoid it where few blocks are large.",
        "hybrid",
        ("padded-alltoall", "padded-bruck", "two-phase-bruck", "sloav", "tuna", "hybrid"),
        ("two-phase-bruck", "tuna", "hybrid"),
        remark="These are equal blocks; `swapmeet model tuna -P 64 --workload uniform:max=1KiB` counts unequal ones.",
        drawn=Drawn("tuna(r=3)", 8),
        parameters=("radix", "window", "sizes", "direct"),
    ),
    Family(
        "shared-memory",
        "direct",
        "Shared memory within a node",
        "All ranks are on one node, so no message of MPI is needed. Small blocks are written to rows of shared "
        "memory, one row for each rank; of large ones the receiver copies each block once, from the memory of its "
        "sender.",
        "Choose it wherever all ranks share a node; it is the automatic choice there. It serves no messages between "
        "nodes: in other specs `intra=auto` does the same for messages within nodes.",
        "shared-memory",
        ("shared-memory",),
        ("shared-memory",),
        origin="Source: no paper; docs/measurements/node.md describes and measures it.",
        remark="The counts are of blocks handed over within the node; none of them is a message of MPI.",
        drawn=Drawn("shared-memory", 6),
        parameters=("intra", "window"),
    ),
    Family(
        "leaders",
        "leaders",
        "Leaders of nodes",
        "Some ranks of each node, the leaders, gather all blocks of their node that go to other nodes. Leaders "
        "exchange them with the leaders of other nodes, in one message for each pair, and scatter what they receive.",
        "It sends the fewest messages between nodes, but all bytes of a node pass through its leaders. It is worth a "
        "measurement where the rate of messages between nodes is the limit. Avoid it for blocks of more than a few "
        "bytes: a leader forwards the data of the whole node.",
        "node-leaders(per-node=2)",
        ("node-leaders",),
        ("node-leaders", "node-leaders(per-node=2)"),
        drawn=Drawn("node-leaders", 8, "4"),
        on_nodes=True,
        sources=("kandalla2009",),
    ),
    Family(
        "sparse",
        "direct",
        "Sparse exchanges",
        "Each rank has messages for few others, and no rank knows from which others it will receive. `nbx` sends at "
        "once and ends by a barrier that does not block; `census` first counts the messages for each rank; "
        "`sparse-bruck` forwards messages by digits. They serve `swapmeet_sparse_alltoallv` (docs/howto/sparse.md).",
        "Choose them if ranks do not know what they will receive, and each has data for few others. If nearly every "
        "rank has data for every other, call `MPI_Alltoallv`. Which of the three is fastest depends on the number of "
        "ranks: the automatic choice goes by it.",
        "census",
        ("nbx", "census", "sparse-bruck"),
        ("nbx", "sparse-bruck"),
        remark="The counts hold if every rank has data for every other; a sparse exchange sends less.",
        drawn=Drawn("sparse-bruck", 8),
        parameters=("sparse",),
    ),
    Family(
        "native",
        "native",
        "The host MPI",
        "The call is passed on to the MPI library below Swapmeet, which chooses its algorithm. It is a candidate like "
        "all others in measurements and in the automatic choice.",
        "Choose it to compare, or to switch Swapmeet off for one kind of call. The automatic choice takes it wherever "
        "no other spec is expected to be faster.",
        "native",
        uncounted="The host MPI chooses its algorithm at each call, so its messages cannot be counted in advance. "
        "Usually it is one of [direct exchange](direct.md) and [Bruck's algorithm](bruck.md).",
    ),
)
