"""`swapmeet plot`: which files it writes, and what it refuses."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from plots.synthetic import write

from swapmeet import SwapmeetError
from swapmeet.cli.plot import KINDS, plot

BOTH = ("openmpi 5.0.11", "mpich 5.0.2")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return write(tmp_path / "r.jsonl", mpis=BOTH, specs=("pairwise", "tra(r=2)"), samples=12)


def png_size(file: Path) -> tuple[int, int]:
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG") and b"IEND" in data[-12:]
    width, height = struct.unpack(">II", data[16:24])
    return width, height


@pytest.mark.slow
def test_everything_goes_to_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "a.b.jsonl", specs=("tra(r=2)", "tra(r=4)"), phases=True, samples=12, launches=2)
    plot([file])
    written = {path.name for path in (tmp_path / "a.b-plots").iterdir()}
    names = ["heat-openmpi-5.0.11-alltoall"]
    names += [f"{kind}-openmpi-5.0.11-alltoall-P4" for kind in ("latency", "radix", "phases", "samples")]
    assert written == {f"{name}{suffix}" for name in names for suffix in (".png", ".svg")} | {"report.html"}
    for path in (tmp_path / "a.b-plots").iterdir():
        if path.suffix == ".png":
            assert min(png_size(path)) > 300
        elif path.suffix == ".svg":
            assert len(list(ElementTree.parse(path).iter())) > 100
        else:
            assert path.read_text(encoding="utf-8").count("<img ") == 5
    done = capsys.readouterr()
    assert len(done.out.splitlines()) == 11
    assert done.err == ""


def test_what_is_left_out_is_said(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot([results], output=tmp_path / "out", mpi=["mpich*"], kind=["radix", "phases", "report", "heat"])
    assert {path.name.partition("-")[0] for path in (tmp_path / "out").iterdir()} == {"heat", "report.html"}
    told = capsys.readouterr().err
    assert "left out: radix: mpich 5.0.2, MPI_Alltoall: no spec was measured with two radices" in told
    assert "left out: phases: no phases were measured: swapmeet bench --phases" in told


@pytest.mark.parametrize(("name", "kind"), [("x.png", "heat"), ("x.svg", "latency"), ("x.html", None)])
def test_one_file(results: Path, tmp_path: Path, name: str, kind: str | None) -> None:
    plot([results], output=tmp_path / name, kind=kind and [kind], mpi=["mpich*"], spec=["pair*"])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["r.jsonl", name])
    text = (tmp_path / name).read_bytes()
    assert len(text) > 5000
    if name == "x.html":
        assert b"openmpi 5.0.11, MPI_Alltoall" not in text
        assert b"<td>tra(r=2)</td>" not in text and b"<td>pairwise</td>" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"kind": ["pie"]}, '--kind "pie": expected one of heat, latency'),
        ({"output": Path("x.pdf")}, r'-o "x.pdf": expected a folder, or a name that ends in .png, .svg, .html'),
        ({"output": Path("x.png")}, r"is one picture: name it by --kind heat"),
        ({"output": Path("no/x.png"), "kind": ["heat"]}, "there is no folder no"),
        ({"output": Path("x.png"), "kind": ["heat"]}, r"one picture, and there are 2 .*--mpi"),
        ({"output": Path("x.png"), "kind": ["phases"]}, "--kind phases: no phases were measured"),
        ({"kind": ["phases"]}, "phases: no phases were measured"),
        ({"mpi": ["intel*"]}, r'--mpi "intel\*": nothing in .* matches; there are mpich 5.0.2, openmpi 5.0.11'),
        ({"spec": ["nothing"]}, r'--spec "nothing": nothing in .* there are native, pairwise, tra\(r=2\)'),
        ({"collective": "alltoallv"}, '--collective "alltoallv": nothing in .* there are alltoall'),
        ({"collective": "bcast"}, '--collective "bcast": expected alltoall or alltoallv'),
        ({"ranks": "7"}, "nothing in .* was measured with that many ranks; there are 4"),
        ({"ranks": "x"}, '-P "x": expected a number'),
        ({"sizes": ["7"]}, '--sizes "7": nothing in .*; there are 1024, 64'),
    ],
)
def test_bad_input_is_one_line(
    results: Path, monkeypatch: pytest.MonkeyPatch, words: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(results.parent)
    with pytest.raises(SwapmeetError, match=message) as problem:
        plot([results], **words)
    assert "\n" not in str(problem.value)


def test_bad_files(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("hello\n")
    headed = write(tmp_path / "headed", samples=1, missing=lambda *_: True)
    for path, message in (
        (tmp_path / "none", "none"),
        (tmp_path, "is a folder"),
        (tmp_path / "empty", "is empty"),
        (tmp_path / "text", "not a results file"),
        (headed, "holds no samples yet"),
    ):
        with pytest.raises(SwapmeetError, match=message) as problem:
            plot([path], output=tmp_path / "out")
        assert "\n" not in str(problem.value)
        assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_to(results: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SwapmeetError, match="Not a directory: name a folder that can be written to"):
        plot([results], output=tmp_path / "file" / "sub")
    if os.getuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(SwapmeetError, match="Permission denied: name a folder"):
            plot([results], output=tmp_path / "closed")


@pytest.mark.parametrize("missing", ["matplotlib", "scipy", "numpy"])
def test_a_missing_library_names_the_extra(results: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SwapmeetError, match=rf"plot needs {missing}: `pip install 'swapmeet\[plot\]'`"):
        plot([results])


def test_kinds_are_all_there() -> None:
    assert set(KINDS) == {"heat", "latency", "radix", "phases", "samples", "report"}
