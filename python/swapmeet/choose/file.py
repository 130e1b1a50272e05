"""The text of a tuning file, and where it lies."""

from __future__ import annotations

from collections.abc import Sequence

from swapmeet import __version__, _core
from swapmeet.choose.rule import Rule
from swapmeet.errors import SwapmeetError

FIRST = "swapmeet-tuning 1"  #: line of a file


def text(rules: Sequence[Rule], mpi: str, machine: str, sources: Sequence[str], day: str) -> str:
    """A tuning file that the library accepts.

    Parameters
    ----------
    rules
        Of which no two fit one call.
    mpi, machine
        For which it holds, as in "openmpi 5.0.11", and as `_core.machine_signature()` returns it.
    sources
        What was measured where, for people.
    day
        When, for people.

    Raises
    ------
    SwapmeetError
        If the library would refuse it.
    """
    lines = [
        FIRST,
        f"# Made by Swapmeet {__version__}, {day}, from {', '.join(sources)} (docs/tuning.md).",
    ]
    lines += [f"mpi: {mpi}", f"machine: {machine}", *map(_line, rules), "end"]
    page = "\n".join(lines) + "\n"
    try:
        _core.parse_tuning(page)
    except ValueError as problem:
        raise SwapmeetError(f"the rules cannot be written as a tuning file: {problem}") from None
    return page


def _line(rule: Rule) -> str:
    words = [f"rule: {rule.collective}", f"ranks={range_text(*rule.ranks)}"]
    words += [] if rule.nodes is None else [f"nodes={range_text(*rule.nodes)}"]
    words += [] if rule.bytes is None else [f"bytes={range_text(*rule.bytes)}"]
    return " ".join([*words, f"use={rule.spec}", f" # {rule.evidence}"])


def range_text(least: int, most: int | None) -> str:
    """As a tuning file has it: 8, 2..4 or 4096.. without an end."""
    return str(least) if least == most else f"{least}..{'' if most is None else most}"
