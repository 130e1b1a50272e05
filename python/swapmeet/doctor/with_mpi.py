"""What is found out about an MPI, the library for it, and both together: two ranks are launched, and asked."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from swapmeet import _core
from swapmeet.choose.surroundings import variables
from swapmeet.doctor import nodes
from swapmeet.doctor.finding import WRONG, Finding, fine, note, wrong
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.candidates import AUTO
from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.measure.bench.session import LaunchFailed, Ran, Session
from swapmeet.mpi import launch, mpis, site
from swapmeet.mpi.installed import is_front
from swapmeet.mpi.library import library
from swapmeet.mpi.mpis import Mpi

LIMIT_S = 60
BLOCK = "512"  #: bytes
ALWAYS = "pairwise"  #: a spec that serves any ranks, wherever they are
WITHIN_NODES = "shared-memory"
OUTPUT_LINES = 3  #: of a launch that failed
LETTERS = re.compile(r"\w")


def findings(target: Mpi, ranks: int, launcher: str | None) -> Iterator[Finding]:
    """All rows about an MPI. Each is yielded when it is known: building and launching take a while."""
    others = [other.name for other in mpis.found()[0] if other.name != target.name]
    also = f"; also here, by --mpi: {' '.join(others)}" if others else ""
    yield fine("MPI", f"{target.name}: {target.kind} {target.version}, {target.libmpi or target.mpicc}{also}")
    yield (began := _launcher(target, launcher))
    try:
        path = library(target)
    except SwapmeetError as problem:
        yield wrong("library", str(problem), "building takes a C++20 compiler, CMake, Ninja and the headers of the MPI")
        return
    try:
        launch.require_preloadable(path)
    except SwapmeetError as problem:
        yield wrong("library", str(problem), "")
        return
    yield fine("library", str(path))
    yield _preload(path, target)
    options = _core.read_options(variables(), ranks, f"{target.kind} {target.version}")
    rows = list(_options(options, target))
    yield from rows
    if began.state != WRONG:
        yield from nodes.findings(target, ranks, launcher, path)
        asked = AUTO if any(row.state == WRONG for row in rows) else os.environ.get("SWAPMEET_ALGORITHM", AUTO)
        yield from _ranks(target, ranks, launcher, asked)


def _launcher(target: Mpi, launcher: str | None) -> Finding:
    if launcher is not None:
        words = launch.launcher_words(launcher, 1, target)
        if shutil.which(words[0]) is None:
            return wrong("launcher", f"--launcher: {words[0]} is not on PATH", "load its module, or give its path")
        return fine("launcher", launcher)
    inside = launch.batch_job()
    if inside == "SLURM_JOB_ID" and shutil.which("srun"):
        return note(
            "launcher", f"{target.mpiexec}, in a job of Slurm", "--launcher 'srun -n {ranks}' asks the usual one"
        )
    if inside is None and shutil.which("srun"):
        return note(
            "launcher",
            f"{target.mpiexec}, outside of a job: all below is about this node",
            "in a job (salloc): swapmeet doctor --launcher 'srun -n {ranks}'",
        )
    return fine("launcher", str(target.mpiexec))


def _preload(path: Path, target: Mpi) -> Finding:
    """What LD_PRELOAD holds in this shell."""
    matter = "LD_PRELOAD"
    words = os.environ.get("LD_PRELOAD", "").replace(":", " ").split()
    if not words:
        return fine(matter, "empty; `swapmeet run` sets it for the ranks, `swapmeet env` prints it for a batch script")
    missing = [word for word in words if os.sep in word and not os.path.exists(word)]
    if missing:
        return note(matter, f"{' '.join(missing)} is not there", "unset LD_PRELOAD, or give a path that is there")
    if fronts := [Path(word) for word in words if launch.is_ours(word) and is_front(Path(word))]:
        return _front(fronts[-1], target)
    other = [word for word in words if launch.is_ours(word) and Path(word).resolve() != path.resolve()]
    if other:
        return note(
            matter,
            f"{' '.join(other)} is not the library for this MPI",
            "for another MPI it does nothing; `swapmeet run` replaces it, and the lines of `swapmeet env` set this one",
        )
    return fine(matter, " ".join(words))


def _front(path: Path, target: Mpi) -> Finding:
    """What the file for every MPI does in a process of this one."""
    matter = "LD_PRELOAD"
    if os.environ.get("SWAPMEET_PRELOAD") == "0":
        return note(matter, f"{path} is for every MPI, but loads nothing", "unset SWAPMEET_PRELOAD")
    try:
        library, warned = site.taken(path, target)
    except SwapmeetError as problem:
        return wrong(matter, str(problem), "docs/howto/site.md")
    if library:
        return fine(matter, f"{path} is for every MPI; {target.name} took {library}")
    why = warned or "it loaded nothing, and printed nothing"
    return note(matter, f"{path} is for every MPI, but not for {target.name}: {why}", "docs/howto/site.md")


def _options(options: _core.Options, target: Mpi) -> Iterator[Finding]:
    """The SWAPMEET_ variables of this shell, and the tuning file that the library would follow."""
    for problem in options.problems:
        if problem.startswith("SWAPMEET_ALGORITHM"):
            yield wrong("variables", problem, "`swapmeet algorithms` lists what a spec can contain")
        else:
            yield note(
                "variables", problem, "`swapmeet options` lists all; docs/tuning.md lists the files that are read"
            )
    if not options.problems:
        yield fine("variables", ", ".join(variables()) or "none of SWAPMEET_*")
    name = f"{target.kind} {target.version}"
    if options.tuning.file:
        yield fine("tuning file", f"{options.tuning.file}, {len(options.tuning.rules)} rules")
    else:
        places = ", ".join(_core.standard_tuning_files(target.kind))
        yield fine(
            "tuning file", f"none for {name} ({places}): built-in rules and online tuning; `swapmeet tune` makes one"
        )


def _ranks(target: Mpi, ranks: int, launcher: str | None, asked: str) -> Iterator[Finding]:
    """Launch some ranks, and see what serves their all-to-alls."""
    matter = f"{ranks} ranks"
    try:
        with Session(target, ranks, launcher=launcher, timeout_s=LIMIT_S) as session:
            session.call(Cell(f"{target.kind} {target.version}", ranks, "alltoall", BLOCK))
            always, within = _try(session, ALWAYS), _try(session, WITHIN_NODES)
            chosen = _try(session, asked)
            number = session.description.get("nodes", "?")
    except LaunchFailed as problem:
        what, _, output = str(problem).partition("\n")
        last = " / ".join([line.strip() for line in output.splitlines() if LETTERS.search(line)][-OUTPUT_LINES:])
        yield wrong(matter, f"{what}{last and ': '}{last}", _why_not_launched(target, ranks, launcher))
        return
    except SwapmeetError as problem:
        yield wrong(matter, str(problem), "please report it, with this page")
        return
    where = f"alltoall of {BLOCK} B on {number} {'node' if number == '1' else 'nodes'}"
    if always.spec == NATIVE:
        yield wrong(matter, f"{where}: by the host MPI ({always.reason})", "docs/howto/explain.md lists reasons")
        return
    yield fine(matter, f"{where}: served by Swapmeet by {always.spec}, where asked to, and the data are right")
    if asked == NATIVE:
        yield note(asked, f"{where}: by the host MPI, as SWAPMEET_ALGORITHM asks", "unset SWAPMEET_ALGORITHM")
    elif chosen.spec == NATIVE:
        hint = "docs/howto/explain.md lists reasons; `swapmeet tune` finds out what is fastest here"
        yield note(asked, f"{where}: left to the host MPI ({chosen.reason})", hint)
    else:
        yield fine(asked, f"{where}: by {chosen.spec} ({chosen.reason})")
    if within.spec == NATIVE:
        yield note(WITHIN_NODES, within.reason, "see the rows on shared memory and single copy")


def _try(session: Session, spec: str) -> Ran:
    """What runs where this is asked for, once its data were found to be right."""
    candidate = session.candidate(spec)
    session.check(candidate)
    return session.ran(candidate)


def _why_not_launched(target: Mpi, ranks: int, launcher: str | None) -> str:
    """Whether the same ranks can be launched without the library."""
    try:
        with Session(target, ranks, launcher=launcher, preload=False, timeout_s=LIMIT_S):
            return "without Swapmeet it works: please report it, with this page"
    except LaunchFailed:
        pass
    return "it is the same without Swapmeet: this MPI does not run here so; try another by --mpi, or --launcher"
