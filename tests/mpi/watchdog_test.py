"""Programs that hang, and what the watchdog reports of them. The tests end the jobs themselves."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hung_jobs import hung, wait_until
from limits import scaled

from swapmeet.mpi import launch as launching
from swapmeet.mpi import mpis
from swapmeet.mpi.library import library

RANKS = 3
SOURCE = Path(__file__).parents[2] / "src"
LIMIT = "1s"
#: Programs run by a shell, so that MPICH's launcher sees no rank die: it would end the job, sooner or later.
UNSEEN = ["sh", "-c", '"$0" "$@"; sleep 600']
Record = dict[str, Any]

pytestmark = pytest.mark.slow


@pytest.fixture
def hang(compiled, tmp_path: Path):
    """Run programs/hangs.c until some ranks have reported, or to its end if none is to.

    Returns the reports by rank, and what was printed.
    """

    def hang(
        mpi: str,
        case: str,
        spec: str,
        waiters: int,
        *options: str,
        env: Mapping[str, str] | None = None,
        behind: Path | None = None,
        ranks: int = RANKS,
    ) -> tuple[dict[int, list[Record]], str]:
        chosen = mpis.find(mpi)
        folder = tmp_path / "reports"
        folder.mkdir()
        variables = {
            "SWAPMEET_WATCHDOG": f"{LIMIT},{folder}/%r.jsonl",
            **(env or {}),
            **launching.library_variables(spec),
        }
        launcher = f"{chosen.mpiexec} {' '.join(options)} -n {{ranks}}" if options else None
        argv = [*(UNSEEN if case == "dies" else []), str(compiled(mpi, "hangs")), case]
        preload = library(chosen)
        if behind:
            argv = ["env", f"LD_PRELOAD={preload}:{behind}", *argv]
        words = launching.command(chosen, ranks, argv, None if behind else preload, variables, launcher)
        output = tmp_path / "output"

        def reports() -> dict[int, list[Record]]:
            return {
                int(file.stem): [json.loads(line) for line in file.read_text().splitlines()]
                for file in folder.glob("*.jsonl")
            }

        def enough() -> bool:
            return sum(any(row["event"] == "waits" for row in rows) for rows in reports().values()) >= waiters

        with hung(words, chosen, output, ranks) as process:
            wait_until(enough, process)
            if waiters == 0:
                process.wait(scaled(60))
        return reports(), output.read_text()

    return hang


def waits(rows: list[Record]) -> Record:
    """The only wait that a rank has reported."""
    [wait] = [row for row in rows if row["event"] == "waits"]
    return {**wait, "text": "\n".join(wait["text"])}


@pytest.mark.in_turn
@pytest.mark.parametrize("spec", ["spread-out", "direct(intra=shm)", "shared-memory", "native", "bruck(radix=2)"])
def test_a_rank_that_skips_a_call(hang, wheel: str, spec: str) -> None:
    reports, _ = hang(wheel, "skip", spec, 2)
    assert sorted(reports) == [0, 1, 2]
    assert not any(row["event"] == "waits" for row in reports[1])
    for rank in (0, 2):
        wait = waits(reports[rank])
        assert (wait["call"], wait["name"], wait["members"]) == (3, "MPI_COMM_WORLD", [0, 1, 2])
        assert (wait["collective"], wait["bytes"]) == ("MPI_Alltoall", 24)
        assert wait["doing"] == ("host" if spec == "native" else "exchanging")
        assert 1 <= wait["seconds"] < scaled(20)
        process = reports[1][0]["process"]
        expected = f"rank 1 (process {process}): has not come: it has ended 2 calls here; it is in no all-to-all"
        assert expected in wait["text"].splitlines()[1]
        if spec != "native":
            assert any(message["peer"] == 1 for message in wait["messages"]) or spec.startswith("bruck"), wait


def test_the_report_goes_to_standard_error_once(hang, tmp_path: Path) -> None:
    _, printed = hang("openmpi", "busy", "spread-out", 0, env={"SWAPMEET_WATCHDOG": "0.5s"})
    rows = [line for line in printed.splitlines() if line.startswith("swapmeet: watchdog: rank 0")]
    assert len(rows) == 2, printed
    number = r"\d+\.\d"
    call = r"in call 3 on MPI_COMM_WORLD \(3 ranks\): MPI_Alltoall, sends 24 B, by direct\S*"
    assert re.fullmatch(rf"swapmeet: watchdog: rank 0 has waited for {number} s {call}; it is exchanging, .*", rows[0])
    assert rows[1] == "swapmeet: watchdog: rank 0 goes on"
    assert printed.count("watchdog: rank 1 ") == 0


@pytest.mark.in_turn
def test_nothing_is_reported_of_a_job_that_does_not_hang(hang, wheel: str) -> None:
    reports, printed = hang(wheel, "fine", "auto", 0)
    assert "watchdog" not in printed
    assert [[row["event"] for row in reports[rank]] for rank in range(RANKS)] == [["watches", "ends"]] * RANKS


@pytest.mark.in_turn
def test_the_first_call(hang, wheel: str) -> None:
    reports, _ = hang(wheel, "first", "spread-out", 2)
    assert [waits(reports[rank])["doing"] for rank in (0, 2)] == ["setting up", "setting up"]
    assert "in call 1 on MPI_COMM_WORLD (3 ranks); it is setting up the communicator" in waits(reports[0])["text"]


@pytest.mark.in_turn
def test_the_first_call_on_another_communicator_of_the_same_ranks(hang, wheel: str) -> None:
    reports, _ = hang(wheel, "duplicate", "auto", 2)
    process = reports[1][0]["process"]
    for rank in (0, 2):
        wait = waits(reports[rank])
        expected = f"rank 1 (process {process}): has not come to this communicator; it is in no all-to-all"
        assert expected in wait["text"].splitlines()[1], wait["text"]
        assert wait["name"] == "?[31m?ä?"
        assert "in call 1 on ?[31m?ä? (3 ranks)" in wait["text"]


def test_the_comparison_of_arguments(hang) -> None:
    reports, _ = hang("openmpi", "skip", "spread-out", 2, env={"SWAPMEET_CHECK": "1"})
    assert [waits(reports[rank])["doing"] for rank in (0, 2)] == ["checking", "checking"]
    assert "it is comparing its arguments with those of all ranks\n  rank 1" in waits(reports[0])["text"]


@pytest.mark.in_turn
def test_unequal_counts(hang, wheel: str) -> None:
    reports, _ = hang(wheel, "counts", "direct(intra=mpi)", 2)
    wait = waits(reports[1])
    assert (wait["call"], wait["collective"]) == (3, "MPI_Alltoallv")
    assert [(m["direction"], m["peer"], m["bytes"]) for m in wait["messages"]] == [("receive", 0, 8)]
    assert "rank 0" in wait["text"] and "has ended this call, and is in call 4: " in wait["text"]


@pytest.mark.in_turn
def test_two_communicators_in_different_orders(hang, wheel: str) -> None:
    reports, _ = hang(wheel, "orders", "spread-out", 3)
    assert [waits(reports[rank])["name"] for rank in range(RANKS)] == ["pressure", "velocity", "velocity"]
    assert re.search(r"rank 1 \(.*has not come: .*; it is in call 2 on velocity, exchanging", waits(reports[0])["text"])
    assert re.search(r"rank 0 \(.*has not come: .*; it is in call 2 on pressure, exchanging", waits(reports[2])["text"])


@pytest.mark.in_turn
def test_a_message_that_is_missing_after_many_calls(hang, wheel: str) -> None:
    """None of the 170 calls before leaves anything in the list of messages."""
    reports, _ = hang(wheel, "often", "direct(intra=mpi)", 3, ranks=4)
    for rank in (0, 2, 3):
        wait = waits(reports[rank])
        assert wait["call"] == 171
        assert [(m["direction"], m["peer"], m["bytes"]) for m in wait["messages"]] == [("receive", 1, 8)]
        assert wait["more_messages"] == 0


@pytest.fixture
def call_states(launch, compiled):
    """Run programs/call_states.cpp."""

    def call_states(mpi: str, *words: str) -> str:
        sources = ["observe/call_state.cpp", "observe/observer.cpp", "mpi/symbols.cpp", "mpi/loaded.cpp"]
        flags = ["-std=c++20", f"-I{SOURCE}", f"-I{SOURCE.parent}/include", *(str(SOURCE / name) for name in sources)]
        program = compiled(mpi, "call_states.cpp", *flags, "-lstdc++", "-ldl", "-pthread")
        return launch(1, [program, *words], mpi=mpi, preload=False).stdout

    return call_states


@pytest.mark.parametrize("messages", [3, 900, 5000])
def test_messages_in_flight_however_many_there_are(call_states, messages: int) -> None:
    for case in ("many", "all"):
        assert call_states("mpich", case, str(messages)) == f"1 {messages} and 0 more\n"


def test_no_message_is_read_while_it_is_written(call_states) -> None:
    assert call_states("mpich", "torn") == "some, 0 wrong\n"


@pytest.mark.in_turn
def test_messages_of_more_bytes_than_an_int_holds(call_states, wheel: str) -> None:
    assert call_states(wheel, "large") == f"{3 << 30} bytes\n"


def test_more_messages_than_a_report_has_room_for(hang) -> None:
    """All but that of rank 1 come, in whichever order: listed or not, that one is left."""
    reports, _ = hang("mpich", "skip", "spread-out", 29, ranks=30)
    for rank, rows in reports.items():
        if rank == 1:
            continue
        wait = waits(rows)
        assert [message["peer"] for message in wait["messages"]] + [1] * wait["more_messages"] == [1], wait
        found = "waits to receive 8 B from rank 1" if wait["messages"] else "waits for 1 message"
        assert wait["text"].splitlines()[0].endswith(f"; it is exchanging, step 0; {found}")


@pytest.mark.in_turn
def test_a_rank_that_is_stopped(hang, wheel: str) -> None:
    reports, _ = hang(wheel, "stopped", "shared-memory", 2)
    assert "stopped (state T); has not come: it has ended 2 calls here" in waits(reports[0])["text"]


def test_a_rank_that_has_died(hang) -> None:
    """By MPI's messages, and MPICH does not end the job: else the host MPI or the exchange itself ends the wait."""
    reports, printed = hang("mpich", "dies", "spread-out", 2, "-disable-auto-cleanup")
    assert len(reports) == RANKS, printed
    assert re.search(r"rank 1 \(process \d+\): (gone|dead \(a zombie\))$", waits(reports[0])["text"], re.MULTILINE)


