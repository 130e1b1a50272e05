"""The measuring program, and the session that talks to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from limits import scaled

from swapmeet import SwapmeetError
from swapmeet.measure.bench import process
from swapmeet.measure.bench.cells import DATATYPES, OVERLAP, Cell
from swapmeet.measure.bench.process import begun_at, descendants
from swapmeet.measure.bench.session import LaunchFailed, Ran, Refused, Sample, Session, Unavailable, WrongData, batch
from swapmeet.mpi import launch, mpis
from swapmeet.mpi.library import library, program

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("napping")]

SPECS = ["native", "pairwise", "radix(r=2)", "auto"]
WORKLOADS = ["uniform:max=300", "sparse:density=0.3,bytes=40", "hot-spot:bytes=0,hot=5000,source=0"]
#: What it does wrong depends on the number of items in a block.
FAULTY = """
#include <mpi.h>
int MPI_Alltoall(const void *send, int sends, MPI_Datatype sent, void *receive, int receives, MPI_Datatype received,
                 MPI_Comm comm) {
  const int error = PMPI_Alltoall(send, sends, sent, receive, receives, received, comm);
  MPI_Aint lower = 0, extent = 0;
  int ranks = 0, rank = 0;
  MPI_Type_get_extent(received, &lower, &extent);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &rank);
  char *bytes = receive;
  if (receives == 101 && rank == 1) bytes[extent * receives + 17] ^= 1; /* from rank 1 */
  if (receives == 102 && rank == 0) bytes[extent * receives * ranks + 2] ^= 1;
  if (receives == 103 && rank == 0) bytes[-1] ^= 1;
  if (receives == 104 && rank == 1) bytes[extent - 1] ^= 1; /* in a gap, if there is one */
  if (receives == 105 && rank == 1) ((char *)send)[3] ^= 1;
  if (receives == 106) for (MPI_Aint i = 0; i < extent * receives * ranks; ++i) bytes[i] = (char)0x5a;
  return error;
}
"""
#: A session whose process is then killed.
FORSAKEN = """
import pathlib, sys, time
from swapmeet.mpi import mpis
from swapmeet.measure.bench import session
session.program = lambda target, name: pathlib.Path(sys.argv[2])
session.library = lambda target: pathlib.Path(sys.argv[3])
with session.Session(mpis.find(sys.argv[1]), 2):
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture(params=["mpich", "openmpi"], scope="module")
def target(request: pytest.FixtureRequest) -> mpis.Mpi:
    return mpis.find(request.param)


@pytest.fixture(params=[1, 2, 3, 5], scope="module")
def session(request: pytest.FixtureRequest, target: mpis.Mpi) -> Iterator[Session]:
    with Session(target, request.param, timeout_s=scaled(60)) as session:
        yield session


def cell(
    session: Session, sizes: str | int, collective: str = "alltoall", datatype: str = "byte", seed: int = 0
) -> Cell:
    return Cell("any", session.ranks, collective, str(sizes), seed, datatype)


def alive(family: dict[int, int]) -> list[str]:
    """Command lines of those of a family that have not ended."""
    now = [process for process, begun in family.items() if begun_at(process) == begun]
    words = ["ps", "-o", "stat=,args=", "-p", ",".join(map(str, now))]
    found = subprocess.run(words, capture_output=True, text=True).stdout if now else ""
    return [line for line in found.splitlines() if not line.startswith("Z")]


def family_of(session: Session) -> dict[int, int]:
    """The launcher, and all that it began."""
    pid = pid_of(session)
    return {**descendants(pid), pid: begun_at(pid) or 0}


def ranks_of(session: Session) -> list[int]:
    """The processes of the ranks, in the order of their making."""
    return sorted(p for p in descendants(pid_of(session)) if os.readlink(f"/proc/{p}/exe").endswith("bin/measure"))


def pid_of(session: Session) -> int:
    assert session._launch
    return session._launch._popen.pid


def test_the_program_says_what_it_runs_on(session: Session) -> None:
    assert {"mpi", "library", "nodes", "cores"} <= set(session.description)
    assert session.description["nodes"] == "1"
    assert session.barrier_s > 0


@pytest.mark.parametrize("datatype", DATATYPES)
@pytest.mark.parametrize("collective", ["alltoall", "alltoallv"])
def test_every_candidate_delivers_every_datatype(session: Session, collective: str, datatype: str) -> None:
    for size in (0, 8, 4104):
        session.call(cell(session, size, collective, datatype))
        for spec in SPECS:
            session.check(session.candidate(spec))


