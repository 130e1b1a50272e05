"""Figure 9 of `tra`: the radices of its two layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swapmeet import _core, machines
from swapmeet.model.costs import root
from swapmeet.model.prices import STANDARD_MODEL
from swapmeet.reproduction import drawing
from swapmeet.reproduction.figure import MODEL, SIMULATION, Claim, Judgement, Row, Rows, Source
from swapmeet.reproduction.judging import NEAR, Judge, cell_name, cells, model_and_simulation
from swapmeet.reproduction.sources import Chooser, Grid, Simulated, best_of, kept_radices, listed, rounded
from swapmeet.specs import parse_spec
from swapmeet.units import bytes_text, digits

WITHIN, BETWEEN = "within", "between"  #: the layers
PER_NODE = 16  #: of the simulation
DRAWN = 2048  #: P of the model's curves
SIMULATED_WITHIN, SIMULATED_BETWEEN = (2, 3, 4, 8, 16), (2, 4, 6, 8, 16, 32)


@dataclass(frozen=True)
class Layers:
    """Expected times over the radix of each layer, the other one at its best, all others tried."""

    machine: str
    ranks: Sequence[int]
    sizes: Sequence[int]
    by: str = MODEL

    @property
    def words(self) -> str:
        """The configuration, for people."""
        where = f"P = {listed(self.ranks)}; {listed(self.sizes, bytes_text)}"
        return f"model {STANDARD_MODEL}, `{self.machine}`, all radices of both layers of `tra2`, {where}"

    def rows(self) -> Iterator[Row]:
        """Price them."""
        machine = machines.load(self.machine)
        nodes = machine.nodes("")
        for ranks in self.ranks:
            q = int(nodes)
            pairs = [(r1, r2) for r1 in range(2, q + 1) for r2 in range(2, ranks // q + 1)]
            works = {(r1, r2): _core.Work(parse_spec(f"tra2(r1={r1},r2={r2})"), ranks, nodes) for r1, r2 in pairs}
            for size in self.sizes:
                times = {pair: work.price(machine.costs, STANDARD_MODEL, size).total for pair, work in works.items()}
                place = {"by": self.by, "machine": self.machine, "P": ranks, "bytes": size, "sizes": bytes_text(size)}
                for layer, number in ((WITHIN, 0), (BETWEEN, 1)):
                    best: dict[int, float] = {}
                    for pair, us in times.items():
                        best[pair[number]] = min(us, best.get(pair[number], us))
                    yield {**place, "layer": layer, **standing(best, recommended(layer, ranks, q))}
                    for r in kept_radices(max(best)) if ranks == DRAWN else ():
                        yield {**place, "layer": layer, "r": r, "us": rounded(best[r])}
                usual = works[root(q), ranks // q]
                all_us = usual.price(machine.costs, STANDARD_MODEL, size).total
                yield {**place, "within_us": rounded(_within_us(usual, machine.costs, size)), "all_us": rounded(all_us)}


def recommended(layer: str, ranks: int, per_node: int) -> int:
    """The radix that the paper recommends."""
    return root(per_node) if layer == WITHIN else ranks // per_node


def standing(times: Mapping[int, float], radix: int) -> dict[str, object]:
    """The best radix of a layer, and how another compares with it."""
    best = best_of(times)
    return {"best_r": best, "recommended_r": radix, "recommended_over_best": rounded(times[radix] / times[best])}


def _within_us(work: _core.Work, costs: _core.MachineCosts, size: int) -> float:
    """The part of messages within nodes: the rest where those between nodes cost nothing, nor do copies."""
    free = _core.MachineCosts()
    for name in ("latency_us", "overhead_us", "gap_us", "byte_ns", "rendezvous_us", "eager_bytes"):
        setattr(free.within, name, getattr(costs.within, name))
    free.between.eager_bytes = costs.between.eager_bytes
    free.memory_byte_ns = costs.memory_byte_ns
    return work.price(free, STANDARD_MODEL, size).total


def _roles() -> dict[str, Chooser]:
    """A part for each radix of each layer, the other one as the paper recommends."""

    def within(r: int) -> Chooser:
        return lambda ranks, _: f"tra2(r1={r},r2={ranks // PER_NODE})"

    def between(r: int) -> Chooser:
        return lambda ranks, _: f"tra2(r1={root(PER_NODE)},r2={r})" if r <= ranks // PER_NODE else ""

    return {f"{WITHIN} {r}": within(r) for r in SIMULATED_WITHIN} | {
        f"{BETWEEN} {r}": between(r) for r in SIMULATED_BETWEEN
    }


def curves(rows: Rows, layer: str) -> dict[tuple[int, str], dict[int, float]]:
    """Microseconds by the radix of a layer, for each (P, size in words)."""
    found: dict[tuple[int, str], dict[int, float]] = {}
    for row in rows.having("us"):
        role = row.get("role", f"{row.get('layer')} {row.get('r')}")
        if role.startswith(f"{layer} "):
            found.setdefault((row["P"], row["sizes"]), {})[int(role.rpartition(" ")[2])] = row["us"]
    return found


def standings(rows: Rows, layer: str) -> Rows:
    """How the recommended radix does in each cell."""
    modelled = list(rows.where(by=MODEL, layer=layer).having("recommended_over_best"))
    simulated: list[Row] = [
        {"by": SIMULATION, "P": ranks, "sizes": sizes, **standing(times, recommended(layer, ranks, PER_NODE))}
        for (ranks, sizes), times in curves(rows.where(by=SIMULATION), layer).items()
    ]
    return Rows([*modelled, *simulated])


def _recommended(layer: str) -> Judge:
    def judge(rows: Rows) -> Judgement:
        judgement = cells((cell_name(row), row["recommended_over_best"] <= 1 + NEAR) for row in rows)
        best = ", ".join(map(str, sorted(rows.values("best_r"))))
        worst = max(row["recommended_over_best"] for row in rows)
        told = f"{judgement.finding}, at worst {digits(worst)} times the best; best are {best}"
        return Judgement(judgement.verdict, told)

    return lambda rows: model_and_simulation(judge)(standings(rows, layer))


def _dominates(rows: Rows) -> Judgement:
    found = rows.having("within_us")
    judgement = cells((cell_name(row), row["within_us"] < row["all_us"] / 2) for row in found)
    most = max(row["within_us"] / row["all_us"] for row in found)
    return Judgement(
        judgement.verdict, f"{judgement.finding}; messages within nodes are at most {most:.0%} of the time"
    )


SOURCES: tuple[Source, ...] = (
    Layers("theta", (512, 2048, 8192), (16, 64, 256, 1024, 4096)),
    Simulated(Grid("theta", _roles(), (256, 512), ("16", "128", "1024"), per_node=PER_NODE)),
)
CRITERION = "within 5 % of the best in at least 90 % of cells; partly from half of them on"
CLAIMS = (
    Claim("within nodes r1 = √Q is best for most", "V-B", CRITERION, _recommended(WITHIN)),
    Claim("between nodes r2 = N is best in most cases", "V-B", CRITERION, _recommended(BETWEEN)),
    Claim(
        "messages between nodes dominate the time",
        "V-B",
        "model: those within nodes take less than half, in at least 90 % of cells; partly from half of them on",
        _dominates,
    ),
)


def draw(rows: Rows) -> Any:
    """Time over each radix, by the model at P = 2,048 and in the simulation at P = 512."""
    panels = []
    for by, ranks, per_node in ((MODEL, DRAWN, 64), (SIMULATION, 512, PER_NODE)):
        for layer, word in ((WITHIN, "r1, within nodes"), (BETWEEN, "r2, between nodes")):
            some = curves(rows.where(by=by), layer)
            lines = {sizes: sorted(times.items()) for (p, sizes), times in some.items() if p == ranks}
            title = f"{by}, P = {ranks:,}, Q = {per_node}\n{word}"
            panels.append(drawing.Panel(title, lines, [recommended(layer, ranks, per_node)]))
    return drawing.lines(
        "TRA2 over its radices, Theta", panels, "radix", note="Dashed: √Q and N, as the paper recommends."
    )
