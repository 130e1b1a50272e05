"""The front, one libswapmeet.so for every MPI: what it loads, and that it is as good as absent where there is none."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from every_mpi_test import PYTHON_CALLS, check_served
from interposition_test import CALLS, TOOLS, check_calls_beside_a_tool, output_of

import swapmeet
from swapmeet.mpi import installed, mpis, site
from swapmeet.mpi.library import library

PROGRAMS = Path(__file__).parent / "programs"
EXPORTS = Path(__file__).parents[2] / "src" / "interpose" / "exports.map"
ABIS = {"mpich": "mpich", "openmpi": "openmpi", "mpich-abi": "standard"}
KINDS = {"mpich": "MPICH", "openmpi": "Open MPI", "mpich-abi": "the MPI-5 ABI"}


@pytest.fixture
def alone(front: Path, tmp_path: Path) -> Path:
    """The front with nothing beside it."""
    return Path(shutil.copy(front, tmp_path / front.name))


def served_by(front: Path, mpi: str) -> str:
    return f"swapmeet: {KINDS[mpi]} is served by {site.library_beside(front, ABIS[mpi])}\n"


def preloading(front: Path | str, *words: str | Path) -> list[str | Path]:
    return ["env", f"LD_PRELOAD={front}", "SWAPMEET_ALGORITHM=pairwise", "SWAPMEET_EXPLAIN=1", *words]


def compile_c(output: Path, *words: str | Path) -> Path:
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-g", *words, "-o", output], check=True)
    return output


def mpi_names(path: Path) -> set[str]:
    listed = output_of("nm", "--dynamic", "--defined-only", "--format=posix", path)
    return {name for line in listed.splitlines() if re.match("P?MPIX?_", name := line.split()[0].split("@")[0])}


def test_stands_before_what_the_libraries_export(front: Path, wheel: str) -> None:
    assert mpi_names(front) == set(re.findall(r"\bP?MPIX?_\w+", EXPORTS.read_text()))
    assert mpi_names(front) >= mpi_names(library(mpis.find(wheel)))


def test_brings_nothing_but_the_c_library(front: Path) -> None:
    dynamic = output_of("readelf", "--dynamic", front)
    assert set(re.findall(r"NEEDED.*\[(.*)\]", dynamic)) <= {"libc.so.6", "libdl.so.2", "ld-linux-aarch64.so.1"}
    assert "SONAME" not in dynamic  # else a program that is linked with a library would be given the front in its place
    assert front.stat().st_size < 200_000


LOADED = "import re; print(set(re.findall('libswapmeet|libmpi', open('/proc/self/maps').read())))"
OTHERS = {
    "true": ["/bin/true"],
    "bash": ["bash", "-c", "true | cat; exit 3"],
    "python": [sys.executable, "-c", LOADED],
    "bad option": ["env", "--no-such-option"],
}


@pytest.mark.parametrize("binding", ["", "now"])
@pytest.mark.parametrize("words", OTHERS.values(), ids=OTHERS)
def test_is_silent_where_there_is_no_mpi(front: Path, words: list[str], binding: str) -> None:
    bare = {**os.environ, "SWAPMEET_EXPLAIN": "1", "SWAPMEET_STATS": "1", "LD_BIND_NOW": binding}
    without = subprocess.run(words, env=bare, capture_output=True, text=True)
    done = subprocess.run(words, env={**bare, "LD_PRELOAD": str(front)}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (without.returncode, without.stderr)
    assert done.stdout == ("{'libswapmeet'}\n" if "-c" in words and words[0] == sys.executable else without.stdout)


def test_a_static_program_is_left_alone(front: Path, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text('#include <stdio.h>\nint main(void) { return puts("done") < 0; }\n')
    program = compile_c(tmp_path / "static", tmp_path / "main.c", "-static")
    done = subprocess.run([program], env={**os.environ, "LD_PRELOAD": str(front)}, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.parametrize("mpi", ABIS)
@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_a_program_gets_the_library_for_its_mpi(launch, compiled, front: Path, mpi: str, binding: str) -> None:
    settings = ["LD_BIND_NOW=1"] if binding == "now" else []
    argv = preloading(front, *settings, compiled(mpi, "loaded"))
    done = launch(2, argv, mpi=mpi, preload=False)
    check_served(done, mpi)
    assert done.stderr.count("is served by") == 1
    assert served_by(front, mpi) in done.stderr


@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_mpi4py_gets_the_library_for_its_mpi(launch, front: Path, wheel: str, binding: str) -> None:
    """It loads the MPI later, for itself alone, and calls the _c functions where there are any: MPICH's."""
    settings = ["LD_BIND_NOW=1"] if binding == "now" else []
    done = launch(2, preloading(front, *settings, sys.executable, PYTHON_CALLS), mpi=wheel, preload=False)
    check_served(done, wheel)
    assert served_by(front, wheel) in done.stderr


