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
        for ranks, decomposition, brief in ((4, "slab", ALGORITHMS[:2]), (3, "pencil", ALGORITHMS[1:]))
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


def test_the_comparison_of_espresso_notices_a_digit(plain_espresso: Path, tmp_path: Path) -> None:
    text = plain_espresso.read_text()
    at = text.index("!    total energy") + text[text.index("!    total energy") :].index("=") + 14
    digit = next(k for k in range(at, at + 20) if text[k].isdigit())
    changed = tmp_path / "changed.out"
    changed.write_text(text[:digit] + str((int(text[digit]) + 1) % 10) + text[digit + 1 :])
    assert compare(plain_espresso, changed).returncode == 1
