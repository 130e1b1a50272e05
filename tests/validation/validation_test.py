"""Models held against measurements: the page and the descriptions come out of the commands, and say what is true."""

from __future__ import annotations

import json
import re
import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from cli.command import refused, swapmeet

from swapmeet import SwapmeetError, machines
from swapmeet.cli import regret as regret_command
from swapmeet.cli import validate as command
from swapmeet.validation import computing, fitting, judging, page, rejudging, store
from swapmeet.validation.measurements import Measured, published
from swapmeet.validation.predicting import (
    ESTIMATE,
    MODEL,
    SIMULATION,
    Prediction,
    Predictor,
    described,
    is_fitted,
    is_twin,
)

ROOT = Path(__file__).parents[2]
FITS = ROOT / "python" / "swapmeet" / "validation" / "fits"
DOCS = ROOT / "docs"
RESULTS = DOCS / "validation"
SYSTEMS = {"mare_nostrum": "mare-nostrum-5", "fugaku": "fugaku"}


@pytest.fixture(scope="module")
def cells() -> list[Measured]:
    return published()


@pytest.mark.parametrize("name", SYSTEMS.values())
def test_descriptions_come_out_of_their_fits(name: str, cells: list[Measured]) -> None:
    made = machines.parse(json.dumps(fitting.fit(FITS / f"{name}.json", cells)), name)
    built_in = machines.load(name)
    assert made.fitted == built_in.fitted and made.numbers.keys() == built_in.numbers.keys()
    for place, number in made.numbers.items():
        assert number.value == pytest.approx(built_in.numbers[place].value, rel=0.02), place


@pytest.mark.parametrize(("system", "name"), SYSTEMS.items())
def test_at_most_a_quarter_was_fitted(system: str, name: str, cells: list[Measured]) -> None:
    machine = described(system)
    assert machine is not None and machine.name == name
    found = Predictor(machine).predict(ESTIMATE, [one for one in cells if one.system == system])
    assert sum(one.fitted for one in found) == len(machine.fitted) <= len(found) / 4


@pytest.mark.parametrize("system", SYSTEMS)
def test_estimates_meet_their_targets(system: str, cells: list[Measured]) -> None:
    known = computing.predictors([one for one in cells if one.system == system])
    found = computing.predictions(ESTIMATE, [one for one in cells if one.system == system], known)
    of = judging.errors(one for one in found if one.held_out)
    assert of.median <= judging.MOST_ERROR and of.near >= judging.LEAST_NEAR
    regrets = [one.regret for one in judging.predicted_choices(found, "any")]
    assert statistics.median(regrets) <= judging.MOST_MEDIAN_LOSS
    assert sum(regret <= judging.MOST_LOSS for regret in regrets) / len(regrets) >= judging.LEAST_SHARE


@pytest.mark.long
def test_committed_results_are_what_is_computed(cells: list[Measured]) -> None:
    committed = store.read(RESULTS)
    simulated = computing.simulated(sorted(RESULTS.glob("simulated-*.jsonl")), cells)
    rows = computing.everything(cells, DOCS / "reproduction", simulated)
    key = lambda row: (row["by"], row["system"], row["nodes"], row["algorithm"], row["bytes"])  # noqa: E731
    for kind in (store.CELLS, store.SCALE):
        ours, theirs = sorted(rows[kind], key=key), sorted(committed[kind], key=key)
        assert [key(row) for row in ours] == [key(row) for row in theirs]
        for mine, other in zip(ours, theirs, strict=True):
            assert mine["us"] == pytest.approx(other["us"], rel=0.05) and mine["fitted"] == other["fitted"]
            assert mine["twin"] == other["twin"]
    assert {row["by"] for row in rows[store.CELLS]} == {MODEL, ESTIMATE, SIMULATION}
    assert rows[store.CHOICES] == committed[store.CHOICES]
    assert rows[store.CLAIMS] == committed[store.CLAIMS]
    assert [row["spec"] for row in rows[store.BEST]] == [row["spec"] for row in committed[store.BEST]]


