"""Strong and weak scaling of the applications of examples/, under the MPI's own all-to-alls and ours.

    python benchmarks/scaling simulated -n 4,8,16,32,64,128 --machine cluster,cscs-slimfly -o scaling.jsonl
    python benchmarks/scaling machine -n 1,2,4 -o here.jsonl --programs sample_sort
    python benchmarks/scaling cluster -n 4,8 --hosts 4 --latency 50us -o cluster.jsonl
    python benchmarks/scaling draw scaling.jsonl --picture docs/pictures/scaling --document docs/scaling.md

Points that FILE has already are not run again. Exit status: 1 if a point failed, 2 if something is not as it must be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from places import Launched, Place, Simulated
from problems import PROBLEMS, STRONG, WEAK, Problem
from records import Point, append, read

from swapmeet.errors import SwapmeetError
from swapmeet.specs import parse_ranks

SPECS = "native;auto;tra(r=2);tra;two-phase-bruck;random-sendrecv"


def measure(place: Place, problems: Sequence[Problem], ranks: Sequence[int], specs: Sequence[str], file: Path) -> int:
    """Run what the file has not; how many points failed."""
    failed = 0
    for problem in problems:
        for scaling in (STRONG, WEAK):
            for number in ranks:
                known = {point.key for point in read(file)}
                todo = [spec for spec in specs if (place.name, problem.name, scaling, number, spec) not in known]
                arguments = problem.arguments(scaling, number, place.real)
                if not todo or arguments is None:
                    continue
                what = f"{place.name}, {problem.name} {' '.join(arguments)}, {scaling}, P = {number}"
                try:
                    found = place.runs(problem, arguments, number, todo)
                except SwapmeetError as why:
                    print(f"{what}: {why}", file=sys.stderr, flush=True)
                    failed += len(todo)
                    continue
                points = [
                    Point(place.name, problem.name, scaling, number, spec, " ".join(arguments), *vars(one).values())
                    for spec, one in zip(todo, found, strict=True)
                ]
                append(file, points)
                print(f"{what}: " + ", ".join(f"{one.spec} {one.seconds:.6g} s" for one in points), flush=True)
    return failed


def places(arguments: argparse.Namespace) -> list[Place]:
    """Where it is to be run."""
    if arguments.where == "simulated":
        return [
            Simulated(name, arguments.ranks_per_node, arguments.time_limit) for name in arguments.machine.split(",")
        ]
    if arguments.where == "machine":
        return [Launched("this machine", ["run"], arguments.time_limit, arguments.rounds)]
    network = ["--hosts", str(arguments.hosts), "--latency", arguments.latency, "--rate", arguments.rate]
    name = f"{arguments.hosts} nodes in one machine, {arguments.latency}, {arguments.rate}"
    return [Launched(name, ["cluster", "run", *network], arguments.time_limit, arguments.rounds)]


def chosen(names: str, simulated: bool) -> list[Problem]:
    """The applications of these names; those that can be simulated if none are given."""
    known = {problem.name: problem for problem in PROBLEMS}
    wanted = names.split(",") if names else [name for name in known if known[name].simulated or not simulated]
    for name in wanted:
        if name not in known:
            raise SwapmeetError(f'--programs "{name}": there are {", ".join(known)}')
        if simulated and not known[name].simulated:
            raise SwapmeetError(f'--programs "{name}": it is in Python, and simulations run what smpicc compiles')
    return [known[name] for name in wanted]


def draw(arguments: argparse.Namespace) -> int:
    """Make a picture of each place with several numbers of ranks, and the tables of a page."""
    from pictures import document, ordered
    from pictures import draw as picture

    points = sorted((point for file in arguments.files for point in read(file)), key=lambda point: point.key[:4])
    ranks = {
        where: {point.ranks for point in points if point.where == where}
        for where in ordered([point.where for point in points])
    }
    scaled = [where for where, numbers in ranks.items() if len(numbers) > 1]
    for number, where in enumerate(scaled if arguments.picture else [], 1):
        picture(points, where, arguments.picture.with_name(f"{arguments.picture.name}-{number}.png"))
    if arguments.document:
        arguments.document.write_text(document(arguments.document.read_text(), points))
    return 0


def parsed(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="scaling", description="Scaling of the applications of examples/")
    commands = parser.add_subparsers(dest="where", required=True)
    for where, about in (
        ("simulated", "on simulated machines: the same time every time"),
        ("machine", "on the cores of this machine"),
        ("cluster", "on hosts in this machine with a network between them (docs/cluster.md)"),
    ):
        command = commands.add_parser(where, help=about)
        command.add_argument("-n", "--ranks", default="4,8,16" if where == "simulated" else "1,2,4")
        command.add_argument("--programs", default="", metavar="NAME,NAME", help="of examples/")
        command.add_argument("--specs", default=SPECS, metavar="SPEC;SPEC", help=SPECS)
        command.add_argument("--time-limit", type=float, default=600, metavar="SECONDS", help="for each run")
        command.add_argument("-o", "--output", type=Path, default=Path("scaling.jsonl"), metavar="FILE")
        if where != "simulated":
            command.add_argument("--rounds", type=int, default=5, help="the middle one counts")
        if where == "simulated":
            command.add_argument("--machine", default="cluster", metavar="NAME,NAME")
            command.add_argument("-Q", "--ranks-per-node", type=int)
        if where == "cluster":
            command.add_argument("--hosts", type=int, default=4)
            command.add_argument("--latency", default="50us")
            command.add_argument("--rate", default="1gbit")
    command = commands.add_parser("draw", help="pictures and tables of results")
    command.add_argument("files", nargs="+", type=Path)
    command.add_argument(
        "--picture", type=Path, metavar="NAME", help="NAME-1.png, ..., one for each place with several numbers of ranks"
    )
    command.add_argument("--document", type=Path, metavar="FILE.md", help="make its tables anew")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Do as told."""
    arguments = parsed(words)
    if arguments.where == "draw":
        return draw(arguments)
    problems = chosen(arguments.programs, arguments.where == "simulated")
    ranks = parse_ranks(arguments.ranks, "-n")
    failed = sum(
        measure(place, problems, ranks, arguments.specs.split(";"), arguments.output) for place in places(arguments)
    )
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SwapmeetError as problem:
        print(f"scaling: {problem}", file=sys.stderr)
        sys.exit(2)
