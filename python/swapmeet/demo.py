"""`make demo`: a graph application and a benchmark, without and with Swapmeet: answers, times, speed-ups, a picture."""

from __future__ import annotations

import hashlib
import math
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table

from swapmeet.cluster import launching
from swapmeet.cluster.description import Network
from swapmeet.errors import SwapmeetError
from swapmeet.measure import verdict
from swapmeet.mpi import launch, mpis
from swapmeet.mpi.library import library, program
from swapmeet.output import tables_console
from swapmeet.units import bytes_text, short_duration

RANKS = 2
HOSTS, RANKS_PER_HOST = 4, 4  #: of the virtual cluster
LEAST_TURNS, MOST_TURNS = 6, 20  #: the interval of a median of six holds all of them
BUDGET_S = 28.0  #: for the turns of all cases together, once the least have been made
WIDE = 0.05  #: of the median: an interval that reaches further asks for more turns
TIMEOUT_S = 300.0
APPLICATION = "transitive closure of a graph"
GRAPH = {"node": "chain:1000", "cluster": "chain:200"}  #: of examples/closure: as many rounds as vertices
CALLS = 200  #: of each size of the benchmark
FEWER, FEWER_ABOVE = 100, 8192  #: of sizes above, by OSU's defaults
BUSY = 0.5  #: of the cores, by the load of the last minute
SMALL, LARGE = 64, 1 << 20  #: bytes of a block: where the default gains much, and where it gains little
TIMES = re.compile(r"time ([\d.]+) s, in all-to-alls ([\d.]+) s")
LATENCY = re.compile(r"^(\d+) +([\d.]+) ", re.MULTILINE)
PICTURE = Path("build", "demo.png")


