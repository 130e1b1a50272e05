"""How users write times, rates, and things with parameters, as in slow(node=2,after=1s)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from swapmeet.errors import SwapmeetError

NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
BITS = {"kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([a-z]*)")
CALL = re.compile(r"([a-z-]+)\((.*)\)")
MOST_NS = 10**15  #: some days


def parse_time(text: str, option: str) -> int:
    """Nanoseconds of a time such as 50us, 1.5ms or 2s; 0 needs no unit.

    Raises
    ------
    SwapmeetError
        If it is none.
    """
    match = AMOUNT.fullmatch(text.strip())
    if match and (match[2] in NS or float(match[1]) == 0 == len(match[2])):
        time = round(float(match[1]) * NS.get(match[2], 1))
        if time <= MOST_NS:
            return time
    raise SwapmeetError(f'{option} "{text}": expected a time such as 50us, 1.5ms or 2s')


def parse_rate(text: str, option: str) -> float:
    """Bytes per second of a rate such as 1gbit.

    Raises
    ------
    SwapmeetError
        If it is none, or 0.
    """
    match = AMOUNT.fullmatch(text.strip().lower())
    if match and match[2] in BITS and float(match[1]) > 0:
        return float(match[1]) * BITS[match[2]] / 8
    raise SwapmeetError(f'{option} "{text}": expected a rate such as 100mbit or 1gbit')


def parse_call(text: str, known: Mapping[str, tuple[str, ...]], option: str) -> tuple[str, dict[str, str]]:
    """Name and parameters of one of the `known` things, as name(parameter=value,...).

    Parameters
    ----------
    known
        Name -> its parameters; those that end in "?" may be left out.

    Raises
    ------
    SwapmeetError
        With all that could have been said.
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