def test_the_page_is_of_the_committed_results() -> None:
    text = "\n\n".join(page.whole(RESULTS, RESULTS.name)) + "\n"
    assert (DOCS / "validation.md").read_text() == text
    for picture in RESULTS.glob("*.png"):
        assert f"]({RESULTS.name}/{picture.name})" in text and picture.stat().st_size < 200_000


def cell(algorithm: str, us: float, size: int = 64) -> Measured:
    return Measured("here", "8", 1, 8, algorithm, size, us, us, us, 30)


def predicted(algorithm: str, spec: str, measured: float, us: float, fitted: bool = False) -> Prediction:
    return Prediction(cell(algorithm, measured), spec, MODEL, us, fitted)


def test_errors_are_told_both_ways() -> None:
    of = judging.errors([predicted("pairwise", "pairwise", 10, us) for us in (5, 9, 10, 17)])
    assert (of.cells, of.near, of.low, of.high) == (4, 0.5, 0.5, 1.7)
    assert of.median == pytest.approx(0.3)
    assert predicted("pairwise", "pairwise", 10, 5).factor == predicted("pairwise", "pairwise", 5, 10).factor == 2


def test_a_choice_loses_what_was_measured_and_the_slower_of_two_names_counts() -> None:
    found = [
        predicted("linear_ompi", "spread-out", 10, 8),
        predicted("linear_sync_ompi", "spread-out", 12, 8),
        predicted("pairwise", "pairwise", 20, 9),
    ]
    (one,) = judging.predicted_choices(found, "ours")
    assert (one.takes, one.fastest, one.regret) == ("linear_sync_ompi", "linear_ompi", pytest.approx(0.2))
    wrong = [replace(found[0], us=10), replace(found[1], us=10), found[2]]
    assert judging.predicted_choices(wrong, "ours")[0].regret == pytest.approx(1)


def test_all_choices_of_data_are_against_the_fastest_of_all() -> None:
    some = [cell("default_ompi", 20), cell("linear_ompi", 12), cell("pairwise_ompi", 60), cell("bine_over", 10)]
    losses = {one.choice: one for one in judging.data_losses(some, {})}
    assert losses["the MPI's own choice"].regret == pytest.approx(1)
    assert losses["everything at once, always"].regret == pytest.approx(0.2)
    assert losses["pairwise, always"].regret == pytest.approx(5)
    assert losses["the fastest point of our family that was measured"].regret == pytest.approx(0.2)
    assert {one.fastest for one in losses.values()} == {"bine_over"}
    assert not any("Bruck" in choice and "thakur" not in choice for choice in losses)


def test_losses_have_the_bounds_of_quartiles_and_know_two_names_for_one_spec() -> None:
    fast, slow = replace(cell("linear_ompi", 10), low_us=9, high_us=11), replace(cell("default_ompi", 12), low_us=11.5)
    some = {one.algorithm: one for one in (fast, replace(slow, high_us=18))}
    lost = judging.loss("any", some, some["default_ompi"])
    assert (lost.low, lost.high) == (pytest.approx(11.5 / 11 - 1), pytest.approx(1)) and lost.surely
    assert not judging.loss("any", some | {"default_ompi": replace(slow, low_us=10)}, replace(slow, low_us=10)).surely
    best = judging.loss("any", some, fast)
    assert (best.regret, best.low, best.high, best.surely) == (0, 0, 0, False)
    twins = {one.algorithm: one for one in (fast, cell("linear_sync_ompi", 12))}
    assert judging.loss("any", twins, twins["linear_sync_ompi"]).one_spec and not lost.one_spec
    guess = judging.estimated_loss("any", some, "tra", 12)
    assert (guess.regret, guess.low, guess.surely) == (pytest.approx(0.2), pytest.approx(12 / 11 - 1), None)


