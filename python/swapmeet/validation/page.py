"""The page docs/validation.md, made of the rows that `swapmeet validate` has written."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from swapmeet import machines
from swapmeet.tables import markdown
from swapmeet.units import bytes_text, digits, duration
from swapmeet.validation import algorithms, fitting, measurements, store
from swapmeet.validation.computing import OURS
from swapmeet.validation.judging import LEAST_NEAR, LEAST_SHARE, MOST_ERROR, MOST_LOSS, MOST_MEDIAN_LOSS, NEAR_FACTOR
from swapmeet.validation.predicting import ESTIMATE, MODEL, SIMULATION
from swapmeet.validation.store import Row

TITLES = {"mare_nostrum": "MareNostrum 5", "fugaku": "Fugaku"}
WAYS = {MODEL: "`swapmeet model` (max-rate)", ESTIMATE: "`--estimate`", SIMULATION: "`swapmeet simulate`"}
TEXTS = Path(__file__).parent / "texts"
FITS = Path(__file__).parent / "fits"


def whole(folder: Path, pictures: str) -> Iterator[str]:
    """All of it; `pictures` is the folder as seen from the page."""
    rows = store.read(folder)
    yield _text("introduction")
    yield "\n".join(_targets(rows[store.CELLS], rows[store.REFITS]))
    yield _text("readings")
    yield "\n".join(_readings(rows[store.CELLS], rows[store.CHOICES]))
    yield _text("honesty")
    yield "\n".join(_fits())
    yield _text("refits")
    yield "\n".join(_refits(rows[store.REFITS]))
    yield "## Errors"
    yield "Ratios are predicted over measured time; brackets mark a fitted cell, italics a twin of one."
    for system in _values(rows[store.CELLS], "system"):
        some = [row for row in rows[store.CELLS] if row["system"] == system]
        yield f"### {TITLES.get(system, system)}"
        yield "\n".join(_errors(some))
        for nodes in _values(some, "nodes"):
            for by in WAYS:
                there = [row for row in some if (row["nodes"], row["by"]) == (nodes, by)]
                if there:
                    yield "\n".join(_ratios(there, nodes, by))
        yield f"![{TITLES.get(system, system)}: predicted over measured]({pictures}/{picture_name(system)})"
    yield "## From 8 nodes to 512"
    yield _text("scale")
    yield "\n".join(_errors(rows[store.SCALE]))
    for by in (ESTIMATE, MODEL):
        yield "\n".join(_ratios([row for row in rows[store.SCALE] if row["by"] == by], "8x8x8", by))
    yield f"![From 8 nodes of Fugaku to 512]({pictures}/{picture_name('scale')})"
    yield "## What choices lose there"
    yield _text("choices")
    yield "\n".join(_choices(rows[store.CHOICES]))
    yield "\n".join(_compared(rows[store.CHOICES]))
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
    return [row for row in rows if not row["fitted"] and not row["twin"]]


def _title(system: str) -> str:
    return TITLES.get(system, system)


def _off(rows: Sequence[Row]) -> tuple[float, float]:
    """The median error, and the share within the factor."""
    ratios = [row["us"] / row["measured_us"] for row in rows]
    near = sum(1 / NEAR_FACTOR <= ratio <= NEAR_FACTOR for ratio in ratios) / len(ratios)
    return statistics.median(abs(ratio - 1) for ratio in ratios), near


def _losses(rows: Sequence[Row], unseen: bool = False) -> list[float]:
    """What the spec that is predicted to be the fastest loses in each cell; the slower of two names for one spec.

    Of cells of which nothing was fitted alone, if `unseen`.
    """
    found = []
    for cell in dict.fromkeys((row["nodes"], row["bytes"]) for row in rows):
        some = [row for row in rows if (row["nodes"], row["bytes"]) == cell]
        if unseen and any(row["fitted"] for row in some):
            continue
        chosen = min(some, key=lambda row: row["us"])["spec"]
        takes = max(row["measured_us"] for row in some if row["spec"] == chosen)
        found.append(takes / min(row["measured_us"] for row in some) - 1)
    return sorted(found)


def _verdict(met: bool) -> str:
    return "met" if met else "**missed**"


def _targets(rows: Sequence[Row], refits: Sequence[Row]) -> Iterator[str]:
    """Errors of cells held out, by the cells that were chosen by hand and by others."""
    columns = (
        "",
        "cells held out",
        f"median error, {MOST_ERROR:.0%} at most",
        f"within a factor of {NEAR_FACTOR}, {LEAST_NEAR:.0%} at least",
        "fitted to cells at random: median error",
        "within the factor",
        "both met",
    )
    yield from markdown(columns, _target_lines(rows, refits))


def _target_lines(rows: Sequence[Row], refits: Sequence[Row]) -> Iterator[list[str]]:
    for by in (ESTIMATE, MODEL):
        for system in _values(rows, "system"):
            some = [row for row in rows if (row["by"], row["system"]) == (by, system)]
            held = _held(some)
            median, near = _off(held)
            cells = [
                f"{_title(system)}, {WAYS[by]}",
                f"{len(held)} of {len(some)}",
                f"{median:.1%}: {_verdict(median <= MOST_ERROR)}",
                f"{near:.0%}: {_verdict(near >= LEAST_NEAR)}",
            ]
            again = [row for row in refits if row["system"] == system and by == ESTIMATE]
            if again:
                middle, share = (statistics.median(row[key] for row in again) for key in ("median", "near"))
                both = sum(row["median"] <= MOST_ERROR and row["near"] >= LEAST_NEAR for row in again)
                cells += [f"{middle:.1%}: {_verdict(middle <= MOST_ERROR)}"]
                cells += [f"{share:.0%}: {_verdict(share >= LEAST_NEAR)}", f"{both} of {len(again)} times"]
            else:
                cells += ["", "", ""]
            yield cells


def _readings(rows: Sequence[Row], choices: Sequence[Row]) -> Iterator[str]:
    """What the choice by predictions loses, by three readings of the target."""
    columns = (
        "",
        "of all that can be predicted",
        "of those, in cells of which nothing was fitted",
        "of all that was measured",
    )
    lines = []
    for by in (ESTIMATE, MODEL):
        for system in _values(rows, "system"):
            some = [row for row in rows if (row["by"], row["system"]) == (by, system)]
            ours = [row["regret"] for row in choices if (row["choice"], row["system"]) == (OURS[by], system)]
            readings = [_losses(some), _losses(some, unseen=True), sorted(ours)]
            lines.append([f"{_title(system)}, {WAYS[by]}", *map(_reading, readings)])
    yield from markdown(columns, lines)


def _reading(losses: Sequence[float]) -> str:
    if not losses:
        return "no cell"
    middle, share = statistics.median(losses), sum(loss <= MOST_LOSS for loss in losses) / len(losses)
    return (
        f"{len(losses)} cells: median {middle:.1%}: {_verdict(middle <= MOST_MEDIAN_LOSS)}; {share:.0%} within "
        f"{MOST_LOSS:.0%}: {_verdict(share >= LEAST_SHARE)}; worst {losses[-1]:.0%}"
    )


def _fits() -> Iterator[str]:
    """How many numbers each description has of how many cells."""
    share = f"share of cells, {fitting.MOST_SHARE:.0%} at most"
    columns = ("description", "free numbers", "fitted to", share, "distinct exchanges", "share of those")
    lines = []
    measured = measurements.published()
    for path in sorted(FITS.glob("*.json")):
        fit = fitting.counts(path, measured)
        shares = [fit.cells / fit.of, fit.distinct / fit.of_distinct]
        verdicts = [f"{share:.0%}: {_verdict(share <= fitting.MOST_SHARE)}" for share in shares]
        counts = [f"`{path.stem}`", str(fit.free), f"{fit.cells} cells"]
        of = [f"{verdicts[0]} of {fit.of}", str(fit.distinct), f"{verdicts[1]} of {fit.of_distinct}"]
        lines.append([*counts, *of])
    yield from markdown(columns, lines)


def _refits(rows: Sequence[Row]) -> Iterator[str]:
    """How much depends on which cells were fitted."""
    errors = ("median error: least, median, most", "within the factor: least, median, most")
    lines = []
    for system in _values(rows, "system"):
        some = [row for row in rows if row["system"] == system]
        many = sorted(row["cells"] for row in some)
        cells = [f"{_title(system)}, {WAYS[ESTIMATE]}", str(len(some)), f"{many[0]} to {many[-1]}"]
        for key in ("median", "near"):
            found = sorted(row[key] for row in some)
            cells.append(f"{found[0]:.0%}, {statistics.median(found):.0%}, {found[-1]:.0%}")
        lines.append(cells)
    yield from markdown(("", "random choices", "cells held out", *errors), lines)


def _errors(rows: Sequence[Row]) -> Iterator[str]:
    """By algorithm, of cells that were not fitted."""
    ways = [by for by in WAYS if any(row["by"] == by for row in rows)]
    lines = []
    for nodes in _values(rows, "nodes"):
        there = [row for row in rows if row["nodes"] == nodes]
        for name in (*_values(there, "algorithm"), ""):
            cells = []
            for by in ways:
                some = [row for row in _held(there) if row["by"] == by and name in ("", row["algorithm"])]
                cells.append(_told(some))
            lines.append([f"`{name}`" if name else "**all**", nodes, *cells])
    yield from markdown(
        ["algorithm", "nodes", *(f"{WAYS[by]}: cells, median error, least and most" for by in ways)], lines
    )


def _told(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    ratios = [row["us"] / row["measured_us"] for row in rows]
    return f"{len(rows)}: {_off(rows)[0]:.0%}, x {min(ratios):.2f} to {max(ratios):.2f}"


def _ratios(rows: Sequence[Row], nodes: str, by: str) -> Iterator[str]:
    """Predicted over measured in each cell."""
    sizes = sorted({row["bytes"] for row in rows})
    yield f"{WAYS[by]}, {nodes} nodes:\n"
    lines = []
    for name in _values(rows, "algorithm"):
        found = {row["bytes"]: row for row in rows if row["algorithm"] == name}
        cells = [_ratio(found[size]) if size in found else "" for size in sizes]
        lines.append([f"`{name}`", *cells])
    yield from markdown(["algorithm", *map(bytes_text, sizes)], lines)


def _ratio(row: Row) -> str:
    text = f"{row['us'] / row['measured_us']:.2f}"
    return f"({text})" if row["fitted"] else f"*{text}*" if row["twin"] else text


def _choices(rows: Sequence[Row]) -> Iterator[str]:
    """On the same cells for all choices of a system, and then on all cells of each."""
    columns = ("choice", "where", "same cells", "median", "mean", "by quartiles", "surely", "worst: where")
    lines = []
    common = {system: _common([row for row in rows if row["system"] == system]) for system in _values(rows, "system")}
    for name in _values(rows, "choice"):
        for system in _values(rows, "system"):
            some = [row for row in rows if (row["choice"], row["system"]) == (name, system)]
            same = [row for row in some if _cell_of(row) in common[system]]
            if not some:
                continue
            cells = [name, _title(system), *_lost(same), str(len(some)), _mean(some, "regret")]
            lines.append(cells)
    yield from markdown((*columns, "all its cells", "mean there"), lines)


def _cell_of(row: Row) -> tuple[str, int, int]:
    return row["nodes"], row["ranks"], row["bytes"]


def _common(rows: Sequence[Row]) -> set[tuple[str, int, int]]:
    """The cells in which every choice was judged."""
    by_choice = [{_cell_of(row) for row in rows if row["choice"] == name} for name in _values(rows, "choice")]
    return set.intersection(*by_choice)


def _mean(rows: Sequence[Row], key: str) -> str:
    return f"{statistics.fmean(row[key] for row in rows):.0%}"


def _lost(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return ["0", "", "", "", "", ""]
    worst = max(rows, key=lambda row: row["regret"])
    surely = "" if rows[0].get("surely") is None else f"{sum(bool(row.get('surely')) for row in rows)} of {len(rows)}"
    return [
        str(len(rows)),
        f"{statistics.median(row['regret'] for row in rows):.0%}",
        _mean(rows, "regret"),
        f"{_mean(rows, 'low')} to {_mean(rows, 'high')}",
        surely,
        f"{worst['regret']:.0%}: {worst['nodes']} nodes, {bytes_text(worst['bytes'])}",
    ]


def _compared(rows: Sequence[Row]) -> Iterator[str]:
    """Ours against the MPI's own choice in the same cells, and what cannot be blamed on a choice."""
    for system in _values(rows, "system"):
        common = _common([row for row in rows if row["system"] == system])
        means = {}
        for name in (OURS[ESTIMATE], algorithms.OWN_CHOICE):
            some = [row for row in rows if (row["choice"], row["system"]) == (name, system)]
            same = [row["regret"] for row in some if _cell_of(row) in common]
            if same:
                means[name] = statistics.fmean(same)
        if len(means) < 2:
            continue
        ours, default = means.values()
        lost = [row for row in rows if (row["choice"], row["system"]) == (OURS[ESTIMATE], system) and row["regret"] > 0]
        names = sum(row["one_spec"] for row in lost)
        yield (
            f"- {_title(system)}: in the mean of {len(common)} cells our choice by the estimate loses {ours:.1%}, the "
            f"MPI's own {default:.1%}. In {names} of the {len(lost)} cells in which it loses, it chose the fastest "
            "spec, and the slower of its two names counts."
        )


