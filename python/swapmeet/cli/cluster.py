"""The commands `swapmeet cluster run` and `swapmeet cluster check`: their options."""

from __future__ import annotations

from typing import Annotated

import typer

from swapmeet.cli.arguments import FINDINGS, RANKS, Algorithm, AsJson, Explain, MpiOfApp, Stats, Trace
from swapmeet.cli.parsing import PASSING, App
from swapmeet.cluster import checking, launching
from swapmeet.cluster.description import Network, placement
from swapmeet.mpi import application, launch, mpis
from swapmeet.output import print_json, tables_console

STANDARD = Network()

Latency = Annotated[str, typer.Option(metavar="TIME", help="Latency between two nodes, one way.")]
Rate = Annotated[str, typer.Option(metavar="RATE", help="Rate of each node's link, in each direction.")]
Topology = Annotated[
    str | None,
    typer.Option(
        metavar="two-level(nodes=N,...)",
        help="N nodes at each of several switches; between these rate=RATE, and latency=TIME on top; else the above.",
    ),
]
Queue = Annotated[str, typer.Option(metavar="BYTES", help="Bytes that may wait for a link; more is dropped.")]
Mtu = Annotated[int, typer.Option(metavar="BYTES", help="Size of a packet, at most.")]
Limit = Annotated[str, typer.Option("--time-limit", metavar="TIME", help="Then the cluster ends, with status 124.")]
Traffic = Annotated[str, typer.Option(metavar="BYTES", help="Bytes sent by all nodes, at most; then the same.")]
Counts = Annotated[bool, typer.Option("--counts", help="At the end, print what went over each link.")]

cluster = App(
    help="Run MPI programs on a virtual cluster in this machine.\n\n"
    "Its hosts are namespaces, with a network between them (docs/cluster.md).",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@cluster.command(context_settings=PASSING)
def run(
    argv: Annotated[list[str], typer.Argument(metavar="APP [ARGS]...", help="The program, behind `--`.")],
    hosts: Annotated[int | None, typer.Option(min=1, help="Number of nodes. Default: 2.")] = None,
    ranks_per_node: Annotated[
        str | None,
        typer.Option(
            "-Q",
            "--ranks-per-node",
            metavar="N,...",
            help="Of all nodes, or of each, as in 3,1,4. Default: 1.",
        ),
    ] = None,
    ranks: Annotated[
        int | None, typer.Option(*RANKS, min=1, help="Number of ranks, spread over the nodes evenly.")
    ] = None,
    latency: Latency = STANDARD.latency,
    rate: Rate = STANDARD.rate,
    topology: Topology = None,
    queue: Queue = STANDARD.queue,
    mtu: Mtu = STANDARD.mtu,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FAULT",
            help="slow(node=N,factor=F,after=TIME,for=TIME), cut(node=N,after=TIME,for=TIME): of its links; "
            "stall(node=N,for=TIME,after=TIME), die(node=N,after=TIME): of its processes. May be repeated.",
        ),
    ] = None,
    same_hostname: Annotated[
        bool, typer.Option("--same-hostname", help='All nodes are called "node", as on carelessly configured clusters.')
    ] = False,
    limit: Limit = STANDARD.limit,
    traffic: Traffic = STANDARD.traffic,
    counts: Counts = False,
    mpi: MpiOfApp = None,
    algorithm: Algorithm = None,
    explain: Explain = False,
    stats: Stats = None,
    trace: Trace = None,
    native: Annotated[bool, typer.Option("--native", help="Without Swapmeet, to compare.")] = False,
) -> None:
    """Run an MPI program on several virtual hosts.

    Everything is inside new namespaces, and ends with this command, however that ends.
    """
    per_node = placement(hosts, ranks_per_node, ranks)
    network = Network(
        latency=latency,
        rate=rate,
        topology=topology,
        queue=queue,
        mtu=mtu,
        faults=tuple(fault or ()),
        limit=limit,
        traffic=traffic,
        same_hostname=same_hostname,
        counts=counts,
    )
    network.words(len(per_node))  # what is wrong with it is told before anything is built
    options = {"algorithm": algorithm, "explain": explain, "stats": stats, "trace": trace}
    launch.require_writable("--stats", stats)
    launch.require_writable("--trace", trace)
    chosen, preload, variables = application.prepare(argv, mpi, native, options, ranks=sum(per_node))
    words = launch.command(chosen, sum(per_node), argv, preload, variables)
    launch.replace_process(
        launching.command(chosen, per_node, network, words), launching.variables(chosen, sum(per_node))
    )


@cluster.command()
def check(
    hosts: Annotated[int, typer.Option(min=2, help="Number of nodes.")] = 2,
    latency: Latency = STANDARD.latency,
    rate: Rate = STANDARD.rate,
    topology: Topology = None,
    queue: Queue = STANDARD.queue,
    mtu: Mtu = STANDARD.mtu,
    limit: Limit = STANDARD.limit,
    counts: Counts = False,
    mpi: Annotated[str | None, typer.Option(help="With whose library the programs were built; not used.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the network of a virtual cluster, without an MPI.

    Prints what was set, and what was measured. Exit status 1: it is faster than what was set, which cannot be.
    """
    network = Network(latency, rate, topology, queue, mtu, limit=limit, counts=counts)
    found = checking.check(network, hosts, mpis.chosen(mpi))
    if as_json:
        print_json("cluster check", links=list(map(checking.record, found)))
    else:
        tables_console().print(checking.table(found))
    if any(one.too_fast for one in found):
        raise typer.Exit(FINDINGS)
