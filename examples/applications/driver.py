"""`make apps`: Debian's applications, unmodified, without Swapmeet and with it, and their answers compared.

    python examples/applications/driver.py                      all that are installed; the others are named
    python examples/applications/driver.py abinit lammps        some
    python examples/applications/driver.py --packages           what Debian must have installed

Exit status: 0 if all answers are the same, 1 if not, 2 if something is not as it must be.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import results
from configurations import CONFIGURATIONS, NATIVE, Configuration
from registry import Application, all_applications
from runs import Run, run

from swapmeet.errors import SwapmeetError
from swapmeet.mpi import mpis
from swapmeet.mpi.library import source_tree


def measured(application: Application, chosen: Sequence[Configuration], folder: Path) -> Iterator[results.Record]:
    """Run one application; what is known of it after each run, or why there is none."""
    missing = application.missing()
    why = application.left_out or (f"not installed: {' '.join(missing)}" if missing else "")
    if why:
        print(f"{application.name} is left out: {why}", flush=True)
        yield results.left_out(application, why)
        return
    target = mpis.find(application.mpi)
    runs: list[tuple[Configuration, Run]] = []
    for configuration in chosen:
        one = run(application, configuration, folder / application.folder.name / str(len(runs)))
        runs.append((configuration, one))
        record = results.record(application, f"{target.kind} {target.version}", runs)
        latest = record["runs"][-1]
        told = results.calls_text(latest["calls"])
        print(f"{application.name}, {configuration.name}: {one.seconds:.1f} s, {told}, {latest['verdict']}", flush=True)
        yield record


def completed(application: Application, chosen: Sequence[Configuration], folder: Path, file: Path) -> bool:
    """Run one application into the results; whether no run failed, and all answers are the same."""
    record: results.Record = {}
    try:
        for record in measured(application, chosen, folder):
            results.write(file, record)  # each time: what was run is not lost if a later run fails
    except SwapmeetError as problem:
        print(f"driver.py: {problem}", file=sys.stderr, flush=True)
        return False
    return results.all_right(record)


def main(words: Sequence[str] | None = None) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="Debian's applications without Swapmeet and with it")
    parser.add_argument("names", nargs="*", metavar="NAME", help="folders beside this file; all if none is given")
    parser.add_argument("--packages", action="store_true", help="print the packages that they need")
    parser.add_argument("--only", action="append", metavar="CONFIGURATION", help="besides that without; repeatable")
    parser.add_argument("--results", type=Path, metavar="FILE.jsonl", help="add to these results")
    parser.add_argument("--document", type=Path, metavar="FILE.md", help="make the tables of a page anew")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the folders of all runs here")
    arguments = parser.parse_args(words)
    applications = all_applications(arguments.names)
    chosen = [one for one in CONFIGURATIONS if one == NATIVE or not arguments.only or one.name in arguments.only]
    if arguments.packages:
        print(*dict.fromkeys(package for one in applications if not one.left_out for package in one.packages))
        return 0
    file = arguments.results or source_tree() / "build" / "applications.jsonl"
    with tempfile.TemporaryDirectory(prefix="swapmeet-applications-") as temporary:
        failed = [
            application.name
            for application in applications
            if not completed(application, chosen, arguments.keep or Path(temporary), file)
        ]
    everything = results.read(file)
    print(results.markdown(everything), end="")
    if arguments.document:
        arguments.document.write_text(results.document(arguments.document.read_text(), everything))
    for name in failed:
        print(f"driver.py: {name}: an answer differs, or a run failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SwapmeetError as problem:
        print(f"driver.py: {problem}", file=sys.stderr)
        sys.exit(2)
