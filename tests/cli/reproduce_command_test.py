"""`swapmeet reproduce`: figures as data, the committed verdicts, and the command."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from command import refused, swapmeet

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from swapmeet.cli import reproduce as reproduce_command
from swapmeet.reproduction import drawing, judging, page, registry, running, store
from swapmeet.reproduction.figure import (
    CONFIRMED,
    EXCEEDED,
    NOT_HERE,
    PARTLY,
    REFUTED,
    SIMULATION,
    VERDICTS,
    Figure,
    Judgement,
    Rows,
)
from swapmeet.simulate import estimate, peers
from swapmeet.specs import parse_spec

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "reproduction"
MOST_PICTURE_BYTES = 100_000
MOST_SECONDS = 180  #: of one simulation

SIMULATED = [figure for figure in registry.FIGURES if running.tasks_of(figure, "")]


def verdicts(figure: Figure, rows: Rows) -> list[str]:
    results = store.Results({}, rows)
    return [judgement.verdict for judgement in page.judged(figure, results)]


def test_figures_are_consistent() -> None:
    assert [key for key, count in Counter(figure.key for figure in registry.FIGURES).items() if count > 1] == []
    known = set(re.findall(r"^@\w+\{(\w+),", (DOCS / "papers.bib").read_text(), re.MULTILINE))
    for figure in registry.FIGURES:
        assert re.fullmatch(r"[a-z]+:[a-z0-9]+", figure.key) and figure.paper in known & set(page.PAPERS)
        assert figure.claims and all(claim.statement and claim.section for claim in figure.claims), figure.key
        for claim in figure.claims:
            assert claim.criterion or claim.judge(Rows([])).verdict == NOT_HERE, claim.statement
    assert registry.papers() == list(page.PAPERS)


@pytest.mark.parametrize("figure", SIMULATED, ids=lambda figure: figure.key)
def test_simulations_can_be_made(figure: Figure) -> None:
    for task in running.tasks_of(figure, "3.32"):
        if peers.is_peer(task.job.spec):
            peers.require_peer(task.job.spec)
            assert not peers.unsuitable(task.job.spec, task.job.cell.collective)
        else:
            assert not parse_spec(task.job.spec).unsuitable(task.job.cell.ranks, task.job.cell.nodes)
        assert estimate.of_job(task.job).seconds < MOST_SECONDS, task.row


def test_the_list_says_what_each_takes() -> None:
    table = reproduce_command._list(registry.FIGURES)
    takes = dict(zip(table.columns[0].cells, table.columns[-1].cells, strict=True))
    assert list(takes) == [figure.key for figure in registry.FIGURES]
    assert takes["tra:fig4"] == "counts: seconds" and takes["nonuniform:applications"] == "nothing"
    assert re.fullmatch(r"model: seconds; \d+ simulations: about \d+ (s|min)", str(takes["tra:fig10"]))


@pytest.mark.parametrize("figure", registry.FIGURES, ids=lambda figure: figure.key)
def test_the_committed_verdicts_hold(figure: Figure) -> None:
    committed = store.read(RESULTS, figure)
    assert committed is not None
    again = Rows([*running.computed(figure), *committed.rows.where(by=SIMULATION)])
    assert verdicts(figure, again) == verdicts(figure, committed.rows)


def test_the_page_is_of_the_committed_results() -> None:
    text = "\n\n".join(page.whole(registry.FIGURES, RESULTS, RESULTS.name)) + "\n"
    assert (DOCS / "reproduction.md").read_text() == text
    for figure in registry.FIGURES:
        assert f"### {figure.key}: " in text
    for picture in RESULTS.glob("*.png"):
        assert f"]({RESULTS.name}/{picture.name})" in text and picture.stat().st_size < MOST_PICTURE_BYTES


def test_each_lesson_is_judged_by_one_claim_by_each_way_apart() -> None:
    figures = {figure.key: figure for figure in registry.FIGURES}
    for _, key, words in page.LESSONS:
        assert page.claim_of(figures[key], words) in figures[key].claims
    text = "\n\n".join(page.whole(registry.FIGURES, RESULTS, "reproduction"))
    (both,) = re.findall(r"^\| \[two layers beat one.*$", text, re.MULTILINE)
    assert both.endswith("|  | **refuted**: in 13 of 54 cells | **partly**: in 6 of 10 cells |")


def test_verdicts_follow_numbers() -> None:
    def times(ours: float, theirs: float, ranks: int) -> list[dict[str, object]]:
        cell = {"by": "model", "machine": "x", "P": ranks, "sizes": "8 B", "bytes": 8}
        return [{**cell, "role": "ours", "us": ours}, {**cell, "role": "theirs", "us": theirs}]

    judge = judging.model_and_simulation(judging.faster("ours", "theirs"))
    good, bad = times(1, 2, 8), times(2, 1, 16)
    assert judge(Rows(good)).verdict == CONFIRMED
    assert judge(Rows(bad)).verdict == REFUTED
    assert judge(Rows(good + bad)).verdict == PARTLY
    assert judge(Rows(good + [{**row, "by": SIMULATION} for row in bad])).verdict == PARTLY
    assert judge(Rows([])).verdict == NOT_HERE
    assert judging.model_and_simulation(judging.up_to("ours", "theirs", 3))(Rows([])).verdict == NOT_HERE
    assert [judging.near(value, 10).verdict for value in (10.5, 8, 20)] == [CONFIRMED, PARTLY, REFUTED]
    unknown = Judgement(NOT_HERE, "")
    assert judging.together([("", unknown), ("", Judgement(REFUTED, ""))]).verdict == REFUTED
    assert set(VERDICTS) == {CONFIRMED, EXCEEDED, PARTLY, REFUTED, NOT_HERE}


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [
        (9, EXCEEDED),
        (3.31, EXCEEDED),
        (3.29, CONFIRMED),
        (2.73, CONFIRMED),
        (2.72, PARTLY),
        (2, PARTLY),
        (1.9, REFUTED),
        (0.5, REFUTED),
    ],
)
def test_a_claimed_maximum_is_not_confirmed_by_exceeding_it(ratio: float, verdict: str) -> None:
    cell = {"by": "model", "machine": "x", "P": 8, "sizes": "8 B", "bytes": 8}
    less = {**cell, "P": 16}
    rows = [{**cell, "role": "ours", "us": 1}, {**cell, "role": "theirs", "us": ratio}]
    rows += [{**less, "role": "ours", "us": 4}, {**less, "role": "theirs", "us": ratio}]
    found = judging.up_to("ours", "theirs", 3)(Rows(rows))
    assert found.verdict == verdict
    assert ("exceeded" in found.finding) == (verdict == EXCEEDED)


def test_a_figure_goes_to_a_folder(tmp_path: Path) -> None:
    done = swapmeet("reproduce", "radix:fig1", "radix:fig2a", "-o", str(tmp_path / "made"))
    assert done.returncode == 0, done.stderr
    pages = [tmp_path / "made" / f"radix-{name}.md" for name in ("fig1", "fig2a")]
    assert done.stdout.splitlines() == [f"radix:fig1: 1 partly: {pages[0]}", f"radix:fig2a: 1 confirmed: {pages[1]}"]
    written = {path.name for path in (tmp_path / "made").iterdir()}
    assert written == {f"radix-{name}.{kind}" for name in ("fig1", "fig2a") for kind in ("jsonl", "md")}
    assert "K(4) = 4 (paper: 5)" in (tmp_path / "made" / "radix-fig1.md").read_text()
    shown = swapmeet("reproduce", "--markdown", "-o", str(tmp_path / "made"))
    assert "### radix:fig2a: " in shown.stdout and "### tra:fig4" not in shown.stdout


def test_what_was_not_run_is_not_judged(tmp_path: Path) -> None:
    done = swapmeet("reproduce", "slimfly:fig2", "--quick", "-o", str(tmp_path))
    page = tmp_path / "slimfly-fig2.md"
    assert done.returncode == 0 and done.stdout.startswith(f"slimfly:fig2: not run yet: {page}\n"), done.stdout


def test_quick_keeps_simulations(tmp_path: Path) -> None:
    (figure,) = registry.find(["nonuniform:fig2"])
    row = {"by": SIMULATION, "machine": "theta", "P": 256, "sizes": "32 B", "bytes": 32, "role": "basic", "us": 1.0}
    store.write(tmp_path, figure, [row, {**row, "role": "zero rotation", "us": 0.5}], "3.32")
    assert swapmeet("reproduce", "nonuniform:fig2", "--quick", "-o", str(tmp_path)).returncode == 0
    results = store.read(tmp_path, figure)
    assert results is not None and len(results.rows.where(by=SIMULATION)) == 2 and len(results.rows) > 10
    assert (tmp_path / "nonuniform-fig2.png").read_bytes().startswith(b"\x89PNG")


def test_bad_input_is_refused(tmp_path: Path) -> None:
    assert 'FIGURE "tra:fig80": there is none; did you mean tra:fig8' in refused("reproduce", "tra:fig80")
    assert "lists them all" in refused("reproduce", "figure")
    assert "leave one out" in refused("reproduce", "--all", "tra")
    assert "no such folder" in refused("reproduce", "--markdown", "-o", str(tmp_path / "none"))
    assert "--time-limit" in refused("reproduce", "--time-limit", "soon", "radix:fig1")
    (tmp_path / "radix-fig1.jsonl").write_text('{"figure": "radix:fig2a"}\n')
    assert "holds no results of radix:fig1" in refused("reproduce", "--markdown", "-o", str(tmp_path))
    (tmp_path / "radix-fig1.jsonl").write_text("{")
    assert "cannot be read" in refused("reproduce", "--markdown", "-o", str(tmp_path))


def test_without_simgrid_it_says_what_to_install(tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path)}
    assert "apt-get install libsimgrid-dev" in refused("reproduce", "fft:fig1", "-o", str(tmp_path), env=environment)


def test_a_compact_picture_keeps_the_colour_of_a_thin_line(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    picture = image.new("RGB", (256, 256))
    picture.putdata([(x, 255 - y // 2, (x + y) // 2) for y in range(256) for x in range(256)])
    picture.paste((213, 94, 0), (0, 100, 256, 102))
    picture.save(tmp_path / "picture.png")
    drawing.compact(tmp_path / "picture.png")
    with image.open(tmp_path / "picture.png") as few:
        assert few.mode == "P" and few.convert("RGB").getpixel((50, 101)) == (213, 94, 0)
