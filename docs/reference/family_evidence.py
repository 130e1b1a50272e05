"""Where a family of schedules wins, in tables made of committed estimates, simulations and measurements.

Ratios are speed-ups: above 1 the family is faster than what it is compared with.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from family_list import Family

from swapmeet import _core
from swapmeet.measure.bench.cells import bytes_text

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "beside"))
import measured

Row = dict[str, Any]
LEAST = 0.995  #: speed-ups from here on, to two digits at least 1


def of(family: Family, docs: Path) -> Iterator[str]:
    """Paragraphs and tables, from all data that know the family."""
    for part in EVIDENCE[family.name]:
        yield from part(family, docs)


def page_of(text: str) -> str:
    """The page of a spec of equal blocks."""
    spec = _core.parse_spec(text)
    values = dict(spec.parameters)
    if spec.family == "bruck":
        if values["dims"] != "P":
            return "layers" if values["dims"].startswith(("nodes", "groups")) else "grid"
        return "bruck" if values["radix"] == "2" else "radix"
    if spec.family == "direct" and values["order"] not in ("shift", "xor"):
        return "orders"
    return spec.family


def estimated(family: Family, docs: Path) -> Iterator[str]:
    """Its share of the cells of docs/limits.md, and how far it is from the lower bound there."""
    rows = [row for row in _read(docs / "limits" / "cells.jsonl") if row["how"] == "estimate"]
    mine = [row for row in rows if page_of(row["best"]) == family.name]
    machines = len({row["platform"] for row in rows})
    yield (
        f"**Estimates** on {machines} machines, P = {_least(rows, 'ranks')} to {_most(rows, 'ranks')} "
        f"(docs/limits.md): the fastest known in {len(mine)} of {len(rows)} cells."
    )
    if not mine:
        return
    lines = []
    for size in sorted({row["bytes"] for row in rows}):
        here, won = ([row for row in some if row["bytes"] == size] for some in (rows, mine))
        ratio = _mean([row["best_us"] / row["bound_us"] for row in won])
        lines.append((bytes_text(size), f"{len(won)} of {len(here)}", ratio, _machines(won)))
    yield _table(("block", "fastest in", "over the bound", "machines, by number of cells"), lines)


def native_simulated(_: Family, docs: Path) -> Iterator[str]:
    """Where the choices of MPIs are faster than all our specs in simulations."""
    rows = [row for row in _read(docs / "limits" / "cells.jsonl") if row["how"] == "simulate"]
    won = [row for row in rows if row["mpi_us"] < row["best_us"]]
    yield (
        f"**Simulations** (SimGrid; docs/limits.md), P = {_least(rows, 'ranks')} and {_most(rows, 'ranks')}: the best "
        f"of Open MPI's, MPICH's, MVAPICH2's and Intel MPI's choices beats the best of our specs in {len(won)} of "
        f"{len(rows)} cells. SimGrid's MPIs copy at no cost, ours do not."
    )
    lines = []
    for size in sorted({row["bytes"] for row in rows}):
        here = [row for row in rows if row["bytes"] == size]
        gains = [row["best_us"] / row["mpi_us"] for row in here]
        lines.append((bytes_text(size), f"{sum(gain > 1 for gain in gains)} of {len(here)}", _span(gains)))
    yield _table(("block", "MPI's choice faster in", "its speed-up over our best spec"), lines)


def supercomputers(family: Family, docs: Path) -> Iterator[str]:
    """Published times of two supercomputers: where each family was the fastest of what was measured."""
    times: dict[tuple[str, int, int], dict[str, float]] = defaultdict(dict)
    for row in (*_read(docs / "validation" / "cells.jsonl"), *_read(docs / "validation" / "scale.jsonl")):
        mine = times[SYSTEMS[row["system"]], row["ranks"], row["bytes"]]
        name = page_of(row["spec"])
        mine[name] = min(row["measured_us"], mine.get(name, math.inf))
    names = {"direct": "direct exchange", "bruck": "Bruck's algorithm of radix 2"}
    other = "bruck" if family.name == "direct" else "direct"
    yield (
        "**Measured on two supercomputers**, one rank per node (published times; docs/validation.md): speed-up of the "
        f"fastest {names[family.name]} over the fastest {names[other]}."
    )
    gains = {key: found[other] / found[family.name] for key, found in times.items() if len(found) == 2}
    yield _by_band(("machine", "P"), gains)


def reproduced(figures: dict[str, str], pairs: Sequence[tuple[str, str]]) -> Callable[[Family, Path], Iterator[str]]:
    """Speed-ups of one role over another, from the papers' figures that docs/reproduction.md reproduces."""

    def evidence(_: Family, docs: Path) -> Iterator[str]:
        from swapmeet.reproduction.figure import MODEL, Rows
        from swapmeet.reproduction.judging import ratios

        lines = []
        for figure, where in figures.items():
            rows = Rows(_read(docs / "reproduction" / f"{figure}.jsonl"))
            for role, other in pairs:
                for by in rows.values("by"):
                    gains = ratios(rows.where(by=by), role, other)
                    for low, high in BANDS if gains else ():
                        some = [gain for row, gain in gains if low <= row["bytes"] < high]
                        if some:
                            how = "model" if by == MODEL else "simulation"
                            won = f"{sum(gain >= LEAST for gain in some)} of {len(some)}"
                            lines.append((where, how, f"{role} over {other}", _band(low, high), won, _span(some)))
        yield "**The papers' experiments, modelled and simulated** (docs/reproduction.md):"
        yield _table(("machine", "by", "compared", "block, or largest", "faster in", "speed-up"), lines)

    return evidence


