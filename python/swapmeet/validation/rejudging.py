"""The claims of docs/reproduction.md judged again, with what the measurements have taught about messages and copies.

The machines of the papers are described by assumptions, in which the terms that the measurements asked for are missing.
Here each gets those of MareNostrum 5, and in a second round those of Fugaku's peers too; simulations stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from swapmeet import _core, machines
from swapmeet.reproduction import page, registry, running, store
from swapmeet.reproduction.figure import MODEL, SIMULATION, Judgement, Rows

LINK_TERMS = ("handshake_trips", "fragment_byte_ns", "fragment_bytes")
PEER_TERMS = ("cached_peers", "cold_us")
DONOR, PEER_DONOR = "mare-nostrum-5", "fugaku"
VARIANTS = {"messages and copies of MareNostrum 5": False, "the same, and peers of Fugaku": True}


def has_results(folder: Path) -> bool:
    """Whether `folder` has results of a figure that the model prices."""
    kept = (store.read(folder, figure) for figure in registry.FIGURES)
    return any(one is not None and len(one.rows.where(by=MODEL)) > 0 for one in kept)


def claims(folder: Path) -> Iterator[dict[str, Any]]:
    """Each claim of a figure that the model prices, with its verdict as it is and under each variant.

    Parameters
    ----------
    folder : Path
        Of `swapmeet reproduce -o`: simulated times are taken from there.
    """
    for figure in registry.FIGURES:
        kept = store.read(folder, figure)
        if kept is None or not len(kept.rows.where(by=MODEL)):
            continue
        simulated = list(kept.rows.where(by=SIMULATION))
        judged: dict[str, list[Judgement]] = {}
        for name, peers in VARIANTS.items():
            with _borrowed(peers):
                rows = Rows([*running.computed(figure), *simulated])
            results = store.Results(kept.header, rows)
            judged[name] = list(page.judged(figure, results))
        for i, (claim, judgement) in enumerate(zip(figure.claims, page.judged(figure, kept), strict=True)):
            yield {
                "figure": figure.key,
                "claim": claim.statement,
                "verdict": judgement.verdict,
                "again": {name: found[i].verdict for name, found in judged.items()},
                "findings": [judgement.finding, *(found[i].finding for found in judged.values())],
            }


@contextmanager
def _borrowed(peers: bool) -> Iterator[None]:
    donor, crowded = machines.load(DONOR).costs, machines.load(PEER_DONOR).costs

    def lend(machine: machines.Machine) -> None:
        if machine.ranks_per_node is None:  # it has no numbers but Hockney's
            return
        _lend(machine.costs, donor, LINK_TERMS)
        machine.costs.datatype_us, machine.costs.cache_bytes = donor.datatype_us, donor.cache_bytes
        for copies in (machine.costs.pack, machine.costs.datatype):
            copies.uncached_byte_ns = donor.pack.uncached_byte_ns
        if peers:
            _lend(machine.costs, crowded, PEER_TERMS)

    with machines.amended(lend):
        yield


def _lend(costs: _core.MachineCosts, donor: _core.MachineCosts, terms: tuple[str, ...]) -> None:
    for term in terms:
        setattr(costs.between, term, getattr(donor.between, term))
