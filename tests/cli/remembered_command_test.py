"""`swapmeet tuning`: what is remembered, shown, put together, forgotten and exported."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli.json_test import answer
from typer.testing import CliRunner

from swapmeet import __version__, _core
from swapmeet.choose import mpich, openmpi
from swapmeet.choose.foreign import Call
from swapmeet.cli.app import app
from swapmeet.mpi import mpis

A2A, A2AV = _core.Collective.alltoall, _core.Collective.alltoallv
OLD = 1767323045
PAIRWISE = str(_core.parse_spec("pairwise"))


def took(spec: str, mean_us: float, **other: Any) -> _core.Evidence:
    fields = {"collective": A2A, "ranks": 16, "nodes": 2, "per_node": (8, 8), "size_class": 6, "calls": 9} | other
    fields = {"spread_s": 0.01e-6 * mean_us, "date": int(time.time())} | fields
    return _core.Evidence(spec=_core.parse_spec(spec), mean_s=mean_us / 1e6, **fields)


EVIDENCE = [took("native", 20), took("pairwise", 15), took("shared-memory", 12)]


def key(mpi: str = "openmpi") -> _core.MemoryKey:
    target = mpis.find(mpi)
    return _core.MemoryKey(f"{target.kind} {target.version}", _core.cluster_signature(), __version__)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "site"))
    (tmp_path / "state/swapmeet").mkdir(parents=True)
    return tmp_path / "state/swapmeet"


def put(folder: Path, evidence: list[_core.Evidence], of: _core.MemoryKey | None = None, name: str = "") -> Path:
    of = of or key()
    path = folder / (name or of.file_name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_core.memory_text(of, evidence))
    return path


def said(*words: str | Path, status: int = 0) -> str:
    done = CliRunner().invoke(app, ["tuning", *map(str, words)])
    assert done.exit_code == status, done.output
    return done.output


def test_what_is_remembered_is_shown(folder: Path, tmp_path: Path) -> None:
    assert said("show") == "nothing is remembered yet\n"
    put(folder, EVIDENCE)
    put(tmp_path / "site/swapmeet", [took("spread-out", 1e6, collective=A2AV, size_class=-1)])
    put(folder, [took("native", 1)], _core.MemoryKey("mpich 4.0", "elsewhere", "0.0.9"))
    text = said("show")
    (used,) = [line for line in text.splitlines() if line.rstrip().endswith("used")]
    words = used.split()
    assert words[:4] == ["alltoall", "16", "2", "8"] and "64 B" in used and "12 ± 0.12 µs" in used and "9" in words
    assert str(_core.parse_spec("shared-memory")) in used
    assert f"of {key().mpi} on {key().machine}, by Swapmeet {__version__}" in text
    assert "of mpich 4.0 on elsewhere (not this one), by Swapmeet 0.0.9" in text
    assert "(of the site)" in text and "1e+06 ± 1e+04 µs" in text and "any" in text
    assert "elsewhere" not in said("show", "--mpi", "openmpi")


def test_damage_is_shown(folder: Path) -> None:
    path = put(folder, EVIDENCE)
    path.write_text(path.read_text() + "took: nonsense\n")
    (folder / "other.memory").write_text("nonsense\n")
    text = said("show")
    assert "1 of 4 lines cannot be used: it is of alltoall" in text and "(line 9, column" in text
    assert "other.memory: no memory of Swapmeet" in text
    assert "no memory of Swapmeet" in said("show", folder / "other.memory", status=2)


def test_what_is_no_file_is_waited_for_by_no_command(folder: Path, tmp_path: Path) -> None:
    pipe = folder / "0.memory"
    os.mkfifo(pipe)
    put(folder, EVIDENCE)
    words = [sys.executable, "-m", "swapmeet", "tuning", "show"]
    shown = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True).stdout
    assert f"{pipe}: not a file\n" in shown and "used" in shown
    pipe.rename(folder / key().file_name)
    assert "not a file" in said("export", "--mpi", "openmpi", "-o", tmp_path / "a.tuning", status=2)


def test_merging_counts_all_calls(folder: Path, tmp_path: Path) -> None:
    one = put(tmp_path, [took("native", 10), took("pairwise", 15)], name="a.memory")
    other = put(tmp_path, [took("native", 30)], name="b.memory")
    assert "2 times" in said("merge", one, other)
    (mine,) = folder.iterdir()
    assert mine.name == key().file_name
    evidence = {str(e.spec): e for e in _core.parse_memory(mine.read_text()).evidence}
    assert (evidence["native"].calls, evidence["native"].mean_s) == (18, pytest.approx(20e-6))
    assert evidence[PAIRWISE].calls == 9
    site = tmp_path / "site.memory"
    assert f"looked for as {key().file_name} in {tmp_path}/site/swapmeet" in said("merge", one, other, "-o", site)
    assert stat.S_IMODE(site.stat().st_mode) == 0o644
    assert [e.line for e in _core.parse_memory(site.read_text()).evidence] == [
        e.line for e in _core.parse_memory(mine.read_text()).evidence
    ]


def test_what_is_of_another_machine_is_not_merged(folder: Path, tmp_path: Path) -> None:
    one = put(tmp_path, EVIDENCE, name="a.memory")
    other = put(tmp_path, EVIDENCE, _core.MemoryKey(key().mpi, "elsewhere", __version__), "b.memory")
    before = other.read_text()
    assert "of another machine" in said("merge", one, other, status=2)
    assert "of another machine" in said("merge", one, "-o", other, status=2)
    assert other.read_text() == before and list(folder.iterdir()) == []


def test_forgetting(folder: Path, tmp_path: Path) -> None:
    path = put(folder, [*EVIDENCE, took("native", 5, ranks=32, nodes=4), took("tuna(r=2)", 9, date=OLD)])
    mpich_path = put(folder, EVIDENCE, key("mpich"))
    site = put(tmp_path / "site/swapmeet", EVIDENCE)
    assert "name what to forget" in said("forget", status=2)
    assert "days, as in 90d" in said("forget", "--older-than", "soon", status=2)
    assert f"{path}: 1 forgotten\n" in said("forget", "--older-than", "90d")
    assert f"{path}: 1 forgotten\n" in said("forget", "--mpi", "openmpi", "-P", "32")
    assert [e.line for e in _core.parse_memory(path.read_text()).evidence] == [e.line for e in EVIDENCE]
    assert f"{path}: 3 forgotten, and it is gone\n" in said("forget", "--mpi", "openmpi")
    assert mpich_path.exists() and not path.exists()
    said("forget", "--all")
    assert list(folder.iterdir()) == [] and site.exists()
    assert said("forget", "--all") == "swapmeet: nothing is remembered\n"


def test_what_is_damaged_keeps_nothing_else_from_being_forgotten(folder: Path) -> None:
    damaged = folder / "0.memory"
    damaged.write_text("nonsense\n")
    path, later = put(folder, EVIDENCE), put(folder, EVIDENCE, key("mpich"))
    text = said("forget", "--all", status=2)
    assert f"{damaged}: no memory of Swapmeet" in text and text.count("3 forgotten, and it is gone\n") == 2
    assert damaged.exists() and not path.exists() and not later.exists()


def test_for_other_programs(folder: Path, tmp_path: Path) -> None:
    """The object of each command, with the documented fields (docs/json.md)."""
    path = put(folder, EVIDENCE)
    merged, _ = answer(["tuning", "merge", str(path), "-o", str(tmp_path / "a.memory")])
    assert (merged["file"], merged["measurements"]) == (str(tmp_path / "a.memory"), len(EVIDENCE))
    assert merged["site_name"] == path.name and str(tmp_path / "site/swapmeet") in merged["site_folders"]
    for_mpi, output = tmp_path / "rules.conf", tmp_path / "a.tuning"
    words = ["tuning", "export", "--mpi", "openmpi", "--export-openmpi", str(for_mpi), "-o", str(output)]
    exported, _ = answer(words)
    assert exported["exported"] == [str(for_mpi)] and "intra=rows" in "".join(exported["left_out"])
    assert exported["tuning_file"] == str(output)
    assert [rule["spec"] for rule in exported["rules"]] == [
        str(rule.spec) for rule in _core.parse_tuning(output.read_text()).rules
    ]
    forgotten, _ = answer(["tuning", "forget", "--all"])
    assert forgotten["files"] == [{"file": str(path), "forgotten": len(EVIDENCE), "removed": True}]


def test_a_tuning_file_of_what_is_known(folder: Path, tmp_path: Path) -> None:
    put(folder, [*EVIDENCE, took("native", 9, collective=A2AV, size_class=-1), *(
        took(spec, us, per_node=(7, 9), calls=3) for spec, us in (("native", 20), ("spread-out", 1))
    )])  # fmt: skip
    put(tmp_path / "site/swapmeet", [took("pairwise", 3, collective=A2AV, size_class=-1)])
    output = tmp_path / "a.tuning"
    assert "2 rules" in said("export", "--mpi", "openmpi", "-o", output)
    tuned = _core.parse_tuning(output.read_text())
    assert (tuned.mpi, tuned.machine) == (key().mpi, _core.machine_signature())
    equal, unequal = tuned.rules
    assert (equal.rank_range, equal.node_range, equal.bytes) == ((16, 16), (2, 2), (46, 90))
    assert equal.spec == _core.parse_spec("shared-memory") and unequal.spec == _core.parse_spec("pairwise")
    options = _core.read_options([f"SWAPMEET_TUNING_FILE={output}"], 16, key().mpi)
    assert options.problems == [] and _core.choose(A2A, 16, 64, options, nodes="8")[0] == equal.spec


def test_rules_of_the_mpis_themselves(folder: Path, tmp_path: Path) -> None:
    """Of what they have themselves: shared memory, which was faster, is left out."""
    put(folder, EVIDENCE)
    file = tmp_path / "rules.conf"
    text = said("export", "--mpi", "openmpi", "--export-openmpi", file)
    assert "OMPI_MCA_coll_tuned_dynamic_rules_filename" in text
    assert f"openmpi has nothing like {_core.parse_spec('shared-memory')}" in text
    found = openmpi.theirs(openmpi.read(file), Call("alltoall", 16, 64), "f")
    assert found and found.algorithm == "pairwise"
    put(folder, EVIDENCE, key("mpich"))
    said("export", "--mpi", "mpich", "--export-mpich", tmp_path / "f.json")
    theirs = mpich.theirs(mpich.read(tmp_path / "f.json"), Call("alltoall", 16, 64), "f")
    assert theirs and theirs.spec == PAIRWISE or "pairwise" in str(theirs)


def test_explain_says_what_is_remembered(folder: Path) -> None:
    put(folder, EVIDENCE)
    words = ["explain", "-P", "16", "--nodes", "8", "-S", "64", "--mpi", "openmpi"]
    environment = {"SWAPMEET_MEMORY": "auto"}
    text = CliRunner().invoke(app, words, env=environment).output
    (because,) = [line for line in text.splitlines() if line.startswith("because: ")]
    assert because.endswith("(9 calls of other runs)") and because.count("(9 calls of other runs)") == 2
    remembered = [line for line in text.splitlines() if line.startswith("remembered: ")]
    assert [line.split()[1] for line in remembered] == ["12", "15", "20"]
    assert "remembered" not in CliRunner().invoke(app, words, env={"SWAPMEET_MEMORY": "off"}).output
    assert "remembered" not in CliRunner().invoke(app, [*words, "--nodes", "4"], env=environment).output


def test_what_cannot_be_exported(folder: Path, tmp_path: Path) -> None:
    assert "nothing is remembered of openmpi" in said("export", "--mpi", "openmpi", "-o", tmp_path / "a", status=2)
    path = put(folder, EVIDENCE)
    assert "name what to write" in said("export", path, "--mpi", "openmpi", status=2)
    assert "is of openmpi" in said("export", path, "--mpi", "mpich", "-o", tmp_path / "a", status=2)
    assert "another MPI" in said("export", path, "--mpi", "openmpi", "--export-mpich", tmp_path / "a", status=2)
    assert not os.path.exists(tmp_path / "a")
