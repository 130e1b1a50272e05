"""What pictures show is what was measured: looked up in matplotlib's artists."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from plots.synthetic import PHASES, write

from swapmeet.draw.plots import fit, heat, latency, phases, radix, samples
from swapmeet.draw.plots.measured import EQUAL, Filter, Measurements, load
from swapmeet.draw.plots.pictures import LeftOut, Picture
from swapmeet.measure.bench import statistics

LONG = "bruck(radix=2,layout=zero-rotation,window=1,complete=all,sizes=ahead,direct=never)"


def measured(path: Path, **what: Any) -> Measurements:
    return load([write(path / "r.jsonl", **what)], Filter())


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def speed(factors: dict[str, float]) -> Any:
    return lambda spec, ranks, size: 1e-5 * factors.get(spec, 1.0)


# heat


def test_heat_cells_hold_speedup_and_interval(tmp_path: Path) -> None:
    factors = {"pairwise": 0.5, "spread-out": 2.0, "radix": 1.0}
    data = measured(tmp_path, specs=list(factors), law=speed(factors), sizes=(64, 1024), ranks=(4, 8))
    (setting,) = data.settings()
    maps = heat.heat(data, setting)
    figure = heat.draw(maps)
    panels = [axes for axes in figure.axes if axes.get_title(loc="left")]
    titles = [axes.get_title(loc="left") for axes in panels]
    assert titles[0].startswith("best")
    assert titles[1:] == ["A: pairwise", "B: radix", "C: spread-out"]
    for axes, spec in zip(panels[1:], ("pairwise", "radix", "spread-out"), strict=True):
        place = data.places(setting)[0]
        found = data.speedup(place, spec)
        assert found is not None
        value, bounds = texts(axes)[:2]
        assert float(value.removeprefix("≈ ")) == pytest.approx(1 / factors[spec], rel=0.1)
        low, high = map(float, bounds.split("–"))
        assert (low, high) == pytest.approx((found.low, found.high), rel=0.006)
        assert len(texts(axes)) == 2 * (4 + 2)  # four cells and the means of both columns
    assert texts(panels[0])[0].startswith("A  2.")


# latency


def power(constants: dict[str, float], exponents: dict[str, float]) -> Any:
    return lambda spec, ranks, size: constants[spec] * 1e-6 * size ** exponents[spec] if size >= 32768 else 1e-4


def test_constants_are_recovered(tmp_path: Path) -> None:
    constants, exponents = (
        {"native": 0.02, "pairwise": 0.012, "radix": 0.02},
        {"native": 1.0, "pairwise": 1.0, "radix": 0.8},
    )
    sizes = [2**i for i in range(8, 23)]
    data = measured(tmp_path, specs=("pairwise", "radix"), sizes=sizes, law=power(constants, exponents), noise=0.003)
    (setting,) = data.settings()
    found = latency.latency(data, setting, 4, EQUAL)
    for line in found.lines:
        assert line.fit is not None
        assert (line.fit.from_bytes, line.fit.to_bytes, line.fit.points) == (32768, 2**22, 8)
        for bounds, truth in ((line.fit.exponent, exponents[line.spec]), (line.fit.constant, constants[line.spec])):
            value, low, high = bounds
            assert low <= value <= high
            assert value == pytest.approx(truth, rel=0.05)
            assert low / 1.02 <= truth <= high * 1.02
    by_spec = {line.spec: line for line in found.lines}
    assert by_spec["native"].ratio is None
    ratio = by_spec["pairwise"].ratio
    assert ratio is not None and ratio[1] < 0.6 < ratio[2] and ratio[0] == pytest.approx(0.6, rel=0.05)
    assert by_spec["pairwise"].same_growth
    assert not by_spec["radix"].same_growth
    assert "(K differ)" in latency.constants_text(by_spec["radix"])


def test_intervals_of_the_constants_hold_the_truth_as_often_as_they_say() -> None:
    import numpy as np

    random = np.random.default_rng(3)
    sizes = [2.0**i for i in range(15, 22)]
    held = {"C": 0, "K": 0, "R": 0}
    for _ in range(400):
        ours, theirs = (
            fit.fit([(s, c * 1e-6 * s**0.9 * math.exp(0.05 * random.standard_normal())) for s in sizes])
            for c in (0.3, 0.5)
        )
        assert ours is not None and theirs is not None
        held["C"] += ours.constant[1] <= 0.3 <= ours.constant[2]
        held["K"] += ours.exponent[1] <= 0.9 <= ours.exponent[2]
        _, low, high = fit.ratio(ours, theirs)
        held["R"] += low <= 0.6 <= high
    assert all(0.925 <= count / 400 <= 0.98 for count in held.values()), held


def test_growth_differs_either_way() -> None:
    steep, flat = (fit.fit([(2.0**i, 1e-9 * 2.0 ** (k * i)) for i in range(15, 20)]) for k in (1.0, 0.8))
    assert steep is not None and flat is not None
    assert fit.same_growth(steep, steep)
    assert not fit.same_growth(steep, flat)
    assert not fit.same_growth(flat, steep)


def test_too_few_or_too_small_sizes_have_no_constants() -> None:
    assert fit.fit([(2.0**20, 1e-3), (2.0**21, 2e-3)]) is None
    assert fit.fit([(2.0**i, 1e-5) for i in range(10)]) is None
    few = fit.fit([(2.0**i, 1e-9 * 2**i) for i in range(5, 16)])
    assert few is not None and (few.from_bytes, few.points) == (2.0**13, 3)


def test_lines_and_bands_are_the_medians_and_their_intervals(tmp_path: Path) -> None:
    data = measured(tmp_path, specs=("pairwise", LONG), sizes=(64, 1024, 4096))
    (setting,) = data.settings()
    axes = latency.draw(latency.latency(data, setting, 4, EQUAL)).axes[0]
    lines = {line.get_label(): line for line in axes.get_lines() if line.get_label() != "_fit"}
    assert set(lines) == {"native", "pairwise", LONG}
    for spec, line in lines.items():
        estimates = [data.median(place, spec) for place in data.places(setting)]
        assert list(line.get_xdata()) == [64, 1024, 4096]
        assert list(line.get_ydata()) == [found.value for found in estimates if found]
    bands = [band.get_paths()[0].vertices for band in axes.collections if "Fill" in type(band).__name__]
    found = data.median(data.places(setting)[0], "native")
    assert found is not None
    at_first = [y for x, y in bands[0] if x == 64]
    assert (min(at_first), max(at_first)) == pytest.approx((found.low, found.high))


def test_unequal_sizes_lie_at_their_mean(tmp_path: Path) -> None:
    sizes = ("uniform:max=128", "uniform:max=4096", "sparse:density=0.5,bytes=64", 64)
    data = measured(tmp_path, sizes=sizes, ranks=(8,))
    pictures = [one.name for one in latency.pictures(data) if isinstance(one, Picture)]
    assert [name.rpartition("-P8")[2] for name in pictures] == ["", "-sparse", "-uniform"]
    setting = next(setting for setting in data.settings() if setting.collective == "alltoallv")
    line = latency.latency(data, setting, 8, "uniform").lines[0]
    assert [x for x, _, _ in line.points] == pytest.approx([64, 2048], rel=0.15)
    labels = [label for _, label in heat.heat(data, setting).sizes]
    assert any(label.startswith("uniform:max=128 (mean\u00a06") for label in labels)


# radix


def sweep_law(spec: str, ranks: int, size: float) -> float:
    return 1e-5 if spec == "native" else 1e-5 * (1 + abs(int(spec[6:-1]) - 5))


@pytest.mark.parametrize("with_root", [True, False])
def test_best_radix_and_root_are_marked(tmp_path: Path, with_root: bool) -> None:
    radices = (2, 3, 4, 5, 8, 16) if with_root else (2, 3, 5, 8, 16)
    data = measured(tmp_path, specs=[f"tra(r={r})" for r in radices], law=sweep_law, ranks=(16,), sizes=(64,))
    (sweep,) = radix.sweeps(data, data.settings()[0], 16)
    axes = radix.draw([sweep]).axes[0]
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines["tra"].get_xdata()) == list(radices)
    best = data.median(sweep.place, "tra(r=5)")
    assert best is not None
    (x,), (y,) = (list(values) for values in lines["_best"].get_data())
    assert (x, y) == (5, best.value)
    assert sweep.root == 4
    assert ("_root" in lines) == with_root
    if with_root:
        assert list(lines["_root"].get_xdata()) == [4]
        assert "r = √P = 4 takes 2.0" in radix.summary(sweep)
    else:
        assert "r = √P = 4 not measured" in radix.summary(sweep)
    native = data.median(sweep.place, "native")
    assert native is not None and set(lines["native"].get_ydata()) == {native.value}


def test_radices_are_read_by_the_core() -> None:
    family, found = radix.radix_of("tra", 17) or ("", 0)
    assert found == 5
    assert radix.radix_of("bruck(layout=basic,radix=7,window=1)", 17) == (family, 7)
    assert radix.radix_of("radix(r=7)", 17) != (family, 7)
    for spec in ("native", "pairwise", "tra2(r1=2,r2=4)", "bruck(radix=4-2)", "not-a-spec(r=3)"):
        assert radix.radix_of(spec, 17) is None
    assert radix.curve_name(["tra(r=2)", "bruck(radix=7,window=1)"], family) == "tra"


def test_one_radix_is_no_curve(tmp_path: Path) -> None:
    data = measured(tmp_path, specs=("tra(r=2)", "radix(r=4)"))
    (left_out,) = radix.pictures(data)
    assert isinstance(left_out, LeftOut) and "swapmeet bench" in left_out.why


# phases and samples


def test_bars_are_the_mean_phases(tmp_path: Path) -> None:
    data = measured(tmp_path, phases=True, sizes=(64, 1024), specs=("pairwise", LONG))
    breakdowns = phases.breakdowns(data, data.settings()[0], 4)
    assert [one.label for one in breakdowns] == ["64 B", "1 KiB"]
    axes = phases.draw(breakdowns).axes[0]
    for bar, y in zip(breakdowns[0].bars, range(3), strict=True):
        drawn = [patch for patch in axes.patches if patch.get_y() <= y <= patch.get_y() + patch.get_height()]
        assert [patch.get_width() / bar.total for patch in drawn] == pytest.approx([(i + 1) / 28 for i in range(7)])
        assert [patch.get_x() / bar.total for patch in drawn] == pytest.approx([i * (i + 1) / 56 for i in range(7)])
    assert list(breakdowns[0].bars[0].seconds) == list(PHASES)
    assert breakdowns[0].bars[0].calls == 150


def test_without_phases_the_way_to_them_is_told(tmp_path: Path) -> None:
    (left_out,) = phases.pictures(measured(tmp_path))
    assert isinstance(left_out, LeftOut) and left_out.why.endswith("swapmeet bench --phases")


# data


def test_files_of_one_machine_are_pooled_and_others_kept_apart(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1.jsonl"), write(tmp_path / "2.jsonl")
    three = write(tmp_path / "3.jsonl", header={"commit": "fedcba9876"})
    pooled = load([one, two], Filter())
    (setting,) = pooled.settings()
    found = pooled.median(pooled.places(setting)[0], "native")
    assert found is not None and (found.samples, found.launches) == (180, 6)
    speedup = pooled.speedup(pooled.places(setting)[0], "pairwise")
    assert speedup is not None and speedup.launches == 6
    assert len({run.launch for run in pooled.runs(pooled.places(setting)[0], "native")}) == 6
    assert [setting.origin for setting in load([one, three], Filter()).settings()] == ["abcdef0123", "fedcba9876"]


def test_numbers_come_from_the_statistics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = measured(tmp_path)
    place = data.places(data.settings()[0])[0]
    expected = statistics.ratio(data.runs(place, "native"), data.runs(place, "pairwise"))
    assert data.speedup(place, "pairwise") == expected
    monkeypatch.setattr(statistics, "ratio", lambda *_: pytest.fail("estimated twice"))
    assert data.speedup(place, "pairwise") == expected


def test_few_samples_make_no_tie(tmp_path: Path) -> None:
    data = measured(tmp_path, samples=2, launches=1, law=speed({"pairwise": 0.5}))
    (setting,) = data.settings()
    panel = next(axes for axes in heat.draw(heat.heat(data, setting)).axes if axes.get_title(loc="left"))
    value, bounds = texts(panel)[:2]
    assert float(value) == pytest.approx(2, rel=0.1)
    assert bounds == "too few samples"
    assert len(texts(panel)) == 2 * 2  # no mean of what is not known


def test_empty_blocks_are_not_on_the_scale(tmp_path: Path) -> None:
    data = measured(tmp_path, sizes=(0, 64, 128))
    found = latency.latency(data, data.settings()[0], 4, EQUAL)
    assert [x for x, _, _ in found.lines[0].points] == [64, 128]
    empty = latency.latency(measured(tmp_path, sizes=(0,)), data.settings()[0], 4, EQUAL)
    assert list(empty.categories) == ["0 B"]


def test_samples_that_are_all_the_same_are_not_drawn(tmp_path: Path) -> None:
    (left,) = samples.pictures(measured(tmp_path, noise=0.0, specs=("pairwise",)))
    assert isinstance(left, LeftOut) and "the same" in left.why
    assert all(isinstance(one, Picture) for one in samples.pictures(measured(tmp_path, specs=("pairwise",))))


def test_the_best_has_a_mean_over_sizes(tmp_path: Path) -> None:
    data = measured(tmp_path, specs=("pairwise", "spread-out"), law=speed({"pairwise": 0.5, "spread-out": 2.0}))
    maps = heat.heat(data, data.settings()[0])
    best, pairwise = maps.panels[:2]
    assert best.cells[heat.ALL_SIZES, 4].value == pairwise.cells[heat.ALL_SIZES, 4].value == pytest.approx(2, rel=0.1)
