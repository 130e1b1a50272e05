"""The folders of src/ form a line: none includes a file of one to its right; those on the left know no MPI.

Those of tools/ include the ones without MPI, and are included by none of src/.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
TOOLS = SOURCE.parent / "tools"

#: From left to right.
WITHOUT_MPI = [
    "schedule",
    "topology",
    "algorithms",
    "engine",
    "sparse",
    "model",
    "evidence",
    "options",
    "choose",
    "typemap",
    "heap",
]
WITH_MPI = ["mpi", "team", "node", "buffers", "observe", "exchange", "session", "api", "interpose", "front"]
LINE = [*WITHOUT_MPI, *WITH_MPI]
#: What is built apart, includes its own folder only, and is included by none.
APART = ["component"]
#: The folders of tools/, from left to right but for the virtual cluster, which stands apart.
OF_TOOLS = ["workload", "text", "proofs", "search", "network", "estimate", "cluster"]

#: Words in names of files that say nothing, or nothing to who knows the field.
VAGUE = re.compile(
    r"(?:^|_)(?:utils?|helpers?|common|misc|tmp|stuff|manager|letters?|landings?|meeters?|squeeze|bell)(?:_|\d|\.)"
)

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"](\w+)/[^>"]+[>"]', re.MULTILINE)
MPI_HEADER = re.compile(r'#\s*include\s+[<"](?:mpi\.h|mpi/)')


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.suffix in {".cpp", ".hpp", ".c", ".h"})


def wrong_includes(root: Path) -> list[str]:
    """Includes that go to the right, or out of the line."""
    wrong = []
    for path in files(root):
        folder = path.relative_to(root).parts[0]
        for included in INCLUDE.findall(path.read_text()):
            if included not in {*LINE, *APART, *OF_TOOLS} or included == folder:
                continue
            if {folder, included} & {*APART, *OF_TOOLS} or LINE.index(included) > LINE.index(folder):
                wrong.append(f"{path.relative_to(root)} includes {included}/")
    return wrong


def mentions_of_mpi(root: Path) -> list[str]:
    """Files of the folders without MPI that include its header or call it; in a comment it may be spoken of."""
    found = []
    for path in (path for folder in WITHOUT_MPI for path in files(root / folder)):
        code = re.sub(r"//.*", "", path.read_text())
        if MPI_HEADER.search(code) or re.search(r"\bP?MPI_[A-Z][a-z]\w*\s*\(", code):
            found.append(str(path.relative_to(root)))
    return found


def test_every_folder_has_its_place() -> None:
    assert {path.name for path in SOURCE.iterdir() if path.is_dir()} == {*LINE, *APART}


def test_no_folder_includes_one_to_its_right() -> None:
    assert wrong_includes(SOURCE) == []


def test_tools_include_what_knows_no_mpi() -> None:
    assert {path.name for path in TOOLS.iterdir() if path.is_dir()} == {*OF_TOOLS}
    for path in files(TOOLS):
        folder = path.relative_to(TOOLS).parts[0]
        allowed = {folder} if folder == "cluster" else {*WITHOUT_MPI, *OF_TOOLS[: OF_TOOLS.index(folder) + 1]}
        assert set(INCLUDE.findall(path.read_text())) & {*LINE, *APART, *OF_TOOLS} <= allowed, path


def test_the_core_knows_no_mpi() -> None:
    assert mentions_of_mpi(SOURCE) == []


def test_names_of_files_say_what_is_in_them() -> None:
    assert VAGUE.search("plan_utils.cpp") and not VAGUE.search("plan.cpp")
    assert [str(path) for path in files(SOURCE) if VAGUE.search(path.name)] == []
    for path in files(SOURCE):
        assert re.fullmatch(r"[a-z0-9_]+\.[ch](pp)?", path.name), path


def test_headers_have_one_folder_in_their_path() -> None:
    """So that an include says which folder its file is in: relative paths would hide it from the tests above."""
    found = []
    for path in files(SOURCE):
        if path.relative_to(SOURCE).parts[0] in APART:
            continue
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE):
            if not re.fullmatch(r"\w+/\w+\.(hpp|h)", name):
                found.append(f"{path.relative_to(SOURCE)}: {name}")
    assert found == []


@pytest.mark.parametrize(
    ("folder", "line", "found_by"),
    [
        ("model", '#include "exchange/plan.hpp"', wrong_includes),
        ("mpi", '#include "session/context.hpp"', wrong_includes),
        ("session", '#include "cluster/tap.hpp"', wrong_includes),
        ("model", "#include <mpi.h>", mentions_of_mpi),
        ("choose", "int rank = MPI_Comm_rank(comm, &rank);", mentions_of_mpi),
    ],
)
def test_an_arrow_back_is_found(tmp_path: Path, folder: str, line: str, found_by) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "file.cpp").write_text(f"{line}\n")
    assert len(found_by(tmp_path)) == 1
    (tmp_path / folder / "file.cpp").write_text('#include "schedule/schedule.hpp"\n#include <vector>\n')
    assert found_by(tmp_path) == []
