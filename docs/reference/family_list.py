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
    source: str = ""  #: besides those of aliases, a paper's key
    origin: str = ""  #: instead of a paper

    @property
    def is_family(self) -> bool:
        """Whether the page is of a whole family of specs."""
        return self.name == self.of


FAMILIES = (
    Family(
        "direct",
        "direct",
        "Direct exchange",
        "Each block goes from its source to its destination in one message. Members differ in the order of peers, "
        "in the messages in flight (`window`), and in what starts the next message (`complete`).",
        "Fewest bytes, most messages. Choose it for large blocks; avoid it for small ones on many ranks, where P - "
        "1 messages take longer than their bytes.",
        "direct(window=8,complete=any)",
        ("spread-out", "nonblocking", "pairwise", "multipair-waitall", "multipair-waitany", "multipair-testany"),
        ("pairwise", "direct(window=8,complete=any)", "spread-out"),
        drawn=Drawn("pairwise", 6),
    ),
    Family(
        "orders",
        "direct",
        "Direct exchange in random and computed orders",
        "Blocks are sent directly, in an order made for the network: random, so that messages of different ranks "
        "rarely meet on a link, or computed from a file of the topology, so that they never do within a step.",
        "Only the load of links differs from direct exchange. In simulations of a Slim Fly a random order is "
        "faster than the fixed one from about 2 KiB on; on other simulated networks it lost (docs/simulation.md). "
        "Choose a computed order (docs/networks.md) if you know topology and placement. Avoid both for small "
        "blocks, and within one node.",
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
        "In round k each rank sends to the rank 2^k further on, in one message, every block whose way needs that "
        "step. So log2(P) messages are enough, but blocks are forwarded. Members differ in where blocks are kept "
        "on their way (`layout`) and in packing (`pack`).",
        "log2(P) messages; each block is sent about log2(P)/2 times. Choose it for the smallest blocks on many "
        "ranks; avoid it for large ones.",
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
        source="bruck1997",
    ),
    Family(
        "radix",
        "bruck",
        "Bruck's algorithm in radix r",
        "The distance of a block is written in radix r instead of 2: fewer digits, so fewer forwards, but up to r "
        "- 1 messages for each digit. Radix P is direct exchange. Balanced digits (`digits=balanced`), -r/2 to r/2, go "
        "half as far, in both directions.",
        "Radix 2 sends the fewest messages, radix P the fewest bytes. Choose a radix between for blocks of tens to "
        "hundreds of bytes: √P, the default of `tra` and `radix`, is a first guess, `swapmeet model --best` a "
        "better one.",
        "tra(r=8,window=all)",
        ("radix", "tra"),
        ("tra(r=2)", "tra", "tra(r=all)"),
        drawn=Drawn("tra(r=3)", 9),
        parameters=("radix", "digits", "layout", "window", "complete"),
    ),
    Family(
        "layers",
        "bruck",
        "Two layers: within nodes, then between nodes",
        "Ranks first exchange within their node, so that each holds the node's blocks for some of the other nodes; "
        "then between nodes, where blocks for one node share a message. Each layer has its radix (`r1`, `r2`).",
        "Messages between nodes become fewer and larger; each block is moved once more within the node. Choose it "
        "for small blocks where nodes have many ranks and messages between nodes are expensive. Avoid it on one "
        "node, and for large blocks.",
        "two-layer",
        ("tra2", "two-layer", "two-layer-staggered"),
        ("tra2", "two-layer", "two-layer-staggered"),
        drawn=Drawn("two-layer", 9, "3"),
        on_nodes=True,
        parameters=("dims", "r1", "r2", "digits", "paths", "order", "window", "messages"),
    ),
    Family(
        "grid",
        "bruck",
        "Grids and tori",
        "Ranks are arranged in two or more dimensions. Blocks travel along one after the other, directly within "
        "each: in two dimensions every block is sent twice, in about 2·√P messages. With `paths=rotated` equal parts "
        "of the blocks begin with each dimension, so that the links of all are in use at once.",
        "More messages than Bruck's algorithm, fewer bytes. Choose it for blocks of tens to hundreds of bytes, and "
        "on torus networks. Avoid it for large blocks: each additional dimension sends the bytes once more.",
        "grid",
        ("grid", "torus"),
        ("grid", "torus"),
        origin="No paper: direct exchange along each dimension of [the family](../family.md).",
        drawn=Drawn("grid", 9),
        parameters=("dims", "radix", "digits", "paths", "window"),
    ),
    Family(
        "unequal",
        "bruck",
        "Alltoallv: blocks of unequal size",
        "Only sender and receiver know a block's size in `MPI_Alltoallv`. Forwarded blocks are padded to the "
        "largest, or sizes travel ahead of each message or in it. Blocks above a threshold (`direct`) are sent "
        "directly.",
        "Forwarding saves messages, but sizes travel too, and padding costs more the more sizes differ. For many "
        "ranks and small blocks it is faster in the papers, by model and by simulation. On the one machine on "
        "which we measured it, where 8 to 32 ranks share two cores, direct exchange (`spread-out`) is faster. "
        "Avoid it where few blocks are large.",
        "hybrid",
        ("padded-alltoall", "padded-bruck", "two-phase-bruck", "sloav", "tuna", "hybrid"),
        ("two-phase-bruck", "tuna", "hybrid"),
        remark="`swapmeet model tuna -P 64 --workload uniform:max=1KiB` counts unequal blocks.",
        drawn=Drawn("tuna(r=3)", 8),
        parameters=("radix", "window", "sizes", "direct"),
    ),
    Family(
        "shared-memory",
        "direct",
        "Shared memory within a node",
        "All ranks are on one node, and no MPI message is needed. Each rank writes its small blocks to its row of "
        "shared memory; a large block is copied once, by the receiver, from the sender's memory.",
        "The automatic choice where all ranks share a node. In other specs `intra=auto` does the same for messages "
        "within nodes.",
        "shared-memory",
        ("shared-memory",),
        ("shared-memory",),
        origin="No paper; measured in docs/measurements/node.md.",
        remark="K and D count blocks handed over within the node, not MPI messages.",
        drawn=Drawn("shared-memory", 6),
        parameters=("intra", "window"),
    ),
    Family(
        "leaders",
        "leaders",
        "Leaders of nodes",
        "Some ranks of each node, the leaders, gather its blocks for other nodes, exchange them with other leaders "
        "in one message for each pair, and scatter what they receive.",
        "Fewest messages between nodes, but leaders forward all bytes of their node. Measure it where the rate of "
        "messages between nodes is the limit; avoid it for blocks of more than a few bytes.",
        "node-leaders(per-node=2)",
        ("node-leaders",),
        ("node-leaders", "node-leaders(per-node=2)"),
        drawn=Drawn("node-leaders", 8, "4"),
        on_nodes=True,
        source="kandalla2009",
    ),
    Family(
        "sparse",
        "direct",
        "Sparse exchanges",
        "Each rank has messages for few others, and no rank knows from which it will receive. `nbx` sends at once "
        "and ends by a non-blocking barrier; `census` first counts the messages for each rank; `sparse-bruck` "
        "forwards messages by digits. They serve `swapmeet_sparse_alltoallv` (docs/howto/sparse.md).",
        "The automatic choice goes by the number of ranks. If nearly every rank has data for every other, call "
        "`MPI_Alltoallv`.",
        "census",
        ("nbx", "census", "sparse-bruck"),
        ("nbx", "sparse-bruck"),
        remark="K and D are those of data from every rank to every other; a sparse exchange sends less.",
        drawn=Drawn("sparse-bruck", 8),
        parameters=("sparse",),
    ),
    Family(
        "native",
        "native",
        "The host MPI",
        "The call is passed on to the host MPI. It is a candidate like all others in measurements and in the "
        "automatic choice.",
        "Choose it to compare, or to switch Swapmeet off for one kind of call. The automatic choice takes it where "
        "no other spec is expected to be faster.",
        "native",
        uncounted="Unknown in advance. Usually it is [direct exchange](direct.md) or [Bruck's algorithm](bruck.md).",
    ),
)
