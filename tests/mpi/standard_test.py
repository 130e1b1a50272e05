"""Sentences of the MPI standard about all-to-alls, and reports of users: for each a case that notices a violation.

The cases are in programs/standard_*.c, each with the section of MPI 4.1 that it follows from, or the threads.
"""

from __future__ import annotations

from pathlib import Path

import pytest

RANKS = [1, 2, 3, 5]
RIGHT = "standard: right"
PROGRAMS = ["calls", "started", "persistent", "topologies", "threads", "surroundings", "reports"]
BY_DAY = {("", "single"), ("2", "multiple")}
#: SWAPMEET_NODES and thread level of a launch. Threads of a rank need the level `multiple`.
LAUNCHES = [
    pytest.param(
        nodes, level, id=f"{nodes or 'one'}-{level}", marks=[] if (nodes, level) in BY_DAY else [pytest.mark.long]
    )
    for nodes in ("", "1", "2", "1+2")
    for level in ("single", "multiple")
]
SLOW = {"many"}  #: of 1100 communicators

#: Cases in which the host MPI itself, which serves them, is wrong, by (MPI, program).
WRONG = {
    # Open MPI 5.0.11 ends the program where a communicator is freed while exchanges are outstanding.
    ("openmpi", "started"): {"freed"},
    # It refuses MPI_DATATYPE_NULL for blocks without data.
    ("openmpi", "reports"): {"no-type"},
}
#: The same where the library does not serve them.
WRONG_ELSEWHERE = {
    # MPICH 5.0.2 waits for ever in MPI_Waitany of inactive persistent collectives.
    ("mpich", "persistent"): {"inactive"},
    ("openmpi", "persistent"): {"outlive"},
}


def words(mpi: str, program: str, level: str, served: bool, left_out: set[str]) -> list[str]:
    wrong = WRONG.get((mpi, program), set()) | (set() if served else WRONG_ELSEWHERE.get((mpi, program), set()))
    return ["multiple" if program == "threads" else level, *(f"-{name}" for name in sorted(wrong | left_out))]


@pytest.mark.parametrize(("nodes", "level"), LAUNCHES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_the_standard_says(
    cases, request: pytest.FixtureRequest, wheel: str, program: str, nodes: str, level: str
) -> None:
    served = not nodes and level == "single"  # on ranks that share a node
    run = words(wheel, program, level, served, set() if request.config.getoption("--all") else SLOW)
    env = {"SWAPMEET_NODES": nodes} if nodes else {}
    cases(wheel, f"standard_{program}", RANKS, [run], RIGHT, flags=["-pthread"], env=env, timeout=200)


@pytest.mark.parametrize(
    "program", [pytest.param(one, marks=[] if one == "started" else [pytest.mark.long]) for one in PROGRAMS]
)
def test_observers_change_nothing(cases, tmp_path: Path, wheel: str, program: str) -> None:
    env = {
        "SWAPMEET_STATS": str(tmp_path / "statistics"),
        "SWAPMEET_RECORD": str(tmp_path / "%r"),
        "SWAPMEET_PHASES": "1",
        "SWAPMEET_WATCHDOG": "60s",
    }
    run = words(wheel, program, "single", True, SLOW)
    cases(wheel, f"standard_{program}", RANKS, [run], RIGHT, flags=["-pthread"], env=env, timeout=200)


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS)
def test_host_mpis_do_so_too(cases, wheel: str, program: str) -> None:
    """So that a case asks nothing that they do not promise."""
    run = words(wheel, program, "single", False, set())
    cases(wheel, f"standard_{program}", RANKS, [run], RIGHT, flags=["-pthread"], preload=False, timeout=200)
