"""The core knows no MPI, and Python's description of it is complete."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "src/schedule",
    "src/algorithms",
    "src/topology",
    "src/model",
    "src/evidence",
    "src/options",
    "src/choose",
    "src/sparse",
    "tools/network",
    "tools/text",
    "tools/proofs",
    "tools/estimate",
    "tools/workload",
    "tools/search",
    "tools/cluster",
)


def compile_command(source: Path) -> list[str]:
    """How the core's files are compiled, taken from the build of the bindings."""
    database = ROOT / "build" / "core" / "compile_commands.json"
    if not database.exists():
        pytest.skip(f"{database} does not exist: the package was not built here")
    entry = next(
        entry
        for entry in json.loads(database.read_text())
        if Path(entry["file"]).name in ("unity_schedule_cxx.cxx", "spec.cpp")
    )
    words = shlex.split(entry["command"])
    return [*words[: words.index("-o")], "-fsyntax-only", str(source)]


@pytest.mark.parametrize("folder", ["core", "mpich", "openmpi"])
def test_no_multiplication_is_fused_with_an_addition(folder: str) -> None:
    """Headers of the core compute what ranks decide by, also where the library includes them."""
    database = ROOT / "build" / folder / "compile_commands.json"
    if not database.exists():
        pytest.skip(f"{database} does not exist: it was not built here")
    deciding = re.compile(r"CMakeFiles/swapmeet(_core|_around)?[.]dir/")
    commands = [entry["command"] for entry in json.loads(database.read_text()) if deciding.search(entry["command"])]
    assert commands
    assert [command for command in commands if "-ffp-contract=off" not in shlex.split(command)] == []


@pytest.mark.parametrize("header", ["<mpi.h>", '"mpi.h"'])
def test_a_stray_include_of_mpi_does_not_compile(tmp_path: Path, header: str) -> None:
    source = tmp_path / "stray.cpp"
    source.write_text('#include "schedule/spec.hpp"\n')
    assert subprocess.run(compile_command(source), cwd=ROOT).returncode == 0
    source.write_text(f'#include "schedule/spec.hpp"\n#include {header}\n')
    refused = subprocess.run(compile_command(source), cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "must not know MPI" in refused.stderr


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_of_the_core_mentions_the_header(folder: str) -> None:
    files = [path for path in (ROOT / folder).iterdir() if path.suffix in (".cpp", ".hpp", ".c", ".h")]
    assert files
    assert not [path for path in files if "mpi.h" in path.read_text()]
