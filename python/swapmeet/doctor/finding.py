"""What was found out about one matter."""

from __future__ import annotations

from dataclasses import dataclass

FINE = "ok"
NOTE = "note"  #: the library works, but could do more
WRONG = "WRONG"  #: it does not


@dataclass(frozen=True)
class Finding:
    """A row of the page."""

    matter: str
    state: str  #: FINE, NOTE or WRONG
    what: str
    hint: str = ""  #: what to do about it


def fine(matter: str, what: str) -> Finding:
    """Nothing is in the way."""
    return Finding(matter, FINE, what)


def note(matter: str, what: str, hint: str) -> Finding:
    """The library works, but could do more."""
    return Finding(matter, NOTE, what, hint)


def wrong(matter: str, what: str, hint: str) -> Finding:
    """It keeps the library from working."""
    return Finding(matter, WRONG, what, hint)