def test_choices_are_compared_in_the_same_cells() -> None:
    some = [judging.Loss("a", ("x", "8", 8, size), "", "", 0.1) for size in (8, 64, 512)]
    some += [judging.Loss("b", ("x", "8", 8, size), "", "", 0.2) for size in (64, 4096)]
    some += [judging.Loss("a", ("y", "8", 8, 8), "", "", 0.3)]
    found = judging.in_common(some)
    assert [(one.choice, one.cell[0], one.cell[3]) for one in found] == [("a", "x", 64), ("b", "x", 64), ("a", "y", 8)]


def test_tune_is_not_told_the_size_that_it_is_judged_on() -> None:
    """Bruck is the fastest at one size alone: who does not see that size cannot know."""
    some = []
    for size in (8, 64, 512, 4096):
        fast = 5.0 if size == 64 else 40.0
        some += [cell("default_ompi", 20, size), cell("modified_bruck_ompi", fast, size)]
    found = {one.cell[3]: one for one in judging.tuned(some)}
    assert set(found) == {64, 512}
    assert (found[64].takes, found[64].regret) == ("default_ompi", pytest.approx(3))


def test_the_library_remembers_every_other_size() -> None:
    """A spec that the model has for slower, and that takes half the MPI's time, is known from its neighbours alone."""
    sizes = [32, 64, 128, 256, 512]
    some = [cell("default_ompi", 20, size) for size in sizes] + [cell("pairwise_ompi", 10, size) for size in sizes]
    found = judging.engine_choices(some)
    assert sorted(one.cell[3] for one in found if one.choice == judging.BY_MEMORY) == sizes
    assert {one.takes for one in found if one.choice == judging.BY_MEMORY} == {"pairwise_ompi"}
    assert {one.takes for one in found if one.choice == judging.BY_MODEL} == {"default_ompi"}
    other = [one if one.cell[3] != 128 else replace(one, us=10**4 / one.us) for one in some]
    judged = [one for one in judging.engine_choices(other) if one.choice == judging.BY_MEMORY and one.cell[3] == 128]
    assert [one.takes for one in judged] == ["pairwise_ompi"], "the size that is judged is not known"


def test_a_torus_of_its_own_is_asked_for() -> None:
    fugaku = machines.load("fugaku")
    predictor = Predictor(fugaku)
    assert predictor.network_name(8, 1, "2x2x2") == "torus(dims=2x2x2,hosts=1,ordered=1)"
    assert predictor.us(ESTIMATE, "pairwise", 4096, 1, "8x8x8", 8) is None


def test_amended_machines_are_as_they_were_afterwards() -> None:
    before = machines.load("polaris").costs.between.handshake_trips
    with rejudging._borrowed(True):
        lent = machines.load("polaris").costs
        assert lent.between.handshake_trips == 1 and lent.between.cold_us > 0 and lent.datatype_us > 0
        assert machines.load("hockney").costs.between.handshake_trips == 0
    assert machines.load("polaris").costs.between.handshake_trips == before == 0


def fit_file(folder: Path, **changes: object) -> Path:
    wanted = json.loads((FITS / "mare-nostrum-5.json").read_text()) | changes
    path = folder / "fit.json"
    path.write_text(json.dumps(wanted))
    return path


def test_fits_that_cannot_be_are_refused(tmp_path: Path, cells: list[Measured]) -> None:
    with pytest.raises(SwapmeetError, match='"fitted": expected a list, got a text'):
        fitting.fit(fit_file(tmp_path, fitted="all"), cells)
    with pytest.raises(SwapmeetError, match=r'\["32", "linear_ompi", 9\] of mare_nostrum was not measured'):
        fitting.fit(fit_file(tmp_path, fitted=[["32", "linear_ompi", 9]]), cells)
    sizes = (8, 64, 512, 4096, 32768, 262144, 2097152, 16777216)
    many = [["32", f"{name}_ompi", size] for name in ("linear", "pairwise") for size in sizes]
    with pytest.raises(SwapmeetError, match="16 cells are fitted of 32: a quarter at most"):
        fitting.fit(fit_file(tmp_path, fitted=many), cells)
    described = {"format": "swapmeet-machine", "version": 1, "between": {"latency_us": 1, "byte_ns": 1}}
    with pytest.raises(SwapmeetError, match='no number has a "start"'):
        fitting.fit(fit_file(tmp_path, description=described), cells)
    (tmp_path / "no.json").write_text("{")
    with pytest.raises(SwapmeetError, match="no JSON"):
        fitting.fit(tmp_path / "no.json", cells)