def within_a_node(_: Family, docs: Path) -> Iterator[str]:
    """Speed-ups of `shared-memory` over the host MPI, as OSU's benchmark measures them."""
    header, *runs = _read(docs / "measurements" / "users-one-node.jsonl")
    times: dict[tuple[str, int, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        case = run["case"]
        if case["benchmark"] == "osu-alltoall" and run["candidate"] in ("raw", "shared-memory"):
            for _, size, microseconds, *_ in run["cells"]:
                times[case["mpi"], case["ranks"], size][run["candidate"]].append(microseconds)
    gains = {key: statistics.median(by["raw"]) / statistics.median(by["shared-memory"]) for key, by in times.items()}
    about = header["header"]
    processor = f"{about['machine']['cores']} cores of an {about['machine']['processor']}, which 4 and 8 ranks share"
    yield (
        f"**Measured** by OSU's method with `MPI_Alltoall` on {processor}; {about['created'][:10]}, commit "
        f"{about['commit'][:7]}; speed-up over the host MPI, least and largest over the sizes:"
    )
    yield _by_band(("MPI", "P"), gains)


def unequal(_: Family, docs: Path) -> Iterator[str]:
    """Speed-ups over the host MPI's Alltoallv on one machine."""
    page = measured.load("varying", docs / "measurements")
    cells = page.cells
    ranks = [cell.ranks for cell in cells]
    yield (
        f"**Measured** with P = {min(ranks)} to {max(ranks)} and {len({cell.size for cell in cells})} workloads "
        f"(docs/measurements/varying.md): speed-up over the host MPI's `MPI_Alltoallv`. {page.about}"
    )
    by_spec: dict[str, list[measured.Cell]] = {}
    for cell in cells:
        by_spec.setdefault(cell.spec, []).append(cell)
    most = max(map(len, by_spec.values()))
    lines = []
    for spec, mine in by_spec.items():
        if len(mine) < most:  # a radix of one number of ranks
            continue
        best = max(mine, key=lambda cell: cell.speedup.value)
        won = sum(cell.speedup.value >= LEAST for cell in mine)
        middle = statistics.median(cell.speedup.value for cell in mine)
        where = f"{best.size}, P = {best.ranks}"
        lines.append((f"`{spec}`", f"{won} of {len(mine)}", f"{middle:.2f}", f"{best.speedup.value:.2f} ({where})"))
    yield _table(("spec", "faster in", "median", "best"), lines)


def sparse(_: Family, docs: Path) -> Iterator[str]:
    """Speed-ups over an exchange of counts and an Alltoallv."""
    rows = _read(docs / "measurements" / "sparse.jsonl")
    times: dict[tuple[str, int, int, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for method, samples in row["times_us"].items():
            times[row["mpi"], row["ranks"], row["messages"], row["bytes"]][method].append(statistics.median(samples))
    about = rows[0]
    yield (
        f"**Measured** on {about['machine']['cores']} cores of an {about['machine']['processor']}, which 4 and 8 "
        f"ranks share; {about['created'][:10]}, commit {about['commit'][:7]} (docs/measurements/sparse.md): speed-up "
        "over the host MPI's `MPI_Alltoall` of counts and `MPI_Alltoallv`: costs of software, without a network."
    )
    lines = []
    for mpi, ranks in dict.fromkeys(key[:2] for key in times):
        cells = [by for key, by in times.items() if key[:2] == (mpi, ranks)]
        for method in ("nbx", "census", "sparse-bruck"):
            gains = [statistics.median(by["alltoallv"]) / statistics.median(by[method]) for by in cells]
            won = f"{sum(gain >= LEAST for gain in gains)} of {len(gains)}"
            lines.append((measured.mpi_name(mpi), str(ranks), f"`{method}`", won, f"{statistics.median(gains):.2f}"))
    yield _table(("MPI", "P", "method", "faster in", "median"), lines)


BANDS = ((1, 128), (128, 2048), (2048, 32768), (32768, 1 << 31))
SYSTEMS = {"fugaku": "Fugaku", "mare_nostrum": "MareNostrum 5"}
VENDORS = {"tra-fig10": "Theta", "tra-fig12": "Polaris"}
EVIDENCE: dict[str, tuple[Callable[[Family, Path], Iterator[str]], ...]] = {
    "direct": (estimated, supercomputers),
    "orders": (
        estimated,
        reproduced({"slimfly-fig2": "Slim Fly"}, [("random", "ordered"), ("random", "Open MPI 1.10")]),
    ),
    "bruck": (estimated, supercomputers),
    "radix": (estimated, reproduced(VENDORS, [("TRA", "vendor")])),
    "layers": (estimated, reproduced(VENDORS, [("TRA2", "TRA"), ("TRA2", "vendor")])),
    "grid": (estimated,),
    "unequal": (
        reproduced(
            {"nonuniform-fig6": "Theta"}, [("padded", "vendor"), ("two-phase", "vendor"), ("two-phase", "SLOAV")]
        ),
        unequal,
    ),
    "shared-memory": (within_a_node,),
    "leaders": (estimated,),
    "sparse": (sparse,),
    "native": (native_simulated,),
}


def _read(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _mean(values: Sequence[float]) -> str:
    return f"{math.exp(sum(map(math.log, values)) / len(values)):.2f}" if values else ""


def _span(values: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(f"{value:.2f}" for value in (min(values), max(values)))) if values else ""


def _least(rows: Iterable[Row], key: str) -> str:
    return f"{min(row[key] for row in rows):,}"


def _most(rows: Iterable[Row], key: str) -> str:
    return f"{max(row[key] for row in rows):,}"


def _machines(rows: Iterable[Row]) -> str:
    return ", ".join(f"{name} {number}" for name, number in Counter(row["platform"] for row in rows).most_common())


def _by_band(columns: Sequence[str], gains: dict[tuple[str, int, int], float]) -> str:
    """A row for each name and number of ranks: the least and the largest speed-up in each range of sizes."""
    lines = []
    for name, ranks in sorted({key[:2] for key in gains}):
        mine = {size: gain for (*where, size), gain in gains.items() if where == [name, ranks]}
        cells = [_span([gain for size, gain in mine.items() if low <= size < high]) for low, high in BANDS]
        lines.append((name, str(ranks), *cells))
    return _table((*columns, *(_band(*band) for band in BANDS)), lines)


def _band(low: int, high: int) -> str:
    if low == 1:
        return f"below {bytes_text(high)}"
    return f"from {bytes_text(low)}" if high >= 1 << 31 else f"{bytes_text(low)} to below {bytes_text(high)}"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in (columns, ["---"] * len(columns), *rows))
