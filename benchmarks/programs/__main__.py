"""Programs of 200 equal calls under the automatic choice, on simulated machines: their first run, and the next one.

    python benchmarks/programs measure          simulate what docs/measurements/programs.jsonl has not: a line a cell
    python benchmarks/programs measure --cells '64:8:8,512 128:64:8' --machines cluster,theta -o FILE
    python benchmarks/programs page             the tables of docs/measurements/programs.md out of that

A cell is a number of ranks, of ranks a node, and bytes of a block or a workload of MPI_Alltoallv. What a call takes by
a spec is simulated once, for each spec that the program comes to, for the candidates, and for what four MPIs would
choose (`swapmeet simulate`). `page` goes through the programs again, so it shows what the library does now.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from swapmeet import _core, machines
from swapmeet.choose.program import COLLECTIVES, NATIVE, Calls, Program, Run, ordered_s
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.cells import Cell, mean_block
from swapmeet.simulate import peers, simgrid
from swapmeet.simulate.job import Job, Simulator
from swapmeet.simulate.platform import Platform, message_us, platform
from swapmeet.tables import between, markdown

DOCS = Path(__file__).parents[2] / "docs" / "measurements"
FILE = DOCS / "programs.jsonl"
APPLICATIONS = DOCS / "programs-applications.jsonl"
BEGIN, END = "<!-- begin: python benchmarks/programs page -->", "<!-- end -->"
MACHINES = "cluster,cscs-slimfly,fat-tree,polaris,theta"
CELLS = "64:8:8,64,512,4096,32768 128:8:8,64,512 256:8:8,64,512 512:8:8,64 128:64:8,64,512"
CALLS = 200
BRUCK = peers.PREFIX + "bruck"  #: by which MPIs exchange small blocks
MOST_BYTES_OF_BRUCK = 1024


@dataclass(frozen=True)
class Simulated:
    """A cell, and what calls take in it."""

    machine: str
    ranks: int
    per_node: int
    collective: str
    sizes: str
    mean_bytes: int
    collective_us: float  #: a small collective of the host MPI
    #: what the job measures: microseconds of a message alone, and of one of several, nanoseconds of a byte; of copies,
    #: microseconds of a piece, and nanoseconds of a byte
    network: tuple[float, float, float, float, float]
    times_us: dict[str, float]  #: of each spec, and of what MPIs would choose: native:NAME

    @property
    def key(self) -> tuple[str, int, int, str]:
        """What makes it another cell."""
        return self.machine, self.ranks, self.per_node, self.sizes

    @property
    def peers(self) -> dict[str, float]:
        """Of the MPIs."""
        return {spec: self.times_us[spec] for spec in map(peers.PREFIX.__add__, peers.SELECTORS)}

    @property
    def ours(self) -> dict[str, float]:
        """Of the specs that the program considers, and the host MPI."""
        return {spec: time for spec, time in self.times_us.items() if not spec.startswith(peers.PREFIX)}

    @property
    def copying_peers(self) -> dict[str, float]:
        """The same, but those that choose Bruck's algorithm pay for its copies, which SimGrid leaves out."""
        times_us, bruck_us = self.peers, self.times_us.get(BRUCK)
        work = _core.Work(_core.parse_spec("bruck(radix=2,layout=zero-rotation)"), self.ranks, str(self.per_node))
        copies_us = work.price(machines.load(self.machine).costs, "max-rate", self.mean_bytes).pack
        return {spec: time + copies_us * (time == bruck_us) for spec, time in times_us.items()}

    @property
    def calls(self) -> Calls:
        """For a Program."""
        return Calls(self.collective, self.ranks, str(self.per_node), self.mean_bytes)


def small_collective_us(where: Platform) -> float:
    """By recursive doubling, of few bytes."""
    round_us = where.machine.costs.between.latency_us + 2 * message_us(where.machine, where.per_node)
    return math.ceil(math.log2(where.ranks)) * round_us


def network(where: Platform) -> tuple[float, float, float, float, float]:
    """What the job would measure of it: Simulated.network."""
    costs, message = where.machine.costs, message_us(where.machine, where.per_node)
    copies = costs.pack.piece_us, costs.pack.byte_ns
    return costs.between.latency_us + 2 * message, message, costs.between.byte_ns, *copies


def two_runs(
    kind: Calls, call_s: Callable[[str], float], collective_s: float, measured: Sequence[float]
) -> tuple[Run, Run]:
    """The first run, which knows nothing, and one that knows what that one has measured."""
    same = (kind, call_s, collective_s, _core.MeasuredNetwork(*measured))
    first = Program(*same).run(CALLS)
    return first, Program(*same, first.evidence).run(CALLS)


# --- measure ---------------------------------------------------------------------------------------------------------


