"""The command `swapmeet calibrate`: its options."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from swapmeet.cli.arguments import RANKS, AsJson, Launcher
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import mpis
from swapmeet.output import print_json
from swapmeet.units import parse_duration

MOST_RANKS = 1 << 16


def calibrate(
    ranks: Annotated[int | None, typer.Option(*RANKS, help="Number of ranks. Default: the cores.")] = None,
    mpi: Annotated[str | None, typer.Option(help="An MPI of `swapmeet info`.")] = None,
    budget: Annotated[
        str,
        typer.Option(metavar="TIME", help="Time for all of it, as in 30s or 5m. The minimum may take 30 s."),
    ] = "1m",
    launches: Annotated[int, typer.Option(help="Number of launches.")] = 3,
    launcher: Launcher = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where the description goes.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure what messages and copies cost on this machine.

    The description serves `swapmeet model --machine` and `swapmeet tune`.

    Prints how well the model predicts all-to-alls that the description was not fitted to (docs/calibration.md).
    """
    target = mpis.chosen(mpi)
    wanted = max(2, len(os.sched_getaffinity(0))) if ranks is None else ranks
    if not 2 <= wanted <= MOST_RANKS:
        raise SwapmeetError(f"-P {wanted}: expected 2 to {MOST_RANKS}")
    if not 1 <= launches <= 1000:
        raise SwapmeetError(f"--launches {launches}: expected 1 to 1000")
    seconds = parse_duration(budget, "--budget")
    missing = next((name for name in ("numpy", "scipy") if find_spec(name) is None), None)
    if missing:
        raise SwapmeetError(f"swapmeet calibrate needs {missing}: `pip install 'swapmeet[bench]'`")
    from swapmeet.measure.calibration import run
    from swapmeet.mpi.places import machine_file

    place = output or machine_file(target.kind)
    found = run.calibrate(target, wanted, seconds, launches, launcher, place)
    if as_json:
        print_json("calibrate", description=place, **run.record(found))
    else:
        run.report(found)
        print(f"swapmeet: `swapmeet model SPEC -P 1024 -S 512 --machine {place}` reads it")