LINEAR = ["32", "linear_ompi", 8]


@pytest.mark.parametrize(
    ("fitted", "problem"),
    [
        ([], '"fitted" names no cell'),
        ([LINEAR, LINEAR], r'\["32", "linear_ompi", 8\] is given twice'),
        ([["32", ["linear_ompi"], 8]], r"is no \[nodes, algorithm, bytes of a block\]"),
        ([["32", "default_ompi", 8]], "cannot be fitted: its algorithm is not predicted"),
    ],
)
def test_cells_that_cannot_be_fitted_are_refused(
    tmp_path: Path, cells: list[Measured], fitted: list[object], problem: str
) -> None:
    with pytest.raises(SwapmeetError, match=problem):
        fitting.fit(fit_file(tmp_path, fitted=fitted), cells)


@pytest.mark.parametrize(
    ("place", "number", "problem"),
    [
        ("latency_us", {"start": 1.5, "low": 5, "high": 0.3}, "between.latency_us: expected"),
        ("latency_us", {"start": 1.5, "high": 5}, "between.latency_us: expected"),
        ("latency_us", {"start": "x", "low": 0.3, "high": 5}, "between.latency_us: expected"),
        ("latency_us", {"start": 9, "low": 0.3, "high": 5}, "between.latency_us: expected"),
        ("latency_us", {"start": 0, "low": 0, "high": 5}, "between.latency_us: expected"),
        ("latency_us", {"start": -1, "low": -2, "high": 5}, "between.latency_us: expected"),
        ("latency_us", {"start": float("nan"), "low": 0.3, "high": 5}, "no JSON object .JSON is malformed"),
        ("latency_us", {"start": 2, "low": 2, "high": 2}, "between.latency_us: expected"),
        ("latency_us", {"start": 2, "low": 1, "high": 3, "value": 2}, "between.latency_us: expected"),
        ("latency_us", {"start": 2, "low": 1, "high": 3, "meaning": 4}, 'perhaps with a "meaning", a text'),
        ("latency_us", {"as": "nope.x"}, "between.latency_us: expected .*a number that is fitted"),
        ("latency_us", {"as": "between.eager_bytes"}, "between.latency_us: expected .*a number that is fitted"),
        ("latency_us", {"as": ["between"]}, "between.latency_us: expected .*a number that is fitted"),
        ("latency_us", 1e400, "no JSON object .JSON is malformed"),
        ("a.b", {"start": 2, "low": 1, "high": 3}, '"a.b" is no name of a description'),
    ],
)
def test_numbers_that_cannot_be_fitted_are_refused(
    tmp_path: Path, cells: list[Measured], place: str, number: object, problem: str
) -> None:
    described = json.loads((FITS / "mare-nostrum-5.json").read_text())["description"]
    described["between"][place] = number
    with pytest.raises(SwapmeetError, match=problem):
        fitting.fit(fit_file(tmp_path, description=described), cells)


def test_descriptions_of_another_shape_are_refused(tmp_path: Path, cells: list[Measured]) -> None:
    described = json.loads((FITS / "mare-nostrum-5.json").read_text())["description"]
    with pytest.raises(SwapmeetError, match="node.byte_ns: expected .*a number that is fitted"):
        fitting.fit(fit_file(tmp_path, description=described | {"between": 3}), cells)
    described["node"], described["between"] = {}, 3
    with pytest.raises(SwapmeetError, match="between: expected an object"):
        fitting.fit(fit_file(tmp_path, description=described), cells)
    bare = json.loads((FITS / "mare-nostrum-5.json").read_text())["description"]
    del bare["network"]
    with pytest.raises(SwapmeetError, match="a cell that is fitted cannot be predicted: .*has no network"):
        fitting.fit(fit_file(tmp_path, description=bare), cells)