def simulated(
    simulator: Simulator, where: Platform, collective: str, sizes: str, known_us: dict[str, float]
) -> Simulated:
    """Simulate what is needed of a cell, but for what is known."""
    cell = Cell(simulator.label(where), where.ranks, collective, sizes, nodes=str(where.per_node))
    kind = Calls(collective, where.ranks, cell.nodes, round(mean_block(cell)))
    times_us = dict(known_us)

    def call_s(spec: str) -> float:
        if spec not in times_us:
            job = Job(where, cell, spec, "mpich")
            outcome = simulator.known(job) or simulator.run(job)
            if outcome.problem:
                raise SwapmeetError(f"{spec}: {outcome.problem}")
            times_us[spec] = round(1e6 * outcome.longest, 3)
        return 1e-6 * times_us[spec]

    collective_us = small_collective_us(where)
    two_runs(kind, call_s, 1e-6 * collective_us, network(where))
    where_to = (COLLECTIVES[collective], where.ranks, kind.block_bytes)
    for candidate in _core.candidates(*where_to, nodes=cell.nodes):
        call_s(str(candidate.spec))
    for name in peers.SELECTORS:
        call_s(peers.PREFIX + name)
    if collective == "alltoall" and kind.block_bytes <= MOST_BYTES_OF_BRUCK:
        call_s(BRUCK)
    shape = (where.machine.name, where.ranks, where.per_node)
    return Simulated(*shape, collective, sizes, kind.block_bytes, round(collective_us, 3), network(where), times_us)


def cells(text: str, machines: str) -> Iterator[tuple[Platform, str, str]]:
    """Small ones first."""
    for part in text.split():
        ranks, per_node, sizes = part.split(":", 2)
        for size in sizes.split(";" if "=" in sizes else ","):
            for name in machines.split(","):
                where = platform(name, int(ranks), None, int(per_node), 0)
                yield where, "alltoall" if size.isdecimal() else "alltoallv", size


def measure(options: argparse.Namespace) -> None:
    """Simulate what the programs need and the file has not."""
    found = {one.key: one for one in read(options.output)}
    simulator, lock = Simulator(simgrid.find(), timeout_s=3600), threading.Lock()
    simulator.program, simulator.library  # noqa: B018  # built once, before threads ask

    def one(cell: tuple[Platform, str, str]) -> None:
        where, collective, sizes = cell
        key = (where.machine.name, where.ranks, where.per_node, sizes)
        known_us = found[key].times_us if key in found else {}
        name = f"{where.machine.name}, {where.ranks} ranks, {where.per_node} a node, {sizes}"
        try:
            done = simulated(simulator, where, collective, sizes, known_us)
        except SwapmeetError as problem:
            print(f"{name}: left out: {problem}", file=sys.stderr, flush=True)
            return
        with lock:
            found[key] = done
            draft = options.output.with_suffix(".new")
            draft.write_text("".join(json.dumps(asdict(cell)) + "\n" for cell in found.values()))
            draft.replace(options.output)
        print(name, file=sys.stderr, flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, cells(options.cells, options.machines)))


# --- page ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """Of a cell: microseconds a call, in the mean of a program's calls, setting up included."""

    cell: Simulated
    best_us: float  #: by the spec that is the best, from the first call on
    best: str
    first_us: float
    second_us: float
    peer_us: float  #: the best of the MPIs

    def lost(self, time_us: float) -> float:
        """Beyond the best."""
        return time_us / self.best_us - 1


def outcome(cell: Simulated) -> Outcome:
    """Go through both runs. Raises KeyError if the library comes to a spec that was not simulated."""
    collective_s = 1e-6 * cell.collective_us

    def call_s(spec: str) -> float:
        return 1e-6 * cell.times_us[spec]

    first, second = two_runs(cell.calls, call_s, collective_s, cell.network)
    best_s, best = min((ordered_s(spec, CALLS, call_s(spec), collective_s), spec) for spec in cell.ours)
    each = (1e6 * time_s / CALLS for time_s in (first.seconds, second.seconds))
    return Outcome(cell, 1e6 * best_s / CALLS, best, *each, min(cell.peers.values()))


def mean(numbers: Sequence[float]) -> float:
    """Geometric."""
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def row(found: Sequence[Outcome]) -> list[str]:
    """What some cells come to."""
    texts = [str(len(found))]
    for time_us in ([one.first_us for one in found], [one.second_us for one in found]):
        lost = [one.lost(time) for one, time in zip(found, time_us, strict=True)]
        texts.append(f"{sum(lost) / len(lost):.1%} ({max(lost):.1%})")
    texts.append(f"{mean([one.peer_us / one.best_us for one in found]):.2f}")
    for time_us in ([one.first_us for one in found], [one.second_us for one in found]):
        faster = [one.peer_us / time for one, time in zip(found, time_us, strict=True)]
        texts.append(f"{mean(faster):.2f} ({min(faster):.2f})")
    return texts