@pytest.mark.in_turn
def test_mpi4py_gets_what_is_left_to_the_mpi(launch, front: Path, wheel: str) -> None:
    """The MPI, which is out of sight, is behind the library, not the library itself."""
    argv = ["env", f"LD_PRELOAD={front}", "SWAPMEET_ALGORITHM=native", sys.executable, PYTHON_CALLS]
    done = launch(2, argv, mpi=wheel, preload=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "wrong: 0" in done.stdout


def names_seen(program: Path, object_: Path, **variables: str) -> list[str]:
    env = {**os.environ, **variables}
    return subprocess.run(
        [program, "names", object_], env=env, check=True, capture_output=True, text=True
    ).stdout.split()


@pytest.mark.parametrize("host", ["no MPI", "mpich", "openmpi"])
@pytest.mark.parametrize("wish", ["", "0"])
def test_a_function_is_there_only_if_the_mpi_has_it(front: Path, tmp_path: Path, host: str, wish: str) -> None:
    """Programs ask by weak references: whether there is an MPI, and mpi4py whether it has large counts."""
    words = ["cc"] if host == "no MPI" else [*mpis.find(host).compiler, "-Wl,--no-as-needed"]
    program = compile_c(tmp_path / "loads_late", PROGRAMS / "loads_late.c", "-pthread", "-ldl")
    caller = tmp_path / "late_caller.so"
    subprocess.run([*words, PROGRAMS / "late_caller.c", "-shared", "-fPIC", "-o", caller], check=True)
    without = names_seen(program, caller)
    assert names_seen(program, caller, LD_PRELOAD=str(front), SWAPMEET_PRELOAD=wish) == without
    assert ("MPI_Alltoall_c" in without) == (host == "mpich")
    assert ("MPI_Init" in without) == (host != "no MPI")


@pytest.mark.parametrize(
    "name", ["nobody knows this one", "MPICH, but there is no library for it", "MPIwrapper 2, wrapping:\nMPICH 4"]
)
def test_calls_are_passed_on_as_they_came(alone: Path, tmp_path: Path, name: str) -> None:
    """By many threads at once, arguments in registers and on the stack, and errno; and after the MPI was closed."""
    program = compile_c(tmp_path / "loads_late", PROGRAMS / "loads_late.c", "-pthread", "-ldl")
    host = compile_c(tmp_path / "libnobodys.so", PROGRAMS / "nobodys_mpi.c", "-shared", "-fPIC")
    link = ["-shared", "-fPIC", f"-L{tmp_path}", "-Wl,--no-as-needed", "-lnobodys", f"-Wl,-rpath,{tmp_path}"]
    caller = compile_c(tmp_path / "late_caller.so", PROGRAMS / "late_caller.c", *link)
    assert host.exists()
    words = preloading(alone, f"NAME_OF_MPI={name}", program, "calls", caller)
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "wrong: 0\n")
    assert done.stderr.count("swapmeet: warning: ") == (1 if name.startswith("MPICH") else 0)


