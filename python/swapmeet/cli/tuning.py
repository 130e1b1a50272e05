"""The commands `swapmeet tuning show`, `merge`, `forget` and `export`: their options."""

from __future__ import annotations

import datetime
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from swapmeet import _core, texts
from swapmeet.choose import file, memory
from swapmeet.choose.rule import Rule
from swapmeet.cli.arguments import RANKS, AsJson, mpi_names
from swapmeet.cli.parsing import App
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import mpis
from swapmeet.output import print_json, tables_console
from swapmeet.units import bytes_text

tuning = App(
    help="Show or change what the library has measured in programs.\n\n"
    "It is remembered for later programs (docs/tuning.md).",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Files = Annotated[list[Path] | None, typer.Argument(metavar="[FILE]...", help="Default: all, the site's too.")]
MpiHere = Annotated[
    str | None,
    typer.Option("--mpi", help="A name of `swapmeet info`: the file for it here.", autocompletion=mpi_names),
]


@tuning.command()
def show(files: Files = None, mpi: MpiHere = None, as_json: AsJson = False) -> None:
    """Print what is remembered, and what programs use by it."""
    paths = _chosen(files, mpi)
    records: list[dict[str, object]] = []
    for path in paths:
        try:
            store = memory.read(path, memory.is_site(path))
        except SwapmeetError as problem:
            if files:
                raise
            records.append({"file": path, "problem": str(problem)})
            if not as_json:
                print(f"{problem}\n")
            continue
        records.append(_record(store))
        if not as_json:
            _show(store)
    if as_json:
        print_json("tuning show", folder=_core.memory_folder() or None, files=records)
    elif not paths:
        print("nothing is remembered yet" if _core.memory_folder() else "neither HOME nor XDG_STATE_HOME is set")


def _record(store: memory.Store) -> dict[str, object]:
    """A file for other programs."""
    key, used = store.key, _used(store)
    return {
        "file": store.path,
        "site": store.site,
        "mpi": key.mpi,
        "machine": key.machine,
        "this_machine": key.machine == _core.cluster_signature(),
        "library": key.library,
        "lines": store.remembered.lines,
        "unusable_lines": store.remembered.unusable,
        "times": [
            {
                "collective": one.collective.name,
                "ranks": one.ranks,
                "nodes": one.nodes,
                "ranks_per_node": list(one.per_node),
                "block_bytes": None if one.size_class < 0 else 1 << one.size_class,
                "spec": one.spec,
                "mean_us": 1e6 * one.mean_s,
                "spread_us": 1e6 * one.spread_s,
                "calls": one.calls,
                "by": one.by,
                "calls_each": one.made or None,
                "last": f"{datetime.datetime.fromtimestamp(one.date, datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}",
                "used": _as_rule(one) in used,
            }
            for one in store.evidence
        ],
    }


def _used(store: memory.Store) -> set[tuple[object, ...]]:
    """What rules follow, in the form of `_as_rule`."""
    return {_as_rule(best) for best, _ in memory.certain(store.evidence)}


def _as_rule(one: _core.Evidence) -> tuple[object, ...]:
    return one.collective, one.ranks, one.nodes, one.per_node[0], one.bytes, str(one.spec)


def _show(store: memory.Store) -> None:
    key = store.key
    print(f"{store.path}{' (of the site)' if store.site else ''}")
    here = "" if key.machine == _core.cluster_signature() else " (not this one)"
    print(f"of {key.mpi} on {key.machine}{here}, by Swapmeet {key.library}")
    if store.remembered.unusable:
        print(
            f"{store.remembered.unusable} of {store.remembered.lines} lines cannot be used: {store.remembered.problem}"
        )
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("call", "ranks", "nodes", "on each", "block", "spec", "mean", "calls", "by", "last", ""):
        right = column in ("ranks", "nodes", "on each", "block", "mean", "calls")
        table.add_column(column, justify="right" if right else "left", no_wrap=column != "spec")
    used = _used(store)
    for one in store.evidence:
        least, most = one.per_node
        table.add_row(
            one.collective.name,
            str(one.ranks),
            str(one.nodes),
            str(least) if least == most else f"{least} to {most}",
            "any" if one.size_class < 0 else bytes_text(1 << one.size_class),
            str(one.spec),
            f"{1e6 * one.mean_s:.4g} ± {1e6 * one.spread_s:.2g} µs",
            str(one.calls),
            one.by,
            f"{datetime.datetime.fromtimestamp(one.date, datetime.timezone.utc):%Y-%m-%d}",
            "used" if _as_rule(one) in used else "",
        )
    tables_console().print(table)


@tuning.command()
def merge(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Of one machine, MPI and version.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Default: the user's file for these, which stays, too."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Merge files of several users or runs.

    Each is added to what is in the output file: of one spec and kind of call, all calls count. What is added twice
    counts twice.
    """
    stores = [memory.read(path) for path in files]
    key = stores[0].key
    for store in stores[1:]:
        if not store.key == key:
            raise SwapmeetError(f"{store.path} is of another machine, MPI or version than {stores[0].path}")
    folder = _core.memory_folder()
    if output is None and not folder:
        raise SwapmeetError("neither HOME nor XDG_STATE_HOME is set: name the file by -o")
    place = output or Path(folder) / key.file_name
    memory.merge(place, key, [one for store in stores for one in store.evidence])
    if output:
        place.chmod(0o644)
    count, folders = len(memory.read(place).evidence), _core.site_memory_folders()
    if as_json:
        print_json("tuning merge", file=place, measurements=count, site_name=key.file_name, site_folders=folders)
        return
    print(f"swapmeet: {place}: {count} times")
    if output and place.name != key.file_name:
        print(f"swapmeet: a site's is looked for as {key.file_name} in {', '.join(folders)}")


@tuning.command()
def forget(
    files: Files = None,
    mpi: MpiHere = None,
    ranks: Annotated[int | None, typer.Option(*RANKS, min=2, help="Only of this number of ranks.")] = None,
    older_than: Annotated[
        str | None, typer.Option(metavar="DAYS", help="What was not measured since then, as in 90d.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Everything, of all machines and MPIs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget what is remembered.

    Of some files, of an MPI here, or what is old.
    """
    if not (files or mpi or ranks or older_than or all):
        raise SwapmeetError("name what to forget: a FILE, --mpi, --ranks, --older-than, or --all")
    days = re.fullmatch(r"(\d{1,6})d?", older_than or "0d")
    if not days:
        raise SwapmeetError(f'--older-than "{older_than}": days, as in 90d')
    before = datetime.datetime.now().timestamp() - 86400 * int(days[1])

    def gone(one: _core.Evidence) -> bool:
        return (ranks is None or one.ranks == ranks) and (older_than is None or one.date < before)

    paths = [path for path in _chosen(files, mpi) if files or not memory.is_site(path)]
    counts: dict[Path, int] = {}
    problems: list[str] = []
    for path in paths:
        try:
            counts[path] = memory.forget(path, gone)
        except SwapmeetError as problem:
            problems.append(str(problem))
    if as_json:
        taken = [{"file": path, "forgotten": count, "removed": not path.exists()} for path, count in counts.items()]
        print_json("tuning forget", files=taken)
    else:
        for path, count in counts.items():
            print(f"swapmeet: {path}: {count} forgotten{'' if path.exists() else ', and it is gone'}")
        if not paths:
            print("swapmeet: nothing is remembered")
    if problems:
        raise SwapmeetError("; ".join(problems))


@tuning.command()
def export(
    source: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Default: the user's and the site's for --mpi here.")
    ] = None,
    mpi: MpiHere = None,
    export_mpich: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write rules for MPICH itself, as far as it has the algorithms.")
    ] = None,
    export_openmpi: Annotated[Path | None, typer.Option(metavar="FILE", help="The same for Open MPI.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write a tuning file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write rules: of a tuning file, or of the MPI itself."""
    target = mpis.chosen(mpi)
    if not (export_mpich or export_openmpi or output):
        raise SwapmeetError("name what to write: -o, --export-mpich or --export-openmpi")
    sources = [source] if source else _here(target)
    if not sources:
        raise SwapmeetError(f"nothing is remembered of {target.kind} {target.version} on this machine")
    key, evidence = _one_key(sources, target)
    exported: list[Path] = []
    left_out: list[str] = []
    if export_mpich or export_openmpi:
        exported, left_out = _export(export_mpich, export_openmpi, sources, target, as_json)
    rules = [] if output is None else _write(output, key, evidence, sources)
    if as_json:
        print_json("tuning export", tuning_file=output, rules=rules, exported=exported, left_out=left_out)
    elif output is not None:
        print(f"swapmeet: {len(rules)} rules: SWAPMEET_TUNING_FILE={shlex.quote(str(output))}")


def _write(
    output: Path, key: _core.MemoryKey, evidence: Sequence[_core.Evidence], sources: Sequence[Path]
) -> list[Rule]:
    """Write a tuning file; its rules."""
    machine = key.machine.rsplit(", host ", 1)[0]
    found = memory.rules(evidence)
    day = f"{datetime.date.today():%Y-%m-%d}"
    texts.require_place(output)
    texts.write(output, file.text(found, key.mpi, machine, [path.name for path in sources], day))
    return found


def _export(
    for_mpich: Path | None, for_openmpi: Path | None, sources: Sequence[Path], target: mpis.Mpi, silent: bool
) -> tuple[list[Path], list[str]]:
    """Write rules for MPIs: the files, and what could not be written. Prints both unless `silent`."""
    try:
        from swapmeet.choose import exporting
    except ImportError as problem:
        raise SwapmeetError(f"--export needs {problem.name}: `pip install 'swapmeet[bench]'`") from None
    exports = exporting.Exports(for_mpich, for_openmpi)
    exports.require(target)
    exported, left_out = list(exports.write(sources, target)), list(exporting.left_out(sources, target))
    lines = [line for path in exported for line in exports.advice(path)] + [f"left out, {line}" for line in left_out]
    for line in [] if silent else lines:
        print(f"swapmeet: {line}")
    return exported, left_out


def _one_key(sources: Sequence[Path], target: mpis.Mpi) -> tuple[_core.MemoryKey, list[_core.Evidence]]:
    stores = [memory.read(path) for path in sources]
    key = stores[0].key
    if key.mpi != f"{target.kind} {target.version}":
        raise SwapmeetError(f"{sources[0]} is of {key.mpi}, not of {target.kind} {target.version}: choose it by --mpi")
    return key, _core.merged([one for store in stores for one in store.evidence])


def _here(target: mpis.Mpi) -> list[Path]:
    """The files that a program with this MPI reads here."""
    name = memory.key_here(target).file_name
    return [path for path in memory.found() if path.name == name]


def _chosen(files: list[Path] | None, mpi: str | None) -> list[Path]:
    if files and mpi:
        raise SwapmeetError("give files, or --mpi, not both")
    return list(files) if files else _here(mpis.find(mpi)) if mpi else memory.found()
