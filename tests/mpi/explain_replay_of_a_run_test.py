"""`swapmeet explain --replay` of a run that was really recorded."""

from __future__ import annotations

import json
from pathlib import Path

from cli.command import swapmeet


def test_a_recorded_run_is_gone_through(launch, compiled, tmp_path: Path) -> None:
    env = {"SWAPMEET_RECORD": f"{tmp_path}/%r.jsonl", "SWAPMEET_NODES": "1"}
    words = ["ints=16", "alltoall=40", "alltoallv=5", "self", "alltoall=3"]
    done = launch(2, [compiled("openmpi", "calls"), *words], mpi="openmpi", algorithm="native", env=env)
    assert done.returncode == 0, done.stderr
    options = ["explain", "--replay", tmp_path, "--nodes", "1", "--json"]
    answers = [swapmeet(*options, env={"SWAPMEET_MEMORY": "off"}) for _ in range(2)]
    assert answers[0].returncode == 0, answers[0].stderr
    assert answers[0].stdout == answers[1].stdout
    found = json.loads(answers[0].stdout)
    assert found["host_recorded"] and found["warnings"] == []
    runs = {run["collective"]: run for run in found["replayed"]}
    assert (runs["alltoall"]["calls"], runs["alltoall"]["block_bytes"], runs["alltoall"]["nodes"]) == (40, 64, "1")
    assert runs["alltoallv"]["calls"] == 5
    assert runs["alltoall"]["recorded_us"] > 0
    assert found["left_out"] == [{"calls": 6, "reason": "on communicators of one rank"}]
