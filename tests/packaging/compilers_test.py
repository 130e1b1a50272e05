"""Each C++ compiler that is here builds the library, which then serves; one that is too old is refused at once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from limits import scaled

from swapmeet.mpi import launch, mpis

ROOT = Path(__file__).parents[2]
COMPILERS = [
    name
    for name in [*(f"g++-{n}" for n in range(8, 17)), *(f"clang++-{n}" for n in range(13, 23))]
    if shutil.which(name)
]
OLDEST = {"g++": 10, "clang++": 16}
LIMIT_S = 1800


def configure(folder: Path, compiler: str) -> subprocess.CompletedProcess[str]:
    words = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", f"-DSWAPMEET_MPICC={mpis.find('mpich').mpicc}"]
    words += [f"-DCMAKE_CXX_COMPILER={compiler}"]
    if os.sep not in compiler:
        words += [f"-DCMAKE_C_COMPILER={compiler.replace('clang++', 'clang').replace('g++', 'gcc')}"]
    return subprocess.run(words, capture_output=True, text=True)


@pytest.mark.long
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_builds_and_serves(tmp_path: Path, compiler: str) -> None:
    configured = configure(tmp_path, compiler)
    name, version = compiler.split("-")
    if int(version) < OLDEST[name]:
        assert configured.returncode and "GCC 10 or newer, or Clang 16 or newer" in configured.stderr
        return
    assert configured.returncode == 0, configured.stderr
    words = ["cmake", "--build", tmp_path, "--target", "swapmeet", "swapmeet_front", "swapmeet_heap", "conformance"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=scaled(LIMIT_S))
    assert done.returncode == 0, done.stdout[-4000:]
    assert "warning:" not in done.stdout
    mpich = mpis.find("mpich")
    argv = launch.command(mpich, 3, [tmp_path / "bin" / "conformance"], tmp_path / "lib" / "libswapmeet.so")
    done = launch.run(mpich, 3, argv, timeout_s=scaled(600))
    assert re.search(r"^\d+ passed, 0 failed, \d+ skipped$", done.stdout, re.MULTILINE), (
        done.stdout[-4000:] + done.stderr[-4000:]
    )


def wrapped(path: Path, *flags: str) -> Path:
    """The system's compiler, with flags that make it one that lacks something."""
    path.write_text(f'#!/bin/sh\nexec c++ {" ".join(flags)} "$@"\n')
    path.chmod(0o755)
    return path


@pytest.mark.slow
def test_a_compiler_without_cxx20_is_refused_before_anything_is_compiled(tmp_path: Path) -> None:
    compiler = wrapped(tmp_path / "g++", "-include", "ancient.h")
    (tmp_path / "ancient.h").write_text("#include <span>\n#define span no_such_class\n")
    compiler.write_text(compiler.read_text().replace("ancient.h", str(tmp_path / "ancient.h")))
    done = configure(tmp_path / "build", str(compiler))
    assert done.returncode and "Swapmeet takes C++20: GCC 10 or newer, or Clang 16 or newer, not GNU" in done.stderr


@pytest.mark.slow
def test_a_missing_static_cxx_library_is_reported_before_anything_is_compiled(tmp_path: Path) -> None:
    script = 'case " $* " in *" -static-libstdc++ "*) echo "cannot find -lstdc++" >&2; exit 1;; esac\n'
    compiler = wrapped(tmp_path / "g++")
    compiler.write_text(compiler.read_text().replace("exec", script + "exec"))
    done = configure(tmp_path / "build", str(compiler))
    assert done.returncode and "dnf install libstdc++-static" in done.stderr


#: Of C++20, what GCC 10 or its library lacks, as far as it was used before: for where no GCC 10 is at hand.
TOO_NEW = re.compile(
    r"using enum|#include <(?:barrier|latch|semaphore|source_location|stop_token|syncstream)>|year_month_day|hh_mm_ss"
    r"|\b\w+\.wait\((?:true|false)\)|std::(?:bit_cast|jthread|to_chars)\b|__attribute__\(\(\w+\)\) ->"
)


def test_nothing_is_used_that_the_oldest_compiler_lacks() -> None:
    used = {
        f"{path.relative_to(ROOT)}: {found[0]}"
        for part in ("src", "python", "benchmarks", "tests/cluster", "tests/conformance", "tests/transport")
        for path in (ROOT / part).rglob("*.[ch]pp")
        if (found := TOO_NEW.search(path.read_text()))
    }
    assert not used


@pytest.mark.long
@pytest.mark.timeout(LIMIT_S)
def test_no_name_is_taken_for_one_of_the_standard_library() -> None:
    """Which headers others include differs between compilers: with all of them every file means the same."""
    core = [
        path for part in ("schedule", "options", "network", "choose") for path in (ROOT / "src" / part).glob("*.cpp")
    ]
    for path in core:
        words = ["c++", "-std=c++20", "-fsyntax-only", "-include", "bits/stdc++.h", f"-I{ROOT / 'src'}", path]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:4000]
