"""What commands print to standard error while they work: bars on a terminal, and notes.

`swapmeet --quiet COMMAND` leaves both out; warnings, errors and what was asked for stay. `swapmeet --verbose COMMAND`
also prints the commands that are run, and the files that are read and written.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


@dataclass
class Settings:
    """Of this process."""

    quiet: bool = False  #: neither bars nor notes
    verbose: bool = False  #: also what is run, read and written
    installed: tuple[str, ...] = ()  #: where Python's own files are; empty: the interpreter does not report to us yet
    printed: set[str] = field(default_factory=set)  #: files, each once


SETTINGS = Settings()

#: What every program reads, and what Python loads.
SYSTEM = ("/proc/", "/sys/", "/dev/")
LOADED = (".py", ".pyc", ".so", ".pth")
PACKAGE = f"{Path(__file__).parent}{os.sep}"


def note(text: str) -> None:
    """Print a line on what is being done, or on what to do next."""
    if not SETTINGS.quiet:
        print(f"swapmeet: {text}", file=sys.stderr, flush=True)


def show_all() -> None:
    """Print from now on what is run, read and written, as the interpreter reports it to audit hooks (PEP 578)."""
    import site
    import sysconfig

    SETTINGS.verbose = True
    SETTINGS.printed.clear()
    if not SETTINGS.installed:
        folders = {*map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")), *site.getsitepackages()}
        SETTINGS.installed = tuple(f"{folder}{os.sep}" for folder in sorted(folders))
        sys.addaudithook(_reported)


def _reported(event: str, details: tuple[Any, ...]) -> None:
    """An audit hook; those of no interest are most, and cost next to nothing."""
    if not SETTINGS.verbose:
        return
    if event == "subprocess.Popen":
        words = details[1]
        note(f"runs {words if isinstance(words, str) else shlex.join(map(os.fsdecode, words))}")
    elif event == "os.exec":
        if os.path.exists(details[0]):  # else a folder of PATH that has it not
            note(f"becomes {shlex.join(map(os.fsdecode, details[1]))}")
    elif event == "open":
        file, _, flags = details
        written = flags & (os.O_WRONLY | os.O_RDWR)
        if not isinstance(file, int) and _matters(os.fsdecode(file)):
            _once(f"{'writes' if written else 'reads'} {os.fsdecode(file)}")
    elif event == "os.rename" and _matters(os.fsdecode(details[1])):
        _once(f"writes {os.fsdecode(details[1])}")


def _matters(file: str) -> bool:
    """Whether a user may want to know of it: neither the system's nor Python's own."""
    whole = os.path.abspath(file)
    if whole.startswith(SYSTEM) or whole.endswith(LOADED):
        return False
    return whole.startswith(PACKAGE) or not whole.startswith(SETTINGS.installed)


def _once(text: str) -> None:
    if text not in SETTINGS.printed:
        SETTINGS.printed.add(text)
        note(text)


@contextmanager
def bar(*columns: ProgressColumn) -> Iterator[Progress]:
    """Show a bar on a terminal, nothing elsewhere; its end leaves no trace."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    off = SETTINGS.quiet or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as progress:
        yield progress
