"""Running an application in one configuration: its answer, the time, and the calls that the library saw."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answers import extracted
from configurations import Configuration
from registry import Application

from swapmeet.errors import SwapmeetError
from swapmeet.mpi import launch, mpis
from swapmeet.mpi.library import library

TIMEOUT_S = 900.0
TAIL = 1500  #: characters shown of a run that failed
#: One thread for each rank; no rules, or trials of other users, of this machine's.
QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "SWAPMEET_TUNING_FILE": "none", "SWAPMEET_MEMORY": "off"}


@dataclass(frozen=True)
class Run:
    """What came of one run."""

    answer: str
    seconds: float
    calls: list[dict[str, Any]]  #: rows of SWAPMEET_STATS of rank 0; none without the library


def run(application: Application, configuration: Configuration, folder: Path) -> Run:
    """Run in `folder`, which is made anew.

    Raises
    ------
    SwapmeetError
        If the application fails, or leaves no answer.
    """
    target = mpis.find(application.mpi)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in application.inputs:
        shutil.copy(application.folder / name, folder)
    if application.build:
        _build(application, str(target.mpicc), folder)
    statistics = folder / "statistics.json"
    preload, variables = None, {}
    if configuration.algorithm:
        preload = library(target)
        variables = {
            **launch.library_variables(configuration.algorithm, stats=str(statistics)),
            **configuration.variables,
        }
    words = launch.command(target, application.ranks, application.command, preload, variables)
    begin = time.monotonic()
    try:
        done = launch.run(target, application.ranks, words, env=QUIET, timeout_s=TIMEOUT_S, folder=folder)
    except subprocess.TimeoutExpired:
        raise SwapmeetError(f"{application.name}, {configuration.name}: not done after {TIMEOUT_S:.0f} s") from None
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        output = (done.stdout + done.stderr).strip()[-TAIL:]
        raise SwapmeetError(f"{application.name}, {configuration.name}: status {done.returncode}:\n{output}")
    calls = json.loads(statistics.read_text())["calls"] if statistics.exists() else []
    return Run(extracted(application, folder, done.stdout), seconds, calls)


def _build(application: Application, mpicc: str, folder: Path) -> None:
    words = [word.format(mpicc=mpicc) for word in application.build]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SwapmeetError(f"{application.name} cannot be built:\n{done.stderr.strip()[-TAIL:]}")
