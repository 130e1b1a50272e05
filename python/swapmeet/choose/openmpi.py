"""Open MPI's dynamic rules (coll_tuned_dynamic_rules_filename): numbers, in the order that coll/tuned reads them.

A call is served by the rule of the largest communicator that is not larger than its own, and there by that of the
largest message that is not larger: the bytes of all blocks of MPI_Alltoall together; MPI_Alltoallv has but the message
of 0 bytes. Algorithm 0 leaves the choice to Open MPI.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from swapmeet.choose import foreign
from swapmeet.choose.foreign import Call, Share, Theirs
from swapmeet.choose.rule import Rule
from swapmeet.errors import SwapmeetError
from swapmeet.texts import text_of

VARIABLES = ("OMPI_MCA_coll_tuned_use_dynamic_rules", "OMPI_MCA_coll_tuned_dynamic_rules_filename")
HEAD = "rule-file-version-2"
NUMBERS = {"alltoall": 3, "alltoallv": 4}  #: of collectives
OWN, LINEAR, PAIRWISE, BRUCK, WINDOW, TWO = range(6)
NAMES = {
    "alltoall": ("own choice", "basic linear", "pairwise", "modified bruck", "linear with sync", "two proc only"),
    "alltoallv": ("own choice", "basic linear", "pairwise"),
}
SPECS = {LINEAR: "spread-out", PAIRWISE: "pairwise", BRUCK: "bruck-modified", TWO: "pairwise"}
MOST_RULES = 100_000
MOST_DIGITS = 18
MOST_TIMES = 64  #: the ranks of a rule without an end, that sizes are written for


@dataclass(frozen=True)
class Line:
    """A rule, from that many bytes on."""

    bytes: int
    algorithm: int
    requests: int  #: in flight, of linear with sync; 0: Open MPI's own number
    line: int  #: of the file


Rules = dict[int, list[tuple[int, list[Line]]]]  #: collective -> [(ranks, rules)], both ascending


def export(rules: Sequence[Rule]) -> str:
    """The text of a file.

    Raises
    ------
    SwapmeetError
        If rules name nothing that Open MPI could do.
    """
    tables = {name: foreign.shares(rules, name, algorithm) for name in NUMBERS}
    used = {name: lines for name, lines in tables.items() if foreign.decided(lines)}
    if not used:
        raise SwapmeetError("no rule is for an algorithm that Open MPI has: there is nothing to export")
    lines = [HEAD, f"{len(used)} # collectives"]
    for name, rows in used.items():
        each = list(_rows(rows))
        lines += [f"{NUMBERS[name]} # {name}", f"{len(each)} # sizes of communicators"]
        for ranks, line in each:
            lines += [f"{ranks} # ranks", f"{len(line)} # sizes of messages"]
            lines += [_rule(ranks * one.least, one.algorithm) for one in line]
    return "\n".join(lines) + "\n"


def _rows(rows: Sequence[tuple[int, Sequence[Share]]]) -> list[tuple[int, Sequence[Share]]]:
    """A message is all blocks together, so each number of ranks has its own sizes; below them, Open MPI's choice."""
    found: list[tuple[int, Sequence[Share]]] = [(0, [Share(0, None)])] if rows[0][0] > 0 else []
    for least, most, line in foreign.lines_of(rows):
        each = [least] if len(line) == 1 else _steps(least, MOST_TIMES * least if most is None else most)
        found += [(ranks, line) for ranks in each]
    return found


