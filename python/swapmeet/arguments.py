"""What several commands share: options, and where tables go."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console

Nodes = Annotated[
    str,
    typer.Option(
        metavar="MAP",
        help="Ranks of each node, as in 8 or 4+2 (the last is repeated); cyclic:3; or each rank's node, as in 0,1,0,2. "
        "Or several such levels, the innermost first, as in 2/8.",
    ),
]


def tables_console() -> Console:
    """Where tables go: as wide as the terminal; not folded to 80 columns where there is none."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False, markup=False, emoji=False)