@pytest.mark.in_turn
def test_a_message_that_a_wrapper_loses(hang, compiled, wheel: str) -> None:
    loses = compiled(wheel, "loses", "-shared", "-fPIC", "-ldl")
    reports, _ = hang(wheel, "fine", "spread-out", 1, env={"LOSES": "message"}, behind=loses)
    wait = waits(reports[1])
    assert [(m["direction"], m["peer"], m["bytes"]) for m in wait["messages"]] == [("receive", 0, 8)]
    assert re.search(r"rank 0 \(process \d+\): has ended this call; it has called MPI_Finalize", wait["text"])


@pytest.mark.in_turn
def test_a_thread_that_cannot_be_made_is_a_warning(hang, compiled, wheel: str) -> None:
    loses = compiled(wheel, "loses", "-shared", "-fPIC", "-ldl")
    reports, printed = hang(wheel, "fine", "spread-out", 0, env={"LOSES": "thread"}, behind=loses)
    warning = (
        "swapmeet: warning: SWAPMEET_WATCHDOG: no thread can be made: Resource temporarily unavailable; nothing is"
    )
    assert reports == {}
    assert printed.count(warning) == RANKS


@pytest.mark.in_turn
def test_a_call_whose_arguments_are_compared(hang, wheel: str) -> None:
    """Nothing is known of it but the function: not what the call before has sent, and how."""
    reports, _ = hang(wheel, "skip", "spread-out", 2, env={"SWAPMEET_CHECK": "1"})
    wait = waits(reports[0])
    assert (wait["call"], wait["collective"], wait["bytes"], wait["algorithm"]) == (3, "MPI_Alltoall", 0, "")
    assert "MPI_COMM_WORLD (3 ranks): MPI_Alltoall; it is comparing its arguments" in wait["text"]


