"""Open MPI's component coll/swapmeet: programs that preload nothing, on Debian's Open MPI, which brings the headers."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from swapmeet import SwapmeetError
from swapmeet.mpi import library as libraries
from swapmeet.mpi import mpis

pytestmark = pytest.mark.other_mpi

MPI = "openmpi-system"
TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src" / "component" / "coll_swapmeet.c"
PRIORITY = "OMPI_MCA_coll_swapmeet_priority"

Done = subprocess.CompletedProcess[str]
Run = Callable[..., tuple[Done, dict[str, int]]]


@pytest.fixture(scope="module")
def component() -> Path:
    """The component, beside its library."""
    try:
        return libraries.component(mpis.find(MPI))
    except SwapmeetError as problem:
        pytest.skip(str(problem))


@pytest.fixture
def run(launch, component: Path, tmp_path: Path) -> Run:
    """Run a program with the component; what it was, and how many calls of each kind were ours and not ours."""

    def run(
        ranks: int, argv: list[str | Path], algorithm: str = "pairwise", folder: Path | None = None, **env: str
    ) -> tuple[Done, dict[str, int]]:
        statistics = tmp_path / "statistics.json"
        statistics.unlink(missing_ok=True)
        variables = {
            "OMPI_MCA_mca_base_component_path": f"{folder or component.parent}:SYSTEM_DEFAULT",
            PRIORITY: "95",
            "SWAPMEET_ALGORITHM": algorithm,
            "SWAPMEET_STATS": str(statistics),
            **env,
        }
        done = launch(ranks, argv, mpi=MPI, env=variables, preload=False, timeout=60)
        return done, served(statistics)

    return run


def served(statistics: Path) -> dict[str, int]:
    """Of the calls that a file counts: "Alltoall": 3, or "native Alltoall": 3 where the host MPI had them."""
    counts: dict[str, int] = {}
    for tally in json.loads(statistics.read_text())["calls"] if statistics.exists() else []:
        name = ("native " if tally["algorithm"] == "native" else "") + tally["collective"]
        counts[name] = counts.get(name, 0) + tally["calls"]
    return counts


def right(done: Done, line: str) -> None:
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert line in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]


CALLS = ["alltoall=3", "alltoallv=2", "alltoallw=2", "in-place=2", "half", "alltoall=1", "dup", "alltoallv=1"]


@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("algorithm", ["pairwise", pytest.param("shared-memory", marks=pytest.mark.long)])
def test_calls_are_served_once(run: Run, compiled, ranks: int, algorithm: str) -> None:
    done, counts = run(ranks, [compiled(MPI, "calls"), *CALLS], algorithm)
    right(done, "calls: done")
    halves = {} if ranks == 2 else {"Alltoall": 1}  # which are of one rank, or of more
    assert counts == {"Alltoall": 5 + halves.get("Alltoall", 0), "Alltoallv": 3, "Alltoallw": 2}


def test_one_rank_is_left_alone(run: Run, compiled) -> None:
    done, counts = run(1, [compiled(MPI, "calls"), *CALLS, "self", "alltoall=1"])
    right(done, "calls: done")
    assert counts == {}


@pytest.mark.parametrize("ranks", [2, 5])
def test_intercommunicators_are_the_hosts(run: Run, compiled, ranks: int) -> None:
    done, counts = run(ranks, [compiled(MPI, "calls"), "inter", "alltoall=2", "alltoallv=1", "world", "alltoall=1"])
    right(done, "calls: done")
    assert counts == {"Alltoall": 1}


def test_what_is_left_to_the_host_goes_to_what_was_replaced(run: Run, compiled) -> None:
    """Once, and not by way of the component again."""
    done, counts = run(3, [compiled(MPI, "calls"), *CALLS], "native")
    right(done, "calls: done")
    assert counts == {"native Alltoall": 6, "native Alltoallv": 3, "native Alltoallw": 2}


@pytest.mark.parametrize("algorithm", ["shared-memory", "padded-bruck", "padded-alltoall"])
def test_calls_that_do_not_block(run: Run, compiled, algorithm: str) -> None:
    """On a communicator where a blocking one has set up; before, they are the host's."""
    words = [
        "nonblocking=3",
        "alltoall=1",
        "alltoallv=1",
        "alltoallw=1",
        "nonblocking=6",
        "alltoall=1",
        "nonblocking=3",
    ]
    done, counts = run(3, [compiled(MPI, "calls"), *words], algorithm)
    right(done, "calls: done")
    # A call by padded-alltoall waits in the host MPI, which a started one cannot: the host has them, uncounted.
    host = {"native Alltoall": 2, "Alltoallv": 1, "Alltoallw": 1}
    assert counts == (host if algorithm == "padded-alltoall" else {"Alltoall": 5, "Alltoallv": 4, "Alltoallw": 4})


