"""Ranks that wait sleep where they would yield in vain (naps.c): on two cores most of what tests took was yields.

MPICH yields while ranks meet in MPI_Init, whatever its variables say, and so does the library. By day only, and not
under a sanitizer: at night ranks yield as those of users do.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from sanitizing import REPORTS

from swapmeet.mpi import mpis

SOURCE = Path(__file__).with_name("naps.c")
FOLDER = Path(__file__).parents[1] / "build" / "test-programs"
PRELOADED = "LD_PRELOAD="


@functools.cache
def naps() -> Path:
    """The library that is preloaded, compiled if it is not there."""
    text = SOURCE.read_bytes()
    file = FOLDER / f"naps-{hashlib.sha256(text).hexdigest()[:12]}.so"
    if not file.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(f".{os.getpid()}")
        subprocess.run([mpis.find("mpich").wrapper, "-O2", "-shared", "-fPIC", "-o", draft, SOURCE], check=True)
        draft.replace(file)
    return file


def by_day(config: pytest.Config) -> bool:
    """Whether ranks are to sleep."""
    return not config.getoption("--all", default=False) and REPORTS not in config.stash


def beside(
    config: pytest.Config, argv: Sequence[str | Path], libraries: Sequence[Path]
) -> tuple[list[str | Path], list[Path]]:
    """The words of a program, and the libraries that are preloaded into it; by day all preload the naps, too."""
    if not by_day(config):
        return [*argv], [*libraries]
    words = [f"{word}:{naps()}" if str(word).startswith(PRELOADED) else word for word in argv]
    return words, [*libraries, naps()]
