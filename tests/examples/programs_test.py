"""The applications of examples/CMakeLists.txt: right answers, and the same bytes with Swapmeet preloaded or called."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from swapmeet.mpi import mpis
from swapmeet.mpi.library import library

EXAMPLES = Path(__file__).parents[2] / "examples"
MASK = 2**64 - 1

#: Arguments, and an algorithm to compare with.
APPLICATIONS = {
    "fft1d": (["--rows", "4"], "tra(r=2)"),
    "fft3d": (["--x", "9", "--y", "10", "--z", "7"], "multipair-waitany"),
    "closure": (["--graph", "rmat:5:80"], "two-phase-bruck"),
    "points_to": (["--program", "random:60:90:3"], "tuna"),
    "sample_sort": (["--kind", "skewed", "--keys", "3001"], "random-sendrecv"),
}


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder with all programs for MPICH, those that call Swapmeet included; built by one process at a time."""
    mpi = mpis.find("mpich")
    folder = library(mpi).parents[1] / "examples"
    folder.mkdir(exist_ok=True)
    cmake = shutil.which("cmake") or f"{sys.prefix}/bin/cmake"
    words = [cmake, "-S", EXAMPLES, "-B", folder, f"-DMPICC={mpi.mpicc}", f"-DSWAPMEET_LIBRARY={library(mpi)}"]
    words += ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1 -Werror"]
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for step in (words, [cmake, "--build", folder, "--parallel", "2"]):
            done = subprocess.run(step, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def answer(programs: Path, launch, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., bytes]:
    """Run a program, which says that its answer is right; the bytes that it writes."""

    def answer(name: str, ranks: int, *arguments: object, **options: Any) -> bytes:
        if not (programs / name).exists():
            pytest.skip(f"{name} was not built: it takes FFTW 3 (Debian: libfftw3-dev)")
        file = tmp_path_factory.mktemp(name) / "answer"
        done = launch(ranks, [programs / name, *map(str, arguments), "--output", file], mpi="mpich", **options)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.endswith(": right\n")
        assert "in all-to-alls" in done.stderr
        return file.read_bytes()

    return answer


@pytest.mark.parametrize("ranks", [2, 5])
@pytest.mark.parametrize("name", APPLICATIONS)
def test_the_same_bytes_with_the_library(answer, tmp_path: Path, name: str, ranks: int) -> None:
    arguments, algorithm = APPLICATIONS[name]
    statistics = tmp_path / "statistics.json"
    plain = answer(name, ranks, *arguments, preload=False)
    assert answer(name, ranks, *arguments, algorithm=algorithm, env={"SWAPMEET_STATS": str(statistics)}) == plain
    served = [row for row in json.loads(statistics.read_text())["calls"] if row["algorithm"] != "native"]
    assert sum(row["calls"] for row in served) > 0
    assert answer(f"{name}-planned", ranks, *arguments, preload=False, env={"SWAPMEET_ALGORITHM": algorithm}) == plain


@pytest.mark.parametrize("name", APPLICATIONS)
def test_one_rank(answer, name: str) -> None:
    answer(name, 1, *APPLICATIONS[name][0], preload=False)


def random_bits(seed: int, n: int) -> int:
    """examples/exchange/random.hpp, once more."""
    z = (seed + (n + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def random_complex(seed: int, count: int) -> Any:
    parts = [[(random_bits(seed + part, n) >> 11) * 2.0**-53 - 0.5 for n in range(count)] for part in range(2)]
    numpy = pytest.importorskip("numpy")
    return numpy.array(parts[0]) + 1j * numpy.array(parts[1])


def test_transforms_are_those_of_numpy(answer) -> None:
    numpy = pytest.importorskip("numpy")
    line = numpy.frombuffer(answer("fft1d", 3, "--rows", 4, preload=False), complex)
    numpy.testing.assert_allclose(line, numpy.fft.fft(random_complex(1, 12 * 12)), atol=1e-13)
    sizes = ("--x", 7, "--y", 5, "--z", 6)
    box = numpy.frombuffer(answer("fft3d", 6, *sizes, preload=False), complex).reshape(7, 5, 6)
    numpy.testing.assert_allclose(box, numpy.fft.fftn(random_complex(3, 7 * 5 * 6).reshape(7, 5, 6)), atol=1e-13)


@pytest.mark.parametrize("calls", ["blocking", "nonblocking", "persistent"])
@pytest.mark.parametrize("ranks", [2, 6])
def test_exchanges_in_parts(answer, ranks: int, calls: str) -> None:
    """More parts than points, too; what is on its way while the next part is transformed comes right."""
    numpy = pytest.importorskip("numpy")
    words = ("--x", 7, "--y", 5, "--z", 6, "--repeat", 5, "--calls", calls)
    for parts, preload in ((3, False), (3, True), (9, True)):
        bytes_ = answer("fft3d", ranks, *words, "--parts", parts, preload=preload)
        box = numpy.frombuffer(bytes_, complex).reshape(7, 5, 6)
        numpy.testing.assert_allclose(box, numpy.fft.fftn(random_complex(3, 7 * 5 * 6).reshape(7, 5, 6)), atol=1e-13)


def pairs(data: bytes) -> list[tuple[int, int]]:
    numbers = memoryview(data).cast("I").tolist()
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_closures_of_which_the_size_is_known(answer) -> None:
    assert len(pairs(answer("closure", 3, "--graph", "chain:12", preload=False))) == 12 * 11 // 2
    assert len(pairs(answer("closure", 3, "--graph", "grid:4", preload=False))) == (4 * 5 // 2) ** 2 - 4**2


@pytest.mark.parametrize("name", ["karate_club_graph", "les_miserables_graph"])
def test_closure_of_a_real_graph(answer, tmp_path: Path, name: str) -> None:
    networkx = pytest.importorskip("networkx")
    found = networkx.convert_node_labels_to_integers(getattr(networkx, name)())
    graph = networkx.DiGraph((min(edge), max(edge)) for edge in found.edges)
    file = tmp_path / "graph.txt"
    file.write_text("".join(f"{a} {b}\n" for a, b in graph.edges))
    closed = answer("closure", 5, "--graph", f"file:{file}", algorithm="sloav")
    assert pairs(closed) == sorted(networkx.transitive_closure(graph).edges)


def test_pointers_that_were_worked_out_by_hand(answer, tmp_path: Path) -> None:
    file = tmp_path / "program.txt"
    file.write_text("p1 = &p10  # a box\np2 = &p11\n*p1 = p2\np3 = p1\np4 = *p3\n\np5 = p4\n")
    found = pairs(answer("points_to", 3, "--program", f"file:{file}", preload=False))
    assert found == [(1, 10), (2, 11), (3, 10), (4, 11), (5, 11), (10, 11)]


def andersen(statements: list[tuple[str, int, int]]) -> set[tuple[int, int]]:
    """All rules again and again, until nothing is new."""
    points: defaultdict[int, set[int]] = defaultdict(set)
    flows = {(right, left) for kind, left, right in statements if kind == "copy"}
    before = -1
    for kind, left, right in statements:
        if kind == "address":
            points[left].add(right)
    while before != (before := sum(map(len, points.values())) + len(flows)):
        for kind, left, right in statements:
            flows |= {(v, left) for v in points[right]} if kind == "load" else set()
            flows |= {(right, v) for v in points[left]} if kind == "store" else set()
        for source, target in flows:
            points[target] |= points[source]
    return {(p, o) for p, pointed in points.items() for o in pointed}


def test_pointers_of_a_random_program(answer, tmp_path: Path) -> None:
    forms = {"address": "p{} = &p{}", "copy": "p{} = p{}", "load": "p{} = *p{}", "store": "*p{} = p{}"}
    kinds = ["address", "address", "copy", "copy", "copy", "load", "store"]
    draw = lambda n, most: random_bits(11, n) % most  # noqa: E731
    statements = [(kinds[draw(3 * i, 7)], draw(3 * i + 1, 40), draw(3 * i + 2, 40)) for i in range(110)]
    file = tmp_path / "program.txt"
    file.write_text("\n".join(forms[kind].format(left, right) for kind, left, right in statements))
    found = pairs(answer("points_to", 3, "--program", f"file:{file}", algorithm="bruck"))
    assert found == sorted(andersen(statements))
    assert len(found) > 100


@pytest.mark.parametrize(("kind", "keys"), [("uniform", 500), ("equal", 100), ("backwards", 7), ("sorted", 0)])
def test_keys_are_sorted(answer, kind: str, keys: int) -> None:
    made = {
        "uniform": [random_bits(8, n) for n in range(keys)],
        "equal": [7] * keys,
        "backwards": [keys - n for n in range(keys)],
        "sorted": [],
    }
    found = answer("sample_sort", 5, "--kind", kind, "--keys", keys, preload=False)
    assert memoryview(found).cast("Q").tolist() == sorted(made[kind])


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("closure", ["--graph", "chain:x"], "--graph chain:x: expected chain:VERTICES"),
        ("closure", ["--graph", "file:/nowhere"], "--graph file:/nowhere: cannot be read"),
        ("closure", ["--graph", "chain:4294967301"], "--graph chain:4294967301: expected chain:VERTICES"),
        ("closure", ["--check", "maybe"], "--check maybe: expected a number from 0 to 1"),
        ("points_to", ["--program", "file:/nowhere"], "cannot be read"),
        ("points_to", ["--program", "file:/"], "file:/: cannot be read"),
        ("points_to", ["--program", "random:10:99999999999:0"], "expected random:VARIABLES:STATEMENTS:SEED"),
        ("points_to", ["--loads", "all"], "--loads all: expected a number from 0 to 1"),
        ("fft1d", ["--rows", "4294967297"], "--rows 4294967297: expected a number from 1 to 8192"),
        ("fft3d", ["--x", "99999999999999999999"], "--x 99999999999999999999: expected a number from 1 to 2048"),
        ("fft3d", ["--x", "2048", "--y", "2048", "--z", "2048"], "more than 2^26 points"),
        ("fft3d", ["--calls", "some"], "--calls some: expected blocking, nonblocking"),
        ("sample_sort", ["--keys", "many"], "--keys many: expected a number from 0"),
        ("sample_sort", ["--sorted", "yes"], "what is --sorted?"),
    ],
)
def test_mistakes_are_told_once(programs: Path, launch, name: str, arguments: list[str], message: str) -> None:
    if not (programs / name).exists():
        pytest.skip(f"{name} was not built: it takes FFTW 3 (Debian: libfftw3-dev)")
    done = launch(2, [programs / name, *arguments], mpi="mpich", preload=False)
    assert done.returncode == 2
    assert done.stderr.count(message) == 1


@pytest.mark.parametrize(
    ("name", "option", "line"),
    [
        ("closure", "--graph", "1 2 3"),
        ("closure", "--graph", "-1 3"),
        ("closure", "--graph", "7"),
        ("closure", "--graph", "4294967296 3"),
        ("points_to", "--program", "*p1 = *p2"),
        ("points_to", "--program", "p4294967297 = p2"),
        ("points_to", "--program", "p-1 = &p2"),
    ],
)
def test_lines_that_are_refused(programs: Path, launch, tmp_path: Path, name: str, option: str, line: str) -> None:
    file = tmp_path / "lines.txt"
    good = "1 2  # an edge" if name == "closure" else "p1 = p2  # a copy"
    file.write_text(f"# a comment\n\n{good}\n{line}\n")
    done = launch(2, [programs / name, option, f"file:{file}"], mpi="mpich", preload=False)
    assert done.returncode == 2
    assert done.stderr.count("line 4: expected") == 1
