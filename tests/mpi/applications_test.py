"""Applications that know nothing of the library give the same bytes with it as without."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
ALGORITHMS = ["pairwise", "multipair-waitany", "random-segmented"]

SOLVER = EXAMPLES / "taylor_green" / "taylor_green.py"
STEPS = 5
SMALL = ["--grid", "16", "--steps", str(STEPS)]
EXCHANGES = 8 * STEPS + 2  #: 8 a step, and the transforms of the first and the last field


@pytest.fixture(scope="module")
def solved(launch, tmp_path_factory: pytest.TempPathFactory):
    """The bytes that the Taylor-Green solver writes; without the library each kind of run is done once."""
    plain: dict[tuple[str, int, str], bytes] = {}

    def solve(mpi: str, ranks: int, decomposition: str, preload: bool, **options) -> bytes:
        output = tmp_path_factory.mktemp("flow") / "flow.json"
        argv = [sys.executable, SOLVER, *SMALL, "--decomposition", decomposition, "--output", output]
        done = launch(ranks, argv, mpi=mpi, preload=preload, timeout=300, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return output.read_bytes()

    def solved(mpi: str, ranks: int, decomposition: str, **options) -> tuple[bytes, bytes]:
        key = (mpi, ranks, decomposition)
        if key not in plain:
            plain[key] = solve(*key, preload=False)
        return plain[key], solve(*key, preload=True, **options)

    return solved


@pytest.mark.in_turn
@pytest.mark.parametrize(
    ("ranks", "decomposition", "algorithm"),
    [
        pytest.param(ranks, decomposition, algorithm, marks=[] if algorithm in brief else [pytest.mark.long])
        for ranks, decomposition, brief in ((4, "slab", ALGORITHMS[:1]), (3, "pencil", ALGORITHMS[2:]))
        for algorithm in ALGORITHMS
    ],
)
def test_taylor_green_vortex(
    solved, tallies, tmp_path: Path, wheel: str, ranks: int, decomposition: str, algorithm: str
) -> None:
    statistics = tmp_path / "statistics.json"
    plain, ours = solved(wheel, ranks, decomposition, algorithm=algorithm, env={"SWAPMEET_STATS": str(statistics)})
    assert ours == plain
    served = [tally for tally in tallies(statistics) if tally["algorithm"] != "native"]
    assert sum(tally["calls"] for tally in served) == EXCHANGES


ESPRESSO = EXAMPLES / "quantum_espresso"
ESPRESSO_RANKS = 4
ESPRESSO_CALLS = {"Alltoall": 9718, "Alltoallv": 25}  #: of each rank; examples/quantum_espresso/README.md


@pytest.fixture(scope="module")
def espresso(launch, tmp_path_factory: pytest.TempPathFactory):
    """The output of pw.x on silicon."""
    if not shutil.which("pw.x"):
        pytest.skip("no pw.x: apt-get install quantum-espresso quantum-espresso-data openmpi-bin libopenmpi-dev")

    def espresso(**options) -> Path:
        folder = tmp_path_factory.mktemp("espresso")
        shutil.copy(ESPRESSO / "si.in", folder)
        argv = ["env", "-C", folder, "OMP_NUM_THREADS=1", "pw.x", "-in", "si.in"]
        done = launch(ESPRESSO_RANKS, argv, mpi="openmpi-system", timeout=500, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        output = folder / "pw.out"
        output.write_text(done.stdout)
        return output

    return espresso


@pytest.fixture(scope="module")
def plain_espresso(espresso) -> Path:
    """The same without the library."""
    path: Path = espresso(preload=False)
    return path


def compare(first: Path, second: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, ESPRESSO / "compare.py", first, second]
    return subprocess.run(words, capture_output=True, text=True)


@pytest.mark.long  # minutes where ranks share cores with other tests
@pytest.mark.parametrize("algorithm", ["random-segmented", "spread-out", "pairwise"])
def test_quantum_espresso(espresso, plain_espresso: Path, tallies, tmp_path: Path, algorithm: str) -> None:
    statistics = tmp_path / "statistics.json"
    ours = espresso(algorithm=algorithm, env={"SWAPMEET_STATS": str(statistics)})
    compared = compare(plain_espresso, ours)
    assert compared.returncode == 0, compared.stdout + compared.stderr
    calls = dict.fromkeys(ESPRESSO_CALLS, 0)
    for tally in tallies(statistics):
        calls[tally["collective"]] += tally["calls"] if tally["algorithm"] != "native" else 0
    if "PWSCF v.6.7" in plain_espresso.read_text():
        assert calls == ESPRESSO_CALLS
    assert all(calls.values())


#: Lines that pw.x has printed: times, and what must not change.
ESPRESSO_PRINTED = """
     Program PWSCF v.6.7MaX starts on 27Nov2026 at  3:12:55
     total cpu time spent up to now is        0.4 secs
!    total energy              =     -15.79441843 Ry
     init_run     :      0.05s CPU      0.06s WALL (       1 calls)
     PWSCF        :   1m 2.11s CPU   1m 3.50s WALL
   This run was terminated on:   3:13:58  27Nov2026
   JOB DONE.
"""


@pytest.mark.parametrize(
    ("what", "becomes", "status"),
    [
        ("-15.79441843", "-15.79441853", 1),
        ("1 calls", "2 calls", 1),
        ("27Nov2026 at  3:12:55", "28Nov2026 at 13:12:56", 0),
        ("0.4 secs", "12.7 secs", 0),
        ("0.06s WALL", "11.06s WALL", 0),
        ("1m 3.50s", "2h 1m", 0),
        ("3:13:58  27Nov2026", "23:13:59  28Nov2026", 0),
        ("JOB DONE.", "", 2),
    ],
)
def test_the_comparison_of_espresso_notices_digits_but_not_times(
    tmp_path: Path, what: str, becomes: str, status: int
) -> None:
    files = [tmp_path / "first.out", tmp_path / "second.out"]
    assert ESPRESSO_PRINTED.count(what) == 1
    files[0].write_text(ESPRESSO_PRINTED)
    files[1].write_text(ESPRESSO_PRINTED.replace(what, becomes))
    compared = compare(*files)
    assert compared.returncode == status, compared.stdout + compared.stderr


@pytest.mark.long
def test_the_comparison_of_espresso_notices_a_digit(plain_espresso: Path, tmp_path: Path) -> None:
    text = plain_espresso.read_text()
    at = text.index("!    total energy") + text[text.index("!    total energy") :].index("=") + 14
    digit = next(k for k in range(at, at + 20) if text[k].isdigit())
    changed = tmp_path / "changed.out"
    changed.write_text(text[:digit] + str((int(text[digit]) + 1) % 10) + text[digit + 1 :])
    assert compare(plain_espresso, changed).returncode == 1
