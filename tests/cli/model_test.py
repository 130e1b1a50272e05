"""`swapmeet model`: tables, sweeps and pictures of K and D; and node maps for `show` and `verify`."""

import csv
import io
import re
import struct
from pathlib import Path

import pytest
from cli.command import refused, swapmeet
from typer.testing import CliRunner

from swapmeet import _core
from swapmeet.cli.app import app
from swapmeet.draw.plots import model as plots
from swapmeet.model import costs as models

SPEC = r"bruck\(radix=128,layout=basic,window=all,complete=all\)"


def model(*words: str) -> str:
    """What `swapmeet model WORDS...` prints; run in this process, which is quicker."""
    done = CliRunner().invoke(app, ["model", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def rows(*words: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(model(*words, "--csv"))))


def test_the_papers_example_in_a_process_of_its_own() -> None:
    done = swapmeet("model", "bruck(radix=128)", "-P", "16384", "-S", "64")
    assert (done.returncode, done.stderr) == (0, "")
    cells = r"\s+│\s+".join(["16384", "16384", "128-128", "254", "32,512", "2,080,768", "2", "48,896", "3,129,344"])
    assert re.search(rf"│ {SPEC}\s+│\s+{cells}\s+│", done.stdout)


def test_sizes_are_asked_for() -> None:
    assert "bytes" not in model("bruck", "-P", "8")
    assert "bytes sent" in model("bruck", "-P", "8", "-S", "8KiB")
    (row,) = rows("bruck", "-P", "8", "-S", "1KiB")
    assert (row["D"], row["block_bytes"], row["bytes_sent"], row["scratch_bytes"]) == ("12", "1024", "12288", "16384")


def test_several_specs_and_numbers_of_ranks() -> None:
    found = [
        (row["spec"].split("(")[0], row["P"], row["K"], row["D"]) for row in rows("bruck", "pairwise", "-P", "4,8")
    ]
    expected = [
        ("bruck", "4", "2", "4"),
        ("bruck", "8", "3", "12"),
        ("direct", "4", "3", "3"),
        ("direct", "8", "7", "7"),
    ]
    assert found == expected


def test_a_sweep_of_the_radix() -> None:
    swept = rows("bruck-modified", "-P", "12", "--radix", "2:P")
    assert [row["radices"].split("-")[0] for row in swept] == [str(r) for r in range(2, 13)]
    for r, row in enumerate(swept, 2):
        counts = _core.count(_core.parse_spec(f"bruck(radix={r})"), 12)
        assert (row["K"], row["D"]) == (str(counts.messages), str(counts.blocks))
        assert "layout=modified" in row["spec"]
    assert [row["radices"] for row in rows("bruck", "-P", "9", "--radix", "all,root,2:4:2")] == [
        "2-2-2-2",
        "3-3",
        "4-3",
        "9",
    ]
    assert [row["P"] for row in rows("bruck", "-P", "1,2", "--radix", "2:P")] == ["1", "2"]


def test_rounds() -> None:
    found = [
        tuple(map(int, list(row.values())[4:])) for row in rows("bruck(radix=3)", "-P", "10", "-S", "4", "--rounds")
    ]
    stated = _core.count_rounds(_core.parse_spec("bruck(radix=3)"), 10)
    assert found == [(*row, 4, 4 * row[5]) for row in stated]
    text = model("bruck(radix=3)", "-P", "10", "--rounds")
    assert re.search(r"│ 0\s+│ 1\s+│ 3\s+│ 2 │\s+1 │\s+3 │", text)
    assert model("bruck", "-P", "1", "--rounds", "--csv").splitlines() == [
        "spec,P,grid,radices,dimension,digit,weight,z,messages,blocks"
    ]


def test_nodes() -> None:
    (row,) = rows("tra2", "-P", "1024", "--nodes", "64")
    assert (row["grid"], row["radices"], row["K"], row["D"]) == ("64x16", "8-8/16", "29", "2752")
    assert "Nodes are unequal" not in model("tra2", "-P", "1024", "--nodes", "64")
    assert "Nodes are unequal" in model("tra2", "-P", "6", "--nodes", "4+2")


def test_specs_that_cannot_serve_are_named() -> None:
    done = CliRunner().invoke(app, ["model", "bruck(dims=2x3)", "-P", "5:7", "--csv"])
    assert done.exit_code == 0
    assert "skipped P = 5,7: the product of its dims is 6" in done.stderr
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["brukc", "-P", "4"], 'did you mean "bruck"?'),
        (["native", "-P", "4"], "has no schedule"),
        (["bruck(radix=1)", "-P", "4"], "radix must be 2 or more"),
        (["bruck(dims=2x3)", "-P", "4"], "the product of its dims is 6, but there are 4 ranks"),
        (["bruck(dims=groups:4/6)", "-P", "4"], "cannot be made of groups of 4"),
        (["bruck", "-P", "0:3"], "not within 1 to"),
        (["bruck", "-P", "4", "-S", "4q"], "expected bytes, such as 64, 8KiB or 1MiB"),
        (["bruck", "-P", "4", "--radix", "1:P"], "a radix must be 2 or more"),
        (["bruck", "-P", "4", "--radix", "Q"], 'not "Q"'),
        (["bruck", "-P", "4", "--radix", "2000000000"], "radix must be 2 or more"),
        (["pairwise", "-P", "4", "--radix", "2"], '"pairwise" has no radix: leave --radix out'),
        (["pairwise", "-P", "4", "--plot", "x.png"], '"pairwise" has no radix: leave --plot out'),
        (["bruck", "-P", "4", "--plot", "x.gif"], "the name must end in .png, .svg, .pdf"),
        (["bruck", "-P", "4", "--plot", "/nowhere/x.png"], "there is no folder /nowhere"),
        (["tra2", "-P", "4", "--nodes", "4+"], "expected the ranks of each node"),
        (["tra2", "-P", "100000", "--nodes", "50000+1"], "too large to look at"),
    ],
)
def test_bad_input_is_refused_in_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    done = CliRunner().invoke(app, ["model", *words])
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("swapmeet: ") and message in line


