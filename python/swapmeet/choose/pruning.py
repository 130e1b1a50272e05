"""Which candidates are worth a look at all: what the models predict for a machine that was calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from swapmeet import _core, machines
from swapmeet.errors import SwapmeetError
from swapmeet.model import prices
from swapmeet.model.prices import Pricing
from swapmeet.mpi.mpis import Mpi
from swapmeet.mpi.places import machine_file
from swapmeet.specs import parse_spec

FACTOR = 3.0  #: times as long as the best, or more, where a description was off by more (docs/calibration.md)
BEST = 2  #: of the models' own candidates, for each number of ranks and size


def find_machine(named: str | None, target: Mpi) -> machines.Machine | None:
    """The description that is named, or the one that was calibrated for this MPI and machine; "none": none.

    Raises
    ------
    SwapmeetError
        If the one that is named cannot be used.
    """
    if named is not None:
        return None if named == "none" else machines.load(named)
    try:
        path: Path = machine_file(target.kind)
        found = machines.load(str(path)) if path.exists() else None
    except SwapmeetError as problem:
        print(f"swapmeet: warning: {problem}; no candidate is left out")
        return None
    here = (f"{target.kind} {target.version}", _core.machine_signature())
    return found if found is not None and (found.mpi, found.signature) == here else None


def pruned(
    specs: Sequence[str], ranks: Sequence[int], sizes: Sequence[int], nodes: str, machine: machines.Machine
) -> list[str]:
    """Those that are expected to be near the best somewhere, and the best of many others.

    Parameters
    ----------
    specs
        Candidates.
    ranks, sizes
        All that is to be measured: P, and bytes of a block.
    nodes
        SWAPMEET_NODES; "": the machine's own.
    machine
        Where.
    """
    pricing, most = Pricing(machine), max(FACTOR, machine.ratios_off_by)
    kept: dict[str, None] = {}
    for p in ranks:
        points = {spec: parse_spec(spec) for spec in specs}
        served = {spec: point for spec, point in points.items() if not point.unsuitable(p, machine.nodes(nodes))}
        for ranked in prices.best(served.values(), p, sizes, pricing, nodes):
            times = {str(one.spec): one.price.total for one in ranked}
            least = ranked[0].price.total
            kept |= {spec: None for spec, point in served.items() if times[str(point)] <= most * least}
            kept |= {str(one.spec): None for one in ranked[:BEST]}
    own = {str(parse_spec(spec)): spec for spec in specs}
    return list(dict.fromkeys(own.get(spec, spec) for spec in kept))
