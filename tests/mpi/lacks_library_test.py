"""Jobs in which some ranks run without the library, or with another version, are told so in one line."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest
from hung_jobs import hung, wait_until
from limits import scaled

from swapmeet import SwapmeetError, __version__
from swapmeet.mpi import launch as launching
from swapmeet.mpi import mpis
from swapmeet.mpi.library import library

#: Forms of the first call, which ranks without the library make while the others wait in MPI_Init.
HANGS = [("mpich", "blocking"), ("mpich", "started"), ("openmpi", "blocking"), ("openmpi", "varying")]
LIMIT_S = 1
WAITED = r"swapmeet: warning: rank (\d+) has waited for (\d+) s in MPI_Init: "
RATHER = "LD_PRELOAD must reach all ranks"


class Job:
    """A program of which each rank has a library of its own, or none."""

    def __init__(self, mpi: str, program: Path, folder: Path, limit_s: float = LIMIT_S) -> None:
        self.mpi = mpis.find(mpi)
        self.program = program
        self.output = folder / "output"
        # the limit of the watchdog, which itself writes to a file, is also that of the line
        self.variables = [f"SWAPMEET_WATCHDOG={limit_s:g}s,{folder}/watchdog.%r"] if limit_s else []

    def words(self, libraries: list[Path | None], *arguments: str, options: tuple[str, ...] = ()) -> list[str]:
        words = [str(self.mpi.mpiexec), *options]
        for path in libraries:
            preload = [f"LD_PRELOAD={path}"] if path else []
            words += ["-n", "1", "env", *preload, *self.variables, str(self.program), *arguments, ":"]
        return words[:-1]

    def printed_while_hung(self, words: list[str], ranks: int) -> str:
        with hung(words, self.mpi, self.output, ranks) as process:
            wait_until(lambda: "has waited" in self.output.read_text(), process, seconds=30)
            time.sleep(2 * LIMIT_S)  # in which a second line would follow
        return self.output.read_text()

    def ended(self, words: list[str], ranks: int) -> subprocess.CompletedProcess[str]:
        return launching.run(self.mpi, ranks, words, timeout_s=scaled(60))


@pytest.fixture
def job(compiled, tmp_path: Path):
    return lambda mpi, **options: Job(mpi, compiled(mpi, "lacks_library"), tmp_path, **options)


def waited(printed: str) -> list[tuple[int, int]]:
    """Rank and seconds of each line."""
    return [(int(rank), int(seconds)) for rank, seconds in re.findall(WAITED, printed)]


@pytest.mark.slow
@pytest.mark.parametrize(("mpi", "form"), HANGS)
@pytest.mark.parametrize("lacks", [0, 1, 2])
def test_one_rank_names_the_one_without(job, mpi: str, form: str, lacks: int) -> None:
    one = job(mpi)
    libraries = [None if rank == lacks else library(one.mpi) for rank in range(3)]
    printed = one.printed_while_hung(one.words(libraries, form, "8"), 3)
    [(rank, seconds)] = waited(printed)
    assert rank == (1 if lacks == 0 else 0)
    assert LIMIT_S <= seconds < scaled(30)
    assert re.search(rf": rank {lacks} \(process \d+\) runs without the library\. {RATHER}", printed)


@pytest.mark.slow
def test_several_without_it_are_counted(job) -> None:
    one = job("mpich")
    printed = one.printed_while_hung(one.words([library(one.mpi), None, None], "varying", "8"), 3)
    [(rank, _)] = waited(printed)
    assert rank == 0
    assert re.search(r"rank 1 \(process \d+\) runs without the library, and 1 more\. ", printed)


@pytest.mark.slow
@pytest.mark.parametrize("mpi", ["mpich", pytest.param("openmpi", marks=pytest.mark.long)])
def test_the_line_comes_after_ten_seconds(job, mpi: str) -> None:
    one = job(mpi, limit_s=0)
    printed = one.printed_while_hung(one.words([library(one.mpi), None], "varying", "8"), 2)
    [(rank, seconds)] = waited(printed)
    assert rank == 0
    assert 10 <= seconds < scaled(30)


@pytest.mark.slow
def test_an_mpi_that_calls_nobody_has_a_thread_look(job) -> None:
    try:
        mpis.find("mpich-system")  # 4.0, without MPIX_Async_start
    except SwapmeetError as problem:
        pytest.skip(str(problem))
    one = job("mpich-system")
    printed = one.printed_while_hung(one.words([library(mpis.find("mpich")), None], "varying", "8"), 2)
    [(rank, _)] = waited(printed)
    assert rank == 0


@pytest.mark.slow
@pytest.mark.parametrize("form", ["blocking", "started"])
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_a_rank_that_is_late_is_not_reported(job, mpi: str, form: str) -> None:
    one = job(mpi)
    done = one.ended(one.words([library(one.mpi)] * 3, form, "8", str(4 * LIMIT_S), "1"), 3)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: right" for rank in range(3)]
    assert waited(done.stderr) == []


#: Each rank has a launcher's daemon of its own, as on a node of its own.
APART = ("-launcher", "fork", "-hosts", "localhost,127.0.0.1", "-ppn", "1")


@pytest.mark.slow
def test_ranks_of_other_nodes_cannot_be_told_apart(job) -> None:
    one = job("mpich")
    printed = one.printed_while_hung(one.words([library(one.mpi), None], "varying", "8", options=APART), 2)
    [(rank, _)] = waited(printed)
    assert rank == 0
    assert "ranks on other nodes are late or, more likely, run without the library. " in printed


@pytest.mark.slow
def test_the_last_rank_speaks_where_the_first_cannot(job) -> None:
    one = job("mpich")
    printed = one.printed_while_hung(one.words([None, library(one.mpi)], "varying", "8", options=APART), 2)
    [(rank, seconds)] = waited(printed)
    assert rank == 1
    assert seconds >= 3 * LIMIT_S


@pytest.mark.slow
def test_a_rank_of_another_node_that_is_late_is_not_reported(job) -> None:
    one = job("mpich")
    words = one.words([library(one.mpi)] * 2, "blocking", "8", str(4 * LIMIT_S), "1", options=APART)
    done = one.ended(words, 2)
    assert done.returncode == 0, done.stderr
    assert waited(done.stderr) == []


@pytest.mark.parametrize("gathered", ["512", "2"])
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
@pytest.mark.parametrize("form", ["blocking", "varying", "started", "persistent"])
def test_another_version_leaves_the_job_to_the_host_mpi(
    job, mpi: str, form: str, gathered: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where they are too many for each to hear of all."""
    monkeypatch.setenv("SWAPMEET_GATHERED_RANKS", gathered)
    one = job(mpi, limit_s=0)
    own = library(one.mpi)
    code = own.read_bytes()
    # Where it is part of instructions the version is in parts of four bytes or more.
    before = __version__.encode()[:4]
    after = re.sub(rb"\d", b"9", before)
    assert before in code
    other = tmp_path / "libswapmeet.so"
    other.write_bytes(code.replace(before, after))
    done = one.ended(one.words([own, own, other], form, "8"), 3)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank}: right" for rank in range(3)]
    assert done.stderr.count("swapmeet: ") == 1
    told_apart = gathered > "2" and form != "started"
    who = f": rank 2 has {after.decode()}{__version__[4:]}, rank 0 of the job has {__version__}" if told_apart else ""
    expected = f"ranks have different versions of the library{who}; using the host MPI"
    assert f"swapmeet: warning: {expected}" in done.stderr