def _best(rows: Sequence[Row]) -> Iterator[str]:
    columns = (
        "where",
        "block",
        "best spec, by the estimate",
        "expected, and by the errors there",
        "the same, measured",
    )
    lines = []
    for row in rows:
        cells = [
            f"{TITLES.get(row['system'], row['system'])}, {row['nodes']}",
            bytes_text(row["bytes"]),
            f"`{row['spec']}`",
            f"{_us(row['us'])} ({_us(row['low_us'])} to {_us(row['high_us'])})",
            ", ".join(map(_us, row["same_us"])),
            "" if row["default_us"] is None else _us(row["default_us"]),
            f"{_us(row['fastest_us'])}: `{row['fastest']}`",
        ]
        lines.append(cells)
    yield from markdown((*columns, "the MPI chooses", "fastest measured"), lines)


def _orders(rows: Sequence[Row]) -> Iterator[str]:
    names = list(dict.fromkeys(name for row in rows for name in row["us"]))
    lines = []
    for row in rows:
        times = [_over(row["us"].get(name), row["bound_us"]) for name in names]
        vendor = f"{_over(row['vendor_us'], row['bound_us'])}: `{row['vendor']}`"
        lines.append([bytes_text(row["bytes"]), _us(row["bound_us"]), vendor, *times])
    yield from markdown(["block", "links allow", "the vendor's best, measured", *names], lines)


