"""The page docs/validation.md, made of the rows that `swapmeet validate` has written."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from swapmeet import machines
from swapmeet.bench.cells import bytes_text
from swapmeet.plots.style import digits, duration
from swapmeet.validation import algorithms, store
from swapmeet.validation.judging import (
    LEAST_NEAR,
    LEAST_SHARE,
    MOST_ERROR,
    MOST_LOSS,
    MOST_MEDIAN_LOSS,
    NEAR_FACTOR,
)
from swapmeet.validation.predicting import ESTIMATE, MODEL, SIMULATION
from swapmeet.validation.store import Row

TITLES = {"mare_nostrum": "MareNostrum 5", "fugaku": "Fugaku"}
WAYS = {MODEL: "`swapmeet model` (max-rate)", ESTIMATE: "`--estimate`", SIMULATION: "`swapmeet simulate`"}
TEXTS = Path(__file__).parent / "texts"


def whole(folder: Path, pictures: str) -> Iterator[str]:
    """All of it; `pictures` is the folder as seen from the page."""
    rows = store.read(folder)
    yield _text("introduction")
    yield "\n".join(_targets(rows[store.CELLS]))
    yield _text("honesty")
    yield "\n".join(_refits(rows[store.REFITS]))
    yield "## Errors"
    for system in _values(rows[store.CELLS], "system"):
        some = [row for row in rows[store.CELLS] if row["system"] == system]
        yield f"### {TITLES.get(system, system)}"
        yield "\n".join(_errors(some))
        for nodes in _values(some, "nodes"):
            yield "\n".join(_ratios([row for row in some if row["nodes"] == nodes and row["by"] == ESTIMATE], nodes))
        yield f"![{TITLES.get(system, system)}: predicted over measured]({pictures}/{picture_name(system)})"
    yield "## From 8 nodes to 512"
    yield _text("scale")
    yield "\n".join(_errors(rows[store.SCALE]))
    yield "\n".join(_ratios([row for row in rows[store.SCALE] if row["by"] == ESTIMATE], "8x8x8"))
    yield f"![From 8 nodes of Fugaku to 512]({pictures}/{picture_name('scale')})"
    yield "## What choices lose there"
    yield _text("choices")
    yield "\n".join(_choices(rows[store.CHOICES]))
    yield "## The best of the family there"
    yield _text("best")
    yield "\n".join(_best(rows[store.BEST]))
    yield "### Orders on the torus"
    yield _text("orders")
    yield "\n".join(_orders([row for row in rows[store.ORDERS] if row["ranks"] > 8]))
    yield _text("claims")
    yield "\n".join(_claims(rows[store.CLAIMS]))
    yield _text("terms")
    yield "\n".join(_numbers(rows[store.CELLS]))
    yield _text("data")
    yield "\n".join(_names())


def picture_name(what: str) -> str:
    """Of the picture of a system, or of the step of scale."""
    return f"{what.replace('_', '-')}.png"


def _text(name: str) -> str:
    return (TEXTS / f"{name}.md").read_text(encoding="utf-8").strip()


def _values(rows: Sequence[Row], key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


def _held(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if not row["fitted"]]


def _off(rows: Sequence[Row]) -> tuple[float, float]:
    """The median error, and the share within the factor."""
    ratios = [row["us"] / row["measured_us"] for row in rows]
    near = sum(1 / NEAR_FACTOR <= ratio <= NEAR_FACTOR for ratio in ratios) / len(ratios)
    return statistics.median(abs(ratio - 1) for ratio in ratios), near


def _losses(rows: Sequence[Row]) -> list[float]:
    """What the spec that is predicted to be the fastest loses in each cell; the slower of two names for one spec."""
    found = []
    for cell in dict.fromkeys((row["nodes"], row["bytes"]) for row in rows):
        some = [row for row in rows if (row["nodes"], row["bytes"]) == cell]
        chosen = min(some, key=lambda row: row["us"])["spec"]
        takes = max(row["measured_us"] for row in some if row["spec"] == chosen)
        found.append(takes / min(row["measured_us"] for row in some) - 1)
    return sorted(found)


def _verdict(met: bool) -> str:
    return "met" if met else "**missed**"


def _targets(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        f"| | cells not fitted | median error, {MOST_ERROR:.0%} at most | within a factor of {NEAR_FACTOR}, "
        f"{LEAST_NEAR:.0%} at least | its choice loses, median, {MOST_MEDIAN_LOSS:.0%} at most | cells in which it "
        f"loses {MOST_LOSS:.0%} at most, {LEAST_SHARE:.0%} at least |"
    )
    yield "|---|---|---|---|---|---|"
    for by in (ESTIMATE, MODEL):
        for system in _values(rows, "system"):
            some = [row for row in rows if (row["by"], row["system"]) == (by, system)]
            median, near = _off(_held(some))
            losses = _losses(some)
            middle, share = statistics.median(losses), sum(loss <= MOST_LOSS for loss in losses) / len(losses)
            cells = [
                f"{TITLES.get(system, system)}, {WAYS[by]}",
                f"{len(_held(some))} of {len(some)}",
                f"{median:.1%}: {_verdict(median <= MOST_ERROR)}",
                f"{near:.0%}: {_verdict(near >= LEAST_NEAR)}",
                f"{middle:.1%}: {_verdict(middle <= MOST_MEDIAN_LOSS)}",
                f"{share:.0%} of {len(losses)}: {_verdict(share >= LEAST_SHARE)}",
            ]
            yield f"| {' | '.join(cells)} |"


def _refits(rows: Sequence[Row]) -> Iterator[str]:
    """How much depends on which cells were fitted."""
    yield "| | random choices | median error: least, median, most | within the factor: least, median, most |"
    yield "|---|---|---|---|"
    for system in _values(rows, "system"):
        some = [row for row in rows if row["system"] == system]
        cells = [f"{TITLES.get(system, system)}, {WAYS[ESTIMATE]}", str(len(some))]
        for key in ("median", "near"):
            found = sorted(row[key] for row in some)
            cells.append(f"{found[0]:.0%}, {statistics.median(found):.0%}, {found[-1]:.0%}")
        yield f"| {' | '.join(cells)} |"


def _errors(rows: Sequence[Row]) -> Iterator[str]:
    """By algorithm, of cells that were not fitted."""
    ways = [by for by in WAYS if any(row["by"] == by for row in rows)]
    yield f"| algorithm | nodes | {' | '.join(f'{WAYS[by]}: cells, median error, least and most' for by in ways)} |"
    yield f"|---|---|{'---|' * len(ways)}"
    for nodes in _values(rows, "nodes"):
        there = [row for row in rows if row["nodes"] == nodes]
        for name in (*_values(there, "algorithm"), ""):
            cells = []
            for by in ways:
                some = [row for row in _held(there) if row["by"] == by and name in ("", row["algorithm"])]
                cells.append(_told(some))
            yield f"| {f'`{name}`' if name else '**all**'} | {nodes} | {' | '.join(cells)} |"


def _told(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    ratios = [row["us"] / row["measured_us"] for row in rows]
    return f"{len(rows)}: {_off(rows)[0]:.0%}, x {min(ratios):.2f} to {max(ratios):.2f}"


def _ratios(rows: Sequence[Row], nodes: str) -> Iterator[str]:
    """Predicted over measured in each cell."""
    sizes = sorted({row["bytes"] for row in rows})
    yield f"Estimated over measured time on {nodes} nodes (in brackets: fitted):\n"
    yield f"| algorithm | {' | '.join(bytes_text(size) for size in sizes)} |"
    yield f"|---|{'---|' * len(sizes)}"
    for name in _values(rows, "algorithm"):
        found = {row["bytes"]: row for row in rows if row["algorithm"] == name}
        cells = [_ratio(found[size]) if size in found else "" for size in sizes]
        yield f"| `{name}` | {' | '.join(cells)} |"


def _ratio(row: Row) -> str:
    text = f"{row['us'] / row['measured_us']:.2f}"
    return f"({text})" if row["fitted"] else text


def _choices(rows: Sequence[Row]) -> Iterator[str]:
    yield "| choice | where | cells | median | mean | worst: where |"
    yield "|---|---|---|---|---|---|"
    for name in _values(rows, "choice"):
        for system in _values(rows, "system"):
            some = [row for row in rows if (row["choice"], row["system"]) == (name, system)]
            if not some:
                continue
            regrets = [row["regret"] for row in some]
            worst = max(some, key=lambda row: row["regret"])
            where = f"{worst['nodes']} nodes, {bytes_text(worst['bytes'])}"
            yield (
                f"| {name} | {TITLES.get(system, system)} | {len(some)} | {statistics.median(regrets):.0%} | "
                f"{statistics.fmean(regrets):.0%} | {max(regrets):.0%}: {where} |"
            )


def _best(rows: Sequence[Row]) -> Iterator[str]:
    columns = ("where", "block", "best spec, by the estimate", "expected, and what 90 % are within")
    yield f"| {' | '.join((*columns, 'the MPI chooses', 'fastest measured'))} |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        cells = [
            f"{TITLES.get(row['system'], row['system'])}, {row['nodes']}",
            bytes_text(row["bytes"]),
            f"`{row['spec']}`",
            f"{_us(row['us'])} ({_us(row['low_us'])} to {_us(row['high_us'])})",
            "" if row["default_us"] is None else _us(row["default_us"]),
            f"{_us(row['fastest_us'])}: `{row['fastest']}`",
        ]
        yield f"| {' | '.join(cells)} |"


def _orders(rows: Sequence[Row]) -> Iterator[str]:
    names = list(dict.fromkeys(name for row in rows for name in row["us"]))
    yield f"| block | links allow | the vendor's best, measured | {' | '.join(names)} |"
    yield f"|---|---|---|{'---|' * len(names)}"
    for row in rows:
        times = [_over(row["us"].get(name), row["bound_us"]) for name in names]
        vendor = f"{_over(row['vendor_us'], row['bound_us'])}: `{row['vendor']}`"
        yield f"| {bytes_text(row['bytes'])} | {_us(row['bound_us'])} | {vendor} | {' | '.join(times)} |"


def _claims(rows: Sequence[Row]) -> Iterator[str]:
    """Those whose verdict changes."""
    names = list(rows[0]["again"])
    yield f"| figure | claim | verdict | {' | '.join(f'with {name}' for name in names)} |"
    yield f"|---|---|---|{'---|' * len(names)}"
    for row in rows:
        if set(row["again"].values()) != {row["verdict"]}:
            again = [
                f"**{row['again'][name]}**" if row["again"][name] != row["verdict"] else row["verdict"]
                for name in names
            ]
            yield f"| {row['figure']} | {row['claim']} | {row['verdict']} | {' | '.join(again)} |"
    same = sum(set(row["again"].values()) == {row["verdict"]} for row in rows)
    yield f"\nThe verdicts of the other {same} claims of figures that the model prices stay."


def _over(us: float | None, bound_us: float) -> str:
    return "" if us is None else f"{_us(us)} ({digits(us / bound_us)})"


def _us(us: float) -> str:
    return duration(1e-6 * us)


def _numbers(rows: Sequence[Row]) -> Iterator[str]:
    """What was fitted, and to what."""
    found: dict[str, machines.Machine] = {}
    for name in machines.names():
        machine = machines.load(name)
        if machine.system in _values(rows, "system"):
            found[machine.name] = machine
    yield f"| number | {' | '.join(f'`{name}`' for name in found)} |"
    yield f"|---|{'---|' * len(found)}"
    places = [
        place
        for machine in found.values()
        for place in machine.numbers
        if place != "ranks_per_node" and not place.startswith(("within", "shared"))
    ]
    for place in dict.fromkeys(places):
        cells = [_number(machine.numbers, place) for machine in found.values()]
        yield f"| `{place}` | {' | '.join(cells)} |"


def _number(numbers: Mapping[str, machines.Number], place: str) -> str:
    number = numbers.get(place)
    if number is None:
        return ""
    kind = "**fitted**" if number.source.startswith("fitted") else number.source.partition(":")[0].partition(",")[0]
    texts = [f"{value:,.0f}" if value >= 1e5 else f"{value:g}" for value in (number.value, number.low, number.high)]
    return f"{texts[0]} ({texts[1]} to {texts[2]}), {kind}"


def _names() -> Iterator[str]:
    yield "| name | our spec | meaning |"
    yield "|---|---|---|"
    for name, known in algorithms.NAMES.items():
        yield f"| `{name}` | {f'`{known.spec}`' if known.spec else ''} | {known.meaning} |"
