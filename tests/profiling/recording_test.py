"""Reading recordings: whole, torn, with ranks missing, of other runs, of other programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from recordings import END, communicator, exchange, header, single_calls, skewed, total, write

from swapmeet import SwapmeetError
from swapmeet.measure.profiling.recording import read, read_file

WORLD = communicator(0, [0, 1], "0.0")


def test_a_whole_recording(tmp_path: Path) -> None:
    recording = read([skewed(tmp_path)])
    assert (recording.ranks, recording.problems, recording.mpi) == (2, [], "Open MPI v5.0.11")
    assert recording.run_seconds == 1
    first = recording.files[0]
    assert [(e.collective, e.bytes, e.calls) for e in first.exchanges] == [
        ("alltoall", 100, 10),
        ("alltoallv", (1000, 3000), 2),
        ("alltoallv", 8, 2),
    ]
    assert first.exchanges[0].seconds == pytest.approx(0.1)
    assert len(first.calls[0]) == 14
    assert [[file.rank for file, _ in places] for places in recording.communicators().values()] == [[0, 1]]


def test_missing_ranks_and_those_that_were_killed(tmp_path: Path) -> None:
    lines = [communicator(0, range(9), "0.0"), exchange(0, 0, 8), total(0, 1, 1)]
    write(tmp_path, {0: [*lines, END], 3: lines, 4: [*lines, END]}, 9)
    recording = read([tmp_path])
    assert recording.problems == [
        "of 9 ranks, 6 left no recording: 1-2, 5-8",
        "rank 3 did not end in order: what it did last is missing",
    ]


def test_torn_lines_are_counted_and_left_out(tmp_path: Path) -> None:
    write(tmp_path, {0: [WORLD, exchange(0, 0, 8), total(0, 5, 1)]}, 2)
    path = tmp_path / "0.jsonl"
    whole = path.read_text()
    path.write_text(whole + '{"type":"total","exchange":0,"calls":7,"nanosec')
    file = read_file(path)
    assert (file.unreadable, file.exchanges[0].calls, file.ended) == (1, 5, None)
    path.write_bytes(whole.encode() + b"\xff\xfe{]\n[1]\n" + b'{"type":"total","exchange":4}\n')
    assert read_file(path).unreadable == 3
    assert "3 lines cannot be read, of rank 0" in read([path]).problems


def test_nothing_is_misunderstood_after_a_lost_description(tmp_path: Path) -> None:
    lines = [WORLD, exchange(0, 0, 8), exchange(2, 0, 24), total(0, 1, 1), total(2, 1, 1)]
    file = read_file(write(tmp_path, {0: lines}, 2) / "0.jsonl")
    assert ([e.bytes for e in file.exchanges], file.unreadable) == ([8], 2)


def test_calls_after_the_last_totals_count(tmp_path: Path) -> None:
    rows = [(0, 0, 0, 3, 1), (1, 0, 10, 5, 2)]
    file = read_file(write(tmp_path, {0: [WORLD, exchange(0, 0, 8), single_calls(0, rows)]}, 2) / "0.jsonl")
    assert file.exchanges[0].calls == 3
    assert file.exchanges[0].seconds == pytest.approx(0.013)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        ("x,y\n1,2\n", "was not written by SWAPMEET_RECORD"),
        ('{"type":"campaign","schema":1}\n', "was not written by SWAPMEET_RECORD"),
        ('{"type":"recording","schema":2,"swapmeet":"9.1"}\n', "by Swapmeet 9.1, in format 2; this one reads up to 1"),
        ('{"type":"recording","schema":1}\n', "its first line lacks boot, clock, rank, ranks"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text(text)
    with pytest.raises(SwapmeetError) as refused:
        read([path])
    assert complaint in str(refused.value)
    assert str(path) in str(refused.value)


def test_files_of_several_runs_are_refused(tmp_path: Path) -> None:
    for name, ranks in (("a", 2), ("b", 2), ("c", 3)):
        (tmp_path / name).mkdir()
        write(tmp_path / name, {0: [END], 1: [END]} if name != "c" else {2: [END]}, ranks)
    with pytest.raises(SwapmeetError, match="are both of rank 0"):
        read([tmp_path / "a", tmp_path / "b"])
    with pytest.raises(SwapmeetError, match="runs with 2, 3 ranks"):
        read([tmp_path / "a", tmp_path / "c"])


def test_no_file_at_all(tmp_path: Path) -> None:
    with pytest.raises(SwapmeetError, match="no recording in"):
        read([tmp_path])
    with pytest.raises(SwapmeetError, match="No such file"):
        read([tmp_path / "nothing"])


def test_unknown_lines_and_keys_are_ignored(tmp_path: Path) -> None:
    lines = [WORLD, {"type": "weather", "fine": True}, {**exchange(0, 0, 8), "more": 1}, total(0, 1, 1), END]
    file = read_file(write(tmp_path, {0: lines}, 2) / "0.jsonl")
    assert (file.unreadable, file.exchanges[0].calls) == (0, 1)


def test_processes_without_an_all_to_all(tmp_path: Path) -> None:
    import json

    (tmp_path / "unused-7.jsonl").write_text(json.dumps(header(None, None)) + "\n" + json.dumps(END) + "\n")
    recording = read([tmp_path])
    assert (len(recording.unused), recording.files, recording.ranks) == (1, {}, 0)