@pytest.mark.parametrize(
    ("mode", "algorithm"),
    [("mixed", "shared-memory"), pytest.param("mixed", "tuna", marks=pytest.mark.long), ("blocked", "shared-memory")],
)
def test_several_under_way(run: Run, compiled, mode: str, algorithm: str) -> None:
    done, _ = run(3, [compiled(MPI, "nonblocking"), "single", mode], algorithm)
    right(done, "nonblocking: right")


def test_communicators_end(run: Run, compiled) -> None:
    """Also freed while an exchange is under way; and Open MPI gives their handles to the next."""
    done, counts = run(4, [compiled(MPI, "calls"), "cycles=20"])
    right(done, "calls: done")
    assert counts["Alltoall"] > 10
    done, counts = run(3, [compiled(MPI, "calls"), "freed=5", "ending=5", "cycles=5"], "shared-memory")
    right(done, "calls: done")
    assert counts["Alltoall"] >= 10
    done, _ = run(3, [compiled(MPI, "lifetimes"), "delete"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"lifetimes: [1-9]\d+ right", done.stdout.strip().splitlines()[-1])


@pytest.mark.parametrize("what", ["mixed", pytest.param("short", marks=pytest.mark.long)])
def test_duplicates_and_grids(run: Run, compiled, what: str) -> None:
    done, _ = run(4, [compiled(MPI, "duplicates"), what], "shared-memory")
    right(done, "duplicates: done")


def test_several_threads(run: Run, compiled) -> None:
    done, _ = run(3, [compiled(MPI, "threads", "-pthread")])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("ranks", [2, 3])
def test_errors_are_those_of_the_host(launch, built, run: Run, ranks: int) -> None:
    plain = launch(ranks, [built(MPI, "errors")], mpi=MPI, preload=False)
    done, counts = run(ranks, [built(MPI, "errors")])
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) and plain.returncode == 0
    assert plain.stdout.count("MPI_ERR_") >= 10
    assert counts


@pytest.mark.parametrize("algorithm", ["pairwise", "shared-memory"])
def test_an_error_of_ours_is_raised_once(run: Run, compiled, algorithm: str) -> None:
    """By Open MPI, when the call returns; by us, where a request is waited for."""
    done, counts = run(3, [compiled(MPI, "calls"), "misfit=0", "misfit=1"], algorithm)
    right(done, "calls: done")
    assert counts["Alltoall"] == 2


