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


def beside(argv: Sequence[str | Path]) -> list[str | Path]:
    """The words of a program, where those that preload something preload the naps, too."""
    return [f"{word}:{naps()}" if str(word).startswith(PRELOADED) else word for word in argv]
