"""MPI_Ialltoall, MPI_Alltoall_init and their siblings, advanced in the host MPI's progress."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from sanitizing import REPORTS

SPECS = [
    "auto",
    "random-segmented(segment=8)",
    "shared-memory",
    "tuna",
    "padded-bruck",
    "leaders(per-node=1)",
    "native",
]
OF_LARGE_BLOCKS = [spec.replace("segment=8", "segment=8KiB") for spec in SPECS]  #: some 160 KB
LEVELS = ["single", "multiple", "thread"]  #: of threads; the last: of ours as well
MODES = ["elsewhere", "opposite", "between", "overtaken", "crossed", "apart"]  #: of one thread


@pytest.fixture
def started(launch, compiled, tallies, tmp_path: Path, wheel: str):
    """Run a program; its standard output and error, and the algorithms of the calls that were counted."""

    def started(program: str, ranks: int, *words: str, algorithm: str = "auto", **env: str):
        statistics = tmp_path / "statistics.json"
        thread = {"SWAPMEET_NONBLOCKING": "thread"} if "thread" in words else {}
        argv = [compiled(wheel, program), *("multiple" if word == "thread" else word for word in words)]
        env = {"SWAPMEET_STATS": str(statistics), **thread, **env}
        done = launch(ranks, argv, mpi=wheel, algorithm=algorithm, env=env, timeout=60)
        assert done.returncode == 0 and f"{program}: right" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
        tallied = {tally["algorithm"] for tally in tallies(statistics)} if statistics.exists() else set()
        return done.stdout, done.stderr, tallied

    return started


@pytest.fixture
def started_in_turn(cases, tallies, tmp_path: Path, wheel: str):
    """As `started`, with each list of words on each number of ranks in one launch."""

    def started_in_turn(program: str, ranks: list[int], *runs: list[str], algorithm: str = "auto", **env: str):
        statistics = tmp_path / "statistics.json"
        thread = {"SWAPMEET_NONBLOCKING": "thread"} if "thread" in runs[0] else {}
        lists = [["multiple" if word == "thread" else word for word in run] for run in runs]
        env = {"SWAPMEET_STATS": str(statistics), **thread, **env}
        done = cases(wheel, program, ranks, lists, f"{program}: right", algorithm=algorithm, env=env, timeout=120)
        tallied = {tally["algorithm"] for tally in tallies(statistics)} if statistics.exists() else set()
        return done.stdout, done.stderr, tallied

    return started_in_turn


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("modes", [["persistent"], ["mixed", "blocked"], ["freed"]], ids=" ".join)
def test_several_under_way(started_in_turn, modes: list[str], level: str, wheel: str) -> None:
    """On one node it is shared memory that serves them: on MPICH at once, but for programs with threads; there, and on
    Open MPI, when ranks have met in a barrier after a first one."""
    _, complaints, algorithms = started_in_turn("nonblocking", [2, 3, 5], *([level, mode] for mode in modes))
    assert complaints == ""
    if modes == ["freed"] or (modes != ["persistent"] and (wheel, level) == ("mpich", "single")):
        assert any("intra=rows" in algorithm for algorithm in algorithms)


@pytest.mark.in_turn
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("spec", SPECS)
def test_every_kind_of_algorithm(started_in_turn, spec: str, level: str) -> None:
    runs = [[level, mode, "12"] for mode in ("mixed", "persistent")]
    started_in_turn("nonblocking", [3], *runs, algorithm=spec, SWAPMEET_NODES="2")


@pytest.mark.parametrize("spec", ["auto", "native", "pairwise", "tuna"])
def test_communicators_end_when_they_are_freed(started, spec: str) -> None:
    started("nonblocking", 3, "single", "ended", "50", algorithm=spec)


@pytest.mark.parametrize("spec", ["auto", "shared-memory", "pairwise", "tra(r=2)", "tuna(r=2)"])
def test_arguments_of_an_earlier_one(started, spec: str) -> None:
    started("started_again", 3, algorithm=spec)


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("kind", "ranks", "nodes"),
    [
        *(("", 8, nodes) for nodes in ("2", "0,1,0,1,2,3,2,3", "4")),
        ("v", 8, "2"),
        *(pytest.param("v", 8, nodes, marks=pytest.mark.long) for nodes in ("0,1,0,1,2,3,2,3", "4")),
        ("planned", 8, "2"),
        ("planned v", 8, "0,1,0,1,2,3,2,3"),
    ],
)
@pytest.mark.parametrize("us", [0, pytest.param(-500, marks=pytest.mark.long)])
def test_a_single_step_is_tried_between_nodes(started, us: int, kind: str, ranks: int, nodes: str) -> None:
    """By how long the program takes from one exchange to the next, computing included; kind: as computing.c has it."""
    words = ["48", "300", str(us), *kind.split()]
    _, told, algorithms = started("computing", ranks, *words, SWAPMEET_NODES=nodes, SWAPMEET_EXPLAIN="1")
    if not any("leaders(" in one or "bruck(" in one for one in algorithms):
        pytest.skip("messages take so little, as measured beside other work, that the usual schedule has a single step")
    assert "online choice by the time from one start to the next: " in told
    assert len(algorithms) > 1
    _, told, algorithms = started("computing", ranks, *words, SWAPMEET_NODES=nodes, SWAPMEET_TRIALS="0")
    assert len(algorithms) == 1


@pytest.mark.parametrize(("spec", "nodes"), [("auto", ""), ("pairwise", ""), ("auto", "1"), ("tra(r=2)", "1")])
@pytest.mark.parametrize("ranks", [2, 3])
def test_begins_before_an_earlier_one_is_complete(started, ranks: int, spec: str, nodes: str) -> None:
    """On ranks that have called no function of MPI since they started all of them. With several steps a rank goes on
    only when others do. Between nodes `auto` leaves some to the host MPI."""
    where = {"SWAPMEET_NODES": nodes} if nodes else {}
    out, told, _ = started("pending", ranks, "alone", algorithm=spec, SWAPMEET_EXPLAIN="1", **where)
    ours = "non-blocking exchanges on" in told
    assert ours or spec == "auto", told
    if ours:
        assert f"on {ranks} ranks: up to 3 are under way at once" in told
    if ours and (spec == "auto" or ranks == 2):
        assert "pending: 3 of 3\n" in out


@pytest.mark.in_turn
@pytest.mark.parametrize("spec", [*OF_LARGE_BLOCKS, "pairwise", "tra(r=2)"])
@pytest.mark.parametrize("nodes", ["", "2"])
def test_windows_of_exchanges(started_in_turn, spec: str, nodes: str) -> None:
    """Of several forms and sizes, completed in another order on each rank, and with blocking ones between them."""
    where = {"SWAPMEET_NODES": nodes} if nodes else {}
    started_in_turn("pending", [2, 3, 4], ["mixed"], algorithm=spec, **where)


@pytest.mark.in_turn
@pytest.mark.parametrize("limit", ["64KiB", "256KiB", "1MiB"])
def test_windows_where_shared_memory_is_limited(started, limit: str) -> None:
    """Exchanges take at most half of it beside one another, and are executed one at a time where that is too little."""
    _, told, _ = started("pending", 4, "mixed", SWAPMEET_SHM_LIMIT=limit, SWAPMEET_EXPLAIN="1")
    assert ("are under way at once" in told) == (limit == "1MiB")


def test_exchanges_beyond_a_limit_with_equal_arguments(started) -> None:
    """The ranks agree on sizes before each, though only some keep an equal one that was sent by messages instead."""
    where = {"SWAPMEET_SCRATCH_LIMIT": "64KiB", "SWAPMEET_EXPLAIN": "1"}
    _, told, _ = started("pending", 2, "alike", algorithm="tuna(r=2,intra=cma)", **where)
    assert "Ialltoallv on 2 ranks: direct" in told


@pytest.mark.parametrize(("algorithm", "serves"), [("auto", "direct"), ("pairwise", "direct"), ("native", "native")])
def test_says_what_serves_persistent_requests(started, algorithm: str, serves: str) -> None:
    """And counts them, where they are ours."""
    words = ["48", "20", "0", "planned"]
    _, told, algorithms = started("computing", 2, *words, algorithm=algorithm, SWAPMEET_EXPLAIN="1")
    said = next(line for line in told.splitlines() if "Alltoall_init on 2 ranks: " in line)
    assert said.split(": ", 2)[2].startswith(serves)
    assert ("advanced in the host MPI's progress" in said) == (serves != "native")
    assert [name.split("(")[0] for name in algorithms] == ([] if serves == "native" else [serves])


@pytest.mark.parametrize("ranks", [2, 3])
def test_what_is_made_for_few_exchanges(launch, compiled, preloaded, wheel: str, ranks: int) -> None:
    """A persistent request within a node takes three agreements of its ranks, and no communicator; a communicator on
    which a few exchanges are started takes nothing. Requests that do not use shared memory leave it to others."""
    counter = compiled(wheel, "agreements", "-shared", "-fPIC", "-ldl")
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}:{counter}", compiled(wheel, "set_ups")]
    done = launch(ranks, argv, mpi=wheel, preload=False)
    counts = "persistent: 30 agreements, 0 communicators\nstarted: 0 agreements, 0 communicators\n"
    counts += "beside others: 3 agreements\n"
    assert done.stdout == counts + "set_ups: right\n", done.stdout + done.stderr


def test_an_algorithm_is_set_before_what_is_over_was_waited_for(started_in_turn) -> None:
    """What is kept of an exchange for the next one like it must not outlive its algorithm: on no rank."""
    started_in_turn("set_late", [2, 3, 4], [])


@pytest.mark.in_turn
@pytest.mark.parametrize("spec", ["auto", "native", "pairwise", "tuna"])
def test_nothing_is_exchanged(started_in_turn, spec: str, wheel: str) -> None:
    """MPICH does it in less time than a request of ours takes; but of an empty type it divides by zero (5.0.2)."""
    runs = [["0"], ["5"]]
    _, told, algorithms = started_in_turn("nothing", [2, 3], *runs, algorithm=spec, SWAPMEET_EXPLAIN="1")
    if wheel == "mpich" and spec != "native":
        assert "native (nothing to send)" in told and len(algorithms) > 1


@pytest.mark.parametrize("spec", ["auto", "shared-memory", "pairwise"])
def test_nothing_is_exchanged_with_threads(started_in_turn, spec: str) -> None:
    """Where the progress of MPICH is locked, exchanges start without a communicator of ours. (Of an empty type MPICH's
    own crash there.)"""
    started_in_turn("nothing", [2, 3], ["0", "threads"], algorithm=spec)


@pytest.mark.parametrize("wheel", ["mpich"], indirect=True)
def test_what_exceeds_limits_is_not_left_to_locked_progress(started) -> None:
    """MPICH 5.0.2 ends a program that tests a request of its own there. (Open MPI's exchanges in place are wrong.)"""
    started("beyond_limits", 2, SWAPMEET_SCRATCH_LIMIT="64KiB")


def test_an_error_is_raised_on_completion(started_in_turn) -> None:
    """On the communicator of the exchange, whose handler returns it; that of MPI_COMM_WORLD would end the program.
    Ordered: until ranks have met it is Open MPI's MPI_Ialltoallv, whose MPI_Wait crashes on such an error (5.0.11)."""
    started_in_turn("nonblocking", [2, 3], ["single", "wrong"], algorithm="shared-memory")


@pytest.mark.parametrize("spec", ["auto", "tuna(r=2)"])
@pytest.mark.parametrize("modes", [MODES, ["threads"]], ids=["one-thread", "threads"])
def test_legal_programs_end(cases, wheel: str, modes: list[str], spec: str) -> None:
    """Without statistics: calls that are counted take no short cut."""
    runs = [[mode] for mode in modes]
    cases(wheel, "progress", [2, 4], runs, "progress: right", algorithm=spec, timeout=120)


@pytest.mark.in_turn
@pytest.mark.parametrize("spec", ["pairwise", "spread-out"])
def test_exchanges_by_messages_start_in_opposite_orders(started, spec: str) -> None:
    """On communicators that came after others were freed, whose numbers they have."""
    started("progress", 4, "opposite", algorithm=spec, SWAPMEET_NODES="1", SWAPMEET_FIRST_CALLS="0")


def test_two_threads_start_exchanges_by_the_thousand(launch, compiled, wheel: str) -> None:
    """While a thread of the library moves them on."""
    env = {"SWAPMEET_NONBLOCKING": "thread", "SWAPMEET_FIRST_CALLS": "0"}
    done = launch(3, [compiled(wheel, "many_started", "-pthread"), "20000"], mpi=wheel, env=env, timeout=120)
    assert (done.returncode, done.stdout) == (0, "many_started: right\n"), done.stdout + done.stderr


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("spec", ["auto", "tuna(r=2)"])
def test_requests_may_be_freed_early(started, spec: str, ranks: int) -> None:
    """Ours: Open MPI refuses to free its own."""
    started("progress", ranks, "released", algorithm=spec)


def test_a_program_with_many_requests_ends(started, pytestconfig: pytest.Config) -> None:
    """And keeps little. With more ranks it takes minutes where they share cores."""
    if REPORTS in pytestconfig.stash:
        pytest.skip("a sanitizer keeps freed memory, and this measures what is kept")
    started("progress", 2, "many")


def test_messages_and_requests_of_others_move_while_ranks_wait(started_in_turn, tmp_path: Path) -> None:
    """A message that nobody has received yet must not be all that is looked at."""
    started_in_turn("unreceived", [2, 3], ["blocking"], ["persistent"], ["file", str(tmp_path / "output")])


def test_blocking_calls_that_repeat_prepare_for_others(started) -> None:
    """They are where ranks meet, too, though what repeats is not looked at again otherwise."""
    _, told, _ = started("progress", 2, "after", SWAPMEET_EXPLAIN="1", SWAPMEET_STATS="0")
    assert any("Ialltoall on 2 ranks" in line and "intra=rows" in line for line in told.splitlines())


@pytest.mark.unsanitized("the count in the status of Open MPI's own request is what memory held")
def test_the_status_is_that_of_the_host_mpi(launch, compiled, wheel: str) -> None:
    argv = [compiled(wheel, "progress"), "status"]
    raw, ours = (launch(2, argv, mpi=wheel, preload=preload, timeout=60).stdout for preload in (False, True))
    assert "count 0, cancelled 0, null 1" in ours
    assert wheel == "mpich" or raw == ours  # MPICH's own counts bytes of its last message


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("spec", ["auto", "shared-memory", "tuna"])
def test_by_mpi4py(launch, wheel: str, ranks: int, spec: str) -> None:
    pytest.importorskip("mpi4py")
    program = Path(__file__).parent / "programs" / "nonblocking_calls.py"
    done = launch(ranks, [sys.executable, program], mpi=wheel, algorithm=spec, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "nonblocking_calls: right\n"


def test_the_host_mpi_serves_them_where_it_is_asked_for(started) -> None:
    assert started("nonblocking", 2, "single", "mixed", SWAPMEET_NONBLOCKING="native")[2] <= {"native"}


def test_says_what_serves_them(started) -> None:
    explained = started("progress", 2, "released", SWAPMEET_EXPLAIN="1")[1]
    assert explained.count("Ialltoall on 2 ranks") == 1 and "advanced in the host MPI's progress" in explained


def test_one_rank_is_left_alone(started) -> None:
    assert started("nonblocking", 1, "single", "mixed")[2] == set()