BESIDE = {
    "tuned with rules": {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_alltoall_algorithm": "3"},
    "without tuned": {"OMPI_MCA_coll": "^tuned"},
    "han": {"OMPI_MCA_coll_han_priority": "90"},
    "adapt": {"OMPI_MCA_coll_adapt_priority": "93"},
    "sync": {"OMPI_MCA_coll_sync_barrier_before": "2", "OMPI_MCA_coll_sync_barrier_after": "3"},
}


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("algorithm", ["pairwise", pytest.param("native", marks=pytest.mark.long)])
def test_beside_other_components(run: Run, compiled, beside: str, algorithm: str) -> None:
    done, counts = run(3, [compiled(MPI, "calls"), *CALLS], algorithm, **BESIDE[beside])
    right(done, "calls: done")
    assert sum(counts.values()) == 11
    assert any(name.startswith("native") for name in counts) == (algorithm == "native")


@pytest.mark.parametrize("algorithm", ["pairwise", "native"])
def test_monitoring_stays_above(run: Run, compiled, tmp_path: Path, algorithm: str) -> None:
    """It counts each all-to-all of the application once, whichever serves it."""
    monitoring = {
        "OMPI_MCA_pml_monitoring_enable": "1",
        "OMPI_MCA_pml_monitoring_enable_output": "3",
        "OMPI_MCA_pml_monitoring_filename": str(tmp_path / "monitored"),
    }
    done, counts = run(3, [compiled(MPI, "calls"), "ints=5000", "alltoall=3"], algorithm, **monitoring)
    right(done, "calls: done")
    assert sum(counts.values()) == 3
    report = (tmp_path / "monitored.0.prof").read_text()
    world = report[report.index("MPI_COMM_WORLD") :]
    [all_to_all] = re.findall(r"^A2A\t0\t(\d+) bytes", world, re.MULTILINE)[:1]
    once = 3 * 2 * 5000 * 4  # to two other ranks; what we agree on before is less than a call
    assert once <= int(all_to_all) < 4 / 3 * once, report


@pytest.mark.parametrize("priority", [None, "0", "-1"])
def test_it_is_used_only_where_a_priority_is_given(run: Run, compiled, priority: str | None) -> None:
    env = {"SWAPMEET_EXPLAIN": "1", PRIORITY: priority or ""}
    argv = [compiled(MPI, "calls"), *CALLS]
    done, counts = run(2, ["env", "-u", PRIORITY, *argv] if priority is None else argv, **env)
    right(done, "calls: done")
    assert counts == {} and "swapmeet" not in done.stderr


def test_a_lower_priority_leaves_calls_to_those_above(run: Run, compiled) -> None:
    """tuned, at 30, has no MPI_Alltoallw."""
    done, counts = run(2, [compiled(MPI, "calls"), *CALLS], **{PRIORITY: "20"})
    right(done, "calls: done")
    assert counts == {"Alltoallw": 2}


def test_it_prints_what_serves(run: Run, compiled, component: Path) -> None:
    done, _ = run(2, [compiled(MPI, "calls"), "alltoall=1"], SWAPMEET_EXPLAIN="1")
    library = component.parents[1] / "libswapmeet.so"
    assert f"swapmeet: coll/swapmeet, priority 95: Open MPI is served by {library}\n" in done.stderr
    assert re.search(r"^swapmeet: Alltoall on 2 ranks.*direct\(", done.stderr, re.MULTILINE)


def test_a_library_that_is_preloaded_serves(run: Run, compiled, component: Path, front: Path) -> None:
    library = component.parents[1] / "libswapmeet.so"
    for preloaded in (library, front):
        argv = ["env", f"LD_PRELOAD={preloaded}", compiled(MPI, "calls"), "alltoall=2", "alltoallw=1"]
        done, counts = run(2, argv, SWAPMEET_EXPLAIN="1")
        right(done, "calls: done")
        assert counts == {"Alltoall": 2, "Alltoallw": 1}
        assert done.stderr.count("coll/swapmeet: libswapmeet.so is preloaded or linked, and serves by itself") == 1


@pytest.mark.parametrize("above", ["nothing", "another version", "no library"])
def test_without_its_library_it_is_one_warning(run: Run, compiled, component: Path, tmp_path: Path, above: str) -> None:
    folder, library = tmp_path / "openmpi", tmp_path / "libswapmeet.so"
    folder.mkdir()
    shutil.copy(component, folder)
    if above == "no library":
        library.write_text("nothing that could be loaded")
    elif above == "another version":
        (tmp_path / "other.c").write_text('const char *swapmeet_version(void) { return "0.0.9"; }\n')
        subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "other.c", "-o", library], check=True)
    done, counts = run(2, [compiled(MPI, "calls"), *CALLS], folder=folder)
    right(done, "calls: done")
    assert counts == {}
    [line] = [line for line in done.stderr.splitlines() if "swapmeet" in line]
    assert line.startswith(f"swapmeet: warning: coll/swapmeet: {library}")
    assert ("is of another version" in line) == (above == "another version")
    assert line.endswith("; all-to-alls are Open MPI's own")


