"""What users type: specs, numbers of ranks, sizes and node maps."""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections.abc import Iterable, Sequence

from swapmeet import _core
from swapmeet.errors import SwapmeetError

MOST_RANKS = 2**31 - 1
MOST_VALUES = 1_000_000
MOST_WORK = 1 << 28  #: places times the sizes of all dimensions, where nodes are unequal: some seconds
NEAR_NAME = 0.75  #: of difflib
RANGE_OF_RADICES = re.compile(r'not "\d+:')
RANGE = re.compile(r"(\d{1,4000})(?::(\d{1,4000})(?::(\d{1,4000}))?)?")  # Python reads no longer number


def parse_spec(text: str, option: str = "") -> _core.Spec:
    """The point of the family that `text` names; `option`: where it was given.

    Raises
    ------
    SwapmeetError
        With the core's message: what was expected, and the column.
    """
    try:
        return _core.parse_spec(text)
    except ValueError as problem:
        name = text.strip().partition("(")[0]
        raise SwapmeetError(f'{option + " " if option else ""}"{text}": {_corrected(name, str(problem))}') from None


def _corrected(name: str, problem: str) -> str:
    """The core's message; where that lists all names, as none is near, what else the name may be."""
    short, listed, rest = problem.partition(" (known: ")
    if RANGE_OF_RADICES.search(problem):
        return f"{problem}: `swapmeet bench` takes ranges, and `swapmeet model` by --radix"
    if not listed:
        return problem
    networks = [network for network, *_ in _core.network_names()]
    if near := difflib.get_close_matches(name, networks, 1, NEAR_NAME):
        hint = f"{near[0]} is a network, for `swapmeet topology` and --network"
    elif name.startswith("native:"):
        hint = "algorithms of MPIs are for `swapmeet simulate`; native is the host MPI"
    else:
        hint = "`swapmeet algorithms` lists all"
    return f"{short}; {hint}{rest.partition(')')[2]}"


def require_map(nodes: str, ranks: Sequence[int]) -> None:
    """Refuse a node map that is malformed, or does not fit some of the ascending `ranks`.

    Raises
    ------
    SwapmeetError
        With the core's message.
    """
    try:
        for p in (ranks[0], ranks[-1]):  # what fits these fits those between: a list fits one number only
            _core.parse_node_map(nodes, p)
    except ValueError as problem:
        raise SwapmeetError(f'--nodes "{nodes}": {problem}') from None


def require_nodes(spec: _core.Spec, nodes: str, ranks: Sequence[int]) -> None:
    """Refuse a node map that is malformed, does not fit some of the ascending `ranks`, or makes too large a grid.

    Raises
    ------
    SwapmeetError
        With the core's message, or the sizes of the grid.
    """
    require_map(nodes, ranks)
    if not nodes or dict(spec.parameters).get("dims") != "nodes":
        return
    sizes = _core.grid_sizes(nodes, ranks[-1])
    places = math.prod(sizes)
    if places > ranks[-1] and places * sum(sizes) > MOST_WORK:
        raise SwapmeetError(
            f'--nodes "{nodes}": a grid of {"x".join(map(str, sizes))} places is too large to look at: '
            f"choose fewer ranks or nodes of less different sizes"
        )


def require_schedule(spec: _core.Spec, text: str) -> None:
    """Refuse the host MPI where a schedule is needed."""
    if spec.family == "native":
        raise SwapmeetError(f'"{text}" is the host MPI and has no schedule: `swapmeet algorithms` lists those that do')


def parse_ranks(text: str, option: str = "-P") -> Sequence[int]:
    """Numbers of ranks, ascending, each once.

    Parameters
    ----------
    text : str
        A list of NUMBER, FIRST:LAST or FIRST:LAST:STEP; LAST belongs to the range.
    option : str
        Where it was given, for messages.

    Raises
    ------
    SwapmeetError
        If it is anything else, or more than `MOST_VALUES` numbers.
    """
    ranges = [parse_range(part.strip(), text, option) for part in text.split(",")]
    if sum(map(len, ranges)) > MOST_VALUES:
        raise SwapmeetError(f'{option} "{text}": more than {MOST_VALUES} numbers; give a step, as in 2:100000:97')
    return sorted(set(itertools.chain(*ranges)))


def parse_range(part: str, text: str, option: str) -> range:
    """NUMBER, FIRST:LAST or FIRST:LAST:STEP; `text` is what it is a part of, for messages."""
    match = RANGE.fullmatch(part)
    if match is None:
        raise SwapmeetError(f'{option} "{text}": expected a number, FIRST:LAST or FIRST:LAST:STEP, not "{part}"')
    first = int(match[1])
    last = int(match[2] or first)
    step = int(match[3] or 1)
    if first < 1 or last > MOST_RANKS:
        raise SwapmeetError(f'{option} "{text}": "{part}" is not within 1 to {MOST_RANKS}')
    if step < 1 or last < first:
        raise SwapmeetError(f'{option} "{text}": "{part}" is empty; ranges ascend, by a step of at least 1')
    return range(first, last + 1, step)


def ranges_text(values: Sequence[int]) -> str:
    """The shortest way to write ascending numbers: "2:64,128"."""
    parts: list[str] = []
    for _, group in itertools.groupby(enumerate(values), lambda pair: pair[1] - pair[0]):
        run = [value for _, value in group]
        parts += [f"{run[0]}:{run[-1]}"] if len(run) > 2 else map(str, run)
    return ",".join(parts)


def runs_text(numbers: Iterable[int], most: int | None = None) -> str:
    """Numbers in a sentence, as in "0-3, 7"; cut after `most` runs, if given."""
    runs = []
    for _, group in itertools.groupby(enumerate(sorted(set(numbers))), lambda pair: pair[1] - pair[0]):
        run = [value for _, value in group]
        runs.append(range(run[0], run[-1] + 1))
    return text_of_runs(runs, most)


def text_of_runs(runs: Sequence[range], most: int | None = None) -> str:
    """The same of runs that are known."""
    texts = [f"{run.start}-{run.stop - 1}" if run.stop > run.start + 1 else str(run.start) for run in runs[:most]]
    return ", ".join(texts) + (", ..." if most is not None and len(runs) > most else "")


def gaps(numbers: Iterable[int], end: int) -> list[range]:
    """The runs of 0 to `end` - 1 that are not among `numbers`: in their time, however large `end` is."""
    bounds = [-1, *sorted({number for number in numbers if 0 <= number < end}), end]
    return [range(last + 1, first) for last, first in itertools.pairwise(bounds) if last + 1 < first]


def alias_names(sparse: bool = True) -> list[str]:
    """Every named algorithm of ours; if not `sparse`, without those that are others but for sparse exchanges."""
    return [name for name, *_ in _core.aliases() if sparse or "sparse=" not in str(_core.parse_spec(name))]
