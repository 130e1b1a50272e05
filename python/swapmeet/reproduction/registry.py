"""All figures, and finding them by what users type."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable

from swapmeet.errors import SwapmeetError
from swapmeet.reproduction import fft, nonuniform, radix, slimfly, tra
from swapmeet.reproduction.figure import Figure

FIGURES: tuple[Figure, ...] = (*tra.FIGURES, *radix.FIGURES, *slimfly.FIGURES, *nonuniform.FIGURES, *fft.FIGURES)


def papers() -> list[str]:
    """Their keys in docs/papers.bib."""
    return list(dict.fromkeys(figure.paper for figure in FIGURES))


def find(words: Iterable[str]) -> list[Figure]:
    """The figures of these keys, papers or patterns such as 'tra:fig1*', each once, in their order.

    Raises
    ------
    SwapmeetError
        If one names none, with what is like it.
    """
    wanted: set[str] = set()
    for word in words:
        keys = [f.key for f in FIGURES if word == f.paper or fnmatch.fnmatchcase(f.key, word)]
        if not keys:
            like = difflib.get_close_matches(word, [f.key for f in FIGURES] + papers(), 3, 0.5)
            hint = f"did you mean {', '.join(like)}? " if like else ""
            raise SwapmeetError(f'FIGURE "{word}": there is none; {hint}`swapmeet reproduce` lists them all')
        wanted.update(keys)
    return [figure for figure in FIGURES if figure.key in wanted]
