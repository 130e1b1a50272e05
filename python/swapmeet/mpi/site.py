"""One libswapmeet.so for every MPI, which a site preloads for all users: the front, and beside it the libraries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from swapmeet.errors import SwapmeetError
from swapmeet.mpi import launch, mpis
from swapmeet.mpi.installed import ABIS, NAME, brought, library_beside
from swapmeet.mpi.library import folder_for_every_mpi, front, library, measuring_program, ready_front
from swapmeet.mpi.mpis import Mpi

LIMIT_S = 60
SERVED = re.compile(r"^swapmeet: .* is served by (.*)$", re.MULTILINE)
WARNING = re.compile(r"^swapmeet: warning: (.*)$", re.MULTILINE)


def deploy(folder: Path | None = None) -> Path:
    """Put the front, and the libraries that it loads, into a folder; the front's path.

    They are those of the wheel, and for other ABIs those for which there is an MPI here.

    Parameters
    ----------
    folder : Path, optional
        Where to; where they are installed, or the build folder, if not given. A file that is there is replaced as a
        whole, so that processes which have it keep what they have.

    Raises
    ------
    SwapmeetError
        If something cannot be built or written, or the path cannot be preloaded.
    """
    if folder is None and (there := ready_front()):
        return there
    folder = (folder or folder_for_every_mpi()).absolute()
    launch.require_preloadable(folder / NAME)
    usable, _ = mpis.found()
    by_abi: dict[str, Mpi] = {}
    for mpi in usable:
        by_abi.setdefault(mpi.abi, mpi)
    by_abi.pop("unknown", None)
    libraries = {abi: path for abi in ABIS.values() if (path := brought(abi))}
    libraries |= {abi: library(mpi) for abi, mpi in by_abi.items()}
    if not libraries:
        raise SwapmeetError("there is no MPI here to build for: `swapmeet info` lists what is found")
    for abi, path in libraries.items():
        _put(path, library_beside(folder / NAME, abi))
    return _put(front(), folder / NAME)


def _put(source: Path, target: Path) -> Path:
    draft = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, draft)
        draft.chmod(0o755)
        draft.replace(target)
    except OSError as problem:
        raise SwapmeetError(f"cannot write {target}: {problem.strerror}") from None
    return target


def taken(front_path: Path, mpi: Mpi) -> tuple[Path | None, str]:
    """Which library a process of an MPI takes by a front, and what it prints if it takes none: one is run.

    Raises
    ------
    SwapmeetError
        If it cannot be run.
    """
    mpi, measure = measuring_program(mpi)
    words = launch.command(mpi, 1, [measure], front_path, {"SWAPMEET_EXPLAIN": "1"})
    try:
        done = launch.run(mpi, 1, words, timeout_s=LIMIT_S, typed="quit\n")
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise SwapmeetError(f"cannot run a process of {mpi.name} with {front_path}: {problem}") from None
    served, warned = SERVED.search(done.stderr), WARNING.search(done.stderr)
    return Path(served[1]) if served else None, warned[1] if warned else ""
