"""The MPI tests with the library and their programs under a sanitizer: `pytest --sanitize=address tests/mpi/...`.

The MPIs themselves are not instrumented. What sanitizers report goes to files, so that no output that a test compares
has it, and a test in which there is a report fails. What MPIs do is left out by the files in tests/sanitizers.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import limits
import pytest

from swapmeet.mpi import launch as launching
from swapmeet.mpi import library
from swapmeet.mpi.mpis import Mpi, find

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SLOWER = 4  #: at most, as what hangs is ended
FLAGS = "-O0 -g1"  #: lines, which is what reports show; GCC 12 takes nine times as long for the first in -O1
MPIS = ("mpich", "openmpi")
TARGETS = ("swapmeet", "conformance", "fuzz", "errors", "transport", "typemaps")
PRINTED = ": runtime error: "
NO_REPORTS = (  #: remarks
    "WARNING: ASan doesn't fully support makecontext/swapcontext",  # src/mpi/stack_switch.hpp makes up for it
    "was not suspended. False leaks are possible.",  # of a child, whose parent's threads are not there
)
SUPPRESSIONS = Path(__file__).parent / "sanitizers"


@dataclass(frozen=True)
class Sanitizer:
    """What one is for, and how it is used."""

    flag: str  #: behind -fsanitize=
    variables: dict[str, str]


SANITIZERS = {
    "address": Sanitizer(
        "address,undefined",
        {
            # The library comes before the runtime where it is preloaded; none of its functions is one of the runtime's.
            "ASAN_OPTIONS": "verify_asan_link_order=0:strict_string_checks=1:detect_stack_use_after_return=1",
            "LSAN_OPTIONS": f"suppressions={SUPPRESSIONS}/leaks.txt:print_suppressions=0",
            "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:suppressions={SUPPRESSIONS}/undefined.txt",
        },
    ),
    "thread": Sanitizer(
        "thread",
        {
            # Not what MPIs do themselves; their functions synchronise by locks, which are seen.
            "TSAN_OPTIONS": f"ignore_noninstrumented_modules=1:suppressions={SUPPRESSIONS}/races.txt",
            # UCX's hooks of madvise and munmap run in threads that ThreadSanitizer has already ended: it crashes.
            "UCX_MEM_EVENTS": "no",
            # PMIx maps memory where the launcher has it, which is where ThreadSanitizer has its own.
            "PMIX_MCA_gds": "hash",
        },
    ),
}


class Reports:
    """A session of tests under a sanitizer; what it reports."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sanitizer = SANITIZERS[name]
        self.folder = Path(tempfile.mkdtemp(prefix="swapmeet-reports-"))
        self.printed: list[str] = []  #: GCC's UndefinedBehaviorSanitizer cannot write to files

    def begin(self) -> None:
        """From now on the libraries and programs that tests ask for are those under the sanitizer."""
        library.build = functools.cache(self.build)
        launching.run = self.reading(launching.run)
        for name, value in self.sanitizer.variables.items():
            to_file = f":log_path={self.folder}/report" if name.endswith("SAN_OPTIONS") else ""
            os.environ[name] = value + to_file
        limits.LEAST *= SLOWER

    def end(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def reading(self, run: Run) -> Run:
        """`run`, whose output is read for reports."""

        @functools.wraps(run)
        def reading(*arguments: Any, **named: Any) -> subprocess.CompletedProcess[str]:
            done = run(*arguments, **named)
            if PRINTED in done.stderr:
                self.printed.append(done.stderr)
            return done

        return reading

    def flags(self, flags: tuple[str, ...]) -> tuple[str, ...]:
        """Those of a test program; what is preloaded is not instrumented, for it comes before the runtime."""
        return (*flags, "-DSANITIZED" if "-shared" in flags else f"-fsanitize={self.sanitizer.flag}")

    def take(self) -> str:
        """What was reported since the last call."""
        found, self.printed = self.printed, []
        for path in sorted(self.folder.iterdir()):
            found += [
                line
                for line in path.read_text(errors="replace").splitlines()
                if not any(text in line for text in NO_REPORTS)
            ]
            path.unlink()
        return "\n".join(found)

    def build(self, mpi: Mpi, target: str) -> Path:
        """Stands in for swapmeet.mpi.library.build."""
        base = library.source_tree() / "build" / "sanitized" / self.name
        words = [
            f"-DSWAPMEET_SANITIZE={self.sanitizer.flag}",
            "-DSWAPMEET_LTO=OFF",
            "-DCMAKE_BUILD_TYPE=Debug",
            f"-DCMAKE_C_FLAGS_DEBUG={FLAGS}",
            f"-DCMAKE_CXX_FLAGS_DEBUG={FLAGS} -D_GLIBCXX_ASSERTIONS",
        ]
        core, folder = base / "core", base / library.build_folder(mpi).name
        with library._locked(core):
            library._make(core, library.CORE, words, f"{words}\n", "all MPIs")
        words += [f"-DSWAPMEET_MPICC={mpi.mpicc}", f"-DSWAPMEET_CORE={core}"]
        with library._locked(folder):
            library._make(folder, [target], words, f"{words}\n", mpi.name)
        return folder


REPORTS = pytest.StashKey[Reports]()  #: of a session with --sanitize


def main() -> None:
    """Build what the tests run, by each MPI that is a wheel: so no test's time includes compiling."""
    for name in sys.argv[1:] or SANITIZERS:
        reports = Reports(name)
        for mpi in MPIS:
            for target in TARGETS:
                reports.build(find(mpi), target)
        reports.end()


if __name__ == "__main__":
    main()
