"""Run a command with Python's module of the core under AddressSanitizer, and the standard library's checks of indices.

    .venv/bin/python tests/sanitizing_core.py .venv/bin/python -m pytest tests/core

What reads beyond an array ends the test's process, and so fails the test. It takes some ten times as long.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from swapmeet.mpi import library

PRELOADED = ("libasan.so", "libstdc++.so.6")  #: Python is not linked to them


def build() -> Path:
    """The module, in build/sanitized."""
    folder = library.source_tree() / "build" / "sanitized" / "core"
    words = [
        "-DSWAPMEET_PYTHON=ON",
        "-DSWAPMEET_SANITIZE=address",
        "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1 -D_GLIBCXX_ASSERTIONS",
        f"-DPython_EXECUTABLE={sys.executable}",
    ]
    with library._locked(folder):
        library._make(folder, ["_core"], words, f"{words}\n", "Python")
    (module,) = (folder / "python").glob("_core.*.so")
    return module


def main() -> None:
    """Become the command."""
    asked = [[os.environ.get("CXX", "c++"), f"-print-file-name={name}"] for name in PRELOADED]
    os.environ.update(
        LD_PRELOAD=" ".join(subprocess.check_output(words, text=True).strip() for words in asked),
        ASAN_OPTIONS="detect_leaks=0",  # Python leaves memory to the end of its process
        PYTHONMALLOC="malloc",
        PYTHONPATH=str(Path(__file__).parent / "sanitizers" / "core"),
        SANITIZED_CORE=str(build()),
    )
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
