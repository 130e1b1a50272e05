"""Tables of slots for programs that are launched: the library reads tables, and knows no networks."""

from __future__ import annotations

import os
from pathlib import Path

from swapmeet import _core
from swapmeet.cache import own_cache_folder
from swapmeet.errors import SwapmeetError
from swapmeet.specs import parse_spec

NAMED = "order=topology("
FIRST_WORD = b"swapmeet-slots"
MAKE_ONE = "make the table in the job, by `swapmeet topology NETWORK --place HOSTS --slots TABLE`, and name that"


def is_table(source: str) -> bool:
    """Whether a file is a table of slots."""
    try:
        with Path(source).open("rb") as file:
            return file.read(len(FIRST_WORD)) == FIRST_WORD
    except OSError:
        return False


def with_table(spec: str, ranks: int | None, *, simulated: bool = False) -> str:
    """A spec as the library reads it: where it names a network, with the table of slots for so many ranks.

    The table is in the user's cache.

    Parameters
    ----------
    spec : str
        Any spec, or "auto".
    ranks : int, optional
        Of the program; None: that is not known yet.
    simulated : bool
        The hosts are those of the network, and without `place=` the ranks are placed one on each host in turn.
        Otherwise only networks by name go without: on which hosts of a real one the ranks will run is not known.

    Raises
    ------
    SwapmeetError
        If the network cannot be read, does not fit, the hosts are not known, or the table cannot be written.
    """
    if NAMED not in spec:
        return spec
    point = parse_spec(spec)
    network, _, place = _core.order_source(point)
    if is_table(network):
        return spec
    if ranks is None:
        raise SwapmeetError(f"{spec}: for how many ranks is not known; {MAKE_ONE}")
    if Path(network).exists() and not place and not simulated:
        raise SwapmeetError(
            f"{spec}: on which hosts of {network} the ranks run is not known; add ,place=HOSTS behind its name, as in "
            f"place=n3*4,n7*4, or {MAKE_ONE}"
        )
    text = str(point)
    begin = text.index(NAMED) + len(NAMED)
    end = _closing(text, begin)
    try:
        slots = _core.order_slots(_core.parse_spec(f"direct({NAMED}{text[begin:end]}))"), ranks)
    except ValueError as problem:
        raise SwapmeetError(str(problem)) from None
    table = own_cache_folder() / "orders" / f"{slots.key:016x}.slots"  # where the core keeps it, too
    if not is_table(str(table)):
        draft = table.with_suffix(f".{os.getpid()}")
        try:
            table.parent.mkdir(exist_ok=True)
            draft.write_text(str(slots))
            draft.replace(table)
        except OSError as problem:
            raise SwapmeetError(f"{table}: {problem.strerror}; the table of {network} is kept there") from None
    return f"{text[:begin]}{table}{text[end:]}"


def _closing(text: str, begin: int) -> int:
    """Where the parenthesis is closed that was opened before `begin`."""
    depth = 1
    for at in range(begin, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    raise ValueError(text)
