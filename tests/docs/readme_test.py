"""The README's figures come from committed data, which others can repeat; pages whose data nobody can repeat warn."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import provenance  # noqa: E402
import readme  # noqa: E402
from launches import AUTO, RAW, Case, Launch, append, begin  # noqa: E402
from launches import Cell as LaunchCell  # noqa: E402

TEXT = (ROOT / "README.md").read_text()
STATED = re.compile(r"at\s+least\s+(\d+)\s+commits\s+to\s+`src`")


@pytest.fixture
def history() -> None:
    if why := provenance.no_history():
        pytest.skip(f"the commits of measurements cannot be looked up: {why}")


def stated() -> tuple[int, int]:
    chart, oldest = STATED.findall(TEXT)
    return int(chart), int(oldest)


def test_the_figures_are_those_of_the_data() -> None:
    made = TEXT.partition(readme.BEGIN)[2].partition(readme.END)[0]
    assert made == readme.contents(*stated()), "python benchmarks/readme.py writes them anew"


def test_a_figure_outside_of_what_is_computed_is_none() -> None:
    """A speed-up that somebody types in is refused."""
    before, _, rest = TEXT.partition(readme.BEGIN)
    assert not re.findall(r"\d\.\d", (before + rest.partition(readme.END)[2]).replace("Python 3.10", ""))


def test_cells_and_rows_fit() -> None:
    assert all(any(readme.of_mpi(row, mpi) for mpi in readme.MPIS) for row in readme.rows())
    users = [row for row in readme.rows() if row.data == "users"]
    chosen = [cell for cell in readme.cells("users") for row in users if row.wanted(cell)]
    assert sorted(map(repr, chosen)) == sorted(map(repr, readme.cells("users"))), "a cell is missing, or in two rows"


def test_measurements_by_intels_own_programs_have_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("one node", "MPICH 5.0.2", 2, False, "intels-imb")
    begin(tmp_path / "imb.jsonl", {})
    for candidate, us in ((RAW, 6.0), (AUTO, 2.0)):
        cells = [LaunchCell("Alltoall", size, us) for size in (8, 65536)]
        append(tmp_path / "imb.jsonl", Launch(case, candidate, 1, "", "", 1.0, cells))
    monkeypatch.setattr(readme.provenance, "MEASUREMENTS", tmp_path)
    for name in ("results", "cells"):
        monkeypatch.setattr(readme, name, getattr(readme, name).__wrapped__)  # which keeps nothing
    assert [line for line in readme.table() if "IMB" in line] == [
        f"| Intel's IMB, {sizes} | 3.00 | 3.00 |  |  | [2 and 4 ranks on 2 cores](docs/measurements/imb.md) |"
        for sizes in ("up to 4 KiB", "larger blocks")
    ]


@pytest.mark.parametrize("file", readme.data(), ids=lambda file: file.stem)
def test_others_can_repeat_the_data(file: Path) -> None:
    assert provenance.commits(file)
    assert not [commit for commit in provenance.commits(file) if commit.endswith(provenance.CHANGED)]


@pytest.mark.usefixtures("history")
def test_commits_are_known_and_ages_are_reported() -> None:
    problems = [
        why for file in readme.data() for commit in provenance.commits(file) if (why := provenance.problem(commit))
    ]
    assert not problems
    warnings.warn("Age of the README's data: " + "; ".join(map(provenance.report, readme.data())), stacklevel=1)


@pytest.mark.usefixtures("history")
def test_the_data_are_as_old_as_stated() -> None:
    chart, oldest = readme.ages()
    says = "python benchmarks/readme.py states it anew"
    assert stated()[0] <= chart <= 2 * stated()[0], says
    assert stated()[1] <= oldest <= 2 * stated()[1], says


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("page", provenance.pages(), ids=lambda page: page.stem)
def test_pages_warn_of_data_that_cannot_be_repeated(page: Path) -> None:
    assert provenance.pages()[page] == page.read_text(), "python benchmarks/provenance.py page writes the warning"


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=n", "-c", "user.email=e")
    done = subprocess.run(["git", "-C", folder, *identity, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of two commits, of which the second changes `src`."""
    folder = tmp_path / "repository"
    (folder / "src").mkdir(parents=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "--message", "first")
    (folder / "src" / "file").touch()
    git(folder, "add", "src")
    git(folder, "commit", "--message", "second")
    monkeypatch.setattr(provenance, "ROOT", folder)
    return folder


def test_commits_are_looked_up(repository: Path) -> None:
    first = git(repository, "rev-parse", "--short=12", "HEAD~1")
    assert provenance.age(first) == 1 and not provenance.problem(first)
    assert "uncommitted changes" in provenance.problem(f"{first}-dirty")
    assert "does not have" in provenance.problem("0123456789ab")


def test_a_shallow_clone_knows_no_history(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not provenance.no_history()
    git(repository.parent, "clone", "--depth=1", f"file://{repository}", "shallow")
    monkeypatch.setattr(provenance, "ROOT", repository.parent / "shallow")
    assert provenance.no_history() == "this is a shallow clone"
    assert not provenance.problem("0123456789ab") and provenance.problem("0123456789ab-dirty")


def test_a_warning_is_put_and_removed() -> None:
    page = "# Title\n\nText.\n"
    warned = provenance.warned(page, ["in a tree with uncommitted changes (commit a-dirty)"])
    assert "uncommitted changes (commit a-dirty)" in warned
    assert provenance.warned(warned, []) == page
