"""`swapmeet draw`: files of each kind, and what it says of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from swapmeet.cli.app import app


def draw(*words: object) -> Result:
    """`swapmeet draw WORDS...`, in this process."""
    return CliRunner().invoke(app, ["draw", *map(str, words)])


def test_a_page_fetches_nothing(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    done = draw("two-layer", "-P", 6, "--nodes", "4+2", "-o", file)
    assert done.exit_code == 0, done.stderr
    assert "P = 6 ranks, rounds: 3" in done.stdout
    text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")  # the name of a namespace
    for word in ("http", "//cdn", "@import", "url(", "src=", "<!--"):
        assert word not in text


@pytest.mark.parametrize(("name", "begin"), [("a.svg", b"<?xml"), ("b.png", b"\x89PNG"), ("c.PDF", b"%PDF")])
def test_stills(tmp_path: Path, name: str, begin: bytes) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / name
    done = draw("pairwise", "-P", 4, "--rounds", "1,3", "-o", file)
    assert done.exit_code == 0, done.stderr
    assert file.read_bytes().startswith(begin)


def test_a_still_has_the_rounds_that_were_asked_for() -> None:
    pytest.importorskip("matplotlib")
    from swapmeet import _core
    from swapmeet.draw.picture import take
    from swapmeet.draw.stills import still

    picture = take(_core.parse_spec("pairwise"), 5)
    titles = [axes.get_title() for axes in still(picture, [2, 4]).axes if axes.get_title()]
    assert titles == ["Round 2 of 4", "Round 4 of 4", "The end"]


@pytest.mark.parametrize(("spec", "ranks", "rounds"), [("tra(r=3)", 1, []), ("tra", 2, [1]), ("pairwise", 8, [3, 5])])
def test_nothing_written_on_a_narrow_still_is_cut_off(spec: str, ranks: int, rounds: list[int]) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from swapmeet import _core
    from swapmeet.draw.picture import take
    from swapmeet.draw.stills import still

    figure = still(take(_core.parse_spec(spec), ranks), rounds)
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    title, legend = (text.get_window_extent(renderer) for text in figure.texts)
    assert min(title.x0, legend.x0, legend.y0) >= 0
    assert max(title.x1, legend.x1) <= figure.bbox.x1
    for axes in figure.axes:
        assert not axes.get_tightbbox(renderer).overlaps(title)
        assert not axes.get_tightbbox(renderer).overlaps(legend)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tra", "-P", 8, "-o", "x.gif"], "expected a file that ends in .html, .svg, .png, .pdf"),
        (["tra", "-P", 999], "-P 999: more than 128 ranks"),
        (["native", "-P", 8], "is the host MPI and has no schedule"),
        (["nonsense", "-P", 8], 'unknown algorithm "nonsense"'),
        (["tra", "-P", 8, "--nodes", "x"], '--nodes "x"'),
        (["pairwise(order=xor)", "-P", 6], "cannot serve P = 6"),
        (["tra", "-P", 8, "--on", "moebius"], "no network"),
        (["tra", "-P", 8, "--on", "torus(dims=2x2)", "--place", "block:1"], '--place "block:1"'),
        (["tra", "-P", 8, "--place", "cyclic"], "--place has no effect without --on"),
        (["tra", "-P", 8, "--rounds", "1"], "--rounds is for stills"),
        (["tra", "-P", 8, "--rounds", "2:9", "-o", "x.svg"], "the schedule has rounds 1 to"),
        (["tra", "-P", 8, "-o", "/proc/nowhere/x.html"], "No such file or directory"),
    ],
)
def test_mistakes_are_told_in_a_line(tmp_path: Path, monkeypatch, words: list[object], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    done = draw(*words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
