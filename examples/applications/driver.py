"""`make apps`: applications that others wrote, unmodified from Debian, without Swapmeet and with it, their answers compared.

    python examples/applications/driver.py                      all that are installed; the others are named
    python examples/applications/driver.py abinit lammps        some
    python examples/applications/driver.py --packages           what Debian must have installed

Exit status: 0 if all answers are the same, 1 if not, 2 if something is not as it must be.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import results
from configurations import CONFIGURATIONS
from registry import Application, all_applications
from runs import run

from swapmeet import mpi
from swapmeet.errors import SwapmeetError
from swapmeet.library import source_tree


def measured(application: Application, folder: Path) -> results.Record:
    """Run one application in every configuration."""
    target = mpi.find(application.mpi)
    runs = []
    for number, configuration in enumerate(CONFIGURATIONS):
        one = run(application, configuration, folder / application.folder.name / str(number))
        told = results.calls_text(results.tally(one.calls))
        print(f"{application.name}, {configuration.name}: {one.seconds:.1f} s, {told}", flush=True)
        runs.append((configuration, one))
    return results.record(application, f"{target.kind} {target.version}", runs)


def one_application(application: Application, folder: Path) -> results.Record:
    """Run one application, or say why not."""
    missing = application.missing()
    why = application.left_out or (f"not installed: {' '.join(missing)}" if missing else "")
    if why:
        print(f"{application.name} is left out: {why}", flush=True)
        return results.left_out(application, why)
    record = measured(application, folder)
    for entry in record["runs"]:
        if not entry["same"]:
            print(f"{application.name}, {entry['configuration']}: {entry['verdict']}", file=sys.stderr)
    return record


def main(words: Sequence[str] | None = None) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description="Debian's applications without Swapmeet and with it")
    parser.add_argument("names", nargs="*", metavar="NAME", help="folders beside this file; all if none is given")
    parser.add_argument("--packages", action="store_true", help="print the packages that they need")
    parser.add_argument("--results", type=Path, metavar="FILE.jsonl", help="add to these results")
    parser.add_argument("--document", type=Path, metavar="FILE.md", help="make the tables of a page anew")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the folders of all runs here")
    arguments = parser.parse_args(words)
    applications = all_applications(arguments.names)
    if arguments.packages:
        print(*dict.fromkeys(package for one in applications if not one.left_out for package in one.packages))
        return 0
    file = arguments.results or source_tree() / "build" / "applications.jsonl"
    with tempfile.TemporaryDirectory(prefix="swapmeet-applications-") as temporary:
        records = []
        for application in applications:
            records.append(one_application(application, arguments.keep or Path(temporary)))
            results.write(file, records)
    everything = results.read(file)
    print(results.markdown(everything), end="")
    if arguments.document:
        arguments.document.write_text(results.document(arguments.document.read_text(), everything))
    return 0 if results.all_right(records) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SwapmeetError as problem:
        print(f"driver.py: {problem}", file=sys.stderr)
        sys.exit(2)
