"""Tables of the documentation that are computed: by simulations, estimates and searches, not by timing anything.

    python benchmarks/computed.py run [NAME]...     the commands of these tables, or of all, for an hour
    python benchmarks/computed.py page              write the tables into the pages

docs/measurements/computed.jsonl has a line with commit, machine and day for each table, then one for each command, with
its words and what it printed by --json. Other tables are made of committed results files. Simulations need SimGrid.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swapmeet import machines
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.machine import header, measured_on
from swapmeet.output import json_line
from swapmeet.quantiles import quantile
from swapmeet.structs import read_lines
from swapmeet.tables import between, markdown
from swapmeet.units import bytes_text

DOCS = Path(__file__).parents[1] / "docs"
FILE = DOCS / "measurements" / "computed.jsonl"
END = "<!-- end -->\n"
Answer = dict[str, Any]  #: `words` of a command, and `answer`, what it printed


@dataclass(frozen=True)
class Table:
    """A table of a page, and the commands, or the results file, that have what is in it."""

    name: str
    page: str
    commands: Sequence[str]  #: of swapmeet, or a program; RESULTS and SLOTS are files for the time of the table
    kept: str  #: of what a command prints; "": what the command is for
    lines: Callable[[Sequence[Answer]], Iterable[str]]
    file: str = ""  #: of docs, whose lines are the answers: then there are no commands

    @property
    def begin(self) -> str:
        """The mark that the table stands behind."""
        return f"<!-- made by `python benchmarks/computed.py page`, {self.name}: begin -->\n"


def scoreboard(answers: Sequence[Answer]) -> Iterator[str]:
    """`auto` over the best of four MPIs' choices: a row for each machine."""
    cells = [cell for answer in answers for cell in answer["answer"]]
    sizes = sorted({int(cell["sizes"]) for cell in cells})
    rows, all_cells = [], []
    for machine in dict.fromkeys(cell["mpi"].split()[0] for cell in cells):
        speedups = {int(cell["sizes"]): cell["speedup"] for cell in cells if cell["mpi"].split()[0] == machine}
        numbers = [speedups[size] for size in sizes]
        all_cells += numbers
        rows.append([f"`{machine}`", *(f"{number:.2f}" for number in (*numbers, statistics.geometric_mean(numbers)))])
    yield from markdown(["machine", *map(bytes_text, sizes), "geometric mean"], rows)
    yield ""
    yield f"{statistics.geometric_mean(all_cells):.2f} over all."


def theta(answers: Sequence[Answer]) -> Iterator[str]:
    """Times of the paper `tra`, beside those simulated and estimated."""
    rows = []
    for name, paper in (("tra(r=2)", 16.17), ("tra(r=46)", 7.699)):
        (row,) = (row for answer in answers for row in answer["answer"] if row["spec"] == name)
        times = [1e3 * row["simulated_seconds"], 1e3 * row["estimated_seconds"]]
        rows.append(
            [f"`{name}`", f"{paper:.4g} ms", *(w for t in times for w in (f"{t:.4g} ms", f"{t / paper - 1:+.1%}"))]
        )
    yield from markdown(["", "paper", "simulated", "", "estimated", ""], rows)


ERRORS = (
    ("all", lambda row: True),
    *(
        (f"on `{name}`", lambda row, name=name: row["mpi"].split()[0] == name)
        for name in ("cluster", "cscs-slimfly", "fat-tree", "polaris", "theta")
    ),
    ("`tra`, in one and two layers, and grids", lambda row: row["spec"].startswith(("tra", "two-layer", "grid"))),
    ("direct exchanges", lambda row: row["spec"].startswith(("direct", "pairwise", "random"))),
    ("leaders of nodes", lambda row: row["spec"].startswith("node-leaders")),
    ("blocks of 8 B", lambda row: int(row["sizes"]) == 8),
    ("larger blocks", lambda row: int(row["sizes"]) > 8),
)


def errors(answers: Sequence[Answer]) -> Iterator[str]:
    """How far estimates are off what was simulated."""
    found = [row for answer in answers for row in answer["answer"] or ()]
    rows = []
    for what, holds in ERRORS:
        some = [row for row in found if holds(row)]
        percents = [row["error_percent"] for row in some]
        worst = max(some, key=lambda row: abs(row["error_percent"]))
        where = f"`{worst['spec']}`, {worst['mpi'].split()[0]}, P = {worst['ranks']}, {bytes_text(int(worst['sizes']))}"
        middle = f"{statistics.median(map(abs, percents)):.1f} %"
        rows.append([what, str(len(some)), middle, f"{worst['error_percent']:+.1f} %", where])
    yield from markdown(["", "cells", "median error", "worst", "where"], rows)


