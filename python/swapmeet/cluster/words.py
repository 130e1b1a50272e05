"""How users write times, rates, and things with parameters, as in slow(node=2,after=1s)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from swapmeet.errors import SwapmeetError

CALL = re.compile(r"([a-z-]+)\((.*)\)")


def parse_call(text: str, known: Mapping[str, tuple[str, ...]], option: str) -> tuple[str, dict[str, str]]:
    """Name and parameters of one of the `known` things, as name(parameter=value,...).

    Parameters
    ----------
    known
        Name -> its parameters; those that end in "?" may be left out.

    Raises
    ------
    SwapmeetError
        With all forms that are accepted.
    """
    match = CALL.fullmatch(text.strip())
    pairs = [word.partition("=")[::2] for word in match[2].split(",")] if match else []
    values = {name.strip(): value.strip() for name, value in pairs}
    wanted = known.get(match[1] if match else "", ())
    names = {name.rstrip("?") for name in wanted}
    needed = {name for name in wanted if not name.endswith("?")}
    if not match or not wanted or not needed <= set(values) <= names or len(values) != len(pairs):
        forms = " or ".join(f"{name}({', '.join(parameters)})" for name, parameters in known.items())
        raise SwapmeetError(f'{option} "{text}": expected {forms}, as in name=value; those with "?" may be left out')
    assert match
    return match[1], values