def _steps(least: int, most: int) -> list[int]:
    """All numbers of ranks, or, where they are many, some of them, ever further apart."""
    found = [least]
    while found[-1] < most:
        found.append(found[-1] + max(1, found[-1] // 16))
    return [ranks for ranks in found if ranks <= most]


def _rule(bytes_: int, algorithm: str | None) -> str:
    """Bytes, algorithm, fan-out, segments, and the requests of linear with sync."""
    number, _, requests = (algorithm or str(OWN)).partition(" ")
    return f"{bytes_} {number} 0 0 {requests}".rstrip()


def algorithm(collective: str, messages: str) -> str | None:
    """Open MPI's for a kind of messages (foreign.kind), with the requests in flight; None: it has none."""
    window = re.fullmatch(r"window=(\d+)", messages)
    if window and collective == "alltoall":
        return f"{WINDOW} {window[1]}"
    number = {"spread-out": LINEAR, "pairwise": PAIRWISE, "radix=2": BRUCK}.get(messages, OWN)
    return str(number) if OWN < number < len(NAMES[collective]) else None


def read(path: Path) -> Rules:
    """The rules of a file.

    Raises
    ------
    SwapmeetError
        With the line, if Open MPI would not take them.
    """
    text = text_of(path, foreign.MOST_BYTES)
    version = re.match(r"rule-file-version-(\d{1,3})\b", text)
    reader = _Reader(path, text[version.end() if version else 0 :], version is not None and int(version[1]) > 1)
    found: Rules = {}
    for _ in range(reader.next("collectives", 100)):
        collective, listed = reader.next("number of a collective", 100), []
        for _ in range(reader.next("sizes of communicators")):
            ranks = reader.next("ranks")
            listed.append((ranks, [reader.rule() for _ in range(reader.next("sizes of messages"))]))
            if listed[-1][1] and listed[-1][1][0].bytes != 0:
                raise reader.problem("the first size of a message must be 0")
        found[collective] = listed
    return found


class _Reader:
    """Numbers one after the other; what follows # in a line is a comment."""

    def __init__(self, path: Path, text: str, with_requests: bool) -> None:
        self._path, self._with_requests, self._at, self._rules = path, with_requests, 0, 0
        lines = enumerate(text.split("\n"), 1)
        self._words = [(word, number) for number, line in lines for word in line.partition("#")[0].split()]

    def problem(self, what: str) -> SwapmeetError:
        line = self._words[max(0, self._at - 1)][1] if self._words else 1
        return SwapmeetError(f"{self._path}, line {line}: {what}")

    def next(self, what: str, most: int = MOST_RULES) -> int:
        if self._at == len(self._words):
            raise self.problem(f"it ends where {what} should follow")
        word, _ = self._words[self._at]
        self._at += 1
        if not (word.isascii() and word.isdecimal()) or len(word) > MOST_DIGITS or int(word) > most:
            raise self.problem(f'"{word[:40]}" instead of {what}, a number up to {most}')
        return int(word)

    def rule(self) -> Line:
        self._rules += 1
        if self._rules > MOST_RULES:
            raise self.problem(f"more than {MOST_RULES} rules")
        largest = 10**MOST_DIGITS
        bytes_, algorithm = self.next("bytes", largest), self.next("an algorithm")
        self.next("a fan-out", largest)
        self.next("bytes of a segment", largest)
        line = self._words[self._at - 1][1]
        more = self._with_requests and self._at < len(self._words) and self._words[self._at][1] == line
        return Line(bytes_, algorithm, self.next("requests", largest) if more else 0, line)


def theirs(rules: Rules, call: Call, source: str) -> Theirs | None:
    """What Open MPI does with a call by these rules; None if they leave it to Open MPI."""
    listed = rules.get(NUMBERS.get(call.collective, -1), [])
    lines = [lines for ranks, lines in listed if ranks <= call.ranks][-1:]
    bytes_ = call.ranks * call.block_bytes if call.collective == "alltoall" else 0
    fitting = [line for line in (lines[0] if lines else []) if line.bytes <= bytes_][-1:]
    if not fitting or fitting[0].algorithm == OWN:
        return None
    (line,) = fitting
    names = NAMES[call.collective]
    name = names[line.algorithm] if line.algorithm < len(names) else f"algorithm {line.algorithm}, unknown here"
    spec: str | None
    if line.algorithm == WINDOW and call.collective == "alltoall":
        spec = f"direct(window={line.requests},complete=any)" if line.requests else "spread-out"
    else:
        spec = SPECS.get(line.algorithm) if line.algorithm < len(names) else None
    return Theirs(name, spec, f"{source}, line {line.line}")