def network_of(answer: Answer) -> str:
    """The network that a command names, and where its ranks are."""
    words = answer["words"]
    options = " ".join(words[2 : words.index("--compare")])
    return f"`{words[1]}`{f', `{options}`' if options else ''}"


def tori(answers: Sequence[Answer]) -> Iterator[str]:
    """Orders of rings alone."""
    rows = []
    for answer in answers:
        dims = answer["words"][1].removeprefix("torus(dims=").partition(",")[0]
        rows.append([dims, str(answer["answer"]["bound"]), str(answer["answer"]["slots"])])
    yield from markdown(["torus", "bound", "slots of rings alone (`--moves 0`)"], rows)


def orders(answers: Sequence[Answer]) -> Iterator[str]:
    """Slots of orders, and the bound."""
    names = ("shift", "xor", "random", "conflict-free")
    rows = []
    for answer in answers:
        slots = {row["order"]: row for row in answer["answer"]}
        numbers = [str(slots[name]["slots"]) if name in slots else "" for name in names]
        best = slots["conflict-free"]
        rows.append([network_of(answer), str(best["bound"]), *numbers, f"{best['ratio']:.3f}"])
    yield from markdown(["network", "bound", *names, "ratio"], rows)


def unequal(answers: Sequence[Answer]) -> Iterator[str]:
    """Bytes in turn over the bound."""
    names = list(dict.fromkeys(row["order"] for row in answers[0]["answer"]))
    rows = []
    for answer in answers:
        ratios = {row["order"]: f"{row['ratio']:.2f}" for row in answer["answer"]}
        sizes = answer["words"][answer["words"].index("--workload") + 1]
        rows.append([f"`{sizes}`", *(ratios.get(name, "") for name in names)])
    yield from markdown(["sizes", *names], rows)


def link_byte_ns(name: str) -> float:
    """What a byte takes on a link between switches."""
    network = machines.load(name).network
    assert network
    return network.link_byte_ns


def slimfly(answers: Sequence[Answer]) -> Iterator[str]:
    """Times over the bound on the busiest link."""
    bound_blocks = answers[0]["answer"]["bound"]
    times: dict[str, dict[int, str]] = {}
    for answer in answers[1:]:
        for cell in answer["answer"]:
            size = int(cell["sizes"])
            for one in (one for one in cell["specs"] if one["spec"] != "native"):
                over = 1e9 * one["seconds"]["value"] / (bound_blocks * size * link_byte_ns("cscs-slimfly"))
                times.setdefault(named(one["spec"]), {})[size] = f"{over:.2f}"
    sizes = sorted({size for by in times.values() for size in by})
    rows = [[f"`{spec}`", *(by.get(size, "") for size in sizes)] for spec, by in times.items()]
    yield from markdown(["", *map(bytes_text, sizes)], rows)


def named(spec: str) -> str:
    """As users write it: not the place of a table for the time of a run."""
    return re.sub(r"topology\([^)]*\)", "topology(TABLE)", spec)


def drift(answers: Sequence[Answer]) -> Iterator[str]:
    """Times over the bound: a row for each way to exchange, a column for each kind of lateness."""
    bound_us = 1e-3 * answers[0]["answer"]["bound"] * DRIFT_BYTES * link_byte_ns("cscs-slimfly")
    times: dict[tuple[str, ...], dict[tuple[str, ...], str]] = {}
    for answer in answers[1:]:
        *_, step, window, barrier, start, message = answer["words"]
        times.setdefault((step, window, barrier), {})[start, message] = f"{answer['answer'] / bound_us:.2f}"
    late = list(LATE)
    yield from markdown(["", *LATE.values()], ([WAYS[way], *(by[one] for one in late)] for way, by in times.items()))


def regret(answers: Sequence[Answer]) -> Iterator[str]:
    """What choices lose: a row for each."""
    (answer,) = answers
    rows = answer["answer"]
    mpis, choices = dict.fromkeys(row["mpi"] for row in rows), dict.fromkeys(row["choice"] for row in rows)
    lines = []
    for choice in choices:
        line = [choice]
        for mpi in mpis:
            some = [row["regret"] for row in rows if (row["mpi"], row["choice"]) == (mpi, choice)]
            near = sum(loss <= 0.05 for loss in some) / len(some)
            line += [
                f"{statistics.mean(some):.1%}",
                f"{statistics.median(some):.1%}",
                f"{max(some):.1%}",
                f"{near:.0%}",
            ]
        lines.append(line)
    heads = [
        f"{mpi}: mean" if name == "mean" else name for mpi in mpis for name in ("mean", "median", "worst", "within 5 %")
    ]
    yield from markdown(["choice", *heads], lines)


