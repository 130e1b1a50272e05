"""`swapmeet model --workload`: the table, its CSV form, refusals and the picture."""

import csv
import io
import re
import struct
from pathlib import Path

import pytest
from typer.testing import CliRunner

from swapmeet import _core
from swapmeet.cli.app import app
from swapmeet.model import hockney, memory
from swapmeet.model import varying as varying_model
from swapmeet.model.hockney import AlphaBeta

UNIFORM = ("--workload", "uniform:max=1KiB")


def model(*words: str) -> str:
    done = CliRunner().invoke(app, ["model", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def rows(*words: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(model(*words, "--csv"))))


@pytest.mark.parametrize("spec", ["two-phase-bruck", "hybrid", "sloav", "bruck(radix=3)", "spread-out"])
def test_a_line_is_the_most_of_any_rank(spec: str) -> None:
    (row,) = rows(spec, "-P", "13", *UNIFORM, "--seed", "5", "--alpha", "2", "--beta", "0.5")
    point = _core.parse_spec(spec)
    sizes = _core.workload_sizes("uniform:max=1KiB", 5, 13)
    counts = _core.count_varying(point, 13, sizes)
    assert row["spec"] == str(point) and row["P"] == "13" and row["sizes"] == counts.sizes
    for column, values in (
        ("messages", [rank.messages for rank in counts.ranks]),
        ("bytes_sent", [rank.message_bytes for rank in counts.ranks]),
        ("size_bytes", [rank.size_bytes for rank in counts.ranks]),
        ("working_bytes", [rank.working_bytes for rank in counts.ranks]),
    ):
        assert row[column] == str(max(values)), column
    assert row["bound_bytes"] == str(counts.bound_bytes)
    assert row["agreement_bytes"] == str(counts.agreement_bytes)
    assert row["direct_above"] == ("" if counts.direct_bytes is None else str(counts.direct_bytes))
    times = [2 * rank.messages + 0.0005 * rank.message_bytes for rank in counts.ranks]
    assert float(row["time_us"]) == pytest.approx(max(times))
    others = [size for s, line in enumerate(sizes) for d, size in enumerate(line) if s != d]
    assert int(row["largest_bytes"]) == max(others)
    assert float(row["mean_bytes"]) == pytest.approx(sum(others) / len(others))
    machine = AlphaBeta(2, 0.5)
    padded = hockney.padded_bruck_us(machine, 13, max(others))
    assert float(row["paper_padded_us"]) == pytest.approx(padded)
    two_phase = hockney.two_phase_bruck_us(machine, 13, sum(others) / len(others))
    assert float(row["paper_two_phase_us"]) == pytest.approx(two_phase)
    assert row["paper_faster"] == ("padded" if padded < two_phase else "two-phase")


def test_padded_plans_are_included() -> None:
    (row,) = rows("padded-bruck", "-P", "16", "--workload", "constant:bytes=10")
    closed = _core.count(_core.parse_spec("padded-bruck"), 16)
    assert (row["messages"], row["bytes_sent"]) == (str(closed.messages), str(10 * closed.blocks))
    assert int(row["working_bytes"]) == int(row["bound_bytes"]) > 2 * 16 * 10
    (row,) = rows("padded-alltoall", "-P", "16", "--workload", "constant:bytes=10")
    assert (row["messages"], row["time_us"], row["working_bytes"]) == ("", "", str(2 * 16 * 10))


def test_the_table_in_words() -> None:
    text = model("padded-bruck", "padded-alltoall", "bruck(radix=4)", "direct", "-P", "16,20", *UNIFORM)
    assert "One Alltoallv of uniform:max=1KiB, seed 0" in text
    assert "?: the host MPI exchanges the padded blocks." in text
    assert "SWAPMEET_SCRATCH_LIMIT" not in text
    assert len(re.findall(r"paper \(radix 2\)", text)) == 2  # once for each number of ranks
    assert re.search(r"│ radix 4-4 +│ +16 │ +6 │ +24 │", text)
    assert re.search(r"│ direct\(.*?│ known +│ all ", text)
    text = model("two-phase-bruck", "-P", "16", "--workload", "constant:bytes=1GiB")
    assert re.search(r"│ native +│", text) and "beyond the standard SWAPMEET_SCRATCH_LIMIT" in text


def test_seeds_radices_and_nodes() -> None:
    assert rows("bruck", "-P", "9", *UNIFORM, "--seed", "1") != rows("bruck", "-P", "9", *UNIFORM, "--seed", "2")
    assert rows("bruck", "-P", "9", *UNIFORM) == rows("bruck", "-P", "9", *UNIFORM, "--seed", "0")
    swept = rows("bruck", "-P", "9", *UNIFORM, "--radix", "2,3,all")
    assert [row["messages"] for row in swept] == ["4", "4", "8"]
    assert rows("tra2", "-P", "9", *UNIFORM, "--nodes", "3") != rows("tra2", "-P", "9", *UNIFORM)
    assert [row["time_us"] for row in rows("bruck", "-P", "1", *UNIFORM)] == ["0.0"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bruck", "--workload", "unform:max=3"], 'unknown workload "unform" (known: constant, uniform,'),
        (["bruck", "--workload", "uniform:max=x"], '--workload "uniform:max=x": '),
        (["native", *UNIFORM], "choose an algorithm, or native(sizes=padded)"),
        (["bruck", *UNIFORM, "-S", "8"], "leave -S out"),
        (["bruck", *UNIFORM, "--rounds"], "leave --rounds out"),
        (["direct", *UNIFORM, "--radix", "2"], '"direct" has no radix'),
        (["bruck", *UNIFORM, "--alpha", "-1"], "--alpha -1.0: expected a time of 0 or more"),
        (["bruck", *UNIFORM, "--beta", "nan"], "--beta nan: expected a time of 0 or more"),
        (["bruck", "--alpha", "1"], "--alpha has no effect without --workload"),
        (["bruck", "--seed", "1"], "--seed has no effect without --workload"),
        (["bruck", *UNIFORM, "--plot", "x.gif"], "the name must end in"),
        (["bruck", "--workload", "constant:bytes=0", "--plot", "x.png"], "there is nothing to draw"),
    ],
)
def test_bad_input_is_refused_in_one_line(words: list[str], message: str) -> None:
    done = CliRunner().invoke(app, ["model", *words, "-P", "8"])
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("swapmeet: ") and message in line


