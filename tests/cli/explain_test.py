"""`swapmeet explain`, and what `swapmeet tune` refuses."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from swapmeet import _core
from swapmeet.cli.app import app
from swapmeet.mpi import mpis

ROOT = Path(__file__).parents[2]

RULE = "rule: alltoall ranks=2..64 nodes=2..8 bytes=0..512 use=two-layer(r1=2)  # measured"


def said(*words: str, status: int = 0, **variables: str) -> str:
    done = CliRunner().invoke(app, [*words, "--mpi", "openmpi"], env=variables)
    assert done.exit_code == status, done.output
    return done.output


def test_the_rule_that_wins_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.tuning"
    machine = _core.machine_signature()
    file.write_text(f"swapmeet-tuning 1\nmpi: openmpi 5.0.11\nmachine: {machine}\n{RULE}\nend\n")
    lines = said("explain", "-P", "32", "--nodes", "16", "-S", "64", SWAPMEET_TUNING_FILE=str(file)).splitlines()
    assert lines[0] == f"tuning file for openmpi 5.0.11: {file}"
    assert lines[1].endswith(f"blocks of 64 B: {_core.parse_spec('two-layer(r1=2)')}, up to 512 B")
    assert lines[2] == f"because: rule: {file}, line 4"
    output = said("explain", "-P", "32", "-S", "64", SWAPMEET_TUNING_FILE=str(file))
    assert "because: expected: " in output and "the host MPI" in output


NO_TEXT = os.fsdecode(b"\xff\xfe")


@pytest.mark.parametrize("name", ["SWAPMEET_ALGORITHM", "SWAPMEET_NODES", "SWAPMEET_TUNING_FILE"])
def test_a_variable_that_is_not_utf_8_gets_its_warning(name: str) -> None:
    warning = said("explain", "-P", "8", **{name: NO_TEXT}).splitlines()[0]
    assert warning.startswith("warning: ") and '"\ufffd\ufffd": ' in warning


def test_a_tuning_file_whose_name_is_not_utf_8_is_not_taken_for_none(tmp_path: Path) -> None:
    file = tmp_path / NO_TEXT
    file.touch()
    refused = said("explain", "-P", "8", status=2, SWAPMEET_TUNING_FILE=str(file))
    assert refused.startswith(f'swapmeet: SWAPMEET_TUNING_FILE="{tmp_path}/\ufffd\ufffd": the name of this file ')


def test_what_the_mpi_itself_would_do(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.write_text("1\n3\n1\n0\n2\n0 3 0 0\n100 0 0 0\n")
    assert "native is: modified bruck, which sends what bruck-modified does" in said(
        "explain", "-P", "8", "-S", "8", "--import", str(rules)
    )
    assert "native is: the MPI's own choice" in said("explain", "-P", "8", "-S", "16", "--import", str(rules))
    assert "native is" not in said("explain", "-P", "8", "-S", "16")
    words = ["explain", "-P", "9", "-S", "8", "--mpi", "mpich"]
    output = CliRunner().invoke(app, words).output
    assert "native is: Alltoall_intra_brucks" in output and "has built in" in output
    rules.write_text("nonsense")  # of which --import would complain
    done = CliRunner().invoke(app, words, env={"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(rules)})
    assert done.exit_code == 0 and "native is" not in done.output


def test_what_serves_calls_that_are_started(tmp_path: Path) -> None:
    words = ["explain", "-P", "4"]
    by_us = "as above, advanced in the host MPI's progress (opal_progress_register)"
    assert f"started (MPI_Ialltoall, MPI_Alltoall_init): {by_us}" in said(*words).splitlines()
    assert "_init): the host MPI, which takes less" in said(*words, "--collective", "alltoallw")
    assert "_init): as above" in said(*words, "--collective", "alltoallw", SWAPMEET_ALGORITHM="pairwise")
    assert "_init): the host MPI (SWAPMEET_NONBLOCKING=native)" in said(*words, SWAPMEET_NONBLOCKING="native")
    assert "_init): as above, advanced by a thread" in said(*words, SWAPMEET_NONBLOCKING="thread")
    most = re.search(r"Rank ranks = (\d+);", (ROOT / "src" / "options" / "options.hpp").read_text())
    assert most and "_init): as above" in said("explain", "-P", most[1])
    assert "_init): the host MPI, with more than" in said("explain", "-P", str(int(most[1]) + 1))
    bare = tmp_path / "libmpi.so"
    bare.write_bytes(b"no such symbol")
    assert mpis.find("mpich").progress_symbol == "MPIX_Async_start"
    assert dataclasses.replace(mpis.find("mpich"), libmpi=bare).progress_symbol is None


def test_what_the_running_application_tries(tmp_path: Path) -> None:
    words = ["explain", "-P", "32", "--nodes", "8", "-S", "64"]
    lines = [line for line in said(*words).splitlines() if line.startswith("may be tried: ")]
    assert all(line.endswith(" µs (by the model)") for line in lines)
    tried = [line.removeprefix("may be tried: ").rpartition(", expected: ")[0] for line in lines]
    assert "native" in tried and any(spec.startswith("leaders(") for spec in tried)
    assert not [spec for spec in tried if f"blocks of 64 B: {spec}," in said(*words)]
    assert "tried" not in said(*words, SWAPMEET_TRIALS="0")
    assert "tried" not in said(*words, SWAPMEET_ALGORITHM="pairwise")
    assert "tried" not in said("explain", "-P", "32", "--nodes", "8", "-S", "0")
    file = tmp_path / "a.tuning"
    file.write_text(f"swapmeet-tuning 1\nmpi: openmpi 5.0.11\nmachine: {_core.machine_signature()}\n{RULE}\nend\n")
    assert "tried" not in said(*words, SWAPMEET_TUNING_FILE=str(file))


def test_variables_count_and_what_is_wrong_is_said() -> None:
    assert "because: SWAPMEET_ALGORITHM" in said("explain", "-P", "8", SWAPMEET_ALGORITHM="pairwise")
    output = said("explain", "-P", "8", SWAPMEET_TUNING_FILE="/nowhere")
    assert 'warning: tuning file "/nowhere": No such file or directory; doing without it' in output


def test_the_limit_on_working_memory_counts() -> None:
    """Of P = 4 ranks 8 blocks of both sides, and the scratch blocks of the spec."""
    fits = (64 << 10) // (8 + _core.generate(_core.parse_spec("tra(r=2)"), 4, 0).scratch_blocks)
    variables = {"SWAPMEET_SCRATCH_LIMIT": "64KiB", "SWAPMEET_ALGORITHM": "tra(r=2)"}
    assert "because: SWAPMEET_ALGORITHM" in said("explain", "-P", "4", "-S", str(fits), **variables)
    for size in (8, fits):
        assert f": {_core.parse_spec('tra(r=2)')}, up to {fits} B\n" in said(
            "explain", "-P", "4", "-S", str(size), **variables
        )
    lines = said("explain", "-P", "4", "-S", str(fits + 1), **variables).splitlines()
    assert lines[1].endswith(": native")
    assert lines[2] == "because: more working memory than SWAPMEET_SCRATCH_LIMIT allows"
    variables["SWAPMEET_ALGORITHM"] = "pairwise"  # which sends blocks from where they lie
    assert "because: SWAPMEET_ALGORITHM" in said("explain", "-P", "4", "-S", "1GiB", **variables)


def test_what_takes_too_much_memory_is_not_tried() -> None:
    words = ["explain", "-P", "32", "--nodes", "8", "-S", "64"]
    tried = [line for line in said(*words, SWAPMEET_SCRATCH_LIMIT="1").splitlines() if line.startswith("may be tried")]
    assert "leaders(" in said(*words) and not [line for line in tried if "leaders(" in line]


@pytest.mark.parametrize("content", [None, "host a s1\nhost b s2\n"])
def test_a_bad_topology_file_is_no_choice(tmp_path: Path, content: str | None) -> None:
    """What the library does: a warning, then the automatic choice."""
    file = tmp_path / "network"
    problem = "there is no such file" if content is None else "it is no table of slots"
    if content is not None:
        file.write_text(content)
    spec = f"direct(order=topology({file}),window=8,complete=any)"
    for place in ([], ["--nodes", "4"]):
        output = said("explain", "-P", "8", *place, SWAPMEET_ALGORITHM=spec)
        (warning,) = (line for line in output.splitlines() if line.startswith("warning: "))
        assert warning.startswith(f'warning: SWAPMEET_ALGORITHM="{spec}": ')
        assert problem in warning
        assert warning.endswith("; using the automatic choice on such communicators")
        plain = said("explain", "-P", "8", *place)
        assert output.replace(warning + "\n", "") == plain
    nodes = said("explain", "-P", "8", "--nodes", "4", SWAPMEET_ALGORITHM=f"two-layer(order=topology({file}))")
    assert problem in nodes and "because: SWAPMEET_ALGORITHM" not in nodes


def test_a_rule_with_a_bad_topology_file_is_no_choice(tmp_path: Path) -> None:
    file = tmp_path / "a.tuning"
    bad = f"direct(order=topology({tmp_path}/none),window=1)"
    rules = [
        f"rule: alltoall ranks=2..64 bytes={sizes} use={spec}\n"
        for sizes, spec in (("0..512", bad), ("513..", "pairwise"))
    ]
    head = f"swapmeet-tuning 1\nmpi: openmpi 5.0.11\nmachine: {_core.machine_signature()}\n"
    file.write_text(head + "".join(rules) + "end\n")
    lines = said("explain", "-P", "32", "-S", "64", SWAPMEET_TUNING_FILE=str(file)).splitlines()
    assert lines[0].startswith(f'warning: tuning file "{file}": use="{_core.parse_spec(bad)}": ')
    assert lines[3].startswith("because: expected: ")
    large = said("explain", "-P", "32", "-S", "1KiB", SWAPMEET_TUNING_FILE=str(file))
    assert "warning" not in large and f"because: rule: {file}, line 5" in large


def test_orders_of_too_many_ranks_are_no_choice() -> None:
    output = said("explain", "-P", "5000", SWAPMEET_ALGORITHM="direct(order=topology(torus(dims=100,hosts=50)))")
    assert "an order of more than 4096 ranks is too large" in output
    assert "topology" not in output.splitlines()[2]


def test_the_models_are_asked(tmp_path: Path) -> None:
    output = said("explain", "-P", "1024", "--nodes", "32", "-S", "512", "--machine", "theta")
    assert "P = 1,024, S = 512 B: the best of" in output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["explain", "-P", "0"], "expected a number from 1 to"),
        (["explain", "-P", "99999999"], "expected a number from 1 to"),
        (["explain", "-P", "8", "--nodes", "0"], '--nodes "0": '),
        (["explain", "-P", "8", "--collective", "allgather"], "expected alltoall, alltoallv, alltoallw"),
        (["explain", "-P", "8", "--import", "/nowhere"], "/nowhere: cannot be read: No such file"),
        (["tune", "--export-mpich", "f"], "--export-mpich: openmpi is another MPI"),
        (["tune", "--from", "/nowhere", "--export-openmpi", "f"], "/nowhere: No such file"),
        (["explain", "-P", "8", "-S", "much"], '-S "much"'),
        (["tune", "--budget", "soon"], '--budget "soon"'),
        (["tune", "-n", "two"], '-P "two"'),
        (["tune", "-n", "1,2"], '-P "1,2": tune needs 2 ranks'),
        (["tune", "nonsense"], "nonsense"),
        (["tune", "--from", "/nowhere.jsonl"], "/nowhere.jsonl"),
    ],
)
def test_bad_input(words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (line,) = said(*words, status=2).splitlines()
    assert says in line
    assert list(tmp_path.iterdir()) == []