def fit(answers: Sequence[Answer]) -> Iterator[str]:
    """What rules lose between measurements."""
    rows = [
        [
            f"{row['not_measured']}, by {'the nearest' if row['by'] == 'nearest' else 'a fit'}",
            str(row["cells"]),
            f"{row['mean']:.2%}",
            f"{row['median']:.1%} / {row['ninety']:.1%} / {row['ninety_nine']:.1%}",
            f"{row['near']:.0%}",
        ]
        for answer in answers
        for row in answer["answer"]
    ]
    yield from markdown(["not measured", "cells", "mean", "median / 90 % / 99 %", "within 5 %"], rows)


def rules(answers: Sequence[Answer]) -> Iterator[str]:
    """What rules for the radix lose by each model: cells in which they offer a good one, and their regret."""
    models = [answer["words"][-1] for answer in answers]
    rows = []
    for rule, radices in RULES.items():
        losses = [[cell["regret"][rule] for cell in answer["answer"]] for answer in answers]
        rows.append([rule, radices, *(f"{within(some):.1%}; {lost(some)}" for some in losses)])
    yield from markdown(["radices offered", "how many", *(f"`{model}`" for model in models)], rows)


def within(losses: Sequence[float]) -> float:
    """The share of cells that lose at most 5 %."""
    return sum(loss <= 0.05 for loss in losses) / len(losses)


def lost(losses: Sequence[float]) -> str:
    """The median and the 99th percentile."""
    return " / ".join(f"{quantile(losses, share):.1%}" for share in (0.5, 0.99))


def times_of(lines: Sequence[Answer]) -> dict[tuple[str, int, int], dict[str, float]]:
    """Seconds of each spec by machine, ranks and bytes of a block, of a results file of estimates or simulations."""
    found: dict[tuple[str, int, int], dict[str, float]] = {}
    for line in lines:
        if line["type"] == "samples":
            cell = line["cell"]
            times = found.setdefault((cell["mpi"].split()[0], cell["ranks"], int(cell["sizes"])), {})
            times[line["spec"]] = min(line["longest"])
    return found


def groups(lines: Sequence[Answer]) -> Iterator[str]:
    """Orders over the bound, by the gain of groups over shift."""
    bounds = {
        (one["platform"], one["ranks"], one["bytes"]): one["bound_us"] * 1e-6
        for one in read_lines(DOCS / "limits" / "cells.jsonl")
        if one["how"] == "estimate"
    }
    rows = []
    for place, times in times_of(lines).items():
        over = [times[spec] / bounds[place] for spec in GROUPED]
        if place[2] == GROUPED_BYTES:
            rows.append((over[0] / over[2], [f"`{place[0]}`", str(place[1]), *(f"{one:.2f}" for one in over)]))
    rows.sort(key=lambda row: -row[0])
    yield from markdown(["machine", "P", *GROUPED.values()], [row for _, row in rows])


def rotated(lines: Sequence[Answer]) -> Iterator[str]:
    """Speed-ups over the best of four MPIs' choices: a column for each machine."""
    cells = times_of(lines)
    best = {
        place: min(time for spec, time in times.items() if spec.startswith("native:")) for place, times in cells.items()
    }
    rows = [
        [name, *(f"{best[place] / times[ROTATED + end]:.2f}" for place, times in cells.items())]
        for name, end in (("ordered paths", ")"), ("rotated paths", ",paths=rotated)"))
    ]
    yield from markdown([f"`{ROTATED},...)`", *(f"`{machine}`" for machine, *_ in cells)], rows)


