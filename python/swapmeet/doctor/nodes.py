"""Whether the library reaches every rank: a shell is launched in the place of each, and prints what it has loaded."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from swapmeet.doctor.finding import Finding, fine, note, wrong
from swapmeet.mpi import launch
from swapmeet.mpi.mpis import Mpi

Problem = Callable[[str, str, str], Finding]

LIMIT_S = 60
MARK = "swapmeet-rank"
#: POSIX, and no program that a compute node may lack. The library of the shell itself is what a rank would have.
#: It does not end at once: Open MPI 5.0.11 waits for ever, once in 20 launches on other hosts, for programs that do.
PROBE = rf"""
file=$(sed -n 's|^[^/]*\(/.*/libswapmeet\.so[^ ]*\).*|\1|p' /proc/$$/maps | tail -n 1)
sum=$(test -z "$file" || cksum < "$file")
set=$(env | grep '^SWAPMEET_' | sort | tr '\n\t' '  ')
printf '{MARK}\t%s\t%s\t%s\t%s\n' "$(uname -n)" "$file" "$sum" "$set"
sleep 1
"""


@dataclass(frozen=True)
class Rank:
    """What a rank's shell has printed."""

    node: str
    file: str  #: the library that was loaded; "": none
    checksum: str  #: of its bytes, as by cksum
    variables: str  #: SWAPMEET_NAME=VALUE of each


def ranks(text: str) -> list[Rank]:
    """The ranks that a launch has printed, among other lines."""
    lines = (line.split("\t") for line in text.splitlines() if line.startswith(MARK))
    return [Rank(*(word.strip() for word in words[1:])) for words in lines if len(words) == 5]


def findings(target: Mpi, number: int, launcher: str | None, library: Path) -> Iterator[Finding]:
    """Rows on the ranks as `swapmeet run` launches them, and on those that this shell's own LD_PRELOAD reaches."""
    seen = f"every node must see the same {library}: put it on a shared file system, and name it by SWAPMEET_LIBRARY"
    argv = ["sh", "-c", PROBE]
    words = launch.command(target, number, argv, library, None, launcher)
    yield compared("nodes", _asked(target, number, words), number, wrong, seen)
    if any(map(launch.is_ours, os.environ.get("LD_PRELOAD", "").replace(":", " ").split())):
        by_mpi = "mpirun -x LD_PRELOAD" if target.abi == "openmpi" else "mpiexec -genv LD_PRELOAD FILE"
        passed = f"{by_mpi}, or srun --export=ALL, passes it on; `swapmeet run` does without"
        words = [*launch.beginning(target, number, launcher), *argv]
        yield compared("ranks by LD_PRELOAD", _asked(target, number, words), number, note, passed)


def _asked(target: Mpi, number: int, words: Sequence[str]) -> list[Rank]:
    try:
        return ranks(launch.run(target, number, words, timeout_s=LIMIT_S).stdout)
    except (OSError, subprocess.TimeoutExpired):
        return []


def compared(matter: str, found: Sequence[Rank], number: int, problem: Problem, hint: str) -> Finding:
    """What the ranks differ in, if anything.

    Parameters
    ----------
    matter : str
        Of the row.
    found : sequence of Rank
        The ranks that have answered.
    number : int
        Ranks that were launched.
    problem : function
        Makes a finding of ranks without the same library: `note` or `wrong`.
    hint : str
        What to do then.
    """
    nodes = {rank.node: rank for rank in reversed(found)}
    on = f"{len(nodes)} {'node' if len(nodes) == 1 else 'nodes'}"
    if len(found) < number:
        return problem(matter, f"{len(found)} of {number} ranks have answered", "the launch itself fails: see below")
    if without := [rank for rank in found if not rank.file]:
        where = ", ".join(sorted({rank.node for rank in without}))
        return problem(matter, f"{len(without)} of {number} ranks have not loaded the library, on {where}", hint)
    if len({rank.checksum for rank in found}) > 1:
        return problem(matter, f"nodes have different libraries: {_each(nodes, 'file', 'checksum')}", hint)
    if len({rank.variables for rank in found}) > 1:
        what = f"ranks have different variables: {_each(nodes, 'variables')}"
        return note(matter, what, "give all ranks the same SWAPMEET_ variables")
    first = found[0]
    return fine(matter, f"{number} ranks on {on} have loaded {first.file}; variables: {first.variables or 'none'}")


def _each(nodes: Mapping[str, Rank], *names: str) -> str:
    """What the nodes have, those that have the same once."""
    by_value: dict[str, list[str]] = {}
    for node, rank in sorted(nodes.items()):
        by_value.setdefault(" ".join(getattr(rank, name) or "none" for name in names), []).append(node)
    return "; ".join(f"{', '.join(named)}: {value}" for value, named in by_value.items())