def test_blocks_of_unequal_size(session: Session) -> None:
    for seed, workload in enumerate(WORKLOADS):
        session.call(cell(session, workload, "alltoallv", seed=seed))
        for spec in SPECS:
            session.check(session.candidate(spec))
    session.call(cell(session, "sparse:density=0.5,bytes=80", "alltoallv", "strided", seed=2**64 - 1))
    session.check(session.candidate("auto"))


def test_single_messages_and_copies(session: Session) -> None:
    alone = session.ranks == 1
    for size, window in ((1, 8), (100_000, 2)):
        if alone:
            with pytest.raises(Refused, match="no two ranks share a node"):
                session.ask(f"messages within 1 {size} {window} 3")
        else:
            (words,) = session.ask(f"messages within 9 {size} {window} 3")
            seconds, posting = map(float, words[1:])
            assert 0 < posting * window < seconds < 10
    with pytest.raises(Refused, match="all ranks are on one node"):
        session.ask("messages between 1 8 1 3")
    for means in ("memcpy", "datatype"):
        ((_, few),), ((_, many),) = (session.ask(f"copies {means} {pieces} 4096 5") for pieces in (1, 4000))
        assert 0 < float(few) < float(many)
    with pytest.raises(Refused, match="more than 2 GiB"):
        session.ask("copies memcpy 1000000 1000000 1")
    for wrong in ("messages", "messages beside 1 1 1 1", "messages within 1 0 1 1", "copies memcpy 1 1 1 1"):
        with pytest.raises(SwapmeetError, match="expected a way and"):
            session.ask(wrong)


def test_a_sample_for_each_batch_in_the_order_given(session: Session) -> None:
    session.call(cell(session, 16))
    native, pairwise = session.candidate("native"), session.candidate("pairwise")
    samples = session.measure([(native, 1), (pairwise, 2), (native, 3)])
    assert len(samples) == 3
    assert all(
        isinstance(s, Sample) and 0 < s.shortest <= s.mean * 1.0001 and s.mean <= s.longest * 1.0001 for s in samples
    )
    assert session.measure([]) == []


def test_an_estimate_is_that_of_a_call(session: Session) -> None:
    session.call(cell(session, 1 << 16))
    seconds = session.seconds(session.candidate("native"))
    assert 1e-7 < seconds < 5
    assert session.batch(seconds) >= 1


def test_which_spec_really_runs_is_known(session: Session) -> None:
    session.call(cell(session, 64))
    assert session.ran(session.candidate("native")) == Ran("native", "")
    asked, automatic = session.ran(session.candidate("radix(r=2)")), session.ran(session.candidate("auto"))
    assert automatic.spec is not None
    if session.ranks == 1:
        assert asked.spec == automatic.spec == "native"
        return
    assert asked.spec is not None and asked.spec.startswith("bruck(radix=2")
    session.call(cell(session, 72))  # the library says nothing a second time
    assert session.ran(session.candidate("radix(r=2)")) == asked
    assert session.ran(session.candidate("auto")).spec is not None
    spec = "direct(sizes=padded)"
    session.call(cell(session, 1 << 20, "alltoallv"))
    assert session.ran(session.candidate(spec)).spec != "native"


def test_what_the_mpi_underneath_does_is_told_from_what_was_asked(target: mpis.Mpi) -> None:
    with Session(target, 2, variables={"SWAPMEET_SCRATCH_LIMIT": "1000"}, timeout_s=scaled(60)) as session:
        asked = [session.candidate(spec) for spec in ("bruck", "radix(r=2,layout=basic)")]
        session.call(cell(session, 4096))
        for candidate in asked:  # the same is said of both, hence once only
            assert session.ran(candidate).spec == "native"
            session.check(candidate)
        session.call(cell(session, 8))
        assert {(session.ran(candidate).spec or "").partition("(")[0] for candidate in asked} == {"bruck"}
        assert set(session.phases(session.candidate("native"), 2)) == {"native"}
        session.limits()


def test_what_cannot_be_is_refused_and_the_session_goes_on(session: Session) -> None:
    refusals = [
        (cell(session, 1 << 40), "2\\^31-1"),
        (cell(session, (1 << 31) - 1 if session.ranks > 1 else 1 << 31, datatype="byte"), "GiB|2\\^31-1"),
        (cell(session, 12, datatype="double"), "12 bytes holds no whole number of items of 8"),
        (cell(session, 12, datatype="strided"), "no whole number"),
        (cell(session, "uniform:max=5", "alltoallv", "double", 1), "no whole number"),
        (cell(session, "uniform:max=5"), "blocks of one size"),
        (cell(session, "unifrm:max=5", "alltoallv"), "known: constant, uniform"),
        (cell(session, "1 2"), "no exchange"),
        (cell(session, -1, "alltoallv"), "workload"),
        (cell(session, 1, "alltoallw"), "neither"),
        (cell(session, 1, datatype="float"), "datatype"),
        (cell(session, 1, seed=2**64), "seed"),
        (Cell("any", session.ranks + 1, "alltoall", "1"), "this launch has"),
    ]
    for refused, message in refusals:
        with pytest.raises(Refused, match=message):
            session.call(refused)
    for spec in ("pairwize", "radix(r=", "", "a\nquit"):
        with pytest.raises(Refused):
            session.candidate(spec)
    native = session.candidate("native")
    with pytest.raises(SwapmeetError, match="no candidate"):
        session.call(cell(session, 1))
        session.check(4000)
    with pytest.raises(SwapmeetError, match="NUMBER:CALLS"):
        session.measure([(native, 1), (native, 0)])
    session.check(native)


