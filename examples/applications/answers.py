"""What of an application's output is its answer, and whether two answers are the same."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path

from registry import STDOUT, Answer, Application

from swapmeet.errors import SwapmeetError

NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eEdD][-+]?\d+)?")
IDENTICAL = "identical"


def extracted(application: Application, folder: Path, output: str) -> str:
    """The answer of a run in `folder` that printed `output`; any byte counts, none is invalid.

    Raises
    ------
    SwapmeetError
        If there is none: the run was not completed.
    """
    answer = application.answer
    try:
        text = output if answer.file == STDOUT else (folder / answer.file).read_bytes().decode("latin-1")
    except OSError as problem:
        raise SwapmeetError(f"{application.name} left no {answer.file}: {problem.strerror}") from None
    kept = what_counts(answer, application.folder, text)
    if not kept:
        raise SwapmeetError(f"{application.name}: nothing of {answer.file} is an answer")
    return kept


def what_counts(answer: Answer, folder: Path, text: str) -> str:
    """Without what differs from run to run; "" if the run was not completed."""
    if answer.completed and not re.search(answer.completed, text):
        return ""
    if answer.function:
        text = function(folder, answer.function)(text)
    if not answer.keep:
        return text
    kept = [line for line in text.splitlines() if any(re.search(pattern, line) for pattern in answer.keep)]
    return "".join(line + "\n" for line in kept)


def function(folder: Path, name: str) -> Callable[[str], str]:
    """The function of `FILE.py:NAME`."""
    path, _, attribute = name.partition(":")
    specification = importlib.util.spec_from_file_location(attribute, folder / path)
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    found: Callable[[str], str] = getattr(module, attribute)
    return found


def numbers(text: str) -> list[float]:
    """All numbers in a text, Fortran's with a D included."""
    return [float(number.lower().replace("d", "e")) for number in NUMBER.findall(text)]


def verdict(one: str, other: str, tolerance: float) -> tuple[bool, str]:
    """Whether two answers are the same, and in which sense, or in what they differ.

    Parameters
    ----------
    one, other : str
        As `extracted`.
    tolerance : float
        The largest relative difference of each number; 0: none of any byte.
    """
    if one == other:
        return True, IDENTICAL
    if not is_text(one) or NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False, f"DIFFERENT: {first_difference(one, other)}"
    pairs = list(zip(numbers(one), numbers(other), strict=True))
    largest = max((abs(a - b) / max(abs(a), abs(b)) for a, b in pairs if a != b), default=0.0)
    if tolerance > 0 and largest <= tolerance:
        return True, f"within {largest:.0e}"
    return False, f"DIFFERENT by {largest:.0e}: {first_difference(one, other)}"


def is_text(answer: str) -> bool:
    """Whether people can read it: otherwise it is bytes of a file."""
    return answer.isascii() and "\0" not in answer


def first_difference(one: str, other: str) -> str:
    """The first lines that differ, shortened; of what is no text, the first byte."""
    if not is_text(one):
        at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
        return f"byte {at} of {len(one)} and {len(other)}"
    lines, others = (text.splitlines() for text in (one, other))
    for number, (a, b) in enumerate(zip(lines, others, strict=False), 1):
        if a != b:
            return f"line {number}: {a.strip()[:60]!r}, {b.strip()[:60]!r}"
    return f"{len(lines)} lines, {len(others)} lines"
