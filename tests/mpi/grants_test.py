"""post=granted on real MPIs, where a rank is late: no message is sent before its receive is posted; data are right."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

LATE = 2


def handed_over(path: Path) -> tuple[dict[str, list[tuple[float, float]]], float]:
    """For each kind of message: when its receiver and its sender handed it over; and how far clocks may be apart."""
    trace = json.loads(path.read_text())
    times: dict[tuple[str, int, int, int], dict[str, float]] = defaultdict(dict)
    for event in trace["traceEvents"]:
        if event["ph"] == "b" and event["cat"] in ("sends", "receives"):
            what = event["args"]
            times[what["kind"], what["from"], what["to"], what["number"]][event["cat"]] = event["ts"]
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (kind, *_), both in times.items():
        found[kind].append((both["receives"], both["sends"]))
    return found, 1e-3 * 2 * max(trace["otherData"]["clock_error_ns"])


def traced(launch, compiled, tmp_path: Path, mpi: str, ranks: int, spec: str, call: list[str]):
    path = tmp_path / "trace.json"
    env = {"SWAPMEET_NODES": "1", "SWAPMEET_TRACE": f"{path},call=2"}
    argv = [compiled(mpi, "late_exchange"), str(min(LATE, ranks - 1)), *call]
    done = launch(ranks, argv, mpi=mpi, algorithm=spec, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return handed_over(path)


@pytest.mark.in_turn
@pytest.mark.parametrize("call", [[], ["v"]], ids=["alltoall", "alltoallv"])
@pytest.mark.parametrize(
    ("ranks", "points"), [(2, "window=all"), (3, "window=1"), (5, "window=2,complete=any"), (5, "order=scatter")]
)
def test_a_message_leaves_after_its_receive_is_posted(
    launch, compiled, tmp_path: Path, wheel: str, ranks: int, points: str, call: list[str]
) -> None:
    found, apart_us = traced(launch, compiled, tmp_path, wheel, ranks, f"direct({points},post=granted)", call)
    sizes = [(a + 2 * b) % 3 for a in range(ranks) for b in range(ranks) if a != b]
    messages = sum(size > 0 for size in sizes) if call else ranks * (ranks - 1)
    assert {kind: len(times) for kind, times in found.items()} == {"blocks": messages, "grant": messages}
    for posted, sent in found["blocks"]:
        assert sent > posted - apart_us