def test_a_non_blocking_call(hang) -> None:
    """By MPICH, where the library serves it."""
    reports, _ = hang("mpich", "started", "shared-memory", 2)
    for rank in (0, 2):
        wait = waits(reports[rank])
        assert (wait["background"], wait["call"], wait["collective"], wait["bytes"]) == (True, 1, "MPI_Ialltoall", 24)
        assert re.search(r"rank 1 \(.*: (has not come|it is in no).*", wait["text"])


@pytest.mark.in_turn
def test_a_file_that_cannot_be_written_is_a_warning(hang, wheel: str) -> None:
    _, printed = hang(wheel, "fine", "auto", 0, env={"SWAPMEET_WATCHDOG": "1s,/nowhere/%r.jsonl"})
    assert "swapmeet: warning: SWAPMEET_WATCHDOG: cannot write /nowhere/0.jsonl: No such file or directory" in printed


# --- swapmeet run --watchdog ------------------------------------------------------------------------------------------


@pytest.fixture
def page(compiled, tmp_path: Path):
    """What `swapmeet run --watchdog` prints of programs/hangs.c."""

    def page(mpi: str, case: str, spec: str, *options: str, ranks: int = RANKS, until: str = "\nRanks:\n") -> str:
        chosen = mpis.find(mpi)
        words = [sys.executable, "-m", "swapmeet", "run", "-n", str(ranks), "--mpi", mpi, "--algorithm", spec]
        if options:
            words += ["--launcher", f"{chosen.mpiexec} {' '.join(options)} -n {{ranks}}"]
        output = tmp_path / "output"
        argv = [*(UNSEEN if case == "dies" else []), str(compiled(mpi, "hangs")), case]
        with hung([*words, "--watchdog", LIMIT, "--", *argv], chosen, output, ranks) as process:
            wait_until(
                lambda: until in output.read_text() and f"\n  rank {ranks - 1}" in output.read_text(),
                process,
                30,
            )
        return output.read_text()

    return page