def _claims(rows: Sequence[Row]) -> Iterator[str]:
    """Those whose verdict changes, with what each verdict rests on."""
    names = list(rows[0]["again"])
    lines = []
    for row in rows:
        if set(row["again"].values()) != {row["verdict"]}:
            again = [
                f"**{row['again'][name]}**" if row["again"][name] != row["verdict"] else row["verdict"]
                for name in names
            ]
            told = [
                f"{verdict}: {_by_model(finding)}"
                for verdict, finding in zip([row["verdict"], *again], row["findings"], strict=True)
            ]
            lines.append([row["figure"], row["claim"], *told])
    yield from markdown(["figure", "claim", "verdict", *(f"with {name}" for name in names)], lines)
    same = sum(set(row["again"].values()) == {row["verdict"]} for row in rows)
    yield f"\nThe verdicts of the other {same} claims stay."


def _by_model(finding: str) -> str:
    """The model's results, without the list of cells."""
    said = finding.removeprefix("model: ").partition("; simulation: ")[0]
    return re.sub(r" \((?:not )?in P = [^)]*\)", "", said)


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
    lines = []
    places = [
        place
        for machine in found.values()
        for place in machine.numbers
        if place != "ranks_per_node" and not place.startswith(("within", "shared"))
    ]
    for place in dict.fromkeys(places):
        cells = [_number(machine.numbers, place) for machine in found.values()]
        lines.append([f"`{place}`", *cells])
    yield from markdown(["number", *(f"`{name}`" for name in found)], lines)


def _number(numbers: Mapping[str, machines.Number], place: str) -> str:
    number = numbers.get(place)
    if number is None:
        return ""
    kind = "**fitted**" if number.source.startswith("fitted") else number.source.partition(":")[0].partition(",")[0]
    texts = [f"{value:,.0f}" if value >= 1e5 else f"{value:g}" for value in (number.value, number.low, number.high)]
    return f"{texts[0]} ({texts[1]} to {texts[2]}), {kind}"


def _names() -> Iterator[str]:
    known = algorithms.NAMES.items()
    lines = ([f"`{name}`", f"`{one.spec}`" if one.spec else "", one.meaning] for name, one in known)
    yield from markdown(("name", "our spec", "meaning"), lines)
