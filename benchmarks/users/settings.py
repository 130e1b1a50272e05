"""Where users' benchmarks run: on this machine, or on a virtual cluster in it; and a launch there."""

from __future__ import annotations

import functools
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from launches import AGAIN, AUTO, RAW, Case, Launch
from usual import CALLS, Benchmark, Sizes

from swapmeet.cluster import launching
from swapmeet.cluster.description import Network
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.machine import now
from swapmeet.mpi import application, launch, mpis
from swapmeet.mpi.library import library, source_tree

NAMES = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel MPI"}
ONE_NODE = "one node"
VOLUME = 16 << 20  #: bytes that all ranks together exchange at most in one call
LARGEST = 1 << 20  #: OSU's default
CLUSTER_SIZES = Sizes(most=512, calls=135)  #: 149 with those that do not count
TAIL = 1500  #: characters shown of what failed


@dataclass(frozen=True)
class Place:
    """One node, or several on a network."""

    name: str = ONE_NODE
    per_node: int = 0  #: 0: all
    network: Network | None = None


@dataclass(frozen=True)
class Setting:
    """An MPI and ranks at a place, with the specs that are compared there."""

    mpi: mpis.Mpi
    ranks: int
    place: Place
    specs: Sequence[str]
    sizes: Sizes

    def case(self, benchmark: Benchmark) -> Case:
        """What results of a benchmark here are known by."""
        name = f"{NAMES.get(self.mpi.kind, self.mpi.kind)} {self.mpi.version}"
        shared = self.ranks > len(os.sched_getaffinity(0))
        return Case(self.place.name, name, self.ranks, shared, benchmark.name)

    @property
    def candidates(self) -> list[str]:
        """In the order of a turn."""
        return [RAW, AUTO, *([AGAIN] if self.place.network else []), *self.specs]


def one_node(target: mpis.Mpi, ranks: int, specs: Sequence[str], most: int | None, calls: int | None) -> Setting:
    """A setting on this machine; sizes end where a call would exchange more than VOLUME, or at OSU's largest."""
    within = LARGEST
    while within > 1 and ranks * ranks * within > VOLUME:
        within //= 2
    return Setting(target, ranks, Place(), specs, Sizes(most or within, calls or CALLS))


def cluster(
    target: mpis.Mpi, shape: str, network: Network, specs: Sequence[str], most: int | None, calls: int | None
) -> Setting:
    """A setting on a virtual cluster; `shape`: NODESxRANKS, as in 4x4.

    Raises
    ------
    SwapmeetError
        If it is none.
    """
    nodes, _, per_node = shape.partition("x")
    if not (nodes.isdecimal() and per_node.isdecimal() and int(nodes) > 1 and int(per_node) > 0):
        raise SwapmeetError(f'--cluster "{shape}": it is NODESxRANKS, such as 4x4')
    name = f"{nodes} nodes, {network.latency}, {network.rate}"
    place = Place(name, int(per_node), network)
    return Setting(
        target,
        int(nodes) * int(per_node),
        place,
        specs,
        Sizes(most or CLUSTER_SIZES.most, calls or CLUSTER_SIZES.calls),
    )


def clean_environment() -> Iterator[str]:
    """Take away what would make `raw` something else than the host MPI, and `auto` something else than the defaults.

    Nor does `auto` know what earlier launches have found: it is measured as a new user has it.
    Yields a sentence on each.
    """
    os.environ.pop("SWAPMEET_MEMORY", None)
    for name in [name for name in os.environ if name.startswith("SWAPMEET_")]:
        del os.environ[name]
        yield f"{name} is not passed on"
    if os.environ.pop("LD_PRELOAD", None):
        yield "LD_PRELOAD is not passed on"
    os.environ["SWAPMEET_MEMORY"] = "off"
    for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"):  # what was tuned on this machine
        os.environ[name] = tempfile.gettempdir() + "/none"


def run(setting: Setting, benchmark: Benchmark, candidate: str, turn: int, timeout_s: float) -> Launch:
    """Launch once.

    Raises
    ------
    SwapmeetError
        If it fails, takes too long, or does not report what it should.
    """
    argv = benchmark.words(setting.mpi, setting.sizes)
    preload = None if candidate == RAW else library(setting.mpi)
    variables = {} if candidate in (RAW, AUTO, AGAIN) else launch.library_variables(candidate)
    if setting.place.network and candidate in (AUTO, AGAIN):
        variables["SWAPMEET_MEMORY"] = str(_memory(setting.case(benchmark), new=candidate == AUTO))
    target = _shown(str(argv[0]), setting.mpi.name)
    words, more = launch.command(target, setting.ranks, argv, preload, variables), {"OMP_NUM_THREADS": "1"}
    if setting.place.network:
        nodes = [setting.place.per_node] * (setting.ranks // setting.place.per_node)
        words = launching.command(target, nodes, setting.place.network, words)
        more |= launching.variables(target, setting.ranks)
    with tempfile.TemporaryDirectory(prefix="swapmeet-users-") as folder:
        began = time.monotonic()
        try:
            done = launch.run(target, setting.ranks, words, env=more, timeout_s=timeout_s, folder=Path(folder))
        except subprocess.TimeoutExpired:
            raise SwapmeetError(f"not done after {timeout_s:.0f} s") from None
        seconds = time.monotonic() - began
    text, shown = done.stdout + done.stderr, without_tree(shlex.join(words)).replace(f"{tempfile.gettempdir()}/", "")
    cells = tuple(benchmark.cells(text))
    if done.returncode != 0 or not cells or "WRONG" in text:
        raise SwapmeetError(f"{shown}: status {done.returncode}:\n{text.strip()[-TAIL:]}")
    if (candidate == RAW and "# Swapmeet: yes" in text) or (candidate != RAW and "# Swapmeet: no" in text):
        raise SwapmeetError(f"{shown}: the library is {'' if candidate == RAW else 'not '}in the process")
    return Launch(setting.case(benchmark), candidate, turn, shown, now(), round(seconds, 3), cells)


def _memory(case: Case, new: bool) -> Path:
    """The file of what the launches of a turn have measured; without one if this is the first."""
    file = Path(tempfile.gettempdir(), f"swapmeet-users-{os.getpid()}-{abs(hash(case))}.memory")
    if new:
        file.unlink(missing_ok=True)
    return file


def without_tree(text: str) -> str:
    """Files of this tree by their paths in it, for records."""
    return text.replace(f"{source_tree()}/", "")


@functools.cache
def _shown(program: str, name: str) -> mpis.Mpi:
    """The MPI, shown to the program where that was linked with another of its kind, as Intel's IMB-MPI1 for MPICH."""
    return application.choose_mpi([program], name)