ROTATED = "two-layer(intra=shm,r1=all,r2=all"
GROUPED_BYTES = 32768
#: Specs of docs/limits/orders.jsonl, and what they are called.
GROUPED = {
    "direct(window=8,complete=any)": "shift",
    "direct(order=random,window=8,complete=any)": "random",
    "direct(order=groups:nodes,window=8,complete=any)": "groups:nodes",
    "direct(window=all)": "all in flight",
}
#: Rules of `swapmeet model --regret`, and how many radices they offer.
RULES = {"candidates": "6 to 12", "√P": "1", "2, P": "2", "2, √P, P": "3"}
DRIFT_BYTES = 65536
#: How benchmarks/drift.c exchanges: STEP, WINDOW and BARRIER, and what that is called.
WAYS = {
    ("any", "8", "0"): "a queue of 8 (`window=8,complete=any`)",
    ("any", "2", "0"): "a queue of 2",
    ("all", "8", "0"): "batches of 8 slots (`window=8,complete=all`)",
    ("all", "1", "0"): "slot by slot (`window=1,complete=all`)",
    ("all", "1", "1"): "slot by slot, a barrier after each",
    ("all", "8", "32"): "batches of 8, a barrier after every 32 slots",
    ("any", "112", "0"): "all messages at once",
}
#: By how much ranks and messages are late, in µs.
LATE = {("0", "0"): "all begin at once", ("200", "0"): "up to 200 µs late", ("0", "10"): "messages up to 10 µs late"}
FLY = "--network 'slim-fly(q=3,hosts=4)'"
SLOTS = "topology 'slim-fly(q=3,hosts=4)' --moves 1000000 --budget 10m --slots SLOTS"
MACHINES = ("cluster", "cscs-slimfly", "fat-tree", "polaris", "theta")
TORI = ("2x2x2", "4x4x4", "6x6x6", "8x8", "8x8x8", "8x8x16", "12x4", "12x12")
NETWORKS = (
    "'slim-fly(q=5,hosts=4)'",
    "'slim-fly(q=5,hosts=4)' --place block:10",
    "'slim-fly(q=5,hosts=4)' --place random:1:1 -P 64",
    "'slim-fly(q=5,hosts=4)' --place random:1:1 -P 128",
    "'slim-fly(q=7,hosts=5)'",
    "'slim-fly(q=16,hosts=4)'",
    "'slim-fly(q=11,hosts=8)'",
    "'dragonfly(a=4,p=2,h=2,g=8)'",
    "'dragonfly(a=8,p=4,h=4)'",
    "'fat-tree(leaves=16,hosts=16,spines=8)'",
)
#: What is simulated to compare estimates with.
CELLS = (
    "--machine cluster -n 64 -S 8,2KiB 'tra(r=2)' 'tra(r=12)' 'two-layer(r1=6,r2=all)'",
    "--machine cluster -n 64 -S 8 'node-leaders(per-node=4,intra=mpi)'",
    "--machine cluster -n 64 -S 8,64KiB pairwise 'direct(window=8)' 'direct(order=random,window=4,complete=any)'",
    "--machine cscs-slimfly -n 64 -Q 1 -S 8,16KiB 'tra(r=10)' pairwise random-sendrecv 'direct(window=4,complete=any)' "
    "'direct(order=random,window=1)' 'direct(order=scatter,window=1)'",
    "--machine fat-tree -n 96 -S 8,4KiB 'tra(r=14)' 'two-layer(r1=7,r2=all)' grid 'direct(window=8)'",
    "--machine fat-tree -n 96 -S 8 random-scatter",
    "--machine polaris -n 64 -S 8,2KiB 'tra(r=16)'",
    "--machine theta -n 128 -S 8,2KiB 'tra(r=2)' 'tra(r=23)'",
    "--machine theta -n 64 -Q 16 -S 8,16KiB 'direct(window=8)' 'direct(order=xor,window=2)'",
)
TABLES = (
    Table(
        "scoreboard",
        "simulation.md",
        [f"simulate --scoreboard --machine {name} -n 64 -Q 8 -S 8,64,512,4KiB,32KiB -o RESULTS" for name in MACHINES],
        "scoreboard",
        scoreboard,
    ),
    Table(
        "theta",
        "simulation.md",
        ["simulate --machine theta -n 2048 -S 128 'tra(r=2)' 'tra(r=46)' -o RESULTS", "simulate --against RESULTS"],
        "rows",
        theta,
    ),
    Table(
        "errors",
        "estimates.md",
        [line for cell in CELLS for line in (f"simulate {cell} -o RESULTS", "simulate --against RESULTS")],
        "rows",
        errors,
    ),
    Table(
        "slimfly",
        "networks.md",
        [
            SLOTS,
            f"simulate --machine cscs-slimfly {FLY} -n 72 -Q 1 -S 1KiB,4KiB,16KiB,64KiB "
            "'direct(order=topology(SLOTS))' random-sendrecv native:mpich native:impi native:mvapich2 -o RESULTS",
        ],
        "",
        slimfly,
    ),
    Table(
        "drift",
        "networks.md",
        [
            SLOTS,
            *(
                f"simulate --machine cscs-slimfly {FLY} -n 72 -Q 1 native -- benchmarks/drift.c SLOTS {DRIFT_BYTES} "
                + " ".join((*way, *late))
                for way in WAYS
                for late in LATE
            ),
        ],
        "",
        drift,
    ),
    Table("groups", "networks.md", (), "", groups, "limits/orders.jsonl"),
    Table("rotated", "simulation.md", (), "", rotated, "limits/rotated.jsonl"),
    Table(
        "rules",
        "models.md",
        [f"model --regret --model {model}" for model in ("max-rate", "hockney", "loggp")],
        "rows",
        rules,
    ),
    Table("regret", "tuning.md", ["regret docs/measurements/node.jsonl"], "rows", regret),
    Table("fit", "tuning.md", ["benchmarks/fit.py"], "rows", fit),
    Table(
        "tori",
        "networks.md",
        [f"topology 'torus(dims={dims},ordered=1)' --moves 0 --compare" for dims in TORI],
        "conflict_free",
        tori,
    ),
    Table(
        "orders",
        "networks.md",
        [f"topology {one} --compare --moves 1000000 --budget 1h" for one in NETWORKS],
        "rows",
        orders,
    ),
    Table(
        "unequal",
        "networks.md",
        [
            f"topology 'slim-fly(q=5,hosts=4)' --workload {sizes} --compare --moves 100000 --budget 1h"
            for sizes in ("uniform:max=64KiB", "sparse:density=0.3,bytes=64KiB")
        ],
        "rows",
        unequal,
    ),
)


