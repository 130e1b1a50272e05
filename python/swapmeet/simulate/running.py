"""What `swapmeet simulate` does once its options are read: checks, estimates, progress, and what is printed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from swapmeet import __version__, progress
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench import machine
from swapmeet.measure.bench.candidates import require_candidates
from swapmeet.measure.bench.cells import NATIVE, name
from swapmeet.measure.bench.request import Request
from swapmeet.measure.bench.results import Writer, read
from swapmeet.measure.bench.running import report
from swapmeet.output import JSON, TABLE, print_json, tables_console
from swapmeet.simulate import application as applications
from swapmeet.simulate import estimate, peers, scoreboard, simgrid, tuned
from swapmeet.simulate.campaign import Campaign, Settings, require_memory
from swapmeet.simulate.expecting import Estimator
from swapmeet.simulate.job import Job, Outcome, Simulator
from swapmeet.simulate.platform import Platform, platform
from swapmeet.specs import parse_ranks, parse_spec
from swapmeet.units import long_duration

Exchanges = tuple[tuple[str, str, int, str], ...]


@dataclass(frozen=True)
class Chosen:
    """The options on where and how."""

    platform: str
    ranks: str
    network: str | None
    per_node: int | None
    native: str
    jobs: int
    limit_s: float  #: for each simulation
    budget_s: float  #: for all
    jitter_us: float = 0
    tuning: Path | None = None

    def simulator(self) -> Simulator:
        """What simulates."""
        target = simgrid.find()
        rules = tuned.for_simulations(self.tuning, target.version) if self.tuning else ""
        return Simulator(target, self.limit_s, rules)

    def platforms(self, simulated: bool = True) -> tuple[Platform, ...]:
        """Each platform with each number of ranks, checked; that SimGrid can take, if they are `simulated`."""
        numbers = parse_ranks(self.ranks)
        names = list(dict.fromkeys(self.platform.split(",")))
        found = tuple(
            platform(name, ranks, self.network, self.per_node, self.jitter_us) for name in names for ranks in numbers
        )
        for one in found:
            if simulated:
                one.require_routes()
            if one.part:
                print(f"swapmeet: {one.part}", file=sys.stderr)
        return found


def exchanges(
    collective: str | None, sizes: str | None, workloads: list[str] | None, seeds: str | None, datatype: str | None
) -> Exchanges:
    """What is exchanged, as of `swapmeet bench`."""
    return Request(collective=collective, sizes=sizes, workloads=workloads, seeds=seeds, datatype=datatype).exchanges()


def measure(
    chosen: Chosen,
    patterns: Sequence[str],
    wanted: Exchanges,
    file: Path | None,
    score: bool,
    estimated: bool = False,
    form: str = TABLE,
) -> bool:
    """Simulate into `file` and print the results, and a scoreboard; only print what that takes if there is no file.

    If `estimated`, do not simulate but estimate.

    Returns
    -------
    bool
        Whether all data were right.
    """
    if file is not None and file.exists():
        raise SwapmeetError(f"{file} is there already: give another file (what was simulated is remembered anyway)")
    require_candidates(pattern for pattern in patterns if not pattern.startswith(peers.PREFIX))
    platforms = chosen.platforms(simulated=not estimated)
    runner: Estimator | Simulator = Estimator() if estimated else chosen.simulator()
    settings = Settings(platforms, tuple(patterns), wanted, chosen.native, runner.label)
    jobs, impossible = settings.jobs()
    if isinstance(runner, Simulator):
        require_memory(jobs, chosen.jobs)
        todo = [job for job in jobs if runner.known(job) is None]
        _announce(len(jobs), todo, chosen)
        how = {"simulated": runner.target.version}
    else:
        jobs = todo = [job for job in jobs if job.spec != NATIVE]
        progress.note(_counted(len(jobs), "estimate"))
        how = {"estimated": __version__}
    if file is None:
        return True
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    header = machine.header({**how, "platform": chosen.platform, "specs": list(patterns)})
    try:
        with Writer(file, header) as writer, _progress(len(todo)) as told:
            for job, why in impossible:
                writer.problem(None, job.cell, job.spec, why)
                print(f"swapmeet: {name(job.cell)}: {job.spec}: {why}", file=sys.stderr)
            Campaign(runner, writer, told).run(jobs, chosen.jobs)
    except BaseException:  # the same command then goes on: what was simulated is remembered
        file.unlink(missing_ok=True)
        raise
    scores = scoreboard.scores(read(file)) if score else []
    more = {"scoreboard": list(map(scoreboard.record, scores))} if score else {}
    right = report(file, form=form, command="simulate", more=more)
    if score and form == TABLE:
        tables_console(markup=True).print(scoreboard.table(scores))
    return right


def _announce(jobs: int, todo: Sequence[Job], chosen: Chosen) -> None:
    """Announce simulations, and refuse those that take too long."""
    estimates = [estimate.of_job(job) for job in todo]
    each = [one.seconds for one in estimates]
    total = sum(each) / chosen.jobs
    total = max(total, max(each, default=0))
    most = sum(sorted((one.bytes for one in estimates), reverse=True)[: chosen.jobs])
    progress.note(
        f"{_counted(len(todo), 'simulation')}, {jobs - len(todo)} more are known: "
        f"about {long_duration(total)} by {chosen.jobs} at a time, {max(most / 2**20, 1):.0f} MiB"
    )
    for job, seconds in zip(todo, each, strict=True):
        if seconds > chosen.limit_s:
            print(
                f"swapmeet: warning: {name(job.cell)}, {job.spec}: about {long_duration(seconds)}, and given up after "
                f"{long_duration(chosen.limit_s)} (--time-limit): too many messages in flight; try direct(window=8)",
                file=sys.stderr,
            )
    total = sum(min(seconds, chosen.limit_s) for seconds in each) / chosen.jobs
    if total > chosen.budget_s:
        more = f"that is about {long_duration(total)}, more than --budget {long_duration(chosen.budget_s)}"
        raise SwapmeetError(f"{more}: give more, or choose fewer ranks, sizes or specs")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


@contextmanager
def _progress(todo: int) -> Iterator[Callable[[Job, Outcome], None]]:
    """A bar of the simulations that are done, on a terminal; problems everywhere."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with progress.bar(*columns) as shown:
        task = shown.add_task("simulating", total=todo)

        def done(job: Job, outcome: Outcome) -> None:
            shown.update(task, advance=1, description=f"{name(job.cell)}, {job.spec}")
            if outcome.problem:
                print(f"swapmeet: {name(job.cell)}: {job.spec}: {outcome.problem}", file=sys.stderr, flush=True)

        yield done


def application(chosen: Chosen, words: Sequence[str], specs: Sequence[str], form: str = TABLE) -> None:
    """Simulate a program by each of the specs, and print what it prints and how long it takes.

    As JSON, only the times are on standard output: what the program prints goes to standard error.
    """
    runs: list[dict[str, object]] = []
    for spec in specs:
        if spec != "auto" and not peers.is_peer(spec):
            parse_spec(spec, "SPEC")
    simulator, platforms = chosen.simulator(), chosen.platforms()
    with applications.compiled(simulator.target, words[0]) as program:
        for where in platforms:
            for spec in specs:
                output, errors, seconds = applications.run(simulator, where, program, words[1:], spec, chosen.native)
                (sys.stderr if form == JSON else sys.stdout).write(output)
                sys.stderr.write(errors and errors + "\n")
                runs.append({"machine": where.name, "ranks": where.ranks, "spec": spec, "simulated_seconds": seconds})
                if form != JSON:
                    what = f"{where.name}, P = {where.ranks}, {spec}"
                    print(f"swapmeet: {what}: {seconds:.9g} s of simulated time", flush=True)
    if form == JSON:
        print_json("simulate", runs=runs)
