"""The library for an MPI, built when it is first asked for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from swapmeet import SwapmeetError
from swapmeet.mpi import library
from swapmeet.mpi.mpis import Mpi

SIMGRID = Mpi("simgrid", "simgrid", "3.32", Path("/nowhere/smpicc"), Path("/nowhere/smpirun"), None)


@pytest.mark.parametrize("takes_s", [0.0, 0.3])
def test_a_build_that_takes_long_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], takes_s: float
) -> None:
    monkeypatch.setattr(library, "TELL_AFTER_S", 0.2 if takes_s else 60)
    monkeypatch.setattr(library, "build_folder", lambda mpi: tmp_path)
    monkeypatch.setattr(library, "_core", lambda: tmp_path)
    monkeypatch.setattr(library, "_make", lambda folder, *_: time.sleep(takes_s))
    assert library.build.__wrapped__(SIMGRID, "swapmeet") == tmp_path
    told = capsys.readouterr().err.count("building libswapmeet for simgrid, which may take minutes")
    assert told == (1 if takes_s else 0)


def test_an_installed_package_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it brings is linked, and what is built lies in the cache, although the package can be written to."""
    (tmp_path / "source").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libswapmeet_core.a").touch()
    (tmp_path / "lib" / "compiler.txt").write_text("GNU 11.1.0\n")
    monkeypatch.setattr(library, "PACKAGE", tmp_path)
    monkeypatch.setattr(library, "BROUGHT", tmp_path / "lib")
    monkeypatch.setattr(library, "source_tree", lambda: tmp_path / "source")
    monkeypatch.setattr(library, "_make", lambda *_: pytest.fail("the core is compiled again"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert library._core() == tmp_path / "lib"
    assert library.build_folder(SIMGRID).is_relative_to(tmp_path / "cache" / "swapmeet")
    assert not library._can_link(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("compiled_by", "links"), [("GNU 12.2.0", True), ("GNU 12.3.0", False), ("Clang 12.2.0", False)]
)
def test_a_newer_compilers_archive_is_not_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled_by: str, links: bool
) -> None:
    """Its code calls functions of a newer C++ library."""
    compiler, described = tmp_path / "c++", tmp_path / "compiler.txt"
    compiler.write_text("#!/bin/sh\necho 'gcc version 12.2.0 (Debian 12.2.0-14)' >&2\n")
    compiler.chmod(0o755)
    described.write_text(compiled_by)
    monkeypatch.setenv("CXX", str(compiler))
    assert library._can_link(described) == links


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A clone, in which a build compiles nothing."""
    clone = tmp_path / "clone"
    for name in ("CMakeLists.txt", "src/library.cpp"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text("project(swapmeet")
    monkeypatch.setattr(library, "source_tree", lambda: clone)
    monkeypatch.setattr(library, "_run", lambda words, log, of: (log.parent / "build.ninja").touch())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    library._source_digest.cache_clear()
    yield clone
    library._source_digest.cache_clear()


def read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and may(path, mode))


@pytest.fixture
def of_the_owner(source: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where the owner of a clone, which this user may only read, has built the library for an MPI."""
    folder = library.build.__wrapped__(SIMGRID, "swapmeet")
    assert folder.is_relative_to(source)
    read_only(monkeypatch)
    return folder


def test_what_the_owner_of_a_clone_has_built_serves_those_who_may_only_read_it(
    of_the_owner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "_make", lambda *_: pytest.fail("something is compiled"))
    assert library.build.__wrapped__(SIMGRID, "swapmeet") == of_the_owner
    assert library.built(SIMGRID) == of_the_owner / "lib" / "libswapmeet.so"
    assert library._core() == of_the_owner.with_name("core")
    assert not (tmp_path / "cache").exists()


def other_source(folder: Path) -> None:
    """With the time that it had before."""
    path = folder.parents[1] / "src" / "library.cpp"
    before = path.stat()
    path.write_text("int changed;")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    library._source_digest.cache_clear()


def other_mpi(folder: Path) -> None:
    (folder / "swapmeet.built").write_text("another")


def never_finished(folder: Path) -> None:
    (folder / "swapmeet.built").unlink()


@pytest.mark.parametrize("change", [other_source, other_mpi, never_finished])
def test_what_the_owner_has_not_built_is_built_in_the_cache(
    of_the_owner: Path, tmp_path: Path, change: Callable[[Path], None]
) -> None:
    change(of_the_owner)
    assert library.built(SIMGRID) is None
    assert library.build.__wrapped__(SIMGRID, "swapmeet").is_relative_to(tmp_path / "cache")


def test_what_is_in_the_cache_needs_neither_cmake_nor_a_folder_to_write_to(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a compute node, whose home may be mounted for reading only."""
    read_only(monkeypatch)
    folder = library.build.__wrapped__(SIMGRID, "swapmeet")
    assert folder.is_relative_to(tmp_path / "cache")
    monkeypatch.setattr(library, "_locked", lambda folder: pytest.fail("a file is written"))
    monkeypatch.setattr(library, "_tool", lambda name: pytest.fail("CMake is looked for"))
    assert library.build.__wrapped__(SIMGRID, "swapmeet") == folder


def test_what_is_in_a_clone_serves_where_there_is_no_cmake(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = library.build.__wrapped__(SIMGRID, "swapmeet")
    ran: list[str] = []
    monkeypatch.setattr(library, "_run", lambda words, log, of: ran.append(words[-1]))
    assert library.build.__wrapped__(SIMGRID, "swapmeet") == folder and ran  # for settings may have changed
    del ran[:]
    monkeypatch.setattr(library, "_path_of_tool", lambda name: None)
    assert library.build.__wrapped__(SIMGRID, "swapmeet") == folder and not ran
    other_source(folder)
    with pytest.raises(SwapmeetError, match="cmake is neither on PATH nor in"):
        library.build.__wrapped__(SIMGRID, "swapmeet")


def test_a_package_of_another_version_is_compiled_whole(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files may be older than what was compiled of the one before."""
    read_only(monkeypatch)
    ran: list[str] = []
    monkeypatch.setattr(library, "_run", lambda words, log, of: ran.append(words[-1]))
    folder = library.build.__wrapped__(SIMGRID, "swapmeet")
    assert "clean" not in ran  # `make` has compiled there
    other_source(source / "build" / "any")
    assert library.build.__wrapped__(SIMGRID, "swapmeet") == folder
    assert ran.count("clean") == 2 and ran[-1] == "swapmeet"


def test_a_folder_that_cannot_be_written_to_is_one_line(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (source / "build" / "core" / "build.lock").mkdir(parents=True)
    with pytest.raises(SwapmeetError, match=r"cannot build in .*/core: Is a directory"):
        library._core()
