"""From what users type to the specs that are measured: globs of aliases, ranges of parameters."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.cells import NATIVE
from swapmeet.specs import alias_names, parse_range, parse_spec

AUTO = "auto"  #: the automatic choice
RANGE = re.compile(r"=(\d+:(?:\d+|P)(?::\d+)?)(?=[,)])")
MOST_CANDIDATES = 1000
GLOB = frozenset("*?[")


def require_candidates(patterns: Iterable[str]) -> None:
    """Refuse what names nothing for any number of ranks, before anything is launched.

    Raises
    ------
    SwapmeetError
        With the core's message, or that no alias is named so.
    """
    for pattern in patterns:
        if not GLOB & set(pattern):
            for spec in _ranges(pattern, 2):
                if spec not in (NATIVE, AUTO):
                    parse_spec(spec, "SPEC")
        elif not fnmatch.filter(alias_names(), pattern):
            raise SwapmeetError(f'SPEC "{pattern}": no alias is named so; `swapmeet algorithms` lists them')


def candidates(patterns: Sequence[str], ranks: int) -> list[str]:
    """All specs that the patterns name on that many ranks, each once, `native` first.

    Parameters
    ----------
    patterns : sequence of str
        Specs, `auto`, globs of aliases ("*bruck*"), and specs one parameter of which is a range ("tra(r=2:P)",
        "direct(window=1:8:2)"; P stands for the number of ranks).
    ranks : int
        Number of ranks.

    Raises
    ------
    SwapmeetError
        If there are more than `MOST_CANDIDATES`.
    """
    named = {NATIVE: None}
    for pattern in map(str.strip, patterns):
        found = fnmatch.filter(alias_names(), pattern) if GLOB & set(pattern) else _ranges(pattern, ranks)
        named |= dict.fromkeys(found)
    if len(named) > MOST_CANDIDATES:
        raise SwapmeetError(f"{len(named)} candidates at P = {ranks}: choose at most {MOST_CANDIDATES}")
    return list(named)


def unsuitable(spec: str, collective: str, ranks: int, nodes: str) -> str:
    """Why a spec cannot serve that many ranks; "" if it can."""
    if spec in (NATIVE, AUTO):
        return ""
    point = parse_spec(spec)
    if point.family == NATIVE and collective == "alltoall":
        return ""
    return _core.varying_problem(point, ranks, nodes) if collective == "alltoallv" else point.unsuitable(ranks, nodes)


def _ranges(pattern: str, ranks: int) -> Iterator[str]:
    match = RANGE.search(pattern)
    if match is None:
        yield pattern
        return
    values = parse_range(match[1].replace("P", str(max(2, ranks))), pattern, "SPEC")
    if len(values) > MOST_CANDIDATES:
        raise SwapmeetError(f'SPEC "{pattern}": {len(values)} values; choose at most {MOST_CANDIDATES}')
    for value in values:
        yield from _ranges(f"{pattern[: match.start(1)]}{value}{pattern[match.end(1) :]}", ranks)
