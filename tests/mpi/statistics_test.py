"""SWAPMEET_STATS counts what the application called; SWAPMEET_EXPLAIN says once what runs, and why."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from limits import scaled

import swapmeet
from swapmeet.mpi import mpis

pytestmark = pytest.mark.in_turn

RANKS = 3
FULL_BYTES = 16 << 20  #: of a site's log
INT_BYTES = 4

MPI4PY = """
from array import array
from mpi4py import MPI

comm = MPI.COMM_WORLD
p, me = comm.size, comm.rank
ones, places = [1] * p, list(range(p))
for _ in range(5):
    send, receive = array("i", [100 * me + i for i in range(p)]), array("i", [-1] * p)
    comm.Alltoall(send, receive)
    assert receive.tolist() == [100 * i + me for i in range(p)]
for _ in range(3):
    receive = array("i", [-1] * p)
    comm.Alltoallv([send, ones, places, MPI.INT], [receive, ones, places, MPI.INT])
    assert receive.tolist() == [100 * i + me for i in range(p)]
"""

OPEN_LINE = """
from array import array
from mpi4py import MPI

line = MPI.COMM_WORLD.Create_cart([MPI.COMM_WORLD.size], periods=[False])
send, receive = array("i", [line.rank] * 40), array("i", [-1] * 40)
line.Neighbor_alltoall([send, 20, MPI.INT], [receive, 20, MPI.INT])
last = line.size - 1
assert receive.tolist() == [line.rank - 1] * 20 + [line.rank + 1 if line.rank < last else -1] * 20
"""


def check(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr


def by_collective(tallies: list[dict[str, Any]], ranks: int) -> dict[str, dict[str, Any]]:
    """The tallies of communicators with so many ranks, one for each collective."""
    chosen = {tally["collective"]: tally for tally in tallies if tally["communicator_ranks"] == ranks}
    assert len(chosen) == sum(tally["communicator_ranks"] == ranks for tally in tallies)
    return chosen


@pytest.mark.parametrize("algorithm", ["pairwise", "random-segmented", "native"])
def test_counts_are_those_of_the_application(
    launch, compiled, tallies, tmp_path: Path, wheel: str, algorithm: str
) -> None:
    argv = [compiled(wheel, "calls"), "alltoall=3", "ints=100", "alltoall=4", "ints=0", "alltoall=2"]
    argv += ["ints=6", "alltoallv=6", "in-place=1"]
    env = {"SWAPMEET_STATS": f"{tmp_path}/%r.json"}
    check(launch(RANKS, argv, mpi=wheel, algorithm=algorithm, env=env))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.json", "1.json", "2.json"]
    for rank in range(RANKS):
        counted = by_collective(tallies(tmp_path / f"{rank}.json"), RANKS)
        assert set(counted) == {"Alltoall", "Alltoallv"}
        plain, vector = counted["Alltoall"], counted["Alltoallv"]
        assert plain["calls"] == 10
        assert plain["bytes_sent"] == (3 * 4 + 4 * 100 + 2 * 0 + 1 * 6) * INT_BYTES * RANKS
        assert plain["calls_by_mean_block"] == {"0": 2, "16": 4, "256": 4}  # 0; 16 and 24; 400 bytes
        assert vector["calls"] == 6
        assert vector["bytes_sent"] == 6 * INT_BYTES * sum((rank + 2 * peer) % 7 for peer in range(RANKS))
        for tally in (plain, vector):
            assert (tally["algorithm"] == "native") == (algorithm == "native")
            assert tally["nanoseconds"] > 0
            assert tally["reason"] == "SWAPMEET_ALGORITHM"


def test_one_file_is_rank_zeros(launch, compiled, tallies, tmp_path: Path, wheel: str) -> None:
    statistics = tmp_path / "statistics.json"
    check(launch(RANKS, [compiled(wheel, "calls"), "alltoall=2"], mpi=wheel, env={"SWAPMEET_STATS": str(statistics)}))
    assert list(tmp_path.iterdir()) == [statistics]
    [tally] = tallies(statistics)
    assert tally["calls"] == 2


def test_a_line_of_the_sites_log_is_a_job(launch, compiled, tmp_path: Path, wheel: str) -> None:
    """Beside what the user asks for; the first rank of each job appends."""
    log, own, argv = tmp_path / "jobs.jsonl", tmp_path / "own.json", [compiled(wheel, "calls"), "alltoall=3"]
    env = {"SWAPMEET_STATS_LOG": str(log), "SLURM_JOB_ID": "4711"}
    check(launch(RANKS, argv, mpi=wheel, env={**env, "SWAPMEET_STATS": str(own)}))
    done = launch(1, argv[:1], mpi=wheel, env=env)
    check(done)
    assert done.stderr == ""
    counted, nothing = (json.loads(line) for line in log.read_text().splitlines())
    assert counted["calls"] == json.loads(own.read_text())["calls"] != []
    assert (counted["ranks"], nothing["ranks"], nothing["calls"]) == (RANKS, 1, [])
    mpi = mpis.find(wheel)
    assert (counted["mpi"], counted["version"]) == (f"{mpi.kind} {mpi.version}", swapmeet.__version__)
    assert (counted["job"], counted["user"], counted["host"]) == ("4711", os.geteuid(), socket.gethostname())
    assert counted["program"] == str(argv[0])
    ended = datetime.strptime(counted["ended"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    assert 0 <= time.time() - ended.timestamp() < scaled(60)
    assert 0 < counted["seconds"] < scaled(60)


def test_a_full_log_is_set_aside(launch, compiled, tmp_path: Path) -> None:
    """It replaces the one before, so two files are the most there ever are."""
    log, argv = tmp_path / "jobs.jsonl", [compiled("mpich", "calls"), "alltoall=1"]
    env = {"SWAPMEET_STATS_LOG": str(log)}
    before = tmp_path / "jobs.jsonl.1"
    before.write_text("older\n")
    log.write_bytes(b"".ljust(FULL_BYTES - 1, b"\n"))
    check(launch(1, argv, mpi="mpich", env=env))
    assert (before.read_text(), log.read_bytes()[FULL_BYTES - 1 :].count(b"\n")) == ("older\n", 1)
    check(launch(1, argv, mpi="mpich", env=env))
    assert before.stat().st_size > FULL_BYTES
    assert len(log.read_text().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [log.name, before.name]


def test_a_log_that_cannot_be_written_is_one_warning(launch, compiled, tmp_path: Path, wheel: str) -> None:
    env = {"SWAPMEET_STATS_LOG": str(tmp_path / "missing" / "jobs.jsonl")}
    done = launch(2, [compiled(wheel, "calls"), "alltoall=1"], mpi=wheel, env=env)
    check(done)
    assert done.stderr.count("swapmeet: warning: SWAPMEET_STATS_LOG=") == 1
    assert "No such file or directory" in done.stderr


def test_mpi4py_is_counted_once(launch, tallies, tmp_path: Path, wheel: str) -> None:
    """On MPICH 5 it calls MPI_Alltoall_c, on Open MPI MPI_Alltoall of a library loaded with RTLD_LOCAL."""
    statistics = tmp_path / "statistics.json"
    argv = [sys.executable, "-c", MPI4PY]
    check(launch(RANKS, argv, mpi=wheel, algorithm="pairwise", env={"SWAPMEET_STATS": str(statistics)}))
    counted = by_collective(tallies(statistics), RANKS)
    assert {name: tally["calls"] for name, tally in counted.items()} == {"Alltoall": 5, "Alltoallv": 3}
    assert {tally["algorithm"] for tally in counted.values()} == {"direct(order=shift,window=1,complete=all)"}


@pytest.mark.parametrize("algorithm", ["auto", "direct(window=1)"])
def test_blocks_for_nobody_are_not_counted(launch, tallies, tmp_path: Path, wheel: str, algorithm: str) -> None:
    """The first rank of a line has no neighbour before it. The mean is that of both blocks that the call has."""
    pytest.importorskip("mpi4py")
    env = {"SWAPMEET_STATS": f"{tmp_path}/%r.json", "SWAPMEET_NODES": "1"}
    check(launch(RANKS, [sys.executable, "-c", OPEN_LINE], mpi=wheel, algorithm=algorithm, env=env))
    for rank, sent in enumerate([1, 2, 1]):
        (tally,) = tallies(tmp_path / f"{rank}.json")
        assert tally["collective"] == "Neighbor_alltoall"
        assert tally["bytes_sent"] == sent * 20 * INT_BYTES
        assert tally["calls_by_mean_block"] == {"32" if sent == 1 else "64": 1}


def test_table(launch, compiled, wheel: str) -> None:
    argv = [compiled(wheel, "calls"), "alltoall=7", "ints=300", "alltoallv=2"]
    done = launch(RANKS, argv, mpi=wheel, algorithm="spread-out", env={"SWAPMEET_STATS": "1"})
    check(done)
    assert done.stderr.count("calls of rank 0 of 3") == 1
    rows = [line.split() for line in done.stderr.splitlines() if line.startswith("Alltoall")]
    assert [row[:4] for row in rows] == [
        ["Alltoall", "3", "7", "336"],
        ["Alltoallv", "3", "2", "48"],
    ]  # 2 calls of 0 + 2 + 4 ints
    assert all("direct(order=shift,window=all,complete=all)" in " ".join(row) for row in rows)
    assert "16-31 B: 7" in done.stderr


def test_nothing_is_said_unless_asked(launch, compiled, wheel: str) -> None:
    argv = [compiled(wheel, "calls"), "alltoall=2", "alltoallv=2", "self", "alltoall=1"]
    for algorithm in ("auto", "pairwise"):
        done = launch(RANKS, argv, mpi=wheel, algorithm=algorithm)
        check(done)
        assert "swapmeet" not in done.stdout + done.stderr


def test_statistics_without_finalize(launch, compiled, tallies, tmp_path: Path, wheel: str) -> None:
    """Launchers may complain; the counts are there all the same."""
    argv = [compiled(wheel, "calls"), "alltoall=4", "no-finalize"]
    launch(2, argv, mpi=wheel, algorithm="pairwise", env={"SWAPMEET_STATS": f"{tmp_path}/%r.json"})
    [tally] = tallies(tmp_path / "0.json")
    assert tally["calls"] == 4


def test_a_forked_child_reports_nothing(launch, tallies, tmp_path: Path, wheel: str) -> None:
    """A child that leaves by exit() runs our exit hook too, with the counts up to the fork."""
    script = MPI4PY + "\nimport ctypes, os\nif os.fork() == 0: ctypes.CDLL(None).exit(0)\nos.wait()\n"
    done = launch(1, [sys.executable, "-c", script], mpi=wheel, env={"SWAPMEET_STATS": "1"})
    check(done)
    assert done.stderr.count("calls of rank 0") == 1


def test_a_child_of_a_process_that_begins_ends(launch, compiled, preloaded, tmp_path: Path, wheel: str) -> None:
    """Its exit hook waits for no lock that another thread of its parent had, for that thread is not there."""
    holds = compiled(wheel, "holds_lock", "-shared", "-fPIC", "-ldl")
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}:{holds}", compiled(wheel, "calls"), "alltoall=4"]
    env = {"SWAPMEET_STATS": "1", "SWAPMEET_RECORD": f"{tmp_path}/%r"}
    done = launch(2, argv, mpi=wheel, preload=False, env=env, timeout=60)
    check(done)
    assert done.stdout.count("child: ended") == 2, done.stdout
    assert done.stderr.count("calls of rank 0") == 1


def explanations(done: subprocess.CompletedProcess[str]) -> list[str]:
    check(done)
    return [line for line in done.stderr.splitlines() if line.startswith("swapmeet: ")]


def test_explains_once_what_runs_and_why(launch, compiled, wheel: str) -> None:
    argv = [compiled(wheel, "calls"), "alltoall=5", "alltoallv=5", "ints=1000", "alltoall=5"]
    done = launch(RANKS, argv, mpi=wheel, algorithm="pairwise", env={"SWAPMEET_EXPLAIN": "1"})
    plain, vector = explanations(done)
    assert plain.startswith("swapmeet: Alltoall on 3 ranks")
    assert vector.startswith("swapmeet: Alltoallv on 3 ranks")
    for line in (plain, vector):
        assert line.endswith(": direct(order=shift,window=1,complete=all) (SWAPMEET_ALGORITHM)")


def test_explains_calls_left_to_the_mpi_underneath(launch, compiled, wheel: str) -> None:
    env = {"SWAPMEET_EXPLAIN": "1"}
    [alone] = explanations(launch(1, [compiled(wheel, "calls"), "alltoall=3"], mpi=wheel, env=env))
    assert "native (one rank only)" in alone
    argv = [compiled(wheel, "calls"), "alltoall=3"]
    env |= {"SWAPMEET_NODES": "1"}
    [chosen] = explanations(launch(2, argv, mpi=wheel, algorithm="auto", env=env))
    assert ": native (expected: " in chosen


def test_ranks_of_a_node_share_memory_from_their_first_call(
    launch, compiled, tallies, tmp_path: Path, wheel: str
) -> None:
    statistics = tmp_path / "statistics.json"
    env = {"SWAPMEET_EXPLAIN": "1", "SWAPMEET_STATS": str(statistics), "SWAPMEET_TRIALS": "0"}
    argv = [compiled(wheel, "calls"), "alltoall=5", "alltoallv=5", "ints=1000", "alltoall=5"]
    plain, vector = explanations(launch(RANKS, argv, mpi=wheel, algorithm="auto", env=env))
    for line in (plain, vector):
        assert "intra=rows) (expected: " in line
    calls = {(tally["collective"], tally["algorithm"] == "native"): tally["calls"] for tally in tallies(statistics)}
    assert calls == {("Alltoall", False): 10, ("Alltoallv", False): 5}


def test_several_nodes_are_set_up_when_calls_are_worth_it(
    launch, compiled, tallies, tmp_path: Path, wheel: str
) -> None:
    """After six calls that are expected to be faster; calls of large blocks are none."""
    statistics = tmp_path / "statistics.json"
    env = {"SWAPMEET_NODES": "4", "SWAPMEET_STATS": str(statistics), "SWAPMEET_TRIALS": "0"}
    argv = [compiled(wheel, "calls"), "ints=100000", "alltoall=20", "ints=1", "alltoall=20"]
    check(launch(8, argv, mpi=wheel, algorithm="auto", env=env))
    served = {
        (tally["algorithm"] == "native", tally["reason"].split(":")[0]): tally["calls"] for tally in tallies(statistics)
    }
    assert served == {(True, "expected"): 20, (True, "one of the first calls"): 6, (False, "expected"): 14}


def test_several_nodes_are_set_up_where_nobody_counts(launch, compiled, wheel: str) -> None:
    env = {"SWAPMEET_NODES": "4", "SWAPMEET_EXPLAIN": "1", "SWAPMEET_TRIALS": "0"}
    first, then = explanations(
        launch(8, [compiled(wheel, "calls"), "alltoall=12"], mpi=wheel, algorithm="auto", env=env)
    )
    assert "native (one of the first calls" in first
    assert re.search(r"intra=\w+\) \(expected: ", then)


def test_intercommunicators_are_passed_on_with_a_reason(launch, compiled, tallies, tmp_path: Path, wheel: str) -> None:
    statistics = tmp_path / "statistics.json"
    env = {"SWAPMEET_EXPLAIN": "1", "SWAPMEET_STATS": str(statistics)}
    argv = [compiled(wheel, "calls"), "inter", "alltoall=3", "alltoallv=2"]
    done = launch(5, argv, mpi=wheel, algorithm="pairwise", env=env)
    said = explanations(done)
    assert sum("Alltoall on " in line and "native (intercommunicator" in line for line in said) >= 1
    assert sum("Alltoallv on " in line and "native (intercommunicator" in line for line in said) >= 1
    assert {tally["collective"]: tally["calls"] for tally in tallies(statistics)} == {"Alltoall": 3, "Alltoallv": 2}
    assert {tally["algorithm"] for tally in tallies(statistics)} == {"native"}


def test_beyond_the_scratch_limit(launch, compiled, tallies, tmp_path: Path, wheel: str) -> None:
    """In place, Alltoall needs a copy of all blocks: 3 of 400 bytes are too many here, 3 of 16 are not."""
    statistics = tmp_path / "statistics.json"
    env = {"SWAPMEET_SCRATCH_LIMIT": "512", "SWAPMEET_STATS": str(statistics)}
    argv = [compiled(wheel, "calls"), "in-place=2", "ints=100", "in-place=3", "alltoall=4"]
    check(launch(RANKS, argv, mpi=wheel, algorithm="pairwise", env=env))
    served = {tally["algorithm"] == "native": tally for tally in tallies(statistics)}
    assert served[False]["calls"] == 6
    assert served[True]["calls"] == 3
    assert "SWAPMEET_SCRATCH_LIMIT" in served[True]["reason"]


def test_rows_do_not_grow_with_communicators(launch, compiled, tallies, tmp_path: Path, wheel: str) -> None:
    """Each measures its first calls, so the reasons of their choices name other times."""
    communicators = 30
    env = {"SWAPMEET_NODES": "1", "SWAPMEET_STATS": f"{tmp_path}/statistics.json", "SWAPMEET_MEMORY": "off"}
    argv = [compiled(wheel, "calls"), "ints=16", *(["dup", "alltoall=400"] * communicators)]
    done = launch(2, argv, mpi=wheel, env=env, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(tallies(tmp_path / "statistics.json")) < 10
