"""What a program sets for its process, a limit on the size of files or a locale, ends nothing that we write."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.in_turn  # the tested code is ours, whichever the host MPI is

#: Like many in Europe.
LOCALE = 'LC_NUMERIC\ndecimal_point ","\nthousands_sep "."\ngrouping 3;3\nEND LC_NUMERIC\n'


@pytest.mark.parametrize("variable", ["STATS", "STATS_LOG", "RECORD", "TRACE"])
def test_a_file_that_may_not_grow_is_a_warning(launch, compiled, tmp_path: Path, wheel: str, variable: str) -> None:
    env = {f"SWAPMEET_{variable}": str(tmp_path / "file")}
    done = launch(2, [compiled(wheel, "surroundings"), "file-size", "0", "3"], mpi=wheel, env=env)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    assert done.stderr.count("File too large") == (2 if variable == "RECORD" else 1), done.stderr
    assert f"SWAPMEET_{variable}" in done.stderr or variable == "TRACE"


def test_a_pipe_that_is_not_read_any_more_is_a_warning(launch, compiled, tmp_path: Path, wheel: str) -> None:
    pipe = tmp_path / "record.0"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"exec 3<{pipe}; exec sleep 600"]) as reader:
        os.close(os.open(pipe, os.O_WRONLY))  # it is read now
        argv = [compiled(wheel, "surroundings"), "reader", str(reader.pid), "3"]
        done = launch(1, argv, mpi=wheel, env={"SWAPMEET_RECORD": f"{tmp_path}/record"})
        reader.kill()
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    assert "Broken pipe" in done.stderr


@pytest.fixture(scope="module")
def comma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a locale `comma`, whose decimal numbers have one."""
    folder = tmp_path_factory.mktemp("locales")
    (folder / "source").write_text(LOCALE)
    try:
        words = ["localedef", "-c", "-i", folder / "source", folder / "comma"]
        subprocess.run(words, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no localedef: apt-get install libc-bin locales")
    if not (folder / "comma" / "LC_NUMERIC").exists():
        pytest.skip("localedef makes no locale: apt-get install locales")
    return folder


def test_numbers_have_a_point_in_any_locale(launch, compiled, tmp_path: Path, wheel: str, comma: Path) -> None:
    env = {
        "LOCPATH": str(comma),
        "SWAPMEET_NODES": "2",
        "SWAPMEET_EXPLAIN": "1",
        "SWAPMEET_TRIALS": "50",
        "SWAPMEET_STATS": f"{tmp_path}/statistics",
        "SWAPMEET_STATS_LOG": f"{tmp_path}/log",
        "SWAPMEET_RECORD": f"{tmp_path}/record.%r",
        "SWAPMEET_TRACE": f"{tmp_path}/trace",
        "SWAPMEET_WATCHDOG": f"60s,{tmp_path}/watchdog.%r",
    }
    done = launch(4, [compiled(wheel, "surroundings"), "locale", "comma", "2000"], mpi=wheel, env=env)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    assert " us" in done.stderr and not any(word[0].isdigit() and "," in word[:-1] for word in done.stderr.split())
    assert "trial_seconds" in json.dumps(json.loads((tmp_path / "statistics").read_text()))
    assert "traceEvents" in json.loads((tmp_path / "trace").read_text())
    for name in ("log", *(f"{kind}.{rank}" for kind in ("record", "watchdog") for rank in range(4))):
        lines = (tmp_path / name).read_text().splitlines()
        assert lines and all(isinstance(json.loads(line), dict) for line in lines)


def test_the_table_has_a_point_in_any_locale(launch, compiled, wheel: str, comma: Path) -> None:
    env = {"LOCPATH": str(comma), "SWAPMEET_STATS": "1"}
    done = launch(2, [compiled(wheel, "surroundings"), "locale", "comma", "3"], mpi=wheel, env=env)
    [row] = [line for line in done.stderr.splitlines() if line.startswith("Alltoall ")]
    assert float(row.split()[4]) >= 0
