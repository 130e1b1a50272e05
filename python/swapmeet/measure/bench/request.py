"""From the options of `swapmeet bench`, as they were typed or kept in a results file, to what is measured."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.campaign import Settings, require_memory
from swapmeet.measure.bench.candidates import AUTO, require_candidates
from swapmeet.measure.bench.cells import COLLECTIVES, DATATYPES
from swapmeet.model.varying import parse_workload
from swapmeet.mpi import mpis
from swapmeet.mpi.launch import launcher_words
from swapmeet.specs import parse_ranks
from swapmeet.units import parse_bytes, parse_duration

SIZES = "8,64,512,4KiB,32KiB,256KiB"
MOST_SAMPLES = 10**6
CONDITIONS = ("touch", "pin", "launcher")  #: of samples: not to be mixed in a file


@dataclass
class Request:
    """The options; None where one was not given. `asdict` of it goes into the results file."""

    specs: list[str] | None = None
    mpi: str | None = None
    ranks: str | None = None
    collective: str | None = None
    sizes: str | None = None
    doubling: str | None = None  #: -m
    workloads: list[str] | None = None
    seeds: str | None = None
    datatype: str | None = None
    nodes: str | None = None
    launches: int | None = None
    samples: int | None = None
    least: int | None = None
    most: int | None = None
    precision: float | None = None
    budget: str | None = None
    warm_up: int | None = None
    validate: int | None = None
    phases: bool | None = None
    limits: bool | None = None
    overlap: str | None = None
    touch: bool | None = None
    pin: bool | None = None
    launcher: str | None = None
    order_seed: int | None = None

    def given(self) -> dict[str, Any]:
        """The options that were given."""
        return {name: value for name, value in asdict(self).items() if value not in (None, [])}

    def after(self, kept: Mapping[str, Any]) -> Request:
        """What is given here, and else what a results file has kept.

        Raises
        ------
        SwapmeetError
            If samples would be taken in another way than those that are there.
        """
        for name in CONDITIONS:
            if getattr(self, name) not in (None, kept.get(name)):
                raise SwapmeetError(
                    f"--{name} differs from what was measured so far, and would be mixed with it: give another file"
                )
        names = {field.name for field in fields(self)}
        return Request(**{name: value for name, value in {**kept, **self.given()}.items() if name in names})

    def settings(self) -> Settings:
        """What is measured; everything is checked that can be before something is launched.

        Raises
        ------
        SwapmeetError
            With the option that cannot be used, and what it may be.
        """
        patterns = tuple(self.specs or [AUTO])
        require_candidates(patterns)
        targets = self._targets()
        if self.launcher is not None:
            launcher_words(self.launcher, 1, targets[0])
        ranks = tuple(parse_ranks(self.ranks or str(max(2, len(os.sched_getaffinity(0))))))
        settings = Settings(
            targets=targets,
            ranks=ranks,
            patterns=patterns,
            exchanges=self.exchanges(),
            nodes=self._nodes(ranks),
            budget_s=None if self.budget is None else parse_duration(self.budget, "--budget"),
            launcher=self.launcher,
            **self._numbers(),
        )
        require_memory(settings)
        return settings

    def _targets(self) -> tuple[mpis.Mpi, ...]:
        if self.mpi is None:
            return (mpis.default(),)
        if self.mpi == "all":
            return tuple(mpi for mpi in mpis.found()[0] if not mpi.standard_abi)  # the same MPIs once more
        return tuple(mpis.find(name) for name in dict.fromkeys(self.mpi.split(",")))

    def _nodes(self, ranks: tuple[int, ...]) -> str:
        try:
            for p in ranks if self.nodes else ():
                _core.parse_node_map(self.nodes or "", p)
        except ValueError as problem:
            raise SwapmeetError(f'--nodes "{self.nodes}": {problem}') from None
        return self.nodes or ""

    def exchanges(self) -> tuple[tuple[str, str, int, str], ...]:
        """What is exchanged: collective, sizes, seed and datatype of each, as in a Cell."""
        workloads = [str(parse_workload(text, "--workload")) for text in self.workloads or []]
        collectives = _words(self.collective or ("alltoallv" if workloads else "alltoall"), COLLECTIVES, "--collective")
        datatypes = _words(self.datatype or "byte", DATATYPES, "--datatype")
        if workloads and "alltoallv" not in collectives:
            raise SwapmeetError("--workload is for MPI_Alltoallv: give --collective alltoallv")
        seeds = _numbers(self.seeds or "0", "--seed")
        found = []
        if not workloads or self.sizes is not None or self.doubling is not None:
            found += [(name, size, 0, kind) for name in collectives for kind in datatypes for size in self._sizes()]
        found += [("alltoallv", text, seed, kind) for kind in datatypes for text in workloads for seed in seeds]
        return tuple(dict.fromkeys(found))

    def _sizes(self) -> list[str]:
        if self.doubling is not None:
            if self.sizes is not None:
                raise SwapmeetError("-m and -S both give sizes: leave one out")
            first, colon, last = self.doubling.rpartition(":")
            least = parse_bytes(first, "-m") if colon else 1
            most = parse_bytes(last, "-m")
            if not 1 <= least <= most:
                raise SwapmeetError(f'-m "{self.doubling}": expected [MIN:]MAX, 1 or more, MIN up to MAX')
            return [str(least << i) for i in range(int(math.log2(most // least)) + 1)]
        return [str(parse_bytes(word, "-S")) for word in (SIZES if self.sizes is None else self.sizes).split(",")]

    def _numbers(self) -> dict[str, Any]:
        standard = Settings((), (), (), ())
        if self.samples is not None and (self.least, self.most) != (None, None):
            raise SwapmeetError("-i is both the least and the most samples: leave --least and --most out")
        exact = None if self.samples is None else _within("-i", self.samples, 0, 1)
        least = exact or _within("--least", self.least, min(standard.least, self.most or MOST_SAMPLES), 1)
        found: dict[str, Any] = {
            "launches": _within("--launches", self.launches, standard.launches, 1, 1000),
            "least": least,
            "most": exact or _within("--most", self.most, max(standard.most, least), least),
            "target": standard.target if self.precision is None else self.precision / 100,
            "warm_up": _within("-x", self.warm_up, standard.warm_up, 0),
            "validate": _within("-c", self.validate, standard.validate, 0),
            "phases": bool(self.phases),
            "limits": bool(self.limits),
            "overlap": tuple(_numbers(self.overlap, "--overlap")) if self.overlap is not None else (),
            "touch": bool(self.touch),
            "pin": bool(self.pin),
            "seed": standard.seed if self.order_seed is None else self.order_seed,
        }
        if not 0 < found["target"] < 1:
            raise SwapmeetError(f"--precision {self.precision}: expected a percentage above 0 and below 100")
        return found


def _words(text: str, known: tuple[str, ...], option: str) -> list[str]:
    words = list(dict.fromkeys(word.strip() for word in text.split(",")))
    for word in words:
        if word not in known:
            raise SwapmeetError(f'{option} "{word}": expected {", ".join(known)}')
    return words


def _numbers(text: str, option: str) -> list[int]:
    if not re.fullmatch(r"\d{1,19}(,\d{1,19})*", text):
        raise SwapmeetError(f'{option} "{text}": expected numbers, such as 0,1,2')
    return [int(word) for word in text.split(",")]


def _within(option: str, value: int | None, standard: int, least: int, most: int = MOST_SAMPLES) -> int:
    if value is None:
        return standard
    if not least <= value <= most:
        raise SwapmeetError(f"{option} {value}: expected {least} to {most}")
    return value
