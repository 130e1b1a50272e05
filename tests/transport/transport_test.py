"""Messages inside a node without MPI: random exchanges of processes, and of threads, over one segment."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest
from limits import scaled
from sanitizing import REPORTS

from swapmeet.mpi import mpis
from swapmeet.mpi.library import program

Run = Callable[..., str]

TINY = "bulk=64 cells=4"
TINIEST = "bulk=64 cells=2"  #: hardly an offer fits in
CHANNELS = [TINY, TINIEST, "bulk=64 cells=1", "bulk=4160 cells=4", "bulk=16448 cells=4"]


@pytest.fixture(scope="module")
def run() -> Run:
    """Runs the program, which knows no MPI, but is built along with the library for one."""
    path = program(mpis.find("mpich"), "transport")

    def run(*words: str) -> str:
        argv = [path, *(part for word in words for part in word.split())]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=scaled(60))
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    return run


@pytest.mark.parametrize("readable", ["all", "none", "some", "dead"])
@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("members", [1, 2, 3, 5])
def test_every_message_arrives(run: Run, members: int, channel: str, readable: str) -> None:
    most = 20_000 if "bulk=64 " in channel else 100_000  # through such cells more take seconds
    words = f"members={members} {channel} readable={readable} seed={members} steps=10 most={most}"
    assert run("exchange", words) == "transport: 0 wrong\n"


@pytest.mark.parametrize("channel", [TINY, "bulk=16448 cells=4"])
def test_large_messages(run: Run, channel: str) -> None:
    assert "0 wrong" in run("exchange", f"members=3 {channel} readable=some steps=5 most=1048576")


def test_all_are_longer_than_expected(run: Run) -> None:
    assert "0 wrong" in run("exchange", "members=3 cut=100 readable=some steps=30 most=100000")


def test_eight_members(run: Run) -> None:
    assert "0 wrong" in run("exchange", "members=8 bulk=1088 readable=some steps=10 most=100000")


@pytest.mark.parametrize("channel", [TINIEST, "bulk=4160 cells=4"])
def test_threads_in_one_process(run: Run, channel: str) -> None:
    assert "0 wrong" in run("exchange", f"members=3 threads=1 {channel} readable=some steps=10 most=100000")


ROWS = ["rows=64", "rows=512 bulk=4160", "rows=4096 bulk=16448 cells=2"]


@pytest.mark.parametrize("threads", [0, 1])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("members", [1, 2, 3, 7])
def test_every_block_arrives_by_rows(run: Run, members: int, rows: str, threads: int) -> None:
    """Of one size or of many, empty ones and such as travel by channels among them, from members without data too."""
    words = f"members={members} {rows} seed={members} steps=300 most=20000 threads={threads}"
    assert run("exchange", words) == "transport: 0 wrong\n"


@pytest.mark.parametrize("members", [2, 4, 8])
def test_cache_lines_that_an_exchange_writes(run: Run, members: int) -> None:
    """Of channels: a cell and an acknowledgement for each pair of ranks, and what larger blocks take."""

    def lines(block_bytes: int, rows: int) -> int:
        return int(run("lines", f"members={members} rows={rows} most={block_bytes}").split()[1])

    pairs = members * (members - 1)
    assert lines(8, rows=0) == lines(48, rows=0) == 2 * pairs
    assert lines(512, rows=0) == (2 + 8) * pairs
    assert lines(8, rows=4096) == members  # the flag and all blocks
    assert lines(64, rows=4096) == members + pairs
    assert lines(512, rows=4096) == members + 8 * pairs


@pytest.mark.parametrize(
    "words",
    [
        *(f"bulk=64 cells={cells} most={most}" for cells in (1, 2, 4) for most in (1, 40, 64, 65, 200)),
        "rows=64 most=64",
        "rows=4096 bulk=64 cells=2 most=4096",
    ],
)
def test_blocks_change_places_in_every_order(run: Run, words: str) -> None:
    """In place, nothing is written where something has yet to leave, and nobody waits for one who waits for it."""
    orders = int(run("swap", words).split()[1])
    assert orders >= 4


@pytest.mark.sanitized
def test_a_write_beyond_a_block_is_noticed(pytestconfig: pytest.Config) -> None:
    """Of the rank whose row it is: rows lie side by side in one mapping, of which the sanitizer knows nothing."""
    reports = pytestconfig.stash[REPORTS]
    subprocess.run([program(mpis.find("mpich"), "transport"), "beyond"], capture_output=True, timeout=scaled(60))
    found = reports.take()
    assert ("use-after-poison" in found and "write_beyond" in found) if reports.name == "address" else not found


@pytest.mark.parametrize("part", ["layout", "segment", "arenas", "poll", "wait", "death", "refusals"])
def test_parts(run: Run, part: str) -> None:
    run(part)


def test_memory_is_reserved_while_signals_come_in(run: Run) -> None:
    assert run("reserve", str(16 << 20)) == "transport: reserved\n"


def test_memory_that_is_not_there(run: Run) -> None:
    """It is refused, where touching it would kill the process."""
    path = program(mpis.find("mpich"), "transport")
    private = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=1M none /dev/shm && exec "$@"', "sh"]
    if subprocess.run([*private, "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace here (root has one)")
    done = subprocess.run([*private, path, "reserve", str(2 << 20)], capture_output=True, text=True, timeout=scaled(60))
    assert done.returncode == 1
    assert done.stdout == "transport: cannot make 2097152 B of shared memory (/dev/shm): No space left on device\n"


@pytest.mark.long
@pytest.mark.parametrize("offered", [0, 50, 100])
@pytest.mark.parametrize("readable", ["all", "none"])
def test_numbers_of_cells_wrap_around(run: Run, offered: int, readable: str) -> None:
    words = f"threads=1 members=2 first=0xfffffff0 bulk=4160 offered={offered} readable={readable} steps=40 most=10000"
    assert "0 wrong" in run("exchange", words)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
@pytest.mark.parametrize("members", [2, 3, 5, 8])
def test_many_messages(run: Run, members: int, seed: int) -> None:
    channel = CHANNELS[seed % len(CHANNELS)]
    assert "0 wrong" in run("exchange", f"members={members} {channel} readable=some seed={seed} steps=50")


@pytest.mark.sanitized
@pytest.mark.parametrize("readable", ["all", "none", "some", "dead"])
@pytest.mark.parametrize("channel", [TINY, TINIEST, "bulk=4160 cells=4"])
def test_threads_race_for_nothing(run: Run, channel: str, readable: str) -> None:
    """Each member a thread: ThreadSanitizer sees what they do to one mapping of the segment."""
    assert "0 wrong" in run("exchange", f"members=4 threads=1 {channel} readable={readable} steps=15 most=100000")


@pytest.mark.sanitized
@pytest.mark.parametrize("rows", ROWS)
def test_threads_race_for_no_row(run: Run, rows: str) -> None:
    assert "0 wrong" in run("exchange", f"members=4 threads=1 {rows} steps=100")
