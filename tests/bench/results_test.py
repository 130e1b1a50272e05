"""The results file: what is written is read, an interruption loses nothing, and a damaged file is told by its line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from swapmeet import SwapmeetError
from swapmeet.measure.bench.cells import OVERLAP, Cell
from swapmeet.measure.bench.results import SCHEMA, Writer, read
from swapmeet.texts import FOREIGN

CELL = Cell("openmpi 5.0.11", 4, "alltoall", "64")
OTHER = Cell("openmpi 5.0.11", 4, "alltoallv", "uniform:max=1024", seed=3, datatype="double", nodes="2x2")
HEADER = {
    "swapmeet": "0.1.0",
    "commit": "abc",
    "created": "2026-01-01T00:00:00",
    "machine": {"host": "h"},
    "options": {},
}
CAMPAIGN = json.dumps({"type": "campaign", "schema": 1, **HEADER})
LAUNCH = '{"type":"launch","launch":0,"block":0,"mpi":"openmpi 5.0.11","ranks":4}'
CELL_TEXT = '{"mpi":"openmpi 5.0.11","ranks":4,"collective":"alltoall","sizes":"64"}'


def begin_launch(writer: Writer, block: int = 0) -> int:
    return writer.launch(
        block=block,
        mpi="openmpi 5.0.11",
        library="/lib/libmpi.so",
        ranks=4,
        nodes="",
        command=["mpirun", "-n", "4"],
        environment={"A": "1"},
        started="2026-01-01T00:00:01",
        load=0.5,
        notes=["bound to cores"],
    )


def sample(writer: Writer, launch: int, spec: str, first: int, times: list[float], cell: Cell = CELL) -> None:
    halves = [t / 2 for t in times]
    writer.samples(
        launch, cell, spec, calls=10, round=first, longest=times, shortest=halves, mean=np.array(times) * 0.75
    )


def samples_line(**changes: object) -> str:
    record = {"type": "samples", "launch": 0, "cell": json.loads(CELL_TEXT), "spec": "native", "calls": 1, "round": 0}
    times = {"longest": [1e-6], "shortest": [1e-6], "mean": [1e-6]}
    return json.dumps({key: value for key, value in {**record, **times, **changes}.items() if value != "absent"})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with Writer(path, HEADER) as writer:
        assert writer.before is None
        first, second = begin_launch(writer), begin_launch(writer, 1)
        sample(writer, second, "tra(r=16)", 0, [5e-6])
        sample(writer, first, "tra(r=16)", 0, [1e-6, 2e-6])
        sample(writer, first, "tra(r=16)", 5, [3e-6])
        for spec in ("tra(r=2)", "native", "bruck"):
            sample(writer, first, spec, 0, [1e-6])
        sample(writer, first, "native", 0, [1e-6], OTHER)
        writer.phases(first, CELL, "native", calls=50, seconds={"pack": [1e-6, 2e-6], "wait": [0, 0]})
        writer.overlap(first, CELL, "native", calls=3, tests=0, seconds=dict.fromkeys(OVERLAP, 1e-6))
        writer.limits(first, CELL, {"memcpy": 1e-7})
        writer.finished(CELL, "converged")
        writer.problem(None, None, None, "no room")
        writer.problem(first, OTHER, "tra(r=2)", "refused")
    results = read(path)
    assert results.header["machine"] == {"host": "h"}
    assert not results.torn
    assert results.cells() == [CELL, OTHER]
    assert results.specs(CELL) == ["native", "bruck", "tra(r=2)", "tra(r=16)"]
    one, two = results.samples(CELL, "tra(r=16)")
    assert (one.launch, two.launch) == (0, 1)
    assert one.rounds.tolist() == [0, 1, 5]
    assert one.calls.tolist() == [10, 10, 10]
    assert one.longest.tolist() == [1e-6, 2e-6, 3e-6]
    assert one.shortest.tolist() == [0.5e-6, 1e-6, 1.5e-6]
    assert one.mean == pytest.approx([0.75e-6, 1.5e-6, 2.25e-6])
    assert results.next_round(0, CELL, "tra(r=16)") == 6
    assert results.next_round(0, CELL, "unknown") == 0
    assert results.samples(CELL, "unknown") == []
    assert results.launches[1].block == 1
    assert results.launches[0].environment == {"A": "1"}
    assert results.launches[0].notes == ("bound to cores",)
    assert results.phases[0].seconds["pack"].tolist() == [1e-6, 2e-6]
    assert (results.overlaps[0].tests, results.overlaps[0].lost) == (0, pytest.approx(3e-6))
    assert results.limits[0].seconds == {"memcpy": 1e-7}
    assert results.finished == {CELL: "converged"}
    assert [problem.cell for problem in results.problems] == [None, OTHER]


def test_sizes_come_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with Writer(path, HEADER) as writer:
        launch = begin_launch(writer)
        for size in ("1024", "64", "9"):
            sample(writer, launch, "native", 0, [1e-6], Cell("m", 4, "alltoall", size))
    assert [cell.sizes for cell in read(path).cells()] == ["9", "64", "1024"]


def test_each_line_is_there_at_once(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with Writer(path, HEADER) as writer:
        sample(writer, begin_launch(writer), "native", 0, [1e-6])
        assert len(read(path).samples(CELL, "native")) == 1


@pytest.mark.parametrize("cut", [1, 2, 40, 150])
def test_resume_after_a_torn_line(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "r.jsonl"
    with Writer(path, HEADER) as writer:
        launch = begin_launch(writer)
        sample(writer, launch, "native", 0, [1e-6])
        sample(writer, launch, "native", 1, [2e-6])
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    left = read(path)
    assert left.torn == (cut > 1)  # without its newline alone, the line is whole
    assert left.samples(CELL, "native")[0].rounds.tolist() == ([0, 1] if cut == 1 else [0])
    with Writer(path, HEADER, resume=True) as writer:
        assert writer.before is not None
        assert writer.before.next_round(0, CELL, "native") == (2 if cut == 1 else 1)
        assert begin_launch(writer) == 1
        sample(writer, 1, "native", 0, [3e-6])
    after = read(path)
    assert not after.torn
    assert [run.longest.tolist() for run in after.samples(CELL, "native")][1] == [3e-6]
    assert [campaign.get("resumed", False) for campaign in after.campaigns] == [False, True]


def test_a_tail_of_zeros_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(f"{CAMPAIGN}\n{LAUNCH}\n".encode() + bytes(500))
    assert read(path).torn
    size = path.stat().st_size
    Writer(path, HEADER, resume=True).close()
    assert path.stat().st_size < size  # also where what is cut off is longer than what is appended
    assert not read(path).torn


def test_resume_of_nothing_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with Writer(path, HEADER, resume=True) as writer:
        assert writer.before is None
    assert "resumed" not in read(path).header


def test_a_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("precious\n")
    for resume in (False, True):
        with pytest.raises(SwapmeetError, match="notes.txt"):
            Writer(path, HEADER, resume)
        assert path.read_text() == "precious\n"


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    with Writer(path, HEADER), pytest.raises(SwapmeetError, match="another swapmeet bench"):
        Writer(path, HEADER, resume=True)
    Writer(path, HEADER, resume=True).close()


def test_a_full_disk_leaves_whole_lines() -> None:
    with pytest.raises(SwapmeetError, match="/dev/full: No space"):
        Writer("/dev/full", HEADER)


def refused(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(SwapmeetError) as problem:
        read(path)
    (line,) = str(problem.value).splitlines()
    assert str(path) in line
    return line


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\x7fELF\x00\xff" * 100, "not a results file"),
        (b'{"rows": [1, 2]}\n', "not a results file"),
        (b"[" * 100_000, "not a results file"),
        (b'{"type":"campaign"', "line 1"),
        (LAUNCH, "first line must be"),
    ],
)
def test_not_ours(tmp_path: Path, content: str | bytes, words: str) -> None:
    assert words in refused(tmp_path / "r.jsonl", content)


def test_a_newer_schema_names_the_version(tmp_path: Path) -> None:
    newer = CAMPAIGN.replace('"schema": 1', f'"schema": {SCHEMA + 1}').replace("0.1.0", "9.8")
    line = refused(tmp_path / "r.jsonl", newer + "\n")
    assert "line 1" in line
    assert "swapmeet 9.8" in line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("garbage", "no JSON object"),
        ("[1]", "no JSON object"),
        (b"\xff\xfe", "no JSON object"),
        ("[" * 100_000, "no JSON object"),
        ("9" * 10_000, "no JSON object"),
        ('{"spec":"native"}', '"type"'),
        (samples_line(launch=7), '"launch" 7'),
        (samples_line(launch="0"), '"launch"'),
        (samples_line(spec=None), '"spec"'),
        (samples_line(calls=0), '"calls"'),
        (samples_line(calls=True), '"calls"'),
        (samples_line(round=-1), '"round"'),
        (samples_line(round=10**30), '"round"'),
        (samples_line(longest="absent"), '"longest"'),
        (samples_line(longest=["1"]), '"longest[0]": expected a number, got a text'),
        (samples_line(longest=[True]), '"longest[0]": expected a number'),
        (samples_line(longest=[-1e-9]), '"longest"'),
        (samples_line(mean=[float("nan")]), "NaN"),
        (samples_line(mean=[float("inf")]), "Infinity"),
        (samples_line(mean=[1]).replace("[1]", "[1e999]"), '"mean[0]"'),
        (samples_line(mean=[]), "same number"),
        (samples_line(mean=[1.0, 2.0]), "same number"),
        (samples_line(longest=[], shortest=[], mean=[]), "at least one"),
        (samples_line(cell=[]), '"cell"'),
        (samples_line(cell={"mpi": ["x"]}), '"cell.mpi": expected a text, got a list'),
        (samples_line(cell={"mpi": "x"}), '"cell.ranks" is missing'),
        (
            samples_line(cell={**json.loads(CELL_TEXT), "ranks": "4"}),
            '"cell.ranks": expected a whole number, got a text',
        ),
        (LAUNCH, '"launch" 0 is there twice'),
        ('{"type":"finished","cell":{},"why":"budget"}', '"cell.mpi" is missing'),
        (f'{{"type":"phases","launch":0,"cell":{CELL_TEXT},"spec":"s","calls":1,"seconds":{{"wait":[-1]}}}}', '"wait"'),
        (f'{{"type":"overlap","launch":0,"cell":{CELL_TEXT},"spec":"s","calls":1,"tests":0,"seconds":{{}}}}', '"pure"'),
        (
            f'{{"type":"limits","launch":0,"cell":{CELL_TEXT},"seconds":{{"memcpy":"x"}}}}',
            '"seconds": expected a number',
        ),
    ],
)
def test_damage_is_told_by_its_line(tmp_path: Path, line: str | bytes, words: str) -> None:
    raw = line.encode() if isinstance(line, str) else line
    message = refused(tmp_path / "r.jsonl", f"{CAMPAIGN}\n{LAUNCH}\n".encode() + raw + b"\n{}\n")
    assert "line 3:" in message
    assert words in message
    assert "delete this line" in message


def test_a_round_is_there_once(tmp_path: Path) -> None:
    lines = [CAMPAIGN, LAUNCH, samples_line(), samples_line(round=1), samples_line(round=1)]
    assert "line 5" in refused(tmp_path / "r.jsonl", "\n".join(lines) + "\n")


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swapmeet.measure.bench.reading.MOST_LINE_BYTES", 1 << 20)
    assert "longer than 1 MiB" in refused(tmp_path / "r.jsonl", f"{CAMPAIGN}\n" + " " * (1 << 21))


def test_unknown_keys_and_types_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = [CAMPAIGN, LAUNCH, '{"type":"weather","sun":[]}', "", samples_line(colour="red")]
    path.write_text("\n".join(lines) + "\n")
    assert len(read(path).samples(CELL, "native")) == 1


@pytest.mark.parametrize("path", ["/proc/nowhere/r.jsonl", "/tmp"])
def test_what_cannot_be_opened(path: str) -> None:
    with pytest.raises(SwapmeetError, match=path):
        read(path)
    with pytest.raises(SwapmeetError, match=path):
        Writer(path, HEADER)


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a link of another user")
def test_another_users_link_in_a_shared_folder_is_not_followed(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    mine, link = tmp_path / "mine", tmp_path / "r.jsonl"
    link.symlink_to(mine)
    os.chown(link, 65534, 65534, follow_symlinks=False)
    with pytest.raises(SwapmeetError, match=FOREIGN):
        Writer(link, HEADER)
    assert not mine.exists()


def test_a_time_that_is_none_is_not_written(tmp_path: Path) -> None:
    with Writer(tmp_path / "r.jsonl", HEADER) as writer:
        launch = begin_launch(writer)
        with pytest.raises(ValueError, match="JSON"):
            sample(writer, launch, "native", 0, [float("nan")])
    assert read(tmp_path / "r.jsonl").cells() == []


@pytest.mark.parametrize(
    "cell",
    [
        {"mpi": ""}, {"ranks": 0}, {"ranks": 10**30}, {"sizes": "9" * 5000}, {"sizes": "x" * 5000}, {"seed": 10**40},
        {"seed": -1}, {"mpi": "\x1b[31m"}, {"nodes": "\ud800"},
    ],
)  # fmt: skip
def test_cells_that_nobody_can_have_measured_are_refused(tmp_path: Path, cell: dict[str, object]) -> None:
    whole = {"mpi": "mpich 5.0.2", "ranks": 4, "collective": "alltoall", "sizes": "64", "seed": 0, "nodes": "", **cell}
    lines = [{"type": "campaign", "schema": 1}, {"type": "finished", "cell": whole, "why": "samples"}]
    (tmp_path / "r").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(SwapmeetError, match="line 2"):
        read(tmp_path / "r")


def test_what_launchers_say_can_be_read_back(tmp_path: Path) -> None:
    with Writer(tmp_path / "r", {}) as writer:
        writer.problem(None, None, None, "\x1b[31mred\x00 \ud800\nnext line")
    assert read(tmp_path / "r").problems[0].message == "?[31mred? ?\nnext line"
