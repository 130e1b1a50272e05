"""Bad input costs one warning in the whole job, never data. The application's own death is not our affair."""

from __future__ import annotations

import os
import subprocess
import uuid
from pathlib import Path

import pytest
from ranks import RANK_VARIABLE

from swapmeet.mpi import launch as launching
from swapmeet.mpi import mpis

pytestmark = pytest.mark.in_turn  # the tested code is ours, whichever the host MPI is

RANKS = 3
CASES = ["--only", "int/basic-to-basic"]


def warnings(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if "swapmeet" in line]


def check_data(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed" in done.stdout


UNDERNEATH = "using the host MPI"


@pytest.mark.parametrize(
    ("name", "value", "problem", "instead"),
    [
        ("ALGORITHM", "pairwize", 'did you mean "pairwise"?', UNDERNEATH),
        ("ALGORITHM", "direct(window=0)", "column 15", UNDERNEATH),
        ("ALGORITHM", "direct(window=2", "column", UNDERNEATH),
        ("ALGORITHM", "direct(order=random,order=xor)", "given twice", UNDERNEATH),
        ("ALGORITHM", "multipair-waitall(segment=-1)", "segment must be", UNDERNEATH),
        ("ALGORITHM", "native(window=1)", "no parameter of native", UNDERNEATH),
        ("ALGORITHM", "(" * 5000, "column 1", UNDERNEATH),
        ("ALGORITHM", "pair\twise\n\x1b[31m", "column 1", UNDERNEATH),  # no terminal is to be recoloured
        ("ALGORITHM", "p\udcff", "column 1", UNDERNEATH),  # a byte that is no UTF-8
        ("NODES", "4+", "expected the ranks of each node", UNDERNEATH),
        ("NODES", "0,1", "names 2 ranks, but there are 3", UNDERNEATH),
        ("NODES", "2/1", "ranks 0 and 1 are together at level 1, but not at level 2", UNDERNEATH),
        ("ALGORITM", "pairwise", "did you mean SWAPMEET_ALGORITHM?", "ignoring"),
        ("EXPLAIN", "yes", "must be 0 or 1", "not explaining"),
        ("STATS", "yes", "must be 0, 1, or a file name", "no statistics"),
        ("SCRATCH_LIMIT", "-1", "must be bytes", "1GiB"),
        ("SCRATCH_LIMIT", "1 GB", "must be bytes", "1GiB"),
        ("SCRATCH_LIMIT", "99999999999999999999", "must be bytes", "1GiB"),
    ],
)
def test_one_warning_says_what_is_wrong(
    launch, built, wheel: str, name: str, value: str, problem: str, instead: str
) -> None:
    done = launch(RANKS, [built(wheel, "conformance"), *CASES], mpi=wheel, env={f"SWAPMEET_{name}": value})
    check_data(done)
    [warning] = warnings(done)
    assert warning.startswith(f'swapmeet: warning: SWAPMEET_{name}="{value[0]}')
    assert problem in warning
    assert instead in warning
    assert len(warning) < 1000
    assert "\x1b" not in done.stderr


def served_by(path: Path, tallies) -> set[str]:
    return {tally["algorithm"] for tally in tallies(path) if tally["communicator_ranks"] > 1}


def test_a_malformed_spec_leaves_all_calls_to_the_mpi_underneath(
    launch, built, tallies, tmp_path: Path, wheel: str
) -> None:
    env = {"SWAPMEET_ALGORITHM": "pairwise(", "SWAPMEET_STATS": f"{tmp_path}/%r.json"}
    check_data(launch(RANKS, [built(wheel, "conformance"), *CASES], mpi=wheel, env=env))
    for rank in range(RANKS):
        assert served_by(tmp_path / f"{rank}.json", tallies) == {"native"}


@pytest.mark.parametrize("nodes", ["4+", "0,1", "2/1"])
@pytest.mark.parametrize(("algorithm", "served"), [("two-layer", set()), ("grid", {"Alltoall"})])
def test_without_a_usable_node_map_the_mpi_underneath_serves_what_needs_nodes(
    launch, compiled, tallies, tmp_path: Path, wheel: str, nodes: str, algorithm: str, served: set[str]
) -> None:
    env = {"SWAPMEET_NODES": nodes, "SWAPMEET_STATS": f"{tmp_path}/%r.json"}
    argv = [compiled(wheel, "calls"), "alltoall=2", "dup", "alltoall=1"]
    done = launch(RANKS, argv, mpi=wheel, algorithm=algorithm, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    [warning] = warnings(done)
    assert warning.startswith(f'swapmeet: warning: SWAPMEET_NODES="{nodes}": ')
    assert warning.endswith("; using the host MPI for algorithms that need nodes")
    for rank in range(RANKS):
        found = tallies(tmp_path / f"{rank}.json")
        assert {tally["collective"] for tally in found if tally["algorithm"] != "native"} == served
        assert sum(tally["calls"] for tally in found) == 3


def test_a_spec_that_cannot_serve_some_communicators(launch, compiled, tallies, tmp_path: Path, wheel: str) -> None:
    """xor serves the pairs that the world of six is split into, but not that world."""
    statistics = tmp_path / "statistics.json"
    env = {"SWAPMEET_STATS": str(statistics)}
    argv = [compiled(wheel, "calls"), "alltoall=2", "alltoallv=2", "dup", "alltoall=1", "pairs", "alltoall=3"]
    done = launch(6, argv, mpi=wheel, algorithm="direct(order=xor)", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    [warning] = warnings(done)
    for part in ("SWAPMEET_ALGORITHM", "order=xor", "power of two", "not 6", UNDERNEATH):
        assert part in warning
    for tally in tallies(statistics):
        assert (tally["algorithm"] == "native") == (tally["communicator_ranks"] == 6)
    assert sum(tally["calls"] for tally in tallies(statistics) if tally["communicator_ranks"] == 2) == 3


@pytest.mark.parametrize("file", ["missing/statistics.json", "missing/%r.json", "folder.json"])
def test_statistics_that_cannot_be_written(launch, built, tmp_path: Path, wheel: str, file: str) -> None:
    (tmp_path / "folder.json").mkdir()
    env = {"SWAPMEET_STATS": f"{tmp_path}/{file}"}
    done = launch(RANKS, [built(wheel, "conformance"), *CASES], mpi=wheel, env=env, algorithm="pairwise")
    check_data(done)
    said = warnings(done)
    assert len(said) == (RANKS if "%r" in file else 1)  # each rank answers for its own file
    for warning in said:
        assert f'SWAPMEET_STATS="{tmp_path}/{file}": cannot write ' in warning
        assert "No such file" in warning or "Is a directory" in warning


def per_rank(wheel: str, assignments: dict[int, str], argv: list[str | Path]) -> list[str]:
    """`argv`, started by a shell that gives some ranks variables of their own."""
    cases = "".join(f"{rank}) export {assignment};; " for rank, assignment in assignments.items())
    script = f'case "${RANK_VARIABLE[wheel]}" in {cases}esac; exec "$@"'
    return ["sh", "-c", script, "sh", *map(str, argv)]


PAIRWISE = "direct(order=shift,window=1,complete=all)"
SPREAD_OUT = "direct(order=shift,window=all,complete=all)"


@pytest.mark.parametrize(
    ("assignments", "named"),
    [
        (
            {0: "SWAPMEET_ALGORITHM=spread-out"},
            f"SWAPMEET_ALGORITHM for one: {SPREAD_OUT} on rank 0, {PAIRWISE} on rank 1",
        ),
        (
            {1: "SWAPMEET_ALGORITHM=spread-out"},
            f"SWAPMEET_ALGORITHM for one: {PAIRWISE} on rank 0, {SPREAD_OUT} on rank 1",
        ),
        ({2: "SWAPMEET_ALGORITHM=auto"}, f"SWAPMEET_ALGORITHM for one: {PAIRWISE} on rank 0, auto on rank 2"),
        (
            {0: "SWAPMEET_ALGORITHM=spread-out", 1: "SWAPMEET_ALGORITHM='direct(window=2)'"},
            f"SWAPMEET_ALGORITHM for one: {SPREAD_OUT} on rank 0, direct(order=shift,window=2,complete=all) on rank 1",
        ),
        ({2: "SWAPMEET_SCRATCH_LIMIT=1"}, "SWAPMEET_SCRATCH_LIMIT for one: 1073741824 on rank 0, 1 on rank 2"),
        ({1: "SWAPMEET_NODES=4+"}, "SWAPMEET_ variables; using"),
        ({1: "SWAPMEET_NODES=1"}, "SWAPMEET_NODES for one: mpi on rank 0, 1 on rank 1"),
        ({1: "SWAPMEET_CHECK=1"}, "SWAPMEET_CHECK for one: 0 on rank 0, 1 on rank 1"),
        # By which ranks tell one another that they disagree.
        ({1: "SWAPMEET_GATHERED_RANKS=1"}, "SWAPMEET_GATHERED_RANKS for one: 512,64 on rank 0, 1,64 on rank 1"),
        ({0: "SWAPMEET_GATHERED_RANKS=512,2"}, "SWAPMEET_GATHERED_RANKS for one: 512,2 on rank 0, 512,64 on rank 1"),
    ],
    ids=str,
)
def test_ranks_that_disagree(
    launch, built, tallies, tmp_path: Path, wheel: str, assignments: dict[int, str], named: str
) -> None:
    argv = per_rank(wheel, assignments, [built(wheel, "conformance"), *CASES])
    env = {"SWAPMEET_STATS": f"{tmp_path}/%r.json"}
    done = launch(RANKS, argv, mpi=wheel, algorithm="pairwise", env=env)
    check_data(done)
    reasons = [line for line in warnings(done) if 'rank 1: SWAPMEET_NODES="4+": expected' in line]
    assert len(reasons) == (assignments == {1: "SWAPMEET_NODES=4+"})
    [warning] = [line for line in warnings(done) if line not in reasons]
    for part in ("ranks disagree", named, UNDERNEATH, "same environment"):
        assert part in warning
    for rank in range(RANKS):
        world = [tally for tally in tallies(tmp_path / f"{rank}.json") if tally["communicator_ranks"] == RANKS]
        assert {tally["algorithm"] for tally in world} == {"native"}


@pytest.mark.parametrize(
    "assignment", ["SWAPMEET_ALGORITHM=spread-out", "SWAPMEET_NONBLOCKING=native", "SWAPMEET_NONBLOCKING=thread"]
)
@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("ranks", [3, 4])
def test_a_variable_on_one_rank_only_where_calls_do_not_block(
    launch, compiled, wheel: str, ranks: int, rank: int, assignment: str
) -> None:
    """The ranks agree before any of them goes another way."""
    argv = per_rank(wheel, {rank: assignment}, [compiled(wheel, "all_starts")])
    done = launch(ranks, argv, mpi=wheel, timeout=60)
    assert done.returncode == 0 and "all_starts: right" in done.stdout, done.stdout + done.stderr
    assert done.stderr.count("ranks disagree") == ("ALGORITHM" in assignment)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_malformed_value_on_one_rank_only(launch, built, wheel: str, rank: int) -> None:
    argv = per_rank(wheel, {rank: "SWAPMEET_ALGORITHM=nonsense"}, [built(wheel, "conformance"), *CASES])
    done = launch(RANKS, argv, mpi=wheel, algorithm="pairwise")
    check_data(done)
    said = "\n".join(warnings(done))
    assert said.count("ranks disagree") == 1
    assert said.count('="nonsense"') == 1
    assert ("rank 1: " in said) == (rank == 1)


def processes_with(text: str) -> list[str]:
    """Command lines of running processes that hold `text`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in line and int(folder.name) != os.getpid():
            found.append(line)
    return found


@pytest.mark.parametrize("algorithm", ["pairwise", "multipair-testany"])
def test_death_of_a_rank(compiled, preloaded, wheel: str, algorithm: str) -> None:
    """In a /dev/shm of its own: there the MPIs leave things too, but no more with the library than without."""
    script = 'mount -t tmpfs none /dev/shm && "$@"; status=$?; ls /dev/shm; exit $status'
    private = ["unshare", "--mount", "sh", "-c", script, "sh"]
    if subprocess.run([*private, "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace here (root has one)")
    mpi = mpis.find(wheel)
    mark = f"mark={uuid.uuid4()}"  # an argument that the program takes for a communicator's name
    argv = [compiled(wheel, "calls"), mark, "alltoall=20", "die=1", "alltoall=100000"]
    left = []
    for library, variables in ((None, {}), (preloaded(wheel), {"SWAPMEET_ALGORITHM": algorithm})):
        words = launching.command(mpi, RANKS, argv, library, variables)
        done = launching.run(mpi, RANKS, [*private, *words], timeout_s=120)
        assert processes_with(mark) == []
        assert "calls: done" not in done.stdout
        assert done.returncode != 0  # which status, is a race among the ranks in MPICH's launcher
        assert "swapmeet: " not in done.stderr
        left.append(len([line for line in done.stdout.splitlines() if line.strip()]))
    assert left[1] <= left[0]
