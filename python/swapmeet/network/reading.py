"""Networks from files and by name, with routes and ranks."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.texts import MIB, text_of

SPREADS = {"destination": _core.Spread.destination, "first": _core.Spread.first, "hash": _core.Spread.hash}
MOST_BYTES = 256 * MIB  #: of a network or a table of slots
FIRST_PARAMETER = re.compile(r"expected one of (\w+),")
NAME = re.compile(r"[a-z][a-z0-9-]*(\(.*)?", re.DOTALL)


def read_network(text: str) -> _core.Network:
    """The network of a file, or one made by name, such as slim-fly(q=5,hosts=4).

    Raises
    ------
    SwapmeetError
        With the line or column, and the problem.
    """
    path = Path(text)
    if not path.exists() and NAME.fullmatch(text):
        try:
            return _core.named_network(text)
        except ValueError as problem:
            names = [name for name, *_ in _core.network_names()]
            near = difflib.get_close_matches(text.partition("(")[0], names, 1)
            hint = f"; did you mean {near[0]}?" if near and not text.startswith(near[0]) else _by_name(text, problem)
            raise SwapmeetError(f'"{text}" is no file, and no network: {problem}{hint}') from None
    content = text_of(path, MOST_BYTES)
    try:
        return _core.parse_network(content)
    except ValueError as problem:
        raise SwapmeetError(f"{text}: {problem}") from None


def _by_name(text: str, problem: ValueError) -> str:
    """What to write where the first parameter has no name: torus(4x4)."""
    name, _, given = text.partition("(")
    if (match := FIRST_PARAMETER.match(str(problem))) and "=" not in given:
        return f"; did you mean {name}({match[1]}={given}?"
    return ""


def read_slots(path: Path) -> _core.Slots:
    """A table of slots.

    Raises
    ------
    SwapmeetError
        With the line and the problem.
    """
    try:
        return _core.parse_slots(text_of(path, MOST_BYTES))
    except ValueError as problem:
        raise SwapmeetError(f"{path}: {problem}") from None


def place(network: _core.Network, routing: str, placement: str, ranks: int) -> _core.PlacedNetwork:
    """Route, and put ranks on hosts.

    Parameters
    ----------
    routing : destination, first, hash or hash:SEED
    placement : block[:RANKS], cyclic[:HOSTS], random:SEED[:RANKS] or hosts, as in n3,n1*4
    ranks : 0: as many as the placement makes

    Raises
    ------
    SwapmeetError
        If one of them is malformed or does not fit.
    """
    name, colon, seed = routing.partition(":")
    if name not in SPREADS or (colon and (name != "hash" or not re.fullmatch(r"\d{1,18}", seed))):
        raise SwapmeetError(f'--routing "{routing}": expected destination, first, hash or hash:SEED')
    try:
        return _core.PlacedNetwork(network, SPREADS[name], int(seed or 0), placement, ranks)
    except ValueError as problem:
        where = "" if str(problem).startswith("the routes from") else f'--place "{placement}": '
        raise SwapmeetError(f"{where}{problem}") from None