@pytest.mark.in_turn
@pytest.mark.parametrize("case", ["skip", "first"])
def test_the_page_names_the_rank_that_never_came(page, wheel: str, case: str) -> None:
    text = page(wheel, case, "spread-out")
    assert "swapmeet: watchdog: ranks 0, 2 of 3 wait in all-to-alls" in text
    assert "\n  rank 1 has not come: it is in no all-to-all; ranks 0, 2 wait for it\n" in text
    if shutil.which("gdb"):
        assert re.search(r"\n      #\d+ .*(wait_for_ever|sleep)", text), text


@pytest.mark.in_turn
def test_the_page_names_more_ranks_than_a_report_has_messages(page) -> None:
    text = page("mpich", "absent", "spread-out", ranks=30)
    for rank in range(1, 29):
        assert f"\n  rank {rank} has not come: it is in no all-to-all; ranks 0, 29 wait for it\n" in text
    listed = re.findall(r"\n      waits to receive 8 B from ranks (.*) and others\n      waits perhaps for ranks", text)
    assert len(listed) == 2 and "1-28" not in listed, text


@pytest.mark.in_turn
def test_the_page_has_the_circle_of_waiting(page, wheel: str) -> None:
    text = page(wheel, "orders", "spread-out")
    assert "\n  ranks wait for one another:\n" in text
    assert re.search(r"\n    rank 0, in call 2 on pressure \(.*\), waits to receive 8 B from rank [12]\n", text)
    assert re.search(r"\n    rank [12], in call 2 on velocity \(.*\), waits to receive 8 B from rank 0\n", text)


@pytest.mark.in_turn
def test_a_later_page_names_the_rank_that_another_thread_awaits(page, wheel: str) -> None:
    """Rank 1 has not come to velocity: seen at first while all threads wait, and again once the others are over."""
    last = "\n  rank 1 has not come: it is in no all-to-all; ranks 0, 2 wait for it\n"
    text = page(wheel, "threads", "spread-out", until=last)
    assert last in text, text
    assert "one another" not in text
    if text.count("swapmeet: watchdog: ranks") > 1:
        assert "\n  rank 1 has reported nothing of call 2 on velocity: it waits in call 2 on pressure;" in text


@pytest.mark.in_turn
def test_the_page_has_the_circle_of_first_calls(page, wheel: str) -> None:
    """On communicators of the same ranks, known by their names alone: their ranks have not met."""
    text = page(wheel, "firsts", "spread-out")
    assert "\n  ranks wait for one another:\n" in text, text
    assert re.search(r"\n    rank 0, in call 1 on pressure.*, waits for rank [12]\n", text), text
    assert re.search(r"\n    rank [12], in call 1 on velocity.*, waits for rank 0\n", text), text


@pytest.mark.in_turn
def test_the_page_names_the_rank_missing_in_an_intercommunicator(page, wheel: str) -> None:
    text = page(wheel, "inter", "spread-out")
    assert "\n  rank 1 has not come: it is in no all-to-all; ranks 0, 2 wait for it\n" in text


@pytest.mark.in_turn
def test_the_page_names_counts_that_differ(page, wheel: str) -> None:
    text = page(wheel, "counts", "direct(intra=mpi)")
    assert re.search(
        r"rank 1 waits to receive 8 B from rank 0 in call 3 on .*, which rank 0 has ended: the counts", text
    )


@pytest.mark.in_turn
def test_the_page_names_a_rank_that_is_stopped(page, wheel: str) -> None:
    text = page(wheel, "stopped", "spread-out")
    assert "\n  rank 1 has not come: it is stopped (state T); ranks 0, 2 wait for it\n" in text, text


def test_the_page_names_a_rank_that_has_died(page) -> None:
    text = page("mpich", "dies", "spread-out", "-disable-auto-cleanup")
    assert "\n  rank 1 has not come: it has died; ranks 0, 2 wait for it\n" in text


def test_a_job_that_ends_keeps_its_status(compiled) -> None:
    words = [sys.executable, "-m", "swapmeet", "run", "-n", "2", "--watchdog", "5s", "--mpi", "openmpi", "--"]
    done = subprocess.run([*words, compiled("openmpi", "hangs"), "fine"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "watchdog" not in done.stderr
    done = subprocess.run([*words, "sh", "-c", "exit 3"], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    wrong = [word if word != "5s" else "soon" for word in words]
    done = subprocess.run([*wrong, "true"], capture_output=True, text=True, check=False)
    assert "must be seconds, such as 60s or 0.5s" in done.stderr + done.stdout