def test_overlap(session: Session) -> None:
    for name, collective in (("native", "alltoall"), ("auto", "alltoall"), ("radix(r=2)", "alltoallv")):
        session.call(cell(session, 128, collective))
        found = session.overlap(session.candidate(name), 5, 3)
        assert tuple(found) == OVERLAP
        assert min(found.values()) > 0
        assert found["start"] + found["tests"] + found["wait"] < found["overlapped"]
        session.check(session.candidate(name))


def test_limits_phases_and_traces(session: Session, tmp_path: Path) -> None:
    session.call(cell(session, 128, "alltoallv", "strided"))
    native = session.candidate("native")
    assert list(map(len, session.phases(native, 2).values())) == [session.ranks]
    ours = session.candidate("radix(r=2)")
    phases = session.phases(ours, 3)
    assert {"pack", "transfer", "wait", "native", "other"} <= set(phases)
    assert all(len(seconds) == session.ranks and min(seconds) >= 0 for seconds in phases.values())
    spent = "native" if session.ranks == 1 else "transfer"
    assert max(phases[spent]) > 0
    session.trace(ours, tmp_path / "a trace.json")
    assert (session.ranks == 1) or json.loads((tmp_path / "a trace.json").read_text())
    with pytest.raises(Refused, match="trace"):
        session.trace(ours, tmp_path / "none" / "trace.json")
    with pytest.raises(Unavailable):
        session.trace(native, tmp_path / "trace.json")
    if session.ranks == 1:
        with pytest.raises(Refused, match="one rank"):
            session.limits()
    else:
        limits = session.limits()
        assert set(limits) == {"memcpy", "memcpy-shared", "flag"}
        assert all(0 <= seconds < 1 for seconds in limits.values())


def test_pinned_ranks_that_rewrite_what_they_send(target: mpis.Mpi) -> None:
    with Session(target, 2, pin=True, touch=True, timeout_s=scaled(60)) as session:
        session.call(cell(session, 64))
        [sample] = session.measure([(session.candidate("pairwise"), 5)])
        assert sample.shortest > 0
        session.check(session.candidate("pairwise"))


