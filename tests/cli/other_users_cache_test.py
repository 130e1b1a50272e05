"""Nothing that another user may have written is loaded, executed or written over by the command."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from swapmeet import SwapmeetError, cache
from swapmeet.doctor import kernel, machine
from swapmeet.doctor.finding import NOTE
from swapmeet.mpi import application, library, mpis

STRANGER = 12345
MPICH = mpis.Mpi("mpich-system", "mpich", "4", Path("/usr/bin/mpicc"), Path("/usr/bin/mpiexec"), None)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs files of another user")


@pytest.fixture
def public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like /tmp that XDG_CACHE_HOME names, from an installed package."""
    folder = tmp_path / "public"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.setattr(library, "_in_cache", lambda: True)
    return folder


def of_a_stranger(public: Path) -> None:
    """A cache that was there before, with all that a build leaves."""
    built = library.build_folder(MPICH)
    (built / "lib").mkdir(parents=True)
    (built / "lib" / "libswapmeet.so").touch()
    os.chown(public / "swapmeet", STRANGER, STRANGER)


def test_the_cache_is_made_for_the_user_alone(public: Path) -> None:
    assert cache.own_cache_folder() == public / "swapmeet"
    assert stat.S_IMODE((public / "swapmeet").stat().st_mode) == 0o700


@as_root
def test_a_library_in_anothers_cache_is_neither_loaded_nor_built(public: Path) -> None:
    of_a_stranger(public)
    assert library.built(MPICH) is None
    with (
        pytest.raises(SwapmeetError, match="another user's; set XDG_CACHE_HOME"),
        library._locked(public / "swapmeet/x"),
    ):
        pass
    assert machine._cache().state == NOTE
    os.chown(public / "swapmeet", os.geteuid(), os.getegid())
    assert library.built(MPICH) is not None


@pytest.mark.parametrize(("place", "mode"), [("swapmeet", 0o777), ("swapmeet", 0o1777), (".", 0o777)])
def test_a_cache_that_all_may_change_is_not_used(public: Path, place: str, mode: int) -> None:
    cache.own_cache_folder()
    (public / place).chmod(mode)
    with pytest.raises(SwapmeetError, match="every user may"):
        cache.own_cache_folder()


def test_the_cache_is_never_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache.cache_folder() == Path("/home/somebody/.cache/swapmeet")


@as_root
def test_a_link_to_another_mpi_is_not_followed(public: Path) -> None:
    """A folder that goes into LD_LIBRARY_PATH."""
    first = mpis._renamed_library(Path("/opt/first/lib/libmpich.so.12"), "libmpi.so.12")
    second = mpis._renamed_library(Path("/opt/second/lib/libmpich.so.12"), "libmpi.so.12")
    for folder, name in ((first, "first"), (second, "second")):
        assert os.readlink(folder / "libmpi.so.12") == f"/opt/{name}/lib/libmpich.so.12"
    os.chown(public / "swapmeet", STRANGER, STRANGER)
    with pytest.raises(SwapmeetError, match="another user's"):
        mpis._renamed_library(Path("/opt/first/lib/libmpich.so.12"), "libmpi.so.12")


def test_python_imports_nothing_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mpi4py.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n")
    (tmp_path / "app.py").write_text("")
    monkeypatch.chdir(tmp_path)
    application.used([sys.executable, "app.py"])
    assert not (tmp_path / "executed").exists()


def test_a_link_in_shared_memory_is_not_followed(tmp_path: Path) -> None:
    precious, link = tmp_path / "precious", tmp_path / "link"
    precious.write_text("precious")
    link.symlink_to(precious)
    assert kernel._named(link) != ""
    assert precious.read_text() == "precious" and link.is_symlink()