def test_too_many_ranks_for_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    done = CliRunner().invoke(app, ["model", "direct", "-P", "70000", *UNIFORM])
    assert done.exit_code == 2 and "more than 65535 ranks" in done.stderr
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 30)
    done = CliRunner().invoke(app, ["model", "direct", "-P", "20000", *UNIFORM])
    assert done.exit_code == 2 and "choose P up to about 11585, or one size for all blocks (-S)" in done.stderr


def test_a_picture(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    specs = ["padded-bruck", "two-phase-bruck", "hybrid", "direct", "padded-alltoall"]
    model(*specs, "-P", "32", *UNIFORM, "--plot", str(tmp_path / "t.png"))
    data = (tmp_path / "t.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert min(struct.unpack(">II", data[16:24])) >= 800
    with matplotlib.rc_context({"svg.fonttype": "none"}):  # text as text
        model(*specs, "-P", "32", *UNIFORM, "--plot", str(tmp_path / "t.svg"))
    text = (tmp_path / "t.svg").read_text()
    for words in (*specs[:4], "padded-alltoall (not known)", "padded Bruck, equation 1", "mean block in bytes"):
        assert f">{words}" in text, words


@pytest.mark.slow
def test_the_curves() -> None:
    """From a mean of about 1 byte to 64 KiB, by twos; where a spec's time is not ours to know, the line ends."""
    named = [(text, _core.parse_spec(text), 16) for text in ("two-phase-bruck", "padded-alltoall")]
    drawn = varying_model.curves(named, _core.parse_workload("uniform:max=1KiB"), 3, AlphaBeta())
    line = drawn.lines["two-phase-bruck"]
    assert [round(mean) for mean, _ in line] == pytest.approx([1 << k for k in range(17)], rel=0.01)
    assert [time for _, time in line] == sorted(time for _, time in line)
    assert drawn.lines["padded-alltoall"] == []
    assert set(drawn.paper) == {"padded Bruck, equation 1", "two-phase Bruck, equation 2"}
    assert drawn.own_mean == pytest.approx(512, rel=0.1)
    several = [("bruck", _core.parse_spec("bruck"), ranks) for ranks in (16, 1024)]
    drawn = varying_model.curves(several, _core.parse_workload("constant:bytes=1MiB"), 0, AlphaBeta())
    assert list(drawn.lines) == ["bruck, P = 16", "bruck, P = 1,024"] and drawn.paper == {}
    assert drawn.lines["bruck, P = 16"][-1][0] == 4 << 20  # 4 times its own