def test_only_the_very_cells_are_fitted(cells: list[Measured]) -> None:
    """Another system, other ranks on a node or another run: their cells are held out, whatever they are called."""
    machine = machines.load("mare-nostrum-5")
    one = next(one for one in cells if one.algorithm == "linear_ompi" and one.block_bytes == 8)
    assert is_fitted(machine, one) and not is_twin(machine, one)
    for other in (
        replace(one, system="leonardo"),
        replace(one, per_node=4, ranks=128),
        replace(one, ranks=31),
        replace(one, us=9000.0),
    ):
        assert not is_fitted(machine, other) and not is_twin(machine, other)
    assert is_fitted(machine, replace(one, us=one.us * 1.01))
    twin = replace(one, algorithm="linear_sync_ompi")
    assert is_twin(machine, twin) and not is_fitted(machine, twin)
    assert is_twin(machine, replace(one, algorithm="spread-out"))
    assert not is_twin(machine, replace(twin, system="leonardo"))
    assert not is_twin(machine, replace(twin, block_bytes=64))
    (found,) = Predictor(machine).predict(MODEL, [twin])
    assert found.twin and not found.held_out and computing.row_of(found)["twin"]


def test_what_is_not_predicted_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A network too small, or one that cannot be built: the column is empty, and standard error says why."""
    predictor = Predictor(machines.load("fugaku"))
    assert predictor.us(ESTIMATE, "pairwise", 1000, 1, "1000", 8) is None
    assert predictor.us(ESTIMATE, "pairwise", 4096, 1, "64x64", 8) is None
    small, wide = predictor.told()
    assert "no estimate of pairwise on 1000 nodes of fugaku: " in small and "512" in small
    assert "no estimate of pairwise on 64x64 nodes of fugaku: " in wide and "ordered=1 is for up to" in wide
    data = tmp_path / "site.csv"
    data.write_text(
        "system,nodes,ranks_per_node,ranks,algorithm,block_bytes,median_us\n"
        "fugaku,64x64,1,4096,pairwise,64,9000\nfugaku,64x64,1,4096,native,64,900\nelsewhere,4,1,4,pairwise,64,9\n"
    )
    for run in (lambda: command.validate([data]), lambda: regret_command.regret(data=[data])):
        run()
        said = capsys.readouterr().err
        assert "no estimate of pairwise" in said and "ordered=1 is for up to" in said
        assert 'no built-in machine describes "elsewhere"' in said


def test_the_links_bound_counts_bytes_alone() -> None:
    """512 nodes in 8x8x8: each link carries 512 blocks, whatever the size."""
    predictor = Predictor(machines.load("fugaku"))
    for size in (4, 32, 1 << 20):
        assert predictor.link_bound_us(512, 1, "8x8x8", size) == pytest.approx(512 * size * 0.147e-3, rel=1e-3)


def test_a_fit_finds_what_times_were_made_of(tmp_path: Path, cells: list[Measured]) -> None:
    """Times that a description predicts are fitted by its numbers again, though it starts elsewhere."""
    truth = machines.load("mare-nostrum-5")
    of = [one for one in cells if one.system == "mare_nostrum"]
    made = [replace(one.measured, us=one.us) for one in Predictor(truth).predict(ESTIMATE, of)]
    found = machines.parse(json.dumps(fitting.fit(FITS / "mare-nostrum-5.json", made)), "x")
    for place in ("between.latency_us", "between.byte_ns", "between.overhead_us", "pack.byte_ns"):
        assert found.numbers[place].value == pytest.approx(truth.numbers[place].value, rel=0.05), place


def test_the_command_prints_each_cell_and_lists_unknown_names(tmp_path: Path) -> None:
    data = tmp_path / "site.csv"
    data.write_text(
        "system,nodes,ranks_per_node,ranks,algorithm,block_bytes,median_us\n"
        "fugaku,2x2x2,1,8,pairwise,64,20\nfugaku,2x2x2,1,8,secret,64,10\nfugaku,2x2x2,1,8,native,64,15\n"
    )
    done = swapmeet("validate", str(data))
    assert done.returncode == 0 and '"secret" is no algorithm that is known' in done.stderr
    assert re.search(r"fugaku\W+2x2x2\W+pairwise", done.stdout) and "fugaku, estimate: 1 cells" in done.stdout
    regret = swapmeet("regret", "--data", str(data), "--csv")
    assert regret.returncode == 0 and "secret" in regret.stderr
    assert "the MPI's own choice,fugaku,2x2x2,8,64,native,secret,0.5" in regret.stdout
    data.write_text(data.read_text().replace("fugaku", "elsewhere"))
    done = swapmeet("validate", str(data))
    assert done.returncode == 2 and 'no built-in machine describes "elsewhere"' in done.stderr
    assert "no system of the data is described" in done.stderr
    assert swapmeet("validate", str(data), "--machine", "fugaku").returncode == 0
    other = swapmeet("regret", "--data", str(data))
    assert other.returncode == 0 and 'no built-in machine describes "elsewhere"' in other.stderr
    data.write_text(data.read_text() + "elsewhere,2x2x2,1,8,default_ompi,64,15\n")
    other = swapmeet("regret", "--data", str(data))
    assert other.returncode == 2 and "64 B: native, default_ompi each stand for what the MPI chose" in other.stderr


def test_damaged_results_make_no_page(tmp_path: Path) -> None:
    for kind in store.KINDS:
        store.write(tmp_path, kind, store.read(RESULTS)[kind])
    assert list(page.whole(tmp_path, "x"))
    for kind in store.KINDS:
        file = tmp_path / f"{kind}.jsonl"
        before = file.read_text()
        for text, problem in (
            ("", "it is empty"),
            ("{}\n", 'line 1: ".*" is missing'),
            ("[]\n", "no JSON object"),
            ("{", ""),
        ):
            file.write_text(text)
            with pytest.raises(SwapmeetError, match=f"{kind}.jsonl cannot be read .*{problem}"):
                list(page.whole(tmp_path, "x"))
        file.write_text(before)


def test_results_without_those_of_the_papers_are_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computing, "everything", lambda *_: pytest.fail("computed before it refused"))
    with pytest.raises(SwapmeetError, match="reproduction has no results"):
        command.validate(output=tmp_path / "validation")


def test_the_page_counts_twins_once_and_says_what_is_missed(cells: list[Measured]) -> None:
    """The shares of cells that were fitted, and the readings of the targets, each with its verdict."""
    counts = {name: fitting.counts(FITS / f"{name}.json", cells) for name in ("fugaku", "mare-nostrum-5")}
    assert [(one.free, one.cells, one.of_distinct) for one in counts.values()] == [(13, 18, 60), (7, 8, 24)]
    text = (DOCS / "validation.md").read_text()
    assert "| `mare-nostrum-5` | 7 | 8 cells | 25%: met of 32 | 8 | 33%: **missed** of 24 |" in text
    rows = store.read(RESULTS)
    assert sum(row["twin"] for row in rows[store.CELLS] if row["by"] == ESTIMATE) > 0
    for row in rows[store.CELLS]:
        assert not (row["twin"] and row["fitted"])
    again = [row["near"] for row in rows[store.REFITS] if row["system"] == "mare_nostrum"]
    assert (statistics.median(again) < judging.LEAST_NEAR) == ("%: **missed** | 9 of 20 times" in text)


def test_options_that_contradict_are_refused(tmp_path: Path) -> None:
    assert "--markdown needs -o FOLDER" in refused("validate", "--markdown")
    assert "leave DATA" in refused("validate", "x.csv", "-o", str(tmp_path))
    assert "cells.jsonl cannot be read" in refused("validate", "-o", str(tmp_path), "--markdown")
    assert "give either RESULTS or --data" in refused("regret")
    assert "give either RESULTS or --data" in refused("regret", "x.jsonl", "--data", "published")
    assert "--machine is for --data" in refused("regret", "x.jsonl", "--machine", "fugaku")