def table(found: Sequence[Outcome], what: str, key: Callable[[Outcome], tuple[object, ...]]) -> str:
    """A row for each value of `key`, and one for all."""
    heads = ["cells", "loss, first run: mean (worst)", "second run"]
    heads += ["over the best MPI: best spec", "first run (least)", "second run (least)"]
    groups = sorted({key(one) for one in found}, key=lambda value: tuple(map(str, value)))
    groups.sort(key=lambda value: tuple(part for part in value if isinstance(part, int)))
    rows = []
    for value in groups:
        text = ", ".join(str(part) for part in value)
        rows.append([text, *row([one for one in found if key(one) == value])])
    return "\n".join(markdown([what, *heads], [*rows, ["all", *row(found)]]))


def host_errors(cells: Sequence[Simulated]) -> str:
    """How far MPIs' choices are from the price of the host MPI, on the network that jobs measure."""
    logarithms = []
    for cell in cells:
        known = _core.Knowledge()
        known.describe(_core.MeasuredNetwork(*cell.network))
        of = COLLECTIVES[cell.collective], cell.ranks, cell.mean_bytes
        price_us = 1e6 * _core.candidates(*of, nodes=str(cell.per_node), knowledge=known)[0].price_s
        logarithms += [math.log(time_us / price_us) for time_us in cell.peers.values()]
    average, deviation = statistics.mean(logarithms), statistics.pstdev(logarithms)
    return (
        f"The logarithm of MPIs' times over the host MPI's price: {average:.2f} in the mean, {deviation:.2f} deviation."
    )


def copies(cells: Sequence[Simulated]) -> str:
    """What the best spec gains without set-up, and with the copies of MPIs."""

    def gain(of: Callable[[Simulated], dict[str, float]]) -> float:
        return mean([min(of(cell).values()) / min(cell.ours.values()) for cell in cells])

    free, paid = gain(lambda cell: cell.peers), gain(lambda cell: cell.copying_peers)
    return (
        f"Without set-up the best spec is {free:.2f} times as fast as the best MPI. SimGrid leaves out the copies of "
        f"MPIs' Bruck: at the price that ours of radix 2 pays for them, it is {paid:.2f} times as fast."
    )


def contents(found: Sequence[Outcome]) -> str:
    """All tables."""
    parts = []
    for collective in ("alltoall", "alltoallv"):
        of = [one for one in found if one.cell.collective == collective]
        if not of:
            continue
        parts.append(f"`MPI_{collective.capitalize()}`, by machine, by ranks, and by block:")
        parts.append(table(of, "machine", lambda one: (one.cell.machine,)))
        parts.append(table(of, "ranks, a node", lambda one: (one.cell.ranks, one.cell.per_node)))
        if collective == "alltoall":
            parts.append(table(of, "bytes", lambda one: (one.cell.mean_bytes,)))
            cells = [one.cell for one in of]
            parts += [copies(cells), host_errors(cells)]
        else:
            parts.append(table(of, "workload", lambda one: (one.cell.sizes,)))
    return "\n\n".join(parts)


def applications(path: Path) -> str:
    """Those of examples/, of which the automatic choice was simulated again with what it had measured."""
    heads = ["application", "host MPI", "best spec", "first run", "second run", "loss, first run", "second run"]
    again = path.with_name(path.stem + "-again.jsonl")
    seconds: list[dict[tuple[str, str], dict[str, float]]] = [{}, {}]
    for times, file in zip(seconds, (path, again), strict=True):
        for line in file.read_bytes().splitlines():
            point = msgspec.json.decode(line)
            times.setdefault((point["program"], point["scaling"]), {})[point["spec"]] = point["seconds"]
    rows = []
    for key, times in seconds[0].items():
        best, runs = min(times.values()), (times["auto"], seconds[1][key]["auto"])
        shown = [f"{1e3 * time:.2f} ms" for time in (times[NATIVE], best, *runs)]
        rows.append([", ".join(key), *shown, *(f"{time / best - 1:.1%}" for time in runs)])
    return "\n".join(markdown(heads, rows))


def read(path: Path) -> list[Simulated]:
    """All cells of a file; none if there is none."""
    if not path.exists():
        return []
    return [msgspec.json.decode(line, type=Simulated) for line in path.read_bytes().splitlines()]


def page(options: argparse.Namespace) -> None:
    """Put the tables where the page beside the data has its place for them."""
    path = options.output.with_suffix(".md")
    tables = contents(list(map(outcome, read(options.output))))
    if options.output == FILE:
        tables += "\n\nApplications:\n\n" + applications(APPLICATIONS)
    path.write_text(between(path.read_text(), BEGIN, END, f"\n\n{tables}\n\n"))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "page"])
    parser.add_argument("--machines", default=MACHINES)
    parser.add_argument("--cells", default=CELLS)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, default=FILE)
    options = parser.parse_args()
    measure(options) if options.what == "measure" else page(options)


if __name__ == "__main__":
    main()
