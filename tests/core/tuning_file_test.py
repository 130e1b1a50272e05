"""Tuning files: what is read, what is refused, and which of several counts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmeet import _core

MPI = "openmpi 5.0.11"
RULES = """\
rule: alltoall ranks=2..4 nodes=1 bytes=0..512 use=shared-memory  # measured
rule: alltoall ranks=2..4 nodes=1 bytes=513.. use=tuna(r=2)
rule: alltoallv ranks=2..1000 use=native
"""


def page(rules: str = RULES, mpi: str = MPI, machine: str | None = None, end: str = "end\n") -> str:
    return f"swapmeet-tuning 1\nmpi: {mpi}\nmachine: {machine or _core.machine_signature()}\n{rules}{end}"


def problem(text: str) -> str:
    with pytest.raises(ValueError) as found:
        _core.parse_tuning(text)
    return str(found.value)


def test_what_is_written_is_read() -> None:
    tuning = _core.parse_tuning("# of a machine\n\n" + page().replace("\n", "\r\n"))
    assert tuning.mpi == MPI and tuning.machine == _core.machine_signature()
    first, second, third = tuning.rules
    assert (first.rank_range, first.node_range, first.bytes) == ((2, 4), (1, 1), (0, 512))
    assert first.spec == _core.parse_spec("shared-memory")
    assert second.bytes == (513, 2**63 - 1) and second.origin == "line 7"
    assert third.collective == _core.Collective.alltoallv and third.spec.family == "native"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no tuning file: it must begin with"),
        ("hello\n", "no tuning file: it must begin with"),
        (page().replace("swapmeet-tuning 1", "swapmeet-tuning 2"), "of another version"),
        (page(end=""), "it is cut off: the last line must be `end` (line 6"),
        (page()[:-40], "(line 6, column 6)"),
        (page() + "rule: alltoallw use=pairwise\n", "after `end`, which is the last line (line 8, column"),
        (page() + page(), "after `end`, which is the last line (line 8, column"),
        (page("rule: alltoall ranks=2 use=shared-memori\n"), "line 4"),
        (page("rule: alltoall ranks=2 use=bruck(radix=1)\n"), "line 4"),
        (page("rule: alltoall ranks=2\n"), "a rule without use=SPEC (line 4"),
        (page("rule: alltoall ranks=0 use=pairwise\n"), "from 2 on (line 4, column 16)"),
        (page("rule: alltoall ranks=4..2 use=pairwise\n"), "must be a number, or a range"),
        (page("rule: alltoall ranks=-3 use=pairwise\n"), "must be a number, or a range"),
        (page("rule: alltoall ranks=99999999999999999999 use=pairwise\n"), "must be a number, or a range"),
        (page("rule: alltoall ranks=2 ranks=3 use=pairwise\n"), "ranks= is there twice"),
        (page("rule: alltoall cores=2 use=pairwise\n"), '"cores=2": no such word'),
        (page("rule: allgather use=pairwise\n"), "alltoall, alltoallv or alltoallw, not"),
        (page("rule: alltoallv bytes=8 use=pairwise\n"), "no rule of alltoallv has bytes="),
        (page("rules: alltoall use=pairwise\n"), '"rules:": no such line'),
        (
            page("rule: alltoall use=pairwise\nrule: alltoall bytes=8 use=native\n"),
            "contradicts the rule of line 4 (line 5",
        ),
        (page("\x00\x01\n"), "not text (line 4"),
        (page("#" + "x" * 2000 + "\n"), "more than 1000 characters in a line"),
        (
            page("".join(f"rule: alltoall bytes={i} use=native\n" for i in range(2001))),
            "more than 2000 rules (line 2004",
        ),
        ("swapmeet-tuning 1\nmpi: openmpi 5.0.11\nend\n", "no line `mpi: ...`, or none `machine: ...`"),
    ],
)
def test_what_cannot_be_used_is_refused_with_line_and_reason(text: str, says: str) -> None:
    assert says in problem(text)


@given(st.text())
def test_no_text_crashes_the_reader(text: str) -> None:
    for whole in (text, page(text), page(f"rule: {text}\n"), page(f"rule: alltoall ranks={text} use=native\n")):
        try:
            _core.parse_tuning(whole)
        except ValueError as found:
            assert str(found)


def test_rules_of_a_file_come_before_our_own(tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text(page())
    options = _core.read_options([f"SWAPMEET_TUNING_FILE={file}"], 4, MPI)
    assert options.problems == [] and options.tuning.file == str(file)
    kind = _core.Collective.alltoall
    assert _core.choose(kind, 4, 0, options) == (_core.parse_spec("shared-memory"), f"rule: {file}, line 4", 512)
    spec, reason, most = _core.choose(kind, 4, 513, options)
    assert (spec, most) == (_core.parse_spec("tuna(r=2)"), 2**63 - 1) and reason.endswith("line 5")
    for ranks, nodes in ((5, ""), (4, "2")):
        assert _core.choose(kind, ranks, 513, options, nodes=nodes)[1].startswith("expected: ")
    assert _core.choose(_core.Collective.alltoallv, 4, 0, options)[0].family == "native"


def test_an_order_counts_more(tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text(page())
    options = _core.read_options([f"SWAPMEET_TUNING_FILE={file}", "SWAPMEET_ALGORITHM=pairwise"], 4, MPI)
    assert _core.choose(_core.Collective.alltoall, 4, 8, options)[0] == _core.parse_spec("pairwise")


def test_ranks_with_other_rules_are_noticed(tmp_path: Path) -> None:
    prints = set()
    for name, rules in (("a", RULES), ("b", RULES), ("c", RULES.replace("512", "511").replace("513", "512"))):
        (tmp_path / name).write_text(page(rules))
        prints.add(_core.read_options([f"SWAPMEET_TUNING_FILE={tmp_path / name}"], 4, MPI).fingerprint)
    assert len(prints) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (page(mpi="mpich 5.0.2"), "it is for mpich 5.0.2, and this is openmpi 5.0.11"),
        (page(mpi="openmpi 5.0.1"), "it is for openmpi 5.0.1, and this is openmpi 5.0.11"),
        (page(machine="a toaster, 1 cores"), 'it is for the machine "a toaster, 1 cores", and this is "'),
        ("#" * (1 << 21), "more than 1 MiB"),
    ],
)
def test_the_next_source_is_taken_where_one_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, says: str
) -> None:
    named, standard = tmp_path / "named", tmp_path / "swapmeet" / "openmpi.tuning"
    standard.parent.mkdir()
    named.write_text(text)
    standard.write_text(page())
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    tuning, problems = _core.find_tuning(str(named), MPI)
    assert tuning.file == str(standard)
    assert len(problems) == 1 and says in problems[0] and problems[0].endswith("; doing without it")


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in (str(tmp_path / "pipe"), "/dev/zero", str(tmp_path), "/proc/nowhere"):
        tuning, problems = _core.find_tuning(name, MPI)
        assert tuning.file == "" and len(problems) == 1, name


def test_standard_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/a")
    monkeypatch.setenv("XDG_CONFIG_DIRS", "/b:/c")
    assert _core.standard_tuning_files("mpich") == [f"/{folder}/swapmeet/mpich.tuning" for folder in "abc"]
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("XDG_CONFIG_DIRS")
    assert _core.standard_tuning_files("mpich") == [
        "/h/.config/swapmeet/mpich.tuning",
        "/etc/xdg/swapmeet/mpich.tuning",
    ]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Open MPI v5.0.11, package: Open MPI root@host Distribution, ident: 5.0.11", "openmpi 5.0.11"),
        ("MPICH Version:      5.0.2\nMPICH Release date: unreleased", "mpich 5.0.2"),
        ("Intel(R) MPI Library 2021.18 for Linux* OS\n", "intel 2021.18"),
        ("SMPI Version 3.32. Copyright The SimGrid Team 2007-2022", "simgrid 3.32"),
        ("MVAPICH2 Version: 2.3.7", ""),
        ("", ""),
    ],
)
def test_how_an_mpi_is_named(said: str, meant: str) -> None:
    assert _core.mpi_signature(said) == meant
