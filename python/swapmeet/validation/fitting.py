"""From some measured cells to the numbers of a machine's description: `swapmeet validate --fit FILE`.

A file names the cells, which numbers are free and where they start, and gives all others with their sources
(python/swapmeet/validation/fits). The numbers make the logarithms of estimates over measured times small; a weak pull
to where they start settles those that the cells do not determine.
"""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from swapmeet import machines
from swapmeet.errors import SwapmeetError
from swapmeet.structs import decoded, reason
from swapmeet.validation import algorithms
from swapmeet.validation.measurements import Measured
from swapmeet.validation.predicting import ESTIMATE, Predictor

MOST = 1e9  #: of a number, as in descriptions
LEAST = 1e-9  #: of predicted over measured
PULL = 0.07  #: the residual of a number that is a factor of e from where it starts; of a cell that is off by e: 1
SOFT = 0.3  #: cells further off than that pull less than by their squares
MOST_SHARE = 0.25  #: of the cells that can be predicted
DIGITS = 3


def fit(path: Path, cells: Sequence[Measured], at_random: int | None = None) -> dict[str, Any]:
    """The description that a fit's file asks for, as a JSON document.

    Parameters
    ----------
    path : Path
        Of the file.
    cells : sequence of Measured
        Of which it chooses.
    at_random : int, optional
        Fit to as many other cells, by this seed, to see how much depends on the choice.

    Raises
    ------
    SwapmeetError
        If the file cannot be used, or names cells that were not measured or that are not predicted, or more than a
        quarter of them.
    """
    import numpy as np
    from scipy import optimize  # type: ignore[import-untyped]

    wanted = _read(path)
    some = [one for one in cells if one.system == wanted.system]
    chosen = _chosen(path, wanted, some)
    if at_random is not None:
        known = [one for one in some if _spec(one)]
        chosen = random.Random(at_random).sample(known, len(chosen))
    draft, free, shared = _split(path, wanted.description)
    starts = np.log([one["start"] for one in free.values()])
    bounds = np.log([[one["low"], one["high"]] for one in free.values()]).T
    first = Predictor(_machine(draft, free, shared, starts, path))
    if len(first.predict(ESTIMATE, chosen)) < len(chosen):
        raise SwapmeetError(f"--fit {path}: a cell that is fitted cannot be predicted: {'; '.join(first.told())}")
    predictable = len(first.predict(ESTIMATE, some))
    if len(chosen) > MOST_SHARE * predictable:
        raise SwapmeetError(f"{path}: {len(chosen)} cells are fitted of {predictable}: a quarter at most")

    def residuals(logs: Any) -> Any:
        machine = first.with_costs(_machine(draft, free, shared, logs, path))
        off = [math.log(max(one.ratio, LEAST)) for one in machine.predict(ESTIMATE, chosen)]
        return np.array([*off, *(PULL * (logs - starts))])

    found = optimize.least_squares(residuals, starts, bounds=bounds, loss="soft_l1", f_scale=SOFT)
    noise = math.sqrt(np.sum(residuals(found.x)[: len(chosen)] ** 2) / len(chosen))
    # of a log: what the cells, which are off by about `noise`, and the pull leave open
    weights = np.diag([1 / max(noise, 1e-3)] * len(chosen) + [1.0] * len(free))
    spread = np.sqrt(np.diag(np.linalg.inv((weights @ found.jac).T @ (weights @ found.jac))))
    numbers = {}
    for (place, one), log, deviation in zip(free.items(), found.x, np.minimum(spread, math.log(10)), strict=True):
        value = _rounded(math.exp(log))
        low, high = (_rounded(math.exp(log + sign * 1.96 * deviation)) for sign in (-1, 1))
        numbers[place] = {
            "value": value,
            "low": min(value, max(low, one["low"])),
            "high": max(value, min(high, one["high"])),
            "source": f"fitted; {one['meaning']}" if one.get("meaning") else "fitted",
        }
    return _filled(draft, numbers, shared) | {
        "measured": {
            "system": wanted.system,
            "data": wanted.data,
            "fitted": [[one.nodes, one.per_node, one.ranks, one.algorithm, one.block_bytes, one.us] for one in chosen],
            "of": predictable,
            "command": f"swapmeet validate --fit {path.name}",
        }
    }


class Fit(msgspec.Struct):
    """What is to be fitted: docs/validation.md."""

    system: str  #: as measurements name it
    data: str  #: where they are from
    fitted: list[Any]  #: [nodes, algorithm, bytes of a block] of each cell
    description: dict[str, Any]  #: of a machine, with free numbers


class Free(msgspec.Struct, forbid_unknown_fields=True):
    """A number that is to be fitted."""

    start: float
    low: float
    high: float
    meaning: str = ""

    def __post_init__(self) -> None:
        if not (0 < self.low <= self.start <= self.high <= MOST and self.low < self.high):
            raise ValueError("the bounds")


