"""MPI_Ialltoall, MPI_Alltoall_init and their siblings, where a thread advances them as well, on real MPIs."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from ranks import RANK_VARIABLE

THREAD = {"SWAPMEET_NONBLOCKING": "thread"}
WARNING = "SWAPMEET_NONBLOCKING=thread needs MPI_THREAD_MULTIPLE, and a thread, on all ranks"


@pytest.fixture
def started(launch, compiled, tallies, tmp_path: Path, wheel: str):
    """Run the program; its standard error, and the calls that were counted, by algorithm."""

    def started(ranks: int, *words: str, level: str = "multiple", algorithm: str = "pairwise", **env: str):
        statistics = tmp_path / "statistics.json"
        argv = [compiled(wheel, "nonblocking"), level, *words]
        env = {"SWAPMEET_STATS": str(statistics), **THREAD, **env}
        done = launch(ranks, argv, mpi=wheel, algorithm=algorithm, env=env, timeout=60)
        assert done.returncode == 0 and "nonblocking: right" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
        calls: Counter[str] = Counter()
        for tally in tallies(statistics) if statistics.exists() else []:
            calls[tally["algorithm"]] += int(tally["calls"])
        return done.stderr, calls

    return started


@pytest.mark.parametrize("ranks", [2, 3])
def test_an_error_is_raised_on_completion(started, ranks: int) -> None:
    started(ranks, "wrong")


@pytest.mark.in_turn
@pytest.mark.parametrize("spec", ["shared-memory", "pairwise", "tuna(r=2)"])
@pytest.mark.parametrize("ranks", [3, 5])
def test_goes_on_while_a_rank_computes(started, tmp_path: Path, ranks: int, spec: str) -> None:
    """Without calls of MPI. The ranks are on several nodes but for the first spec."""
    env = {"SWAPMEET_EXPLAIN": "1"} if spec == "shared-memory" else {"SWAPMEET_NODES": "1"}
    complaints, _ = started(ranks, "aside", str(tmp_path / "done"), algorithm=spec, **env)
    assert ("advanced by a thread" in complaints) == (spec == "shared-memory")


def test_errors_of_other_calls_are_returned_as_before(launch, compiled, wheel: str) -> None:
    """MPICH raises those of MPI_Waitall on MPI_COMM_SELF once that has an error handler of its own."""
    done = launch(2, [compiled(wheel, "truncated")], mpi=wheel, algorithm="tuna(r=2)", env=THREAD, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "returned\n"


def test_one_rank_is_left_alone(started) -> None:
    assert started(1, "mixed") == ("", {})


def test_is_off_where_the_host_mpi_is_asked_for(started) -> None:
    assert started(2, "mixed", SWAPMEET_NONBLOCKING="native") == ("", {})


@pytest.mark.parametrize(("spec", "nodes"), [("shared-memory", ""), ("pairwise", ""), ("auto", "1"), ("tra(r=2)", "1")])
def test_a_thread_that_waits_sleeps(
    launch, compiled, tallies, tmp_path: Path, wheel: str, spec: str, nodes: str
) -> None:
    """It took a whole core, of which a program that computes meanwhile may have none to spare."""
    statistics = tmp_path / "statistics.json"
    env = {**THREAD, "SWAPMEET_STATS": str(statistics), **({"SWAPMEET_NODES": nodes} if nodes else {})}
    done = launch(2, [compiled(wheel, "waits_for_late")], mpi=wheel, algorithm=spec, env=env, timeout=60)
    share = re.search(r"(\d+)% of a core", done.stdout)
    assert done.returncode == 0 and "waits_for_late: right" in done.stdout and share, done.stdout + done.stderr
    served = {tally["algorithm"]: tally["calls"] for tally in tallies(statistics)}
    assert sum(served.values()) == 3 or spec == "auto", served  # by auto some are the host MPI's between nodes
    assert int(share[1]) < 25


def test_without_thread_multiple_nothing_is_served(started) -> None:
    complaints, calls = started(2, "mixed", level="single")
    assert complaints.count(WARNING) == 1 and not calls


def test_ranks_of_several_levels_serve_nothing(launch, compiled, wheel: str) -> None:
    script = f'LEVEL=multiple; [ "${RANK_VARIABLE[wheel]}" = 1 ] && LEVEL=single; exec "$0" $LEVEL mixed'
    argv = ["sh", "-c", script, compiled(wheel, "nonblocking")]
    done = launch(3, argv, mpi=wheel, algorithm="pairwise", env={**THREAD, "SWAPMEET_STATS": "1"}, timeout=60)
    assert done.returncode == 0 and "nonblocking: right" in done.stdout, done.stdout + done.stderr
    assert done.stderr.count(WARNING) == 1 and "Alltoall" not in done.stderr


@pytest.mark.parametrize("different", ["unset SWAPMEET_NONBLOCKING", "export SWAPMEET_NONBLOCKING=native"])
def test_one_rank_without_the_option_leaves_all_to_the_host(launch, compiled, wheel: str, different: str) -> None:
    script = f'[ "${RANK_VARIABLE[wheel]}" = 1 ] && {different}; exec "$0" multiple mixed'
    argv = ["sh", "-c", script, compiled(wheel, "nonblocking")]
    done = launch(2, argv, mpi=wheel, algorithm="pairwise", env=THREAD, timeout=60)
    assert done.returncode == 0 and "nonblocking: right" in done.stdout, done.stdout + done.stderr
    assert done.stderr.count("SWAPMEET_NONBLOCKING=thread is not set for all ranks") == 1


@pytest.mark.in_turn
@pytest.mark.unsanitized("instructions are counted")
@pytest.mark.skipif(not shutil.which("objdump"), reason="objdump is not installed")
@pytest.mark.parametrize(
    "name", ["MPI_Start", "PMPI_Start", "MPI_Startall", "PMPI_Request_free", "MPI_Wait", "MPI_Waitall"]
)
def test_requests_of_others_cost_a_jump(preloaded, wheel: str, name: str) -> None:
    """Through memory; where to is the host MPI, unless there are persistent requests of ours."""
    words = ["objdump", "--disassemble=" + name, "--no-show-raw-insn", preloaded(wheel)]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    code = re.findall(r"^ +[0-9a-f]+:\t(\w+)", text, re.MULTILINE)
    assert code[: code.index("jmp") + 1] in (["jmp"], ["mov", "jmp"], ["endbr64", "jmp"])
