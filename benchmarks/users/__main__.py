"""What users measure first: OSU's and IMB's all-to-alls at their defaults, and short applications.

    python benchmarks/users measure                    both MPIs, P = 2, 4 and 8, and virtual clusters, into FILE
    python benchmarks/users measure --quick            OSU's Alltoall and the 3-D FFT, P = 2 and 4, three turns
    python benchmarks/users measure --cluster none -n 2 --mpi openmpi --rounds 9 -o open.jsonl
    python benchmarks/users measure --benchmarks typed-pairs,typed-boxes -n 2,4 --cluster none -o typed.jsonl
    python benchmarks/users measure --benchmarks forms-calls,forms-threads --cluster none -o forms.jsonl
    python benchmarks/users measure --benchmarks intels-imb,intels-imb-nbc --cluster none -o imb.jsonl
    python benchmarks/users page                       tables and pictures of FILE into docs/measurements/users.md
    python benchmarks/users page open.jsonl            the same into open.md, and pictures into the folder open

Compared are `raw`, the host MPI without the library in the process; `auto`, the library preloaded and nothing set; and
specs. They are launched in turn, raw, auto, the specs, and again raw: speed-ups are taken turn by turn. FILE
(docs/measurements/users.jsonl) gets a line for each launch, at once: it can be interrupted, and the same command goes
on. Programs that are installed can take the place of ours: --osu FOLDER, --imb PROGRAM.

Exit status: 1 if a launch failed, 2 if something is not as it must be, 130 if interrupted.
"""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import settings
from launches import RAW, Case, Skipped, append, begin
from settings import Setting
from usual import Benchmark, benchmarks, named

from swapmeet.cluster.description import Network
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.machine import header
from swapmeet.mpi import mpis
from swapmeet.mpi.library import library
from swapmeet.specs import parse_ranks, parse_spec
from swapmeet.units import parse_bytes

DOCS = Path(__file__).parents[2] / "docs"
FILE = DOCS / "measurements" / "users.jsonl"
SPECS, CLUSTER_SPECS = "shared-memory", "two-layer(intra=shm,r1=all,r2=all)"
QUICK = {"ranks": "2,4", "cluster": "none", "rounds": 3, "benchmarks": "osu-alltoall,fft3d"}
FULL = {
    "ranks": "2,4,8",
    "cluster": "4x4,8x4",
    "rounds": 5,
    "benchmarks": "osu-alltoall,osu-alltoallv,imb,imb-nbc,fft3d,fft3d-nonblocking,fft3d-persistent,espresso",
}
OPTIONS = ("most", "calls", "osu", "imb")  #: that change what a benchmark is


def targets(names: str, skip: Callable[[str], None]) -> list[mpis.Mpi]:
    """Those that are here, with our library built; `skip` gets a sentence on each other."""
    usable = []
    for name in names.split(","):
        try:
            target = mpis.find(name)
            library(target)
        except SwapmeetError as why:
            skip(f"{name} is skipped: {why}")
        else:
            usable.append(target)
    return usable


def planned(arguments: argparse.Namespace, skip: Callable[[str], None]) -> list[tuple[Setting, Benchmark]]:
    """What is measured where, in the order of a turn."""
    wanted = named(arguments.benchmarks, benchmarks(arguments.osu, arguments.imb))
    specs, cluster_specs = arguments.specs.split(";"), arguments.cluster_specs.split(";")
    for spec in (*specs, *cluster_specs):
        parse_spec(spec, "--specs")
    most = parse_bytes(arguments.most, "--most") if arguments.most else None
    ranks = [] if arguments.ranks == "none" else parse_ranks(arguments.ranks, "-n")
    shapes = [] if arguments.cluster == "none" else arguments.cluster.split(",")
    network = Network(latency=arguments.latency, rate=arguments.rate)
    pairs: list[tuple[Setting, Benchmark]] = []
    for target in targets(arguments.mpi, skip):
        one_node = [settings.one_node(target, number, specs, most, arguments.calls) for number in ranks]
        pairs += [(setting, one) for setting in one_node for one in wanted if one.mpi is None]
        clusters = [settings.cluster(target, shape, network, cluster_specs, most, arguments.calls) for shape in shapes]
        pairs += [(setting, one) for setting in clusters for one in wanted if one.on_clusters and one.mpi is None]
    for one in wanted:
        for target in targets(one.mpi, skip) if one.mpi else []:
            numbers = [number for number in ranks if number <= (one.most_ranks or number)]
            pairs += [(settings.one_node(target, number, specs, None, None), one) for number in numbers]
    return pairs


