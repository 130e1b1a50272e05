"""Which MPI an application uses, found out without running it, and which MPI to launch it with."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from swapmeet import has_core, progress
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import launch, mpis
from swapmeet.mpi.library import library
from swapmeet.mpi.mpis import Mpi
from swapmeet.network.slot_tables import with_table
from swapmeet.specs import parse_spec

ABIS = {"libmpi.so.40": "openmpi", "libmpi.so.12": "mpich", "libmpich.so.12": "mpich", "libmpi_abi.so.1": "standard"}
OF_ABI = {"openmpi": "Open MPI's", "mpich": "MPICH's", "standard": "of the MPI-5 ABI"}
LISTED = re.compile(r"\b(libmpi(?:ch|_abi)?\.so\.\d+) => (.+?)(?: \(0x[0-9a-f]+\))?$", re.MULTILINE)
PYTHON = re.compile(r"(python|pypy)[\d.]*")
LIMIT_S = 30

#: Tells what mpi4py loads, by its own rules, in the Python that runs this; nothing is initialised.
LOADED_BY_MPI4PY = r"""
import sys
sys.path = [folder for folder in sys.path if folder]  # not the working directory, which -c puts there
import mpi4py, re
mpi4py.rc.initialize = mpi4py.rc.finalize = False
from mpi4py import MPI
for line in open("/proc/self/maps"):
    if found := re.search(r"\s(/.*/(libmpi(?:ch|_abi)?\.so\.\d+)[\d.]*)$", line.rstrip()):
        print(found[2], "=>", found[1])
        break
"""


@dataclass(frozen=True)
class Used:
    """The libmpi that an application loads."""

    name: str  #: such as libmpi.so.12
    path: Path | None  #: None if the loader finds none

    @property
    def abi(self) -> str:
        """As in `Mpi.abi`."""
        return ABIS.get(self.name, "unknown")

    def is_of(self, mpi: Mpi) -> bool:
        """Whether it is that MPI's."""
        return bool(self.path and mpi.libmpi and self.path.resolve() == mpi.libmpi.resolve())

    def __str__(self) -> str:
        return f"{self.path or self.name}{f', {OF_ABI[self.abi]}' if self.abi in OF_ABI else ''}"


def used(argv: Sequence[str], variables: Mapping[str, str] | None = None) -> Used | None:
    """The libmpi that a program would load.

    Parameters
    ----------
    argv : sequence of str
        The program, as the shell would find it, and its arguments.
    variables : mapping, optional
        More environment variables that it will have.

    Returns
    -------
    Used or None
        None if that is unknown: it is a static program, a shell script, cannot be read, or has no MPI.
    """
    words, set_by_env = _behind_env(argv)
    variables = {**(variables or {}), **set_by_env}
    path = shutil.which(words[0]) if words else None
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            beginning = file.read(256)
    except OSError:  # it may be executed, but not read
        return None
    if beginning.startswith(b"#!"):
        words = _interpreter(beginning)
        return _of_python(words[0], variables) if words and _is_python(words[0]) else None
    if not beginning.startswith(b"\x7fELF"):
        return None
    return _of_python(path, variables) if _is_python(path) else _parse(_output(["ldd", path], variables))


def _interpreter(beginning: bytes) -> list[str]:
    """The words of a script's first line, less `env` and what it sets."""
    try:
        return _behind_env(shlex.split(beginning.split(b"\n")[0][2:].decode(errors="replace")))[0]
    except ValueError:
        return []


