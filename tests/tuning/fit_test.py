"""From measurements to rules: each law here has an answer that is known."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest
from plots.synthetic import write

from swapmeet import SwapmeetError, _core, texts
from swapmeet.choose import file, fit, measuring
from swapmeet.choose.rule import Rule
from swapmeet.measure.bench.results import read
from swapmeet.mpi import mpis

MPI = "openmpi 5.0.11"
SIZES = (8, 64, 512, 4096, 32768)
WORKLOADS = ("uniform:max=256", "uniform:max=16KiB")


@pytest.fixture(autouse=True)
def no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest measurement counts everywhere; surface_test.py has what is between."""
    monkeypatch.setattr(fit, "fitted", lambda rows: None)


def crossing(spec: str, ranks: int, size: float) -> float:
    """bruck-modified is twice as fast below 600 B, pairwise above 5000 B, tuna nowhere; at P = 8 native is."""
    gain = {"bruck-modified": 2.0 if size < 600 else 0.5, "pairwise": 2.0 if size > 5000 else 0.7, "tuna": 0.9}
    return 1e-5 / (0.8 if ranks == 8 and spec != "native" else gain.get(spec, 1.0))


def fitted(path: Path, **options) -> list[Rule]:
    return fit.rules([read(write(path / "results.jsonl", sizes=SIZES, **options))], MPI)


def test_each_size_gets_what_is_fastest_there(tmp_path: Path) -> None:
    rules = fitted(tmp_path, specs=("bruck-modified", "pairwise", "tuna"), law=crossing)
    assert [(rule.spec, rule.bytes) for rule in rules] == [
        ("bruck-modified", (0, 1448)),  # the middle of 512 and 4096
        ("native", (1449, 11585)),
        ("pairwise", (11586, 65536)),
    ]
    assert {(rule.collective, rule.ranks, rule.nodes) for rule in rules} == {("alltoall", (4, 4), (1, 1))}
    assert re.match(r"(1\.9\d|2\.0\d)( to 2\.0\d)? times as fast as native", rules[0].evidence), rules[0].evidence


def test_each_number_of_ranks_has_its_own(tmp_path: Path) -> None:
    rules = fitted(tmp_path, specs=("bruck-modified",), law=crossing, ranks=(2, 4, 8))
    assert [(rule.ranks, rule.spec) for rule in rules if rule.bytes and rule.bytes[0] == 0] == [
        ((2, 2), "bruck-modified"),
        ((3, 5), "bruck-modified"),
        ((6, 8), "native"),
    ]


def test_what_is_not_surely_faster_is_native(tmp_path: Path) -> None:
    rules = fitted(tmp_path, specs=("pairwise",), law=lambda spec, ranks, size: 1e-5, noise=0.05)
    assert [(rule.spec, rule.bytes) for rule in rules] == [("native", (0, 65536))]


def test_specs_do_not_change_for_nothing(tmp_path: Path) -> None:
    """Which of two is ahead changes from size to size by less than a change is worth."""

    def law(spec: str, ranks: int, size: float) -> float:
        even = int(size).bit_length() % 2 == 0
        return 1e-5 if spec == "native" else 5e-6 * (1.005 if even == (spec == "pairwise") else 1.0)

    rules = fitted(tmp_path, specs=("pairwise", "bruck"), law=law, noise=0.001)
    assert len(rules) == 1 and rules[0].spec != "native"


@pytest.mark.parametrize(("large", "noise"), [(0.5, 0.01), (0.94, 0.2)])
def test_unequal_blocks_have_one_spec_that_is_nowhere_slower(tmp_path: Path, large: float, noise: float) -> None:
    """Nor looks so where noise hides it."""

    def law(spec: str, ranks: int, size: float) -> float:
        gain = {"two-phase-bruck": 4.0 if size < 500 else large, "pairwise": 1.6}
        return 1e-5 / gain.get(spec, 1.0)

    means = dict(zip(WORKLOADS, (128.0, 8192.0), strict=True))
    path = write(
        tmp_path / "results.jsonl",
        sizes=WORKLOADS,
        specs=("two-phase-bruck", "pairwise"),
        law=law,
        means=means,
        noise=noise,
    )
    (rule,) = fit.rules([read(path)], MPI)
    assert (rule.collective, rule.bytes, rule.spec) == ("alltoallv", None, "pairwise")


def test_real_nodes_count_without_a_map(tmp_path: Path) -> None:
    rules = fitted(tmp_path, specs=("bruck-modified",), law=crossing, notes=("mpi: Open MPI", "nodes: 2"))
    assert rules and {rule.nodes for rule in rules} == {(2, 2)}


def law_of(gain: float):
    return lambda spec, ranks, size: 1e-5 / (gain if spec != "native" else 1.0)