def measure(arguments: argparse.Namespace) -> int:
    """Run what the file has not; how many launches failed."""
    for sentence in settings.clean_environment():
        say(sentence)
    options = {name: str(value) for name in OPTIONS if (value := getattr(arguments, name)) is not None}
    output = {"-o", "--output", str(arguments.output)}  # is of this machine alone
    command = "python benchmarks/users " + shlex.join(word for word in arguments.words if word not in output)
    pairs = planned(arguments, say)
    known = {launch.key for launch in begin(arguments.output, {**header(options), "command": command}).launches}
    turns = [(turn, *pair) for turn in range(1, arguments.rounds + 1) for pair in pairs]
    todo = [
        (turn, setting, one)
        for turn, setting, one in turns
        if any((setting.case(one), candidate, turn) not in known for candidate in setting.candidates)
    ]
    missing: set[Case] = set()
    failed, began = 0, time.monotonic()
    for done, (turn, setting, benchmark) in enumerate(todo, 1):
        case, took = setting.case(benchmark), []
        for candidate in setting.candidates if case not in missing else []:
            try:
                launch = settings.run(setting, benchmark, candidate, turn, arguments.limit)
            except SwapmeetError as why:
                say(f"{named_case(case)}, {candidate}: {why}")
                took.append(f"{candidate} failed")
                if candidate == RAW and turn == 1:
                    missing.add(case)
                    append(arguments.output, Skipped(case, settings.without_tree(str(why).splitlines()[0])))
                else:
                    failed += 1
                break
            append(arguments.output, launch)
            took.append(f"{candidate} {launch.seconds:.1f} s")
        if not took:
            continue
        left = (time.monotonic() - began) / done * (len(todo) - done) / 60
        say(f"turn {turn}, {named_case(case)}: {', '.join(took)}; {done} of {len(todo)}, {left:.1f} min left")
    return failed


def named_case(case: Case) -> str:
    """For a line of progress."""
    return f"{case.mpi}, {case.where}, P = {case.ranks}, {case.benchmark}"


def say(sentence: str) -> None:
    """Report progress."""
    print(sentence, file=sys.stderr, flush=True)


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="users", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="what", required=True)
    command = commands.add_parser("measure", help="launch, and write a line for each launch")
    command.add_argument("--quick", action="store_true", help=f"for those not given: {QUICK}")
    command.add_argument("--mpi", default="mpich,openmpi,intel", metavar="NAME,NAME")
    command.add_argument("-n", "--ranks", help="on this machine, or none; default 2,4,8")
    command.add_argument("--cluster", metavar="NODESxRANKS,...", help="virtual clusters, or none; default 4x4,8x4")
    command.add_argument("--latency", default="50us", help="of the clusters")
    command.add_argument("--rate", default="1gbit", help="of the clusters")
    command.add_argument("--benchmarks", metavar="NAME,NAME", help=f"default {FULL['benchmarks']}")
    command.add_argument("--specs", default=SPECS, metavar="SPEC;SPEC", help=f"on one node; default {SPECS}")
    command.add_argument("--cluster-specs", default=CLUSTER_SPECS, metavar="SPEC;SPEC", help=f"default {CLUSTER_SPECS}")
    command.add_argument("--rounds", type=int, help="turns; default 5")
    command.add_argument(
        "--most", metavar="BYTES", help="for each destination; default 1 MiB, or 16 MiB / P^2, on clusters 512"
    )
    command.add_argument("--calls", type=int, help="of a size, at most; default on clusters 135")
    command.add_argument(
        "--osu", type=Path, metavar="FOLDER", help="with osu_alltoall and osu_alltoallv, to be run instead"
    )
    command.add_argument("--imb", type=Path, metavar="PROGRAM", help="an IMB-MPI1, to be run instead")
    command.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="for each launch")
    command.add_argument("-o", "--output", type=Path, default=FILE, metavar="FILE")
    command = commands.add_parser("page", help="tables and pictures of results")
    command.add_argument("file", nargs="?", type=Path, default=FILE, metavar="FILE")
    command.add_argument("--document", type=Path, metavar="FILE.md", help="default: beside FILE")
    command.add_argument("--pictures", type=Path, metavar="FOLDER", help="default: beside FILE")
    arguments = parser.parse_args(words)
    arguments.words = list(words)
    if arguments.what == "measure":
        for name, value in (QUICK if arguments.quick else FULL).items():
            if getattr(arguments, name) is None:
                setattr(arguments, name, value)
    return arguments


def main(words: Sequence[str] | None = None) -> int:
    """Do as told."""
    arguments = parsed(sys.argv[1:] if words is None else words)
    if arguments.what == "page":
        from page import write

        pictures = DOCS / "pictures" if arguments.file == FILE else arguments.file.with_suffix("")
        write(
            arguments.file,
            arguments.document or arguments.file.with_suffix(".md"),
            arguments.pictures or pictures,
        )
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the launch under way ends too
    try:
        return 1 if measure(arguments) else 0
    except KeyboardInterrupt:
        say(f"interrupted: {arguments.output} holds what was measured, and the same command goes on")
        return 130


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SwapmeetError as problem:
        print(f"users: {problem}", file=sys.stderr)
        sys.exit(2)
