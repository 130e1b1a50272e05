"""The applications of this folder as data: each subfolder holds an application.json and the input that it names."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swapmeet.errors import SwapmeetError

HERE = Path(__file__).resolve().parent
STDOUT = "-"  #: in place of the name of a file


@dataclass(frozen=True)
class Answer:
    """Where the answer of an application is, and what of it must not change."""

    file: str  #: in the folder of the run; "-": standard output
    completed: str = ""  #: a regular expression that a whole answer has somewhere
    keep: Sequence[str] = ()  #: only lines in which one of these is found; all lines if there is none
    function: str = ""  #: FILE.py:NAME of a function that takes out what differs from run to run


@dataclass(frozen=True)
class Application:
    """One application and how to tell whether two of its answers are the same."""

    folder: Path
    name: str
    about: str
    packages: Sequence[str]  #: of Debian; the first is the application
    inputs: Sequence[str]  #: copied into the folder of a run; relative to `folder`
    command: Sequence[str]
    answer: Answer
    tolerance: float  #: relative, of each number; 0: the same bytes
    why: str  #: this is the answer, and this its tolerance
    build: Sequence[str] = ()  #: a command in the folder of the run; {mpicc} is the MPI's compiler
    mpi: str = "openmpi-system"
    ranks: int = 4
    left_out: str = ""  #: why it is not run

    def version(self) -> str:
        """Of the first package; "" if that is not installed."""
        return installed_version(self.packages[0])

    def missing(self) -> list[str]:
        """The packages that are not installed."""
        return [package for package in self.packages if not installed_version(package)]


def installed_version(package: str) -> str:
    """As dpkg says it; "" without the package, or without dpkg."""
    try:
        done = subprocess.run(
            ["dpkg-query", "-W", "-f", "${db:Status-Abbrev}${Version}", package], capture_output=True, text=True
        )
    except OSError:
        return ""
    return done.stdout[3:] if done.stdout.startswith("ii ") else ""


def load(file: Path) -> Application:
    """Read one application.json.

    Raises
    ------
    SwapmeetError
        If something in it is not as it must be: with the file.
    """
    try:
        fields: dict[str, Any] = json.loads(file.read_text())
        answer = Answer(**fields.pop("answer"))
        application = Application(folder=file.parent, answer=answer, **fields)
    except (OSError, ValueError, TypeError, KeyError) as problem:
        raise SwapmeetError(f"{file}: {problem}") from None
    for pattern in (answer.completed, *answer.keep):
        try:
            re.compile(pattern)
        except re.error as problem:
            raise SwapmeetError(f"{file}: answer: {pattern}: {problem}") from None
    for path in (*application.inputs, *filter(None, [answer.function.partition(":")[0]])):
        if not (file.parent / path).is_file():
            raise SwapmeetError(f"{file}: there is no {path}")
    return application


def all_applications(wanted: Sequence[str] = ()) -> list[Application]:
    """Those of the folders that are named; all if none is.

    Raises
    ------
    SwapmeetError
        If there is no folder of such a name.
    """
    files = {file.parent.name: file for file in sorted(HERE.glob("*/application.json"))}
    for name in wanted:
        if name not in files:
            raise SwapmeetError(f"no application is called {name}: there are {', '.join(files)}")
    return [load(file) for name, file in files.items() if not wanted or name in wanted]
