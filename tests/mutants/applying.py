"""Put mistakes into C++ source, all of them in one build: a switch chooses at run time which of them is made."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import NamedTuple


class Change(NamedTuple):
    """The text `old`, which occurs once in a file, becomes `new` where the switch is set to `number`."""

    number: int
    old: str
    new: str


def changed(file: str, text: str, changes: Iterable[Change], switch: Callable[[int], str]) -> str:
    """Return the text of `file` with all `changes`; `switch` writes the C++ condition for a number.

    An old text is an expression or, where it ends with ; or }, one or more statements without declarations. A new text
    with the word MUTANT is the whole of what stands there from then on, and that word its condition. Several changes
    may have the same old text, and then follow one another.

    Raises
    ------
    ValueError
        If an old text does not occur exactly once, or two of them overlap: the code has changed, and the list of
        mistakes must follow.
    """
    places = []
    for old, group in itertools.groupby(changes, lambda change: change.old):
        if old != old.rstrip():
            raise ValueError(f"{file}: a text ends with a blank, so it is not seen to be a statement: {old!r}")
        if (times := text.count(old)) != 1:
            raise ValueError(f"{file} has this text {times} times, not once: {old}")
        begin = text.index(old)
        places.append((begin, begin + len(old), _choice(old, list(group), switch)))
    places.sort()
    for (_, end, _), (begin, _, _) in itertools.pairwise(places):
        if begin < end:
            raise ValueError(f"{file}: the old texts of two mistakes overlap at: {text[begin:end]}")
    for begin, end, choice in reversed(places):
        text = text[:begin] + choice + text[end:]
    return text


def _choice(old: str, changes: list[Change], switch: Callable[[int], str]) -> str:
    if "MUTANT" in changes[0].new:
        return changes[0].new.replace("MUTANT", switch(changes[0].number))
    if old.endswith((";", "}")):
        branches = [f"if ({switch(change.number)}) {{ {change.new} }}" for change in changes]
        return "{ " + " else ".join([*branches, f"{{ {old} }}"]) + " }"
    branches = [f"{switch(change.number)} ? ({change.new})" for change in changes]
    return "(" + " : ".join([*branches, f"({old})"]) + ")"