def test_wrong_data_are_found(target: mpis.Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "faulty.c").write_text(FAULTY)
    library = tmp_path / "faulty.so"
    subprocess.run([target.mpicc, "-shared", "-fPIC", tmp_path / "faulty.c", "-o", library], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    with Session(target, 2, timeout_s=scaled(60)) as session:
        native, ours = session.candidate("native"), session.candidate("pairwise")
        for items, datatype, message in [
            (101, "byte", "source 1 destination 1 byte 17 of 101: .* 1 of 2 ranks"),
            (102, "byte", "destination 0: 3 bytes behind"),
            (103, "byte", "destination 0: 1 bytes before"),
            (104, "strided", "source 0 destination 1: the gap behind byte 8 of 832"),
            (105, "double", "source 1: the send buffer was written, in the block for 0"),
            (106, "byte", "source 0 destination 0 byte 0 of 106.* 2 of 2 ranks"),
        ]:
            session.call(cell(session, items * (1 if datatype == "byte" else 8), datatype=datatype))
            session.check(native)  # past whatever is preloaded
            with pytest.raises(WrongData, match=message):
                session.check(ours)
        session.call(cell(session, 100))
        session.check(ours)


def test_the_death_of_a_rank_ends_the_session_with_the_launchers_words(target: mpis.Mpi) -> None:
    with pytest.raises(LaunchFailed, match="status .*measure"), Session(target, 3, timeout_s=scaled(60)) as session:
        session.call(cell(session, 64))
        family, native = family_of(session), session.candidate("native")
        os.kill(ranks_of(session)[-1], signal.SIGKILL)
        for _ in range(100):
            session.measure([(native, 100)])
    assert not alive(family)


def test_a_launch_that_hangs_is_ended_at_the_limit(target: mpis.Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_S", 2)
    begin = time.monotonic()
    with pytest.raises(LaunchFailed, match="no answer to `call .*` within 1 s"), Session(target, 2) as session:
        session.timeout_s = 1
        family = family_of(session)
        ranks = ranks_of(session)
        assert len(ranks) == 2
        for rank in ranks:
            os.kill(rank, signal.SIGSTOP)
        session.call(cell(session, 64))
    assert not alive(family)
    assert time.monotonic() - begin < scaled(60)


def test_an_interrupt_leaves_no_process_behind(target: mpis.Mpi) -> None:
    with pytest.raises(KeyboardInterrupt), Session(target, 2, timeout_s=scaled(60)) as session:
        family = family_of(session)
        assert len(alive(family)) >= 3
        signal.raise_signal(signal.SIGINT)
    assert not alive(family)


def test_the_death_of_this_process_leaves_no_other_behind(target: mpis.Mpi) -> None:
    words = [sys.executable, "-c", FORSAKEN, target.name, str(program(target, "measure")), str(library(target))]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == "ready\n"
        family = {**descendants(parent.pid)}
        assert len(alive(family)) >= 3
        parent.kill()
    end = time.monotonic() + scaled(20)
    while alive(family) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(family)


def test_malformed_commands_and_the_end_of_input(target: mpis.Mpi) -> None:
    words = launch.command(target, 2, [program(target, "measure")], library(target))
    lines = [
        "nonsense",
        "",
        "call",
        "call a b c",
        "check 0",
        "measure 0:1",
        "touch 2",
        "touch",
        "barrier -1",
        "limits x",
    ]
    lines += [
        "candidate native",
        "call alltoall 8 0 byte",
        "check",
        "check 1",
        "check 0 0",
        "check 99999999999",
        "ran x",
    ]
    lines += ["measure 0", "measure 0:", "measure 0:1 0:x", "measure 0:1:1", "phases 0", "phases 0 0", "trace 0"]
    lines += ["overlap", "overlap 0 1", "overlap 0 0 0", "overlap 0 1 0 0", "overlap 0 1 999999999"]
    lines += ["measure", "check 0", "x" * 3000, "check 0"]
    if target.kind == "openmpi":  # its launcher does not pass on the end of the input
        lines += ["quit"]
    environment = {**os.environ, **mpis.environment(target, 2)}
    done = subprocess.run(
        words,
        input="\n".join(lines) + ("\n" if target.kind == "openmpi" else ""),
        env=environment,
        capture_output=True,
        text=True,
        timeout=scaled(60),
        start_new_session=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    answers = [line.removeprefix("measure: ") for line in done.stdout.splitlines() if line.startswith("measure: ")]
    ends = [answer.split()[0] for answer in answers]
    ends = ends[ends.index("ready") + 1 :]
    assert ends == ["error"] * 10 + ["ok"] * 2 + ["error"] * 17 + ["ok"] * 2 + ["error", "ok"]


def test_launchers(target: mpis.Mpi, tmp_path: Path) -> None:
    with Session(target, 2, launcher=f"{target.mpiexec} -n {{ranks}}", timeout_s=scaled(60)) as session:
        session.call(cell(session, 64))
        session.check(session.candidate("auto"))
    with (
        pytest.raises(LaunchFailed, match=f"cannot start {tmp_path}/none"),
        Session(target, 2, launcher=f"{tmp_path}/none {{ranks}}"),
    ):
        pass
    with pytest.raises(LaunchFailed, match="(?s)ended.*status 3.*\nno nodes left"):
        launcher = "sh -c 'echo no nodes left >&2; exit 3' {ranks}"
        with Session(target, 2, launcher=launcher):
            pass
    with (
        pytest.raises(LaunchFailed, match="1 of 2 ranks found one another"),
        Session(target, 2, launcher="env -u {ranks}"),
    ):
        pass
    for malformed in ("srun", "srun {rank}", "srun '{ranks}", ""):
        with pytest.raises(SwapmeetError, match="launcher"):
            Session(target, 2, launcher=malformed or " ")


def test_memory_is_told_before_a_launch() -> None:
    assert Session.memory_bytes(Cell("any", 4, "alltoall", "1000")) == 8000
    assert Session.memory_bytes(Cell("any", 4, "alltoall", "1000", datatype="strided")) == 16000
    assert Session.memory_bytes(Cell("any", 4, "alltoallv", "hot-spot:bytes=1,hot=100,source=2,destination=3")) == 107
    with pytest.raises(Refused):
        Session.memory_bytes(Cell("any", 4, "alltoallv", "none"))


def test_batches_are_long_enough() -> None:
    assert batch(1e-3, 2e-3) == 2
    assert batch(1.1e-3, 2e-3) == 2
    assert batch(5, 2e-3) == 1
    assert 1 <= batch(0) < 1 << 30