def test_a_plot_without_matplotlib_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    done = CliRunner().invoke(app, ["model", "bruck", "-P", "8", "--plot", str(tmp_path / "k.png")])
    assert done.exit_code == 2
    assert "pip install 'swapmeet[plot]'" in done.stderr


def test_a_png_for_the_papers_figure(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "k.png"
    text = model("bruck", "-P", "1024,2048", "-S", "64", "--plot", str(file))
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", data[16:24])
    assert width >= 1200 and height >= 1000
    assert text.count("bruck(") == 6  # the marked radices 2, root and P of both numbers of ranks


def test_an_svg_has_the_words_and_the_lines(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    file = tmp_path / "k.svg"
    with matplotlib.rc_context({"svg.fonttype": "none"}):  # text as text
        model("bruck", "-P", "4096", "-S", "64", "--plot", str(file))
    text = file.read_text()
    for words in ("K (messages sent by a rank)", "D (blocks sent by a rank)", "KiB sent by a rank (blocks of 64 B)"):
        assert words in text
    assert "r = √P: K = 126" in text and "r = √P: D = 8,064" in text
    assert "K = 4,095" in text and "D = 24,576" in text


def test_the_lines_hold_what_was_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawn: list[tuple[str, list[tuple[int, int]]]] = []
    monkeypatch.setattr(
        plots,
        "_draw",
        lambda axes, pairs, name, style: (
            drawn.append((name, list(pairs))) or axes.plot(*zip(*pairs, strict=True), label=name)
        ),
    )
    model("bruck", "-P", "50", "--plot", str(tmp_path / "k.svg"))
    expected = [_core.count(_core.parse_spec(f"bruck(radix={r})"), 50) for r in range(2, 51)]
    assert drawn == [
        ("P = 50", [(r, counts.messages) for r, counts in enumerate(expected, 2)]),
        ("P = 50", [(r, counts.blocks) for r, counts in enumerate(expected, 2)]),
    ]


@pytest.mark.parametrize("ranks", ["1", "2", "3"])
def test_few_ranks_can_be_drawn(ranks: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    model("bruck", "-P", ranks, "--plot", str(tmp_path / "k.svg"))


def test_long_curves_are_thinned_but_keep_what_is_marked() -> None:
    ((name, curve),) = models.curves([(_core.parse_spec("bruck"), 10**6)], "2:P").items()
    radices = [radix for radix, _ in curve]
    assert name == "P = 1,000,000"
    assert len(radices) <= models.MOST_POINTS + 3
    assert radices == sorted(set(radices))
    assert {2, 1000, 10**6} <= set(radices)


def test_show_and_verify_take_a_node_map() -> None:
    shown = swapmeet("show", "tra2", "-P", "6", "--nodes", "4+2", "--rank", "4", "--plain").stdout
    assert _core.parse_schedule(shown) == _core.generate(_core.parse_spec("tra2"), 6, 4, "4+2")
    assert "rank 0 sends K = " in swapmeet("show", "tra2", "-P", "6", "--nodes", "4+2").stdout
    assert "each rank sends K = " in swapmeet("show", "tra2", "-P", "6", "--nodes", "0,1,1,2,0,2").stdout
    done = swapmeet("verify", "tra2", "-P", "1:9", "--nodes", "cyclic:4")
    assert " on nodes cyclic:4: proved for P = 1:9 (" in done.stdout
    assert ": proved for P = 7:9 (" in swapmeet("verify", "tra2", "-P", "7:9", "--nodes", "2+1/6").stdout
    shown = swapmeet("show", "tra2", "-P", "12", "--nodes", "2/6").stdout
    assert shown.count("┏") == 3  # a table for each dimension: 2x3x2
    for words in (["-P", "1:4"], ["-P", "4:6"]):
        refusal = refused("verify", "tra2", *words, "--nodes", "0,1,0,1")
        assert f'--nodes "0,1,0,1": names 4 ranks, but there are {words[1].strip(":4") or 1}' in refusal
    assert "too unequal" in refused("show", "tra2", "-P", "300", "--nodes", "200+1")
    assert "together at level 1, but not at level 2" in refused("model", "tra2", "-P", "6", "--nodes", "2/3")
    for command in (["show", "tra2", "-P", "6"], ["verify", "tra2", "-P", "6"]):
        assert '--nodes "4+0": expected the ranks of each node' in refused(*command, "--nodes", "4+0")


def test_show_leaves_out_what_does_nothing() -> None:
    text = swapmeet("show", "bruck", "-P", "4").stdout
    assert text.count("┏") == 2  # a table for each digit
    assert "step 0: copies only" in text
    one = swapmeet("show", "bruck", "-P", "4", "--rank", "1").stdout
    assert one.count("┏") == 2
    assert "step 0: no messages\n  copy send[1..3] to scratch[0..2]" in one