def run(table: Table) -> Iterator[dict[str, Any]]:
    """A line on the machine, and one for each command that has something to keep."""
    yield {"table": table.name, "made": header({})}
    with tempfile.TemporaryDirectory() as folder:
        for number, command in enumerate(table.commands):
            print(command, file=sys.stderr, flush=True)
            results = number - 1 if "--against" in command else number
            places = {"RESULTS": f"{folder}/{results}.jsonl", "SLOTS": f"{folder}/slots"}
            answer = answered([places.get(word, word) for word in shlex.split(command)], table.kept, folder)
            if answer:
                yield {"table": table.name, "words": shlex.split(command), "answer": answer}


def answered(words: list[str], kept: str, folder: str) -> Any:
    """What is kept of what a command prints: what the table asks for, or what the command is for."""
    program = [sys.executable] if words[0].endswith(".py") else [sys.executable, "-m", "swapmeet", "--quiet"]
    words = [word.replace("topology(SLOTS)", f"topology({folder}/slots)") for word in words]
    form = [] if words[0].endswith(".py") else ["--json"]
    split = words.index("--") if "--" in words else len(words)
    whole = [*program, *words[:split], *form, *words[split:]]
    done = subprocess.run(whole, capture_output=True, text=True, cwd=DOCS.parent)
    if done.returncode:
        raise SwapmeetError(f"{shlex.join(whole)} ended with status {done.returncode}: {done.stderr}")
    if split < len(words):  # a program, which prints its time
        (microseconds,) = re.findall(r"^([\d.]+) us$", done.stderr, re.MULTILINE)
        return float(microseconds)
    found = json.loads(done.stdout)
    return found.get(kept or {"topology": "conflict_free", "simulate": "cells"}[words[0]])


def read() -> dict[str, list[dict[str, Any]]]:
    """The lines of each table, one on the machine first."""
    found = {table.name: list(read_lines(DOCS / table.file)) for table in TABLES if table.file}
    for line in read_lines(FILE) if FILE.exists() else ():
        found.setdefault(line["table"], []).append(line)
    return found


def pages() -> Iterator[tuple[Path, str]]:
    """Each page that has tables, with those of computed.jsonl."""
    found = read()
    for name in dict.fromkeys(table.page for table in TABLES):
        text = (DOCS / name).read_text()
        for table in (one for one in TABLES if one.page == name):
            made, *answers = found[table.name]
            where = f"[Data]({table.file})" if table.file else f"`python benchmarks/computed.py run {table.name}`"
            where = f"{where}: {measured_on(made.get('made', made))}."
            lines = [*table.lines(answers), "", where]
            text = between(text, table.begin, END, "\n" + "\n".join(lines) + "\n\n")
        yield DOCS / name, text


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="computed", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(table.name for table in TABLES))
    given = parser.parse_args()
    if given.what == "page":
        for path, text in pages():
            path.write_text(text)
        return
    for table in TABLES:
        if table.file or (given.names and table.name not in given.names):
            continue
        lines = list(run(table))
        found = read() | {table.name: lines}
        ordered = [line for one in TABLES if not one.file for line in found.get(one.name, ())]
        FILE.write_text("".join(map(json_line, ordered)))


if __name__ == "__main__":
    main()
