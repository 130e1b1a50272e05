"""MPI_IN_PLACE on a node: what comes takes the place of what has left, without a copy of the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

SPECS = [
    "auto",
    "shared-memory",
    "direct(intra=shm)",
    "direct(intra=cma)",
    "direct(window=1,intra=shm)",
    "pairwise",
    "tuna",
]
AT_FIVE = {"auto", "direct(window=1,intra=shm)", "tuna"}  #: in CI, too: the choice, a window, and blocks passed on


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("spec", "ranks"),
    [
        *((spec, [2, 3, *([5] if spec in AT_FIVE else [])]) for spec in SPECS),
        *(pytest.param(spec, [5], marks=pytest.mark.long) for spec in SPECS if spec not in AT_FIVE),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value)),
)
def test_every_byte(cases, wheel: str, spec: str, ranks: list[int]) -> None:
    cases(wheel, "in_place", ranks, [[]], "in_place: right\n", algorithm=spec, timeout=240)


def test_several_nodes(launch, compiled, wheel: str) -> None:
    """Where not all messages stay on a node, blocks are put aside as a whole."""
    env = {"SWAPMEET_NODES": "2"}
    done = launch(4, [compiled(wheel, "in_place")], mpi=wheel, algorithm="shared-memory", env=env, timeout=120)
    assert (done.returncode, done.stdout) == (0, "in_place: right\n"), done.stderr[-3000:]


@pytest.mark.parametrize("algorithm", ["auto", "shared-memory"])
def test_large_blocks_are_swapped_in_shared_memory(launch, compiled, wheel: str, algorithm: str) -> None:
    env = {"SWAPMEET_EXPLAIN": "1", "SWAPMEET_TRIALS": "0"}
    told = launch(2, [compiled(wheel, "in_place")], mpi=wheel, algorithm=algorithm, env=env, timeout=120).stderr
    assert "intra=rows" in told and "native" not in told


@pytest.mark.parametrize("ranks", [2, 3])
def test_large_blocks_are_tried_in_place_too(launch, compiled, tallies, tmp_path: Path, wheel: str, ranks: int) -> None:
    """The host MPI has some of them, which shows what it takes."""
    file = tmp_path / "statistics.json"
    env = {"SWAPMEET_TRIALS": "100", "SWAPMEET_STATS": str(file)}
    done = launch(ranks, [compiled(wheel, "in_place"), "40"], mpi=wheel, algorithm="auto", env=env, timeout=120)
    assert (done.returncode, done.stdout) == (0, "in_place: right\n"), done.stderr[-3000:]
    large = {tally["algorithm"] for tally in tallies(file) if "524288" in tally["calls_by_mean_block"]}
    assert {"native", "direct(order=shift,window=all,complete=all,intra=rows)"} <= large