@pytest.mark.parametrize("beside", ["nothing", "another version", "no library"])
def test_what_cannot_be_loaded_is_one_warning(launch, compiled, alone: Path, wheel: str, beside: str) -> None:
    body = site.library_beside(alone, ABIS[wheel])
    body.parent.mkdir(parents=True)
    if beside == "another version":
        code = 'const char *swapmeet_version(void) { return "0.0.9"; }\nvoid swapmeet_behind_front(void) {}\n'
        (alone.parent / "other.c").write_text(code)
        compile_c(body, alone.parent / "other.c", "-shared", "-fPIC")
    elif beside == "no library":
        body.write_text("nothing that could be loaded")
    done = launch(2, preloading(alone, compiled(wheel, "loaded")), mpi=wheel, preload=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "wrong: 0" in done.stdout
    [line] = [line for line in done.stderr.splitlines() if line.startswith("swapmeet: ")]
    assert line.startswith(f"swapmeet: warning: {body}")
    assert ("is of another version" in line) == (beside == "another version")
    assert line.endswith("all-to-alls are the MPI's own (SWAPMEET_PRELOAD=0 silences this)")


@pytest.mark.in_turn
@pytest.mark.parametrize("words", [[], [sys.executable, PYTHON_CALLS]], ids=["c", "mpi4py"])
def test_one_user_may_switch_it_off(launch, compiled, front: Path, wheel: str, words: list[str]) -> None:
    argv = preloading(front, "SWAPMEET_PRELOAD=0", *(words or [compiled(wheel, "loaded")]))
    done = launch(2, argv, mpi=wheel, preload=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "wrong: 0" in done.stdout
    assert "swapmeet" not in done.stderr


def test_what_lay_beside_it_at_the_beginning_is_loaded(launch, front: Path, tmp_path: Path) -> None:
    """Also if by then a link names the next version, and the program works in another folder."""
    (tmp_path / "current").symlink_to(front.parent)
    code = f"import os; os.chdir('/'); os.unlink('{tmp_path}/current'); from mpi4py import MPI"
    relative = os.path.relpath(tmp_path / "current" / front.name)
    done = launch(1, preloading(relative, sys.executable, "-c", code), mpi="openmpi", preload=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert served_by(front, "openmpi") in done.stderr


@pytest.mark.in_turn
@pytest.mark.parametrize("order", ["front first", "library first"])
def test_a_library_that_is_preloaded_as_well_serves(
    launch, compiled, front: Path, preloaded, tmp_path: Path, wheel: str, order: str
) -> None:
    """As after `swapmeet env` at such a site."""
    both = [str(front), str(preloaded(wheel))]
    statistics = tmp_path / "statistics.json"
    argv = preloading(":".join(both if order == "front first" else reversed(both)), f"SWAPMEET_STATS={statistics}")
    done = launch(2, [*argv, compiled(wheel, "loaded")], mpi=wheel, preload=False)
    check_served(done, wheel)
    assert "is served by" not in done.stderr
    persistent = wheel == "mpich"  # the header of Open MPI 5 is of MPI 3.1
    assert [tally["calls"] for tally in json.loads(statistics.read_text())["calls"]][:2] == [1 + persistent, 1]


@pytest.mark.in_turn
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("place", ["before", "behind"])
def test_tools_see_what_they_see_beside_a_library(
    launch, compiled, front: Path, tmp_path: Path, wheel: str, tool: str, place: str
) -> None:
    profiler = compiled(wheel, "profiler", "-shared", "-fPIC", *TOOLS[tool])
    preload = f"{profiler}:{front}" if place == "before" else f"{front}:{profiler}"
    seen = CALLS if place == "before" else dict.fromkeys(CALLS, 0)
    check_calls_beside_a_tool(launch, ["env", f"LD_PRELOAD={preload}", compiled(wheel, "calls")], tmp_path, wheel, seen)


TOOL = """#include <mpi.h>
#include <stdio.h>
int MPI_Init(int *argc, char ***argv) {
  fputs("the tool begins\\n", stderr);
  return PMPI_Init(argc, argv);
}
"""


@pytest.mark.in_turn
def test_a_tool_behind_it_begins_with_mpi(launch, compiled, front: Path, tmp_path: Path, wheel: str) -> None:
    (tmp_path / "tool.c").write_text(TOOL)
    tool = tmp_path / "tool.so"
    words = [*mpis.find(wheel).compiler, tmp_path / "tool.c", "-shared", "-fPIC", "-o", tool]
    subprocess.run(words, check=True)
    done = launch(2, preloading(f"{front}:{tool}", compiled(wheel, "loaded")), mpi=wheel, preload=False)
    check_served(done, wheel)
    assert done.stderr.count("the tool begins") == 2


@pytest.mark.in_turn
def test_two_fronts_serve_once(launch, compiled, front: Path, alone: Path, wheel: str) -> None:
    done = launch(2, preloading(f"{alone}:{front}", compiled(wheel, "loaded")), mpi=wheel, preload=False)
    check_served(done, wheel)
    assert served_by(front, wheel) in done.stderr
    assert "warning" not in done.stderr


def test_conforms(launch, built, front: Path, wheel: str) -> None:
    argv = preloading(front, built(wheel, "conformance"), "--only", "alltoall/int/")
    done = launch(3, argv, mpi=wheel, preload=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert served_by(front, wheel) in done.stderr
    assert re.search(r"^[1-9]\d+ passed, 0 failed", done.stdout, re.MULTILINE), done.stdout[-2000:]


def test_the_version_is_that_of_the_package(front: Path) -> None:
    assert swapmeet.__version__.encode() in front.read_bytes()
    assert installed.is_front(front)
    assert not installed.is_front(site.library_beside(front, "mpich"))


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_front_that_is_closed_stays(launch, compiled, front: Path, wheel: str, when: str) -> None:
    argv = [compiled(wheel, "unloads", "-ldl"), when, front]
    env = {"SWAPMEET_EXPLAIN": "1", "SWAPMEET_ALGORITHM": "pairwise"}
    done = launch(3, argv, mpi=wheel, env=env, preload=False)
    assert (done.returncode, done.stdout) == (0, "wrong or gone: 0\n"), done.stderr
    assert "swapmeet: Alltoall on 3 ranks" in done.stderr
