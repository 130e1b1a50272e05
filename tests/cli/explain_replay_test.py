"""`swapmeet explain --replay`: a recorded run under the automatic choice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cli.command import refused
from profiling.recordings import END, communicator, exchange, header, total
from typer.testing import CliRunner

from swapmeet.cli.app import app

HOSTS = ["a"] * 4 + ["b"] * 4
MEMORY_OFF = {"SWAPMEET_MEMORY": "off"}


def record(folder: Path, lines: Sequence[Any], hosts: Sequence[str] = HOSTS, **changes: Any) -> Path:
    """What as many ranks as hosts leave that have made the same calls on MPI_COMM_WORLD, communicator 0."""
    folder.mkdir(exist_ok=True)
    for rank, host in enumerate(hosts):
        world = communicator(0, range(len(hosts)), "0.0", name="MPI_COMM_WORLD")
        first = header(rank, len(hosts), host=host, **changes)
        text = "".join(json.dumps(line) + "\n" for line in [first, world, *lines, END])
        (folder / f"{rank}.jsonl").write_text(text)
    return folder


def replay(recording: Path, *words: str, **variables: str) -> str:
    done = CliRunner().invoke(app, ["explain", "--replay", str(recording), *words], env=MEMORY_OFF | variables)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def replayed(recording: Path, *words: str, **variables: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(replay(recording, *words, "--json", **variables))
    return found


def problem(*words: str | Path) -> str:
    return refused("explain", *words).removeprefix("swapmeet: ")


@pytest.fixture
def slow_host(tmp_path: Path) -> Path:
    """5,000 calls of 512 bytes, on two nodes, that took 200 µs each."""
    return record(tmp_path / "slow", [exchange(0, 0, 512), total(0, 5000, 1000)])


def test_the_timeline_has_set_up_trials_and_the_last_choice(slow_host: Path) -> None:
    lines = [line.strip() for line in replay(slow_host).splitlines()]
    assert "specs the model's" in lines[0] and "may differ in a real run" in lines[0]
    assert lines[2] == "alltoall on 8 ranks, 4 on a node, blocks of 512 B: 5,000 calls, recorded 200 µs each"
    assert lines[3:5] == ["calls 1 to 6: the host MPI, before setting up", "call 7: sets up"]
    assert lines[5].startswith("calls 7 to 9: leaders(") and "the host MPI 200 µs" in lines[5]
    assert lines[6].startswith("call 10: trial of leaders(")
    assert lines[-3].startswith("from call 1,255: leaders(") and " trials: " in lines[-3]
    assert lines[-2].startswith("in all: 4,978 calls by leaders(") and lines[-2].endswith("% of the time")
    assert lines[-1].startswith("expected: ") and "recorded 1.00 s (speed-up " in lines[-1]


def test_numbers_add_up(slow_host: Path) -> None:
    (run,) = replayed(slow_host)["replayed"]
    decisions = run["decisions"]
    assert decisions[0] | {"first": 1, "last": 6, "spec": "native", "phase": "before set-up"} == decisions[0]
    assert [one["first"] for one in decisions[1:]] == [one["last"] + 1 for one in decisions[:-1]]
    assert decisions[-1]["last"] == run["calls"] == 5000
    assert sum(one["calls"] for one in run["by_spec"]) == 5000
    assert sum(one["phase"] == "trial" for one in decisions) == run["trials"] > 3
    assert [one["first"] for one in decisions if one["sets_up"]] == [7]
    assert run["expected_seconds"] >= 1e-6 * sum(one["calls"] * one["expected_us"] for one in run["by_spec"])
    assert 0 < run["trials_percent"] < 2
    assert dict((one["spec"], one["expected_us"]) for one in run["by_spec"])["native"] == pytest.approx(200)


def test_a_choice_that_trials_correct(tmp_path: Path) -> None:
    """The model expects next to no gain: the host MPI serves 64 calls, and a trial finds the better spec."""
    recording = record(tmp_path / "large", [exchange(0, 0, 32768), total(0, 300, 1200)])
    (run,) = replayed(recording)["replayed"]
    usual = [one["spec"] for one in run["decisions"] if one["phase"] == "usual"]
    assert usual[0] == "native" != usual[-1]
    assert run["decisions"][0]["last"] == 65
    assert "(online choice: " in replay(recording)


def test_one_node(tmp_path: Path, slow_host: Path) -> None:
    """Calls of less than 20 µs by the estimate are never tried, larger ones after 20 ms of them."""
    (small,) = replayed(slow_host, "--nodes", "8")["replayed"]
    assert (small["nodes"], small["trials"], len(small["decisions"])) == ("", 0, 1)
    assert "intra=" in small["decisions"][0]["spec"]
    large = record(tmp_path / "large", [exchange(0, 0, 262144), total(0, 10000, 4000)], hosts=["a"] * 8)
    (run,) = replayed(large)["replayed"]
    assert run["decisions"][0]["last"] == 96  # 95 calls of 8 · 256 KiB at 10 GB/s, and the one that prepares
    assert not any(one["sets_up"] for one in run["decisions"])
    assert run["trials"] > 0


def test_the_same_twice(slow_host: Path) -> None:
    assert replay(slow_host) == replay(slow_host)
    assert replay(slow_host, "--json") == replay(slow_host, "--json")


def test_variables_nodes_and_the_machine_count(slow_host: Path) -> None:
    (run,) = replayed(slow_host, SWAPMEET_ALGORITHM="tra")["replayed"]
    (decision,) = run["decisions"]
    assert decision["reason"] == "SWAPMEET_ALGORITHM" and "bruck" in decision["spec"]
    (run,) = replayed(slow_host, SWAPMEET_TRIALS="0")["replayed"]
    assert run["trials"] == 0 and run["decisions"][0]["spec"] == "native" != run["decisions"][1]["spec"]
    (run,) = replayed(slow_host, "--nodes", "2")["replayed"]
    assert run["nodes"] == "2"
    (run,) = replayed(slow_host, SWAPMEET_NODES="0,1,0,1,0,1,0,1")["replayed"]
    assert run["nodes"] == "0,1,0,1,0,1,0,1"
    (theta,) = replayed(slow_host, "--machine", "theta")["replayed"]
    (usual,) = replayed(slow_host)["replayed"]
    assert theta["expected_seconds"] != usual["expected_seconds"]


def test_times_of_another_algorithm_are_not_the_host_mpis(tmp_path: Path) -> None:
    recording = record(tmp_path / "auto", [exchange(0, 0, 512), total(0, 50, 10)], algorithm="auto")
    assert "SWAPMEET_ALGORITHM=auto, not native" in replay(recording)
    found = replayed(recording)
    assert found["host_recorded"] is False
    native = [one for one in found["replayed"][0]["by_spec"] if one["spec"] == "native"]
    assert native[0]["expected_us"] < 20 < found["replayed"][0]["recorded_us"] == 200


def test_communicators_that_are_alike_and_calls_that_are_left_out(tmp_path: Path) -> None:
    lines = {
        rank: [
            communicator(1, [0, 1] if rank < 2 else [2, 3], f"{rank // 2}.1"),
            communicator(2, [rank], f"{rank}.2"),
            communicator(3, range(4), "0.3", inter=True),
            exchange(0, 1, 64),
            total(0, 100, 1),
            exchange(1, 2, 64),
            total(1, 7, 1),
            exchange(2, 3, 64),
            total(2, 3, 1),
            exchange(3, 0, None, collective="neighbor_alltoall"),
            total(3, 5, 1),
            exchange(4, 0, None, collective="alltoallv"),
            total(4, 2, 1),
        ]
        for rank in range(4)
    }
    for rank, own in lines.items():
        record(tmp_path / str(rank), own, hosts="aabb")
        (tmp_path / str(rank) / f"{rank}.jsonl").rename(tmp_path / f"{rank}.jsonl")
    found = replayed(tmp_path)
    (run,) = found["replayed"]
    assert (run["ranks"], run["nodes"], run["communicators"], run["calls"]) == (2, "", 2, 100)
    left_out = {one["reason"].split(",")[0]: one["calls"] for one in found["left_out"]}
    assert left_out == {
        "of neighbours": 5,
        "on communicators of one rank": 28,
        "on intercommunicators": 3,
        "beyond the recorder's limits": 2,
    }
    output = replay(tmp_path)
    assert "100 calls on each of 2 communicators" in output
    assert "not gone through:\n  2 calls beyond" in output and "  5 calls of neighbours" in output


def test_ranks_without_a_host_need_a_map(tmp_path: Path) -> None:
    recording = record(tmp_path / "partly", [exchange(0, 0, 512), total(0, 50, 10)])
    (recording / "3.jsonl").unlink()
    found = replayed(recording)
    assert found["replayed"] == [] and "--nodes" in found["left_out"][0]["reason"]
    assert "1 left no recording: 3" in found["warnings"][0]
    assert len(replayed(recording, "--nodes", "4")["replayed"]) == 1


def test_bad_input(tmp_path: Path, slow_host: Path) -> None:
    assert "No such file" in problem("--replay", tmp_path / "none")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no recording in" in problem("--replay", empty)
    (empty / "0.jsonl").write_text("")
    assert "is empty" in problem("--replay", empty)
    (empty / "0.jsonl").write_bytes(b"\x00\xff nonsense\n")
    assert "was not written by SWAPMEET_RECORD" in problem("--replay", empty)
    assert "has no all-to-all" in problem("--replay", record(tmp_path / "idle", []))
    assert "--nodes" in problem("--replay", slow_host, "--nodes", "3+")
    (slow_host / "0.jsonl").write_text((slow_host / "0.jsonl").read_text()[:-30])
    assert "warning: rank 0 did not end in order" in replay(slow_host)


def test_options_that_do_not_go_together(slow_host: Path) -> None:
    words = ["--replay", slow_host, "-P", "8", "-S", "64", "--collective", "alltoall"]
    assert problem(*words) == "--replay: leave out -P, -S, --collective: the recording has the calls"
    assert "-P 8" in problem("-S", "64") and "--replay" in problem("-S", "64")