def _behind_env(argv: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """What `env` runs, and the variables that it sets; any other program as it is."""
    words = list(argv)
    if not words or Path(words[0]).name != "env":
        return words, {}
    del words[0]
    variables = {}
    while words and (words[0].startswith("-") or "=" in words[0]):
        word = words.pop(0)
        if word in ("-u", "--unset", "-C", "--chdir"):
            del words[:1]
        elif not word.startswith("-"):
            name, _, variables[name] = word.partition("=")
    return words, variables


def _is_python(program: str) -> bool:
    return PYTHON.fullmatch(Path(program).name) is not None


def _of_python(interpreter: str, variables: Mapping[str, str] | None) -> Used | None:
    return _parse(_output([interpreter, "-c", LOADED_BY_MPI4PY], variables))


def _output(words: Sequence[str], variables: Mapping[str, str] | None) -> str:
    environment = {**os.environ, **(variables or {})}
    try:
        return subprocess.run(
            words, capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL, env=environment
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _parse(listed: str) -> Used | None:
    line = LISTED.search(listed)
    return line and Used(line[1], None if line[2] == "not found" else Path(line[2]))


def prepare(
    argv: Sequence[str],
    mpi: str | None,
    native: bool,
    options: Mapping[str, Any],
    launcher: str | None = None,
    ranks: int | None = None,
) -> tuple[Mpi, Path | None, dict[str, str]]:
    """What is needed to launch an application.

    Parameters
    ----------
    argv : sequence of str
        The program and its arguments; empty where it is not known yet.
    mpi : str, optional
        As in `choose_mpi`.
    native : bool
        Without the library.
    options : mapping
        Arguments of `launch.library_variables`.
    launcher : str, optional
        As in `launch.command`.
    ranks : int, optional
        How many there will be, if that is known: an order=topology(...) of a network is computed for so many.

    Returns
    -------
    tuple
        The MPI; the library to preload, if any; variables for the ranks.

    Raises
    ------
    SwapmeetError
        If the program, the MPI, the launcher or the algorithm cannot be used.
    """
    if options["algorithm"] not in (None, "auto") and has_core():  # otherwise the library says what is wrong with it
        parse_spec(options["algorithm"], "--algorithm")
    if argv:
        launch.require_program(argv[0])
    chosen, why = choose(argv, mpi)
    if launcher is not None:
        launch.require_program(launch.launcher_words(launcher, 1, chosen)[0])
    if native:
        return chosen, None, {}
    progress.note(f"{chosen}, {why}")
    algorithm = options["algorithm"]
    if algorithm is not None:
        algorithm = with_table(algorithm, ranks)
    return chosen, library(chosen), launch.library_variables(**{**options, "algorithm": algorithm})


def choose_mpi(argv: Sequence[str], name: str | None) -> Mpi:
    """The MPI to launch an application with: the one called `name`, or else the one that it uses, or the default.

    Raises
    ------
    SwapmeetError
        If the application uses another MPI than `name`, or one that is not known.
    """
    return choose(argv, name)[0]


def choose(argv: Sequence[str], name: str | None) -> tuple[Mpi, str]:
    """As `choose_mpi`, and why it is that one, for people."""
    if name is not None:
        return _named(argv, name), "by --mpi"
    found = used(argv)
    if found is None:
        unseen = f"; {argv[0]} loads none that can be seen" if argv else ""
        return mpis.default(), f"the default{unseen}, --mpi names another"
    return _owner(argv, found), f"which {argv[0]} uses"


def _named(argv: Sequence[str], name: str) -> Mpi:
    """`name`, if the application can be had to use it."""
    chosen = mpis.find(name)
    found = used(argv, mpis.environment(chosen, 1))
    if found and found.abi == "standard" != chosen.abi:
        chosen = _with_standard_abi(chosen) or chosen
        found = used(argv, mpis.environment(chosen, 1))
    if found is None or found.is_of(chosen) or "unknown" in (found.abi, chosen.abi):
        return chosen
    shown = replace(chosen, by_path=True)
    again = used(argv, mpis.environment(shown, 1)) if found.abi == chosen.abi else None
    if again and again.is_of(shown):
        return shown
    raise SwapmeetError(
        f"{argv[0]} uses {found}, but --mpi {name} is {chosen.kind} {chosen.version} ({chosen.libmpi}): "
        f"leave --mpi out, or build the program for {name}"
    )


def _with_standard_abi(mpi: Mpi) -> Mpi | None:
    """The same MPI through the MPI-5 ABI."""
    return next((one for one in mpis.found()[0] if one.standard_abi and one.prefix == mpi.prefix), None)


def _owner(argv: Sequence[str], found: Used) -> Mpi:
    """The MPI whose libmpi the application uses."""
    usable, problems = mpis.found()
    for candidate in usable:
        if found.is_of(candidate):
            return candidate
    if found.path is None:  # any that has this name will do once it is shown
        for candidate in usable:
            if candidate.libmpi and candidate.libmpi.name == found.name:
                return replace(candidate, by_path=True)
    else:
        for program in (found.path.parent.parent / "bin" / name for name in ("mpicc", "mpicc_abi", "mpiexec")):
            if program.exists() and found.is_of(candidate := mpis.find(str(program))):
                return candidate
    default = mpis.default()
    if (told := used(argv, mpis.environment(default, 1))) and told.is_of(default):
        return default  # mpi4py's wheel, which goes where it is told
    hint = f" ({'; '.join(problems)})" if problems else ""
    alike = next((one for one in usable if one.abi == found.abi), None)
    other = f"try `{mpis.remedy(found.abi)}`"
    if alike:
        other = f"launch it with {alike.kind} {alike.version} by --mpi {alike.name}"
    raise SwapmeetError(
        f"{argv[0]} uses {found}, of an MPI that was not found{hint}: name its mpicc or mpiexec by --mpi, or {other}"
    )


def heap_variables() -> dict[str, str]:
    """What --heap sets: a threshold that the user has set stays."""
    given = os.environ.get("SWAPMEET_HEAP", "")
    return {"SWAPMEET_HEAP": "1" if given in ("", "0", "mpi") else given}
