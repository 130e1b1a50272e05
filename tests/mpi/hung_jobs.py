"""Jobs that hang: launched without waiting for them, and ended whatever their ranks do."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from limits import scaled

from swapmeet.mpi import mpis
from swapmeet.mpi.launch import end_with_parent


def end(process: subprocess.Popen[str]) -> None:
    """The job of a launcher, ranks that are stopped too."""
    children = descendants(process.pid)
    for child in [*children, process.pid]:
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


def descendants(process: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, left = [], [process]
    while left:
        left += (children := parents.get(left.pop(), []))
        found += children
    return found


@contextmanager
def hung(words: list[str], mpi: mpis.Mpi, output: Path, ranks: int) -> Iterator[subprocess.Popen[str]]:
    with output.open("w") as file:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            text=True,
            env={**os.environ, **mpis.environment(mpi, ranks)},
            start_new_session=True,
            cwd=output.parent,  # where `swapmeet run`, which is killed, leaves its folder
            preexec_fn=end_with_parent,  # ranks that spin for ever would outlive tests that are killed
        )
        try:
            yield process
        finally:
            end(process)


def wait_until(there: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 20) -> None:
    until = time.monotonic() + scaled(seconds)
    while not there() and time.monotonic() < until and process.poll() is None:
        time.sleep(0.1)
