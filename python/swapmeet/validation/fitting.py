"""From some measured cells to the numbers of a machine's description: `swapmeet validate --fit FILE`.

A file says which cells, which numbers are free and where they start, and gives all others with their sources
(python/swapmeet/validation/fits). The numbers make the logarithms of estimates over measured times small; a weak pull
to where they start settles those of which the cells say nothing.
"""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from swapmeet import machines
from swapmeet.errors import SwapmeetError
from swapmeet.validation import algorithms
from swapmeet.validation.measurements import Measured
from swapmeet.validation.predicting import ESTIMATE, Predictor

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
        If the file cannot be used, or names cells that nobody measured, or more than a quarter of them.
    """
    import numpy as np
    from scipy import optimize  # type: ignore[import-untyped]

    wanted = _read(path)
    some = [one for one in cells if one.system == wanted["system"]]
    chosen = _chosen(path, wanted, some)
    if at_random is not None:
        known = [one for one in some if (algorithm := algorithms.find(one.algorithm)) and algorithm.spec]
        chosen = random.Random(at_random).sample(known, len(chosen))
    draft, free, shared = _split(wanted["description"])
    if not free:
        raise SwapmeetError(f'{path}: no number has a "start": nothing is to be fitted')
    starts = np.log([one["start"] for one in free.values()])
    bounds = np.log([[one["low"], one["high"]] for one in free.values()]).T
    first = Predictor(_machine(draft, free, shared, starts, path))
    predictable = len(first.predict(ESTIMATE, some))
    if len(chosen) > MOST_SHARE * predictable:
        raise SwapmeetError(f"{path}: {len(chosen)} cells are fitted of {predictable}: a quarter at most")

    def residuals(logs: Any) -> Any:
        machine = first.with_costs(_machine(draft, free, shared, logs, path))
        off = [math.log(one.ratio) for one in machine.predict(ESTIMATE, chosen)]
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
            "system": wanted["system"],
            "data": wanted["data"],
            "fitted": [[one.nodes, one.algorithm, one.block_bytes] for one in chosen],
            "of": predictable,
            "command": f"swapmeet validate --fit {path.name}",
        }
    }


def _read(path: Path) -> Mapping[str, Any]:
    try:
        wanted: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise SwapmeetError(f"--fit {path}: {problem.strerror}") from None
    except ValueError as problem:
        raise SwapmeetError(f"--fit {path}: no JSON ({problem})") from None
    for key, kind in (("system", str), ("data", str), ("fitted", list), ("description", dict)):
        if not isinstance(wanted, dict) or not isinstance(wanted.get(key), kind):
            raise SwapmeetError(f'--fit {path}: "{key}" is missing or no {kind.__name__}')
    return wanted


def _chosen(path: Path, wanted: Mapping[str, Any], cells: Sequence[Measured]) -> list[Measured]:
    known = {(one.nodes, one.algorithm, one.block_bytes): one for one in cells}
    found = []
    for cell in wanted["fitted"]:
        one = known.get(tuple(cell)) if isinstance(cell, list) else None
        if one is None:
            raise SwapmeetError(f"--fit {path}: {cell} of {wanted['system']} was not measured")
        found.append(one)
    return found


def _walk(document: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        where = f"{place}.{key}" if place else key
        if isinstance(value, dict) and not {"value", "start", "as"} & value.keys():
            yield from _walk(value, where)
        else:
            yield where, value


def _split(description: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]], dict[str, str]]:
    """A draft, its free numbers, and those that are the same as others."""
    found = dict(_walk(description))
    free = {place: value for place, value in found.items() if isinstance(value, dict) and "start" in value}
    shared = {place: value["as"] for place, value in found.items() if isinstance(value, dict) and "as" in value}
    return copy.deepcopy(dict(description)), free, shared


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