def _read(path: Path) -> Fit:
    try:
        return decoded(msgspec.json.Decoder(Fit).decode, path.read_bytes())
    except OSError as problem:
        raise SwapmeetError(f"--fit {path}: {problem.strerror}") from None
    except msgspec.MsgspecError as problem:
        raise SwapmeetError(f"--fit {path}: {reason(problem, f'no JSON object ({problem})')}") from None


def _spec(one: Measured) -> str | None:
    algorithm = algorithms.find(one.algorithm)
    return None if algorithm is None else algorithm.spec


def _chosen(path: Path, wanted: Fit, cells: Sequence[Measured]) -> list[Measured]:
    found: list[Measured] = []
    for cell in wanted.fitted:
        try:
            one = _cell(cell, wanted.system, cells)
        except ValueError as problem:
            raise SwapmeetError(f"--fit {path}: {json.dumps(cell)} {problem}") from None
        if one in found:
            raise SwapmeetError(f"--fit {path}: {json.dumps(cell)} is given twice")
        found.append(one)
    if not found:
        raise SwapmeetError(f'--fit {path}: "fitted" names no cell')
    return found


def _cell(cell: Any, system: str, cells: Sequence[Measured]) -> Measured:
    """The one that [nodes, algorithm, bytes of a block] names; ValueError: why there is none."""
    if not isinstance(cell, list) or [type(part) for part in cell] != [str, str, int]:
        raise ValueError("is no [nodes, algorithm, bytes of a block]")
    some = [one for one in cells if [one.nodes, one.algorithm, one.block_bytes] == cell]
    if not some:
        raise ValueError(f"of {system} was not measured")
    if len(some) > 1:
        raise ValueError(f"of {system} was measured with several numbers of ranks")
    if _spec(some[0]) is None:
        raise ValueError("cannot be fitted: its algorithm is not predicted")
    return some[0]


def _walk(document: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        where = f"{place}.{key}" if place else key
        if isinstance(value, dict) and not {"value", "start", "as"} & value.keys():
            yield from _walk(value, where)
        else:
            yield where, value


def _keys(document: Mapping[str, Any]) -> Iterator[str]:
    for key, value in document.items():
        yield key
        if isinstance(value, dict):
            yield from _keys(value)


def _split(
    path: Path, description: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]], dict[str, str]]:
    """A draft, its free numbers, and those that are the same as others."""
    found = {place: value for place, value in _walk(description) if isinstance(value, dict)}
    dotted = [key for key in _keys(description) if "." in key]
    if dotted:
        raise SwapmeetError(f"--fit {path}: {json.dumps(dotted[0])} is no name of a description")
    free = {place: value for place, value in found.items() if "start" in value}
    shared = {place: value["as"] for place, value in found.items() if "as" in value}
    if not free:
        raise SwapmeetError(f'--fit {path}: no number has a "start": nothing is to be fitted')
    for place, value in free.items():
        try:
            msgspec.convert(value, Free)
        except msgspec.ValidationError:
            raise SwapmeetError(
                f'--fit {path}: {place}: expected {{"start": ..., "low": ..., "high": ...}}, perhaps with a "meaning", '
                f"a text, and 0 < low <= start <= high and low < high, not {json.dumps(value)}"
            ) from None
    for place, other in shared.items():
        if found[place].keys() != {"as"} or not isinstance(other, str) or other not in free:
            raise SwapmeetError(
                f'--fit {path}: {place}: expected {{"as": a number that is fitted}}, not {json.dumps(found[place])}'
            )
    return copy.deepcopy(dict(description)), free, shared


@dataclass(frozen=True)
class Counts:
    """Of a fit: how much it leaves free, and of how much it is made."""

    free: int  #: numbers
    cells: int  #: that it is fitted to
    of: int  #: cells of the system whose algorithm is a point of our family
    distinct: int  #: the same, where two names for the same messages count once
    of_distinct: int


def counts(path: Path, cells: Sequence[Measured]) -> Counts:
    """Of a fit's file, among measured cells."""
    wanted = _read(path)
    some = [one for one in cells if one.system == wanted.system]
    known = [one for one in some if _spec(one)]
    chosen = _chosen(path, wanted, some)
    distinct = [{(one.cell, _spec(one)) for one in part} for part in (chosen, known)]
    free = len(_split(path, wanted.description)[1])
    return Counts(free, len(chosen), len(known), len(distinct[0]), len(distinct[1]))


def _filled(draft: Mapping[str, Any], numbers: Mapping[str, Any], shared: Mapping[str, str]) -> dict[str, Any]:
    made = copy.deepcopy(dict(draft))
    for place, value in [*numbers.items(), *((place, numbers[other]) for place, other in shared.items())]:
        *path, last = place.split(".")
        table = made
        for key in path:
            table = table[key]
        table[last] = value
    return made


def _machine(
    draft: Mapping[str, Any], free: Mapping[str, Any], shared: Mapping[str, str], logs: Any, path: Path
) -> machines.Machine:
    numbers = {place: math.exp(log) for place, log in zip(free, logs, strict=True)}
    return machines.parse(json.dumps(_filled(draft, numbers, shared)), str(path), "--fit")


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
