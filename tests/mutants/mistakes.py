"""The list of mistakes, all of one build, and how they get into a copy of the tree."""

from __future__ import annotations

import itertools
from pathlib import Path

import mistakes_core
import mistakes_exchange
import mistakes_node
import mistakes_session
from applying import Change, changed
from mistake import Mistake

MISTAKES: tuple[Mistake, ...] = (
    *mistakes_core.MISTAKES,
    *mistakes_node.MISTAKES,
    *mistakes_exchange.MISTAKES,
    *mistakes_session.MISTAKES,
)
VARIABLE = "MUTANT"  #: of the environment: the number of the mistake that is made, from 1 on; 0: none
#: What each file with mistakes begins with. Without a guard of initialisation, for some files are part of malloc.
SWITCH = f"""#ifndef MISTAKE_IS_MADE
#define MISTAKE_IS_MADE
#include <cstdlib>
inline bool mistake_is_made(int number) {{
  static int made = -1;
  if (made < 0) {{
    const char* const text = std::getenv("{VARIABLE}");
    made = text ? std::atoi(text) : 0;
  }}
  return made == number;
}}
#endif
#line 1 "%s"
"""


def switch(number: int) -> str:
    """The condition under which a mistake is made, in C++."""
    return f"::mistake_is_made({number})"


def with_mistakes(source: Path) -> dict[str, str]:
    """The texts of all files of src/ that have mistakes, with these.

    Raises
    ------
    ValueError
        If a text is not found once.
    """
    numbered = sorted(enumerate(MISTAKES, 1), key=lambda entry: entry[1].file)
    texts = {}
    for file, entries in itertools.groupby(numbered, lambda entry: entry[1].file):
        changes = [Change(number, mistake.old, mistake.new) for number, mistake in entries]
        changes.sort(key=lambda change: change.old)
        texts[file] = SWITCH % file + changed(file, (source / file).read_text(), changes, switch)
    return texts
