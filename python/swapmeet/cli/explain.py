"""The command `swapmeet explain`: what the library would do with a call, and why."""

from __future__ import annotations

import os
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from swapmeet import _core, machines
from swapmeet.choose import native
from swapmeet.choose.foreign import Call
from swapmeet.choose.surroundings import surroundings
from swapmeet.cli.arguments import RANKS, AsJson, Nodes
from swapmeet.cli.replay import replayed_run
from swapmeet.errors import SwapmeetError
from swapmeet.model import bounds, prices
from swapmeet.mpi import mpis
from swapmeet.output import print_json, tables_console
from swapmeet.specs import require_map
from swapmeet.units import in_symbols, parse_bytes

MOST_RANKS = 1 << 20  #: the node of each is looked at
COLLECTIVES = dict(_core.Collective.__members__)
MOST_STARTED = 512  #: ranks of which non-blocking exchanges are served: Gathered of src/options/options.hpp


def explain(
    ranks: Annotated[int | None, typer.Option(*RANKS, help="Number of ranks.")] = None,
    block: Annotated[
        str | None,
        typer.Option("-S", "--sizes", metavar="BYTES", help="Bytes of a block, as in 512 or 4KiB; 0 if left out."),
    ] = None,
    nodes: Nodes = "",
    collective: Annotated[
        str | None, typer.Option(metavar="NAME", help="alltoall (if left out), alltoallv or alltoallw.")
    ] = None,
    mpi: Annotated[str | None, typer.Option(help="An MPI of `swapmeet info`, whose tuning file counts.")] = None,
    imported: Annotated[
        Path | None,
        typer.Option(
            "--import",
            metavar="FILE",
            help="What the MPI itself does by its own rules: MPICH's JSON, Open MPI's dynamic.",
        ),
    ] = None,
    machine: Annotated[
        str | None, typer.Option(help="Also the expected times there: a name or file of `swapmeet model --machine`.")
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            metavar="RECORDING",
            help="Go through the calls of a run that SWAPMEET_RECORD wrote, as the automatic choice decides on them: "
            "the host MPI takes the recorded times, specs those of the model (of --machine), so decisions that rest on "
            "measurements may differ in a real run.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print what the library would do with a call, and why.

    The SWAPMEET_ variables count as they are set now. SWAPMEET_EXPLAIN=1 prints the same for the calls of a program.
    """
    if replay is not None:
        given = {"-P": ranks, "-S": block, "--collective": collective, "--import": imported}
        if refused := [option for option, value in given.items() if value is not None]:
            raise SwapmeetError(f"--replay: leave out {', '.join(refused)}: the recording has the calls")
        replayed_run(replay, nodes, mpis.chosen(mpi), machine, as_json)
        return
    if ranks is None:
        raise SwapmeetError("explain needs a number of ranks, as in -P 8, or a recording, as in --replay FOLDER")
    collective = collective or "alltoall"
    if collective not in COLLECTIVES:
        raise SwapmeetError(f'--collective "{collective}": expected {", ".join(COLLECTIVES)}')
    if not 1 <= ranks <= MOST_RANKS:
        raise SwapmeetError(f"-P {ranks}: expected a number from 1 to {MOST_RANKS}")
    require_map(nodes, [ranks])
    size = parse_bytes(block or "0", "-S")
    target = mpis.chosen(mpi)
    count, _, largest = _core.kind_of(COLLECTIVES[collective], ranks, nodes)
    nodes = nodes if count > 1 else ""
    theirs = native.chosen(target, Call(collective, ranks, size, largest if nodes else None), imported)
    pricing = None if machine is None else prices.Pricing(machines.load(machine))
    found = _explained(target, collective, ranks, size, nodes)
    started = _started(target, collective, ranks)
    expected = None if pricing is None else prices.best(found.priced, ranks, [size], pricing, nodes)
    if as_json:
        fields = found.record() | {"native": theirs, "started": started}
        print_json("explain", **fields, expected=list(prices.records(expected)) if expected else None)
        return
    print(*found.lines(), sep="\n")
    print(f"started (MPI_I{collective}, MPI_{collective.capitalize()}_init): {started}")
    if theirs is not None:
        like = f", which sends what {theirs.spec} does" if theirs.spec else ""
        print(f"native is: {theirs.algorithm}{like}, by {theirs.why}")
    elif imported is not None:
        print(f"native is: the MPI's own choice; {imported} has no rule for it")
    print(f"the MPI is {target}{'' if mpi else ', the default; --mpi names another'}")
    if expected is not None and pricing is not None:
        tables_console().print(*prices.best_tables(expected, pricing), sep="\n")


@dataclass(frozen=True)
class Explained:
    """A call, the choice for it, and what that rests on."""

    mpi: str  #: kind and version
    collective: str
    ranks: int
    block_bytes: int
    nodes: str  #: the node map; empty if all ranks share a node
    spec: _core.Spec
    reason: str
    most_bytes: int | None  #: the choice holds for blocks up to this size; None: for all
    tuning_file: str  #: or empty
    warnings: list[str]
    remembered: list[_core.Evidence]
    tried: list[_core.Expectation]  #: by the running application, besides the choice

    @property
    def priced(self) -> list[_core.Spec]:
        """The choice, if the models know it: they know nothing of the host MPI."""
        return [] if self.spec.family == "native" else [self.spec]

    def lines(self) -> Iterator[str]:
        """For people."""
        yield from (f"warning: {warning}" for warning in self.warnings)
        yield f"tuning file for {self.mpi}: {self.tuning_file or 'none'}"
        where = (
            "" if not self.nodes else f", {self.nodes} on a node" if self.nodes.isdigit() else f", nodes {self.nodes}"
        )
        until = "" if self.most_bytes is None else f", up to {self.most_bytes} B"
        yield f"{self.collective} on {self.ranks} ranks{where}, blocks of {self.block_bytes} B: {self.spec}{until}"
        yield f"because: {in_symbols(self.reason)}"
        for one in self.remembered:
            times = f"{1e6 * one.mean_s:.4g} ± {1e6 * one.spread_s:.2g} µs"
            yield f"remembered: {times}, {one.calls} calls: {one.spec}"
        if self.priced:
            if self.collective == "alltoall":
                yield bounds.sentences(bounds.certificate(self.spec, self.ranks, self.nodes), self.block_bytes)
            else:
                yield bounds.sentence_of_unequal(bounds.of_unequal(self.spec, self.ranks, self.nodes))
        for other in self.tried:
            yield f"may be tried: {other.spec}, expected: {1e6 * other.seconds:.4g} µs ({other.basis})"

    def record(self) -> dict[str, object]:
        """For other programs."""
        names = ("mpi", "collective", "ranks", "block_bytes", "nodes", "spec", "reason", "most_bytes")
        fields = {name: getattr(self, name) for name in (*names, "tuning_file", "warnings")}
        fields["remembered"] = [
            {
                "spec": one.spec,
                "mean_us": 1e6 * one.mean_s,
                "spread_us": 1e6 * one.spread_s,
                "calls": one.calls,
                "by": one.by,
            }
            for one in self.remembered
        ]
        fields["may_be_tried"] = [
            {"spec": one.spec, "expected_us": 1e6 * one.seconds, "basis": one.basis} for one in self.tried
        ]
        return fields


def _started(target: mpis.Mpi, collective: str, ranks: int) -> str:
    """What serves non-blocking and persistent calls: docs/plans.md."""
    setting = os.environ.get("SWAPMEET_NONBLOCKING", "auto")
    if setting == "native":
        return "the host MPI (SWAPMEET_NONBLOCKING=native)"
    if ranks > MOST_STARTED:
        return f"the host MPI, with more than {MOST_STARTED} ranks"
    if target.progress_symbol is None and setting != "thread":
        return "the host MPI, whose progress has no hook for a library"
    if (target.abi, collective) == ("openmpi", "alltoallw") and not os.environ.get("SWAPMEET_ALGORITHM"):
        return "the host MPI, which takes less for small blocks; persistent ones as above"
    if setting == "thread":
        return "as above, advanced by a thread, with MPI_THREAD_MULTIPLE (SWAPMEET_NONBLOCKING=thread)"
    return f"as above, advanced in the host MPI's progress ({target.progress_symbol})"


def _explained(target: mpis.Mpi, collective: str, ranks: int, size: int, nodes: str) -> Explained:
    """What the library does here, with the variables that are set."""
    present = surroundings(target, ranks)
    options, recalled, warnings = present.options, present.recall(ranks), present.warnings
    knowledge = _core.Knowledge(evidence=_core.usable(recalled))
    spec, reason, most = _choose(collective, ranks, size, options, nodes, knowledge, warnings)
    return Explained(
        mpi=present.mpi,
        collective=collective,
        ranks=ranks,
        block_bytes=size,
        nodes=nodes,
        spec=spec,
        reason=reason,
        most_bytes=None if collective != "alltoall" or most == 2**63 - 1 else most,
        tuning_file=options.tuning.file,
        warnings=warnings,
        remembered=_measured(recalled, collective, ranks, size, nodes),
        tried=[one for one in _tried(collective, ranks, size, options, nodes, knowledge) if one.spec != spec],
    )


def _measured(
    recalled: list[_core.Evidence], collective: str, ranks: int, size: int, nodes: str
) -> list[_core.Evidence]:
    """What earlier runs know of such calls, the fastest first."""
    call = COLLECTIVES[collective]
    wanted = _core.block_class(size) if collective == "alltoall" else -1
    count, *per_node = _core.kind_of(call, ranks, nodes)
    found = [
        one
        for one in recalled
        if (one.collective, one.size_class, one.nodes, one.per_node) == (call, wanted, count, tuple(per_node))
    ]
    return sorted(found, key=lambda one: one.mean_s)


def _tried(
    collective: str, ranks: int, size: int, options: _core.Options, nodes: str, knowledge: _core.Knowledge
) -> list[_core.Expectation]:
    """What the running application may find to be faster, the host MPI first (docs/tuning.md)."""
    call = COLLECTIVES[collective]
    if ranks < 2 or (size == 0 and collective == "alltoall") or not _core.tries(call, ranks, options, nodes):
        return []
    found = _core.candidates(call, ranks, size, nodes=nodes, options=options, knowledge=knowledge)
    return [one for one in found if _fits(one.spec, collective, ranks, size, options, nodes)]


def _fits(spec: _core.Spec, collective: str, ranks: int, size: int, options: _core.Options, nodes: str) -> bool:
    """Whether it takes no more working memory than is allowed, as far as that is known before the call."""
    if collective != "alltoall" or spec.family == "native":
        return True
    return _core.within_scratch_limit(spec, ranks, size, options, nodes)


def _most_that_fits(
    spec: _core.Spec, collective: str, ranks: int, sizes: range, options: _core.Options, nodes: str
) -> int:
    """The largest size, from the first of `sizes`, which fits, to their end, that fits too."""
    if _fits(spec, collective, ranks, sizes.stop, options, nodes):
        return sizes.stop
    too_large = bisect(sizes, False, key=lambda size: not _fits(spec, collective, ranks, size, options, nodes))
    return sizes.start + too_large - 1


def _choose(
    collective: str,
    ranks: int,
    size: int,
    options: _core.Options,
    nodes: str,
    knowledge: _core.Knowledge,
    warnings: list[str],
) -> tuple[_core.Spec, str, int]:
    """The choice, as the library finds it: without orders of the topology that are not available, of which it warns."""
    while True:
        shared = 0 if collective != "alltoall" else size
        call = COLLECTIVES[collective]
        spec, reason, most = _core.choose(call, ranks, shared, options, nodes=nodes, knowledge=knowledge)
        ordered = dict(spec.parameters).get("order", "").startswith("topology")
        problem = _core.order_table_problem(spec, ranks, nodes) if ordered else ""
        if not problem and not _fits(spec, collective, ranks, size, options, nodes):
            return _core.parse_spec("native"), _core.TOO_MUCH_MEMORY, 2**63 - 1
        if not problem:
            return spec, reason, _most_that_fits(spec, collective, ranks, range(size, most), options, nodes)
        warnings.append(str(_core.give_up_order(spec, problem, options, knowledge)))