@dataclass
class Case:
    """What is compared: a row of the table."""

    name: str
    where: str
    calls: str = ""  #: all-to-alls of rank 0 in a run
    without: list[float] = field(default_factory=list)  #: seconds in all-to-alls, a number for each turn
    with_it: list[float] = field(default_factory=list)
    whole: list[tuple[float, float]] = field(default_factory=list)  #: seconds of the program, without and with
    answers: set[str] = field(default_factory=set)  #: all that were given
    reason: str = ""  #: why it may not be faster: what served most of the time, and why that was chosen

    @property
    def ratios(self) -> list[float]:
        """Speed-ups of the all-to-alls, one for each turn, in ascending order."""
        return sorted(before / after for before, after in zip(self.without, self.with_it, strict=True))

    @property
    def speedup(self) -> tuple[float, float, float]:
        """The median of the turns and the interval that holds it with a chance of 95 % at least."""
        ratios = self.ratios
        low, high = median_interval(ratios)
        return statistics.median(ratios), low, high

    @property
    def settled(self) -> bool:
        """Whether the interval is narrow enough for a verdict."""
        middle, low, high = self.speedup
        return middle * (1 - WIDE) <= low and high <= middle * (1 + WIDE)

    @property
    def same(self) -> bool:
        """Whether all answers were."""
        return len(self.answers) == 1

    def cells(self) -> list[str]:
        """For the table."""
        times = [short_duration(statistics.median(some)) for some in (self.without, self.with_it)]
        speedup = "{:.2f} ({:.2f}-{:.2f})".format(*self.speedup)
        whole = f"{statistics.median(a / b for a, b in self.whole):.2f}" if self.whole else ""
        answers = "identical" if self.same else "DIFFERENT"
        return [self.name, self.where, self.calls, *times, speedup, whole, answers]


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Of ascending values, those between which the median lies with a chance of 95 % at least; of few, all.

    Source: the binomial distribution of how many values lie below the median.
    """
    n, below = len(values), 0
    chance = 2 * 0.5**n
    while below + 1 < n - below - 1:
        chance += 2 * math.comb(n, below + 1) * 0.5**n
        if chance > 0.05:
            break
        below += 1
    return values[below], values[n - 1 - below]


def main() -> int:
    """Run everything; 0 if all answers are the same."""
    target = mpis.default()
    node = Case(APPLICATION, f"{RANKS} ranks, one node")
    cluster = Case(APPLICATION, f"{HOSTS * RANKS_PER_HOST} ranks, {HOSTS} virtual hosts")
    small, large = (
        Case(f"Alltoall timed as by OSU, {bytes_text(size)}", f"{RANKS} ranks, one node") for size in (SMALL, LARGE)
    )
    large.reason = "blocks of this size are bound by copying"
    for name in ("closure", "users", "cluster", "cluster_agent"):  # compiled before the clock runs
        program(target, name)
    library(target)
    cores = len(os.sched_getaffinity(0))
    busy = os.getloadavg()[0] > BUSY * cores
    print("running each program several times without and with Swapmeet, in turns ...", flush=True)
    refused = ""
    with tempfile.TemporaryDirectory(prefix="swapmeet-demo-") as temporary:
        begin = time.monotonic()
        for turn in range(MOST_TURNS):
            for ours in (False, True):
                folder = Path(temporary, f"{turn}-{ours}")
                folder.mkdir()
                _closure(target, node, folder, ours)
                _benchmark(target, (small, large), ours)
                if not refused:
                    refused = _closure_on_cluster(target, cluster, folder, ours)
            cases = [node, *([] if refused else [cluster]), small, large]
            enough = all(case.settled for case in cases) or time.monotonic() - begin > BUDGET_S
            if turn + 1 >= LEAST_TURNS and enough:
                break
    title = f"Time in all-to-alls, without and with Swapmeet preloaded and nothing set: {target.kind} {target.version}"
    table = Table(title=f"{title}, {cores} cores, {turn + 1} turns")
    for column in ("program", "where", "all-to-alls", "without", "with", "speed-up", "whole program", "answers"):
        table.add_column(column)
    for case in cases:
        table.add_row(*case.cells())
    tables_console().print(table)
    print("Medians; a speed-up is taken within a turn. Behind it is the interval of its median (95 %).")
    for line in remarks(cases, refused, busy):
        print(line)
    if picture := draw(cases, title):
        print(f"The picture: {picture}")
    command = os.path.relpath(Path(sys.prefix, "bin", "swapmeet"))
    print("\nFor your own program:")
    print(f"  {command} doctor ./app                  # does it work here, with the MPI of ./app?")
    print(f"  {command} run -n 4 --stats - -- ./app   # serve it, and end with a verdict")
    print(f"  {command} env ./app                     # the lines for a batch script")
    return 0 if all(case.same for case in cases) and node.calls != "none" else 1


def remarks(cases: Sequence[Case], refused: str, busy: bool) -> list[str]:
    """What a reader of the table has to know."""
    said = []
    for case in cases:
        middle, low, _ = case.speedup
        if low < 1:
            how = "is not faster" if middle < verdict.TIE else "is not certainly faster"
            said.append(f"{case.name} ({case.where}) {how}{f': {case.reason}' if case.reason else ''}.")
    if refused:
        said.append(f"No virtual cluster: {refused}")
    if wide := [case for case in cases if not case.settled]:
        said.append(f"The intervals of {len(wide)} rows are wider than {WIDE:.0%}: this machine is not quiet enough.")
    if busy:
        said.append(
            "Other programs run on this machine; an MPI whose ranks poll while they wait suffers most from that."
        )
    return said


def draw(cases: Sequence[Case], title: str) -> Path | None:
    """A bar for each row, with its interval; None without matplotlib, or where no file can be written."""
    try:
        import matplotlib as mpl
    except ImportError:
        return None
    mpl.use("Agg")
    from matplotlib import pyplot

    from swapmeet.draw.plots import style

    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.6 * len(cases)), layout="constrained")
    names = [f"{case.name}\n{case.where}" for case in cases]
    middles, lows, highs = zip(*(case.speedup for case in cases), strict=True)
    below = [middle - low for middle, low in zip(middles, lows, strict=True)]
    above = [high - middle for middle, high in zip(middles, highs, strict=True)]
    colours = [
        style.FASTER if low > 1 else style.SLOWER if high < 1 else style.TIE
        for low, high in zip(lows, highs, strict=True)
    ]
    axes.barh(names, middles, xerr=[below, above], color=colours, capsize=3)
    axes.axvline(1, color=style.NATIVE_COLOUR, linewidth=1)
    axes.invert_yaxis()
    if max(highs) > style.WIDE_SPREAD * min(lows):
        axes.set_xscale("log")
    axes.set_xlabel("speed-up of the all-to-alls over the host MPI without Swapmeet (above 1 is faster)")
    axes.set_title(style.wrapped(title, 80), fontsize="medium")
    style.dress(axes)
    try:
        PICTURE.parent.mkdir(exist_ok=True)
        figure.savefig(PICTURE, dpi=style.DOTS_PER_INCH)
    except OSError:
        return None
    return PICTURE


def _closure(target: mpis.Mpi, case: Case, folder: Path, ours: bool) -> None:
    """One run of the application (examples/closure) on this node."""
    variables, words = _application(target, folder, "node", ours)
    words = launch.command(target, RANKS, words, library(target) if ours else None, variables)
    _take(case, _run(target, RANKS, words), folder, "node", ours)


def _closure_on_cluster(target: mpis.Mpi, case: Case, folder: Path, ours: bool) -> str:
    """The same on a virtual cluster; why there can be none, or ""."""
    ranks = HOSTS * RANKS_PER_HOST
    variables, words = _application(target, folder, "cluster", ours)
    words = launch.command(target, ranks, words, library(target) if ours else None, variables)
    words = launching.command(target, [RANKS_PER_HOST] * HOSTS, Network(), words)
    try:
        output = _run(target, ranks, words, launching.variables(target, ranks))
    except SwapmeetError as problem:
        if case.answers:
            raise
        return str(problem).splitlines()[-1]
    _take(case, output, folder, "cluster", ours)
    return ""


def _application(target: mpis.Mpi, folder: Path, kind: str, ours: bool) -> tuple[dict[str, str], list[str]]:
    """Variables and words of a run. What is remembered between runs, as between a user's, is the demo's own."""
    words = [str(program(target, "closure")), "--check", "0", "--graph", GRAPH[kind], "--output", f"{folder}/{kind}"]
    state = str(folder.parent / "state")
    stats = f"{folder}/{kind}.json"
    return ({**launch.library_variables(stats=stats), "XDG_STATE_HOME": state} if ours else {}), words


def _take(case: Case, output: str, folder: Path, kind: str, ours: bool) -> None:
    found = TIMES.search(output)
    if found is None:
        raise SwapmeetError(f"{case.name} did not print how long its all-to-alls took:\n{output[-2000:]}")
    whole, within = float(found[1]), float(found[2])
    (case.with_it if ours else case.without).append(within)
    if ours:
        case.whole[-1] = (case.whole[-1][0], whole)
        case.calls, case.reason = served(folder / f"{kind}.json")
    else:
        case.whole.append((whole, math.nan))
    case.answers.add(hashlib.sha256((folder / kind).read_bytes()).hexdigest())


def _benchmark(target: mpis.Mpi, cases: Sequence[Case], ours: bool) -> None:
    """One run of our program that times as OSU's osu_alltoall does (benchmarks/users) and checks what was delivered."""
    argv = [str(program(target, "users")), "osu", str(LARGE), str(CALLS), "Alltoall"]
    output = _run(target, RANKS, launch.command(target, RANKS, argv, library(target) if ours else None))
    if ("# Swapmeet: yes" in output) != ours:
        raise SwapmeetError(f"the benchmark ran {'without' if ours else 'with'} Swapmeet: is LD_PRELOAD passed on?")
    times = {int(size): 1e-6 * float(latency) for size, latency in LATENCY.findall(output)}
    for case, size in zip(cases, (SMALL, LARGE), strict=True):
        case.calls = str(FEWER if size > FEWER_ABOVE else CALLS)
        (case.with_it if ours else case.without).append(times[size])
        case.answers.add("right")


def _run(target: mpis.Mpi, ranks: int, words: Sequence[str], env: dict[str, str] | None = None) -> str:
    """What a program prints."""
    try:
        done = launch.run(target, ranks, words, env=env, timeout_s=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise SwapmeetError(
            f"{words[0]} took more than {TIMEOUT_S:.0f} s (two seconds on two idle cores) and was ended: try again "
            "when this machine does less"
        ) from None
    output = (done.stdout + done.stderr).strip()
    if done.returncode != 0:
        raise SwapmeetError(f"{shlex.join(map(str, words))} failed with status {done.returncode}:\n{output[-2000:]}")
    return output


def served(counted: Path) -> tuple[str, str]:
    """What the library counted on rank 0, and why it chose what took most of the time."""
    rows = verdict.read(counted) or []
    calls: dict[str, int] = {}
    for row in rows:
        calls[row.collective] = calls.get(row.collective, 0) + row.calls
    most = max(rows, key=lambda row: row.nanoseconds, default=None)
    counts = ", ".join(f"{count} {name}" for name, count in calls.items()) or "none"
    return counts, f"most of its calls went by {most.algorithm} ({most.reason})" if most else ""


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SwapmeetError as problem:
        sys.exit(f"swapmeet: {problem}")
