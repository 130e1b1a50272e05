"""The library for an MPI, built when it is first asked for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from swapmeet import library
from swapmeet.mpi import Mpi

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
