"""The page docs/limits.md, made of the cells that `swapmeet limits` has written."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from swapmeet.limits import store
from swapmeet.limits.computing import ESTIMATED, SIMULATED, Row
from swapmeet.limits.floors import FLOOR
from swapmeet.tables import markdown
from swapmeet.units import bytes_text, duration

FAR = 1.5  #: times the bound, from which on a cell is work to do


def whole(folder: Path, pictures: str) -> Iterator[str]:
    """All of it; `pictures` is the folder as seen from the page."""
    rows = store.read(folder)
    yield (files(__package__) / "introduction.md").read_text(encoding="utf-8").strip()
    yield "## Where the distance is long"
    yield "\n".join(_summary(rows))
    yield "## The maps"
    for name in platforms(rows):
        yield f"### {name}"
        yield f"![{name}: time over the bound]({pictures}/{name}.png)"
        if any(row.get("left_out") for row in _of(rows, name, ESTIMATED)):
            some = sorted({row["ranks"] for row in rows if row["platform"] == name and row.get("left_out")})
            numbers = ", ".join(f"{p:,}" for p in some)
            yield f"At P = {numbers} most direct exchanges have too many messages to be estimated."
    if floors := [row for row in rows if row["how"] == FLOOR]:
        yield "## Fugaku's torus of 8x8x8 nodes"
        yield "\n".join(_floors(floors))
    yield "## Simulated"
    yield "\n".join(_simulated(rows))
    yield "## Work list"
    yield (
        f"Cells in which the best spec known is estimated to take {FAR} times the bound or more; in brackets the best "
        "of what MPIs have. Copies: their share of the best spec's time, which the bound leaves out."
    )
    yield "\n".join(_work(rows))


def platforms(rows: Sequence[Row]) -> list[str]:
    """In the order in which they occur."""
    return list(dict.fromkeys(row["platform"] for row in rows))


def _of(rows: Sequence[Row], name: str, how: str) -> list[Row]:
    return [row for row in rows if row["platform"] == name and row["how"] == how]


def _ratio(row: Row, key: str = "best_us") -> float:
    return float(row[key] / row["bound_us"])


def _mean(ratios: Sequence[float]) -> str:
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}"


def _summary(rows: Sequence[Row]) -> Iterator[str]:
    yield "Geometric means over P of best spec known / best of what MPIs have, over the bound, estimated:"
    yield ""
    sizes = sorted({row["bytes"] for row in rows if row["how"] == ESTIMATED})
    lines = []
    for name in platforms(rows):
        some = _of(rows, name, ESTIMATED)
        cells = []
        for size in sizes:
            here = [row for row in some if row["bytes"] == size]
            cells.append(f"{_mean([*map(_ratio, here)])} / {_mean([_ratio(row, 'mpi_us') for row in here])}")
        far = [row for row in some if _ratio(row) >= FAR]
        why = ", ".join(f"{limit} {n}" for limit, n in Counter(row["binding"] for row in far).most_common(2))
        lines.append([name, *cells, f"{len(far)} of {len(some)}", why])
    yield from markdown(["platform", *map(bytes_text, sizes), "cells from 1.5 on", "mostly bound there by"], lines)


def _floors(rows: Sequence[Row]) -> Iterator[str]:
    lines = []
    for row in rows:
        numbers = [f"{_ratio(row, key):.2f}" for key in ("floor_us", "best_us", "mpi_us")]
        shares = [f"{row[key] / row['best_us']:.0%}" for key in ("copies_us", "bytes_us")]
        bound = [bytes_text(row["bytes"]), duration(1e-6 * row["bound_us"]), row["binding"]]
        lines.append([*bound, *numbers, *shares, f"`{row['best']}`"])
    columns = ("block", "bound", "by", "floor / bound", "best / bound", "MPIs", "copies", "bytes", "best spec known")
    yield from markdown(columns, lines)


def _simulated(rows: Sequence[Row]) -> Iterator[str]:
    some = [row for row in rows if row["how"] == SIMULATED]
    yield (
        "Best of seven specs of ours, without shared memory / best choice of four MPIs (`native:ompi`, `mpich`, "
        "`mvapich2`, `impi`), over the bound:"
    )
    yield ""
    sizes = sorted({row["bytes"] for row in some})
    lines = []
    for name in platforms(some):
        for ranks in sorted({row["ranks"] for row in some if row["platform"] == name}):
            by_size = {row["bytes"]: row for row in some if (row["platform"], row["ranks"]) == (name, ranks)}
            cells = [
                f"{_ratio(by_size[size]):.2f} / {_ratio(by_size[size], 'mpi_us'):.2f}" if size in by_size else ""
                for size in sizes
            ]
            lines.append([name, str(ranks), *cells])
    yield from markdown(["platform", "P", *map(bytes_text, sizes)], lines)
    below = [row for row in some if min(_ratio(row), _ratio(row, "mpi_us")) < 1]
    yield ""
    yield f"Below the bound: {len(below)} of {len(some)} cells."


def _work(rows: Sequence[Row]) -> Iterator[str]:
    columns = ("platform", "P", "block", "over the bound", "bound", "by", "copies", "best spec known")
    yield from markdown(columns, _work_lines(rows))


def _work_lines(rows: Sequence[Row]) -> Iterator[list[str]]:
    for name in platforms(rows):
        far = [row for row in _of(rows, name, ESTIMATED) if _ratio(row) >= FAR]
        for row in sorted(far, key=_ratio, reverse=True):
            where = [name, f"{row['ranks']:,}", bytes_text(row["bytes"])]
            numbers = [f"{_ratio(row):.2f} ({_ratio(row, 'mpi_us'):.2f})", duration(1e-6 * row["bound_us"])]
            share = row["copies_us"] / row["best_us"]
            yield [*where, *numbers, row["binding"], f"{share:.0%}", f"`{row['best']}`"]