@pytest.mark.parametrize(
    "binding",
    ["mpif_h", pytest.param("use_mpi", marks=pytest.mark.long), pytest.param("use_mpi_f08", marks=pytest.mark.long)],
)
def test_fortran(run: Run, tmp_path: Path, binding: str) -> None:
    wrapper = shutil.which("mpif90.openmpi")
    if not wrapper or not shutil.which("gfortran"):
        pytest.skip("no Fortran for Debian's Open MPI: apt-get install gfortran")
    words = [wrapper, "-fallow-argument-mismatch", "-w", f"-J{tmp_path}", TESTS / "fortran" / f"{binding}.f90"]
    subprocess.run([*words, "-o", tmp_path / binding], check=True)
    done, counts = run(3, [tmp_path / binding])
    right(done, "fortran: all answers right")
    assert counts == {"Alltoall": 2, "Alltoallv": 2}


def interpreter(name: str) -> str:
    """A Python with mpi4py: ours, whose wheel takes any Open MPI that it finds, or Debian's, whose module is linked."""
    if name == "wheel":
        found: str | None = sys.executable if importlib.util.find_spec("mpi4py") else None
    else:
        found = shutil.which("python3", path="/usr/bin")
        needed = [found, "-c", "import numpy, mpi4py; mpi4py.get_config()"]
        if found and subprocess.run(needed, capture_output=True).returncode != 0:
            found = None
    if not found:
        pytest.skip(f"no mpi4py ({name}): apt-get install python3-mpi4py python3-numpy, or pip install mpi4py numpy")
    return found


@pytest.mark.parametrize("name", ["wheel", "Debian"])
def test_mpi4py(run: Run, name: str) -> None:
    program = Path(__file__).parent / "programs" / "mpi4py_calls.py"
    done, counts = run(3, [interpreter(name), program])
    right(done, "wrong: 0")
    assert re.findall("^loaded: (.*)$", done.stdout, re.MULTILINE) == [str(mpis.find(MPI).libmpi.resolve())]
    assert counts == {"Alltoall": 1, "Alltoallv": 1}


@pytest.mark.parametrize("algorithm", ["pairwise", pytest.param("shared-memory", marks=pytest.mark.long)])
@pytest.mark.parametrize("only", ["alltoall/int/", pytest.param("", marks=pytest.mark.long)])
def test_conforms(run: Run, built, algorithm: str, only: str) -> None:
    done, counts = run(3, [built(MPI, "conformance"), *(["--only", only] if only else [])], algorithm)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert re.search(r"^[1-9]\d+ passed, 0 failed", done.stdout, re.MULTILINE), done.stdout[-2000:]
    assert counts["Alltoall"] > 10


def test_headers_of_another_interface_are_refused(tmp_path: Path) -> None:
    """In words; those of Open MPI's main branch, for example."""
    for header in re.findall('^#include "(.*)"$', SOURCE.read_text(), re.MULTILINE):
        (tmp_path / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / header).touch()
    (tmp_path / "ompi_config.h").write_text("#define OMPI_MAJOR_VERSION 6\n#define MCA_COLL_BASE_VERSION_3_0_0 0\n")
    done = subprocess.run(["cc", "-E", f"-I{tmp_path}", SOURCE], capture_output=True, text=True)
    assert done.returncode != 0
    assert "coll/swapmeet is written for the collective components of Open MPI 4" in done.stderr


def test_an_mpi_without_the_headers_is_refused() -> None:
    for name in ("mpich", "openmpi"):
        with pytest.raises(SwapmeetError, match="openmpi-system"):
            libraries.component(mpis.find(name))
