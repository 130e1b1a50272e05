"""What commands print to standard error while they work: bars on a terminal, and notes.

`swapmeet --quiet COMMAND` leaves both out; warnings, errors and what was asked for stay.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import Progress, ProgressColumn


@dataclass
class Settings:
    """Of this process."""

    quiet: bool = False  #: neither bars nor notes


SETTINGS = Settings()


def note(text: str) -> None:
    """Print a line on what is being done, or on what to do next."""
    if not SETTINGS.quiet:
        print(f"swapmeet: {text}", file=sys.stderr, flush=True)


@contextmanager
def bar(*columns: ProgressColumn) -> Iterator[Progress]:
    """Show a bar on a terminal, nothing elsewhere; its end leaves no trace."""
    console = Console(stderr=True)
    off = SETTINGS.quiet or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as progress:
        yield progress