def test_maps_with_as_many_nodes_share_rules_and_the_worst_counts(tmp_path: Path) -> None:
    """2+2 and 3+1: a rule knows of two nodes only."""
    both = [
        read(write(tmp_path / nodes, specs=("bruck", "pairwise"), sizes=(8,), nodes=nodes, law=law))
        for nodes, law in (
            ("2", lambda spec, ranks, size: 1e-5 / {"bruck": 3.0, "pairwise": 1.5}.get(spec, 1.0)),
            ("3+1", lambda spec, ranks, size: 1e-5 / {"bruck": 0.9, "pairwise": 1.4}.get(spec, 1.0)),
        )
    ]
    (rule,) = fit.rules(both, MPI)
    assert (rule.nodes, rule.spec) == ((2, 2), "pairwise")
    assert _core.parse_tuning(file.text([rule], MPI, "m, 4 cores", ["a"], "today")).rules


def test_several_files_of_a_cell_are_launches_of_one(tmp_path: Path) -> None:
    def found(*gains: float, launches: int = 2) -> tuple[str, str]:
        files = [
            read(
                write(tmp_path / f"{i}", specs=("bruck",), sizes=(8,), launches=launches, law=law_of(gain), noise=0.001)
            )
            for i, gain in enumerate(gains)
        ]
        (rule,) = fit.rules(files, MPI)
        return rule.spec, rule.evidence

    spec, evidence = found(1.5, 1.5)
    assert spec == "bruck" and "4 launches" in evidence
    assert ", 1 launch)" in found(1.5, launches=1)[1]
    assert found(0.5, 1.5)[0] == found(1.5, 0.5)[0] == "native"  # in whatever order


def test_between_numbers_of_nodes_as_many_ranks_on_each_count(tmp_path: Path) -> None:
    """Measured: 4 ranks on 2 nodes, 16 on 8; then 6 on 3 are like 4 on 2, and 14 on 7 like 16 on 8."""
    options = {"specs": ("bruck",), "sizes": (8,), "nodes": "2", "noise": 0.001}
    files = [
        read(write(tmp_path / "r", ranks=(ranks,), law=law_of(gain), **options))
        for ranks, gain in ((4, 2.0), (16, 0.5))
    ]
    rules = fit.rules(files, MPI)
    assert [(rule.nodes, rule.ranks, rule.spec) for rule in rules] == [
        ((2, 4), (4, 8), "bruck"),
        ((5, 8), (10, 16), "native"),
    ]
    assert _core.parse_tuning(file.text(rules, MPI, "m, 4 cores", ["a"], "today")).rules


def test_what_the_library_would_refuse_is_no_traceback(tmp_path: Path) -> None:
    rule = Rule("alltoall", (2, 4), (1, 1), (0, 8), "pairwise", "")
    with pytest.raises(SwapmeetError, match="contradicts"):
        file.text([rule, rule], MPI, "m, 4 cores", ["a"], "today")


def test_another_mpi_is_not_meant(tmp_path: Path) -> None:
    path = write(tmp_path / "results.jsonl", mpis=("mpich 5.0.2",))
    assert fit.rules([read(path)], MPI) == []
    target = mpis.find("openmpi")
    with pytest.raises(SwapmeetError, match=r"nothing is measured there of openmpi .*, but of mpich 5\.0\.2"):
        measuring.fitted([path], target)


def test_a_single_launch_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for launches in (1, 2):
        path = write(tmp_path / f"{launches}", specs=("bruck-modified",), law=crossing, launches=launches)
        measuring.fitted([path], mpis.find("openmpi"))
        warned = "alltoall at P = 4: launched once only" in capsys.readouterr().err
        assert warned == (launches == 1)


def test_the_library_reads_what_is_written(tmp_path: Path) -> None:
    rules = fitted(tmp_path, specs=("bruck-modified", "pairwise"), law=crossing, ranks=(2, 4))
    page = file.text(rules, MPI, "a machine, 4 cores", ["results.jsonl"], f"{datetime.date(2026, 1, 2)}")
    tuning = _core.parse_tuning(page)
    assert (tuning.mpi, tuning.machine, len(tuning.rules)) == (MPI, "a machine, 4 cores", len(rules))
    assert [str(rule.spec) for rule in tuning.rules] == [str(_core.parse_spec(rule.spec)) for rule in rules]
    assert [rule.bytes for rule in tuning.rules] == [rule.bytes for rule in rules]


def test_a_file_is_replaced_at_once_and_a_place_that_is_none_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "new" / "openmpi.tuning"
    texts.write(place, "one\n")
    texts.write(place, "two\n")
    assert place.read_text() == "two\n" and [entry.name for entry in place.parent.iterdir()] == [place.name]
    with pytest.raises(SwapmeetError, match="give a place that can be written to"):
        texts.write(place / "below" / "a file", "three\n")
