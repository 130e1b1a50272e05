"""benchmarks/users: what programs print is read, ratios are right, launches are in turn, and the page says so."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from limits import scaled

from swapmeet.errors import SwapmeetError
from swapmeet.mpi import mpis
from swapmeet.mpi.library import program

FOLDER = Path(__file__).parents[2] / "benchmarks" / "users"
sys.path.insert(0, str(FOLDER))

import launches  # noqa: E402
import page  # noqa: E402
import ratios  # noqa: E402
import settings  # noqa: E402
import usual  # noqa: E402
from launches import AUTO, RAW, Case, Cell, Launch, Skipped  # noqa: E402

MEASUREMENTS = Path(__file__).parents[2] / "docs" / "measurements"
PAGES = [document for document in sorted(MEASUREMENTS.glob("*.md")) if page.BEGIN in document.read_text()]
CASE = Case("one node", "MPICH 5.0.2", 2, False, "osu-alltoall")
HEADER = {
    "swapmeet": "0.1.0",
    "commit": "abc",
    "created": "2026-01-31T00:00:00+00:00",
    "machine": {"processor": "some", "cores": 2, "kernel": "6"},
    "options": {},
    "command": "measure",
}
OSU = """
# OSU MPI All-to-All Personalized Exchange Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
1                       0.61              0.60              0.62        1000
16384                   7.50              7.00              8.00         100
"""
IMB = """
# Benchmarking Alltoall
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.03         0.05         0.04
      4194304           10       100.00       300.00       200.00

# Benchmarking Alltoallv
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            1         1000         1.00         3.00         2.00

# Benchmarking Ialltoall_pure
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            8          500         4.00         6.00         5.00
"""


def users(*words: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    done = [sys.executable, str(FOLDER), *map(str, words)]
    return subprocess.run(done, capture_output=True, text=True, timeout=scaled(timeout))


def one(candidate: str, turn: int, *cells: Cell, case: Case = CASE) -> Launch:
    return Launch(case, candidate, turn, "mpiexec", "2026-01-31T00:00:00+00:00", 1.0, cells)


def in_turn(times: dict[str, list[float]], size: int = 8) -> list[Launch]:
    turns = range(len(times[RAW]))
    return [
        one(name, turn + 1, Cell("Alltoall", size, values[turn])) for turn in turns for name, values in times.items()
    ]


def test_derived_types_have_a_table_of_their_own_and_no_picture(tmp_path: Path) -> None:
    case = Case("one node", "MPICH 5.0.2", 2, False, usual.TYPED[0])
    times = {RAW: (8.0, 9.0), AUTO: (4.0, 3.0)}
    found = [
        one(name, turn, Cell("columns_to_contiguous", 2048, us[turn - 1]), case=case)
        for turn in (1, 2)
        for name, us in times.items()
    ]
    file, document = tmp_path / "typed.jsonl", tmp_path / "typed.md"
    launches.begin(file, HEADER)
    for launch in found:
        launches.append(file, launch)
    document.write_text(page.BEGIN + page.END)
    page.write(file, document, tmp_path)
    assert "| columns to contiguous | 2 KiB | 2.50 (2.00-3.00) |" in document.read_text()
    assert "In none of 1 cells" in document.read_text() and "Micro-benchmarks" not in document.read_text()
    assert not list(tmp_path.glob("*.svg"))


@pytest.mark.parametrize("what", ["pairs", "boxes"])
def test_derived_types_arrive_and_are_timed(launch, what: str) -> None:
    target = mpis.find("mpich")
    done = launch(2, [program(target, "typed"), what, "3000000", "2"], mpi="mpich", algorithm="shared-memory")
    assert done.returncode == 0 and "# Swapmeet: yes" in done.stdout, done.stdout + done.stderr
    cells = usual.imb_cells(done.stdout)
    assert len({cell.what for cell in cells}) == {"pairs": 12, "boxes": 3}[what]
    assert all(cell.mean_us > 0 for cell in cells)


@pytest.mark.parametrize("what", ["calls", "threads"])
def test_all_forms_of_the_call_are_right_and_timed(launch, what: str) -> None:
    target = mpis.find("openmpi")
    done = launch(3, [program(target, "forms"), what, "16384", "3"], mpi="openmpi", algorithm="shared-memory")
    assert done.returncode == 0 and "# Swapmeet: yes" in done.stdout, done.stdout + done.stderr
    cells = usual.imb_cells(done.stdout)
    assert len({cell.what for cell in cells}) == {"calls": 12, "threads": 1}[what]
    assert {cell.bytes for cell in cells} == {8, 1024, 16384} and all(cell.mean_us > 0 for cell in cells)


def test_osu_is_read() -> None:
    assert usual.osu_cells("Alltoall")(OSU) == [
        Cell("Alltoall", 1, 0.61, 0.6, 0.62, 1000),
        Cell("Alltoall", 16384, 7.5, 7.0, 8.0, 100),
    ]


def test_imb_is_read() -> None:
    assert usual.imb_cells(IMB) == [
        Cell("Alltoall", 0, 0.04, 0.03, 0.05, 1000),
        Cell("Alltoall", 4194304, 200.0, 100.0, 300.0, 10),
        Cell("Alltoallv", 1, 2.0, 1.0, 3.0, 1000),
        Cell("Ialltoall", 8, 5.0, 4.0, 6.0, 500),
    ]


def test_intels_own_program_is_run_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usual, "INTELS", tmp_path)
    [one] = usual.named("intels-imb", usual.benchmarks())
    with pytest.raises(SwapmeetError, match="make intel"):
        one.words(mpis.find("mpich"), usual.Sizes(1024, 1000))
    (tmp_path / "IMB-MPI1").touch()
    words = list(map(str, one.words(mpis.find("mpich"), usual.Sizes(1024, 1000))))
    assert words == [f"{tmp_path}/IMB-MPI1", "Alltoall", "Alltoallv", "-npmin", "100000", "-msglog", "10"]


@pytest.mark.slow
@pytest.mark.skipif(not (usual.INTELS / "IMB-NBC").exists(), reason="make intel")
@pytest.mark.parametrize("name", ["intels-imb", "intels-imb-nbc"])
def test_intels_own_program_is_served_on_mpich(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """It does not say itself whether the library is in the process."""
    monkeypatch.setenv("SWAPMEET_STATS", str(tmp_path / "statistics"))
    [one] = usual.named(name, usual.benchmarks())
    cells = settings.run(settings.one_node(mpis.find("mpich"), 2, [], 64, 100), one, AUTO, 1, scaled(120)).cells
    calls = json.loads((tmp_path / "statistics").read_text())["calls"]
    served = {tally["collective"]: tally["calls"] for tally in calls if tally["reason"] != "the host MPI"}
    assert len(cells) == 2 * 8 and {cell.what.removeprefix("I").capitalize() for cell in cells} == set(served), calls
    assert min(served.values()) > 800, calls


def test_real_programs_take_the_place_of_ours() -> None:
    by_name = {one.name: one for one in usual.benchmarks(Path("/osu"), Path("/bin/imb"))}

    def words(name: str, calls: int) -> str:
        return " ".join(map(str, by_name[name].words(mpis.default(), usual.Sizes(most=1024, calls=calls))))

    assert words("osu-alltoallv", 1000) == "/osu/osu_alltoallv -f -m 1:1024"
    assert words("osu-alltoall", 50) == "/osu/osu_alltoall -f -m 1:1024 -i 50 -x 5"
    assert words("imb", 1000) == "/bin/imb Alltoall Alltoallv -npmin 100000 -msglog 10"
    assert words("imb", 50).endswith(" -iter 50")


def test_applications_are_read() -> None:
    text = "time 0.002910500 s, in all-to-alls 0.001 s (means of 16 ranks): 34 %; 23592960 operations"
    assert usual.application_cells(text) == [Cell("loop", None, 2910.5), Cell("all-to-alls", None, 1000.0)]


@pytest.mark.parametrize(
    ("shown", "seconds"), [("0.93s CPU      1.01s", 1.01), ("58.2s CPU   1m 2.50s", 62.5), ("1h CPU  1h 2m", 3720.0)]
)
def test_quantum_espresso_is_read(shown: str, seconds: float) -> None:
    found = usual.espresso_cells(f"     PWSCF        :  {shown} WALL\n\n   JOB DONE.\n")
    assert [cell.mean_us for cell in found] == [pytest.approx(seconds * 1e6)]
    assert usual.espresso_cells(f"     PWSCF        :  {shown} WALL\n") == []


@pytest.mark.parametrize(("count", "k"), [(1, 0), (4, 0), (5, 1), (6, 1), (8, 2), (9, 2), (11, 3)])
def test_the_interval_holds_the_median_often_enough(count: int, k: int) -> None:
    found = ratios.outside(count)
    assert found == k

    def chance(k: int) -> float:
        """That the median lies between: neither fewer than k of `count` values are below it, nor above."""
        return 1 - 2 * sum(math.comb(count, i) for i in range(k)) / 2**count

    assert k == 0 or chance(k) >= ratios.CONFIDENCE
    assert chance(k + 1) < ratios.CONFIDENCE


def test_speedups_are_medians_of_ratios_within_turns() -> None:
    # a disturbance of the whole of turn 2, which the ratio of medians would show
    given = in_turn({RAW: [2.0, 20.0, 2.2, 2.0, 2.0], AUTO: [1.0, 10.0, 2.0, 1.0, 4.0]})
    found = ratios.ratios(given, CASE, AUTO)
    assert found == {("Alltoall", 8): {1: 2.0, 2: 2.0, 3: pytest.approx(1.1), 4: 2.0, 5: 0.5}}
    assert ratios.speedup(found["Alltoall", 8]) == ratios.Speedup(2.0, 0.5, 2.0, 5)
    assert ratios.speedup(dict(enumerate(range(1, 10)))) == ratios.Speedup(5, 2, 8, 9)


def test_turns_that_were_interrupted_do_not_count() -> None:
    given = in_turn({RAW: [2.0, 3.0], AUTO: [1.0, 1.0]})
    assert ratios.ratios(given[:-1], CASE, AUTO)["Alltoall", 8] == {1: 2.0}
    again = [*given[:-1], one(RAW, 2, Cell("Alltoall", 8, 5.0)), one(AUTO, 2, Cell("Alltoall", 8, 1.0))]
    assert ratios.ratios(again, CASE, AUTO)["Alltoall", 8] == {1: 2.0, 2: 5.0}


def test_geometric_means_are_of_the_same_turns() -> None:
    assert ratios.geometric_mean([{1: 2.0, 2: 1.0, 3: 7.0}, {1: 8.0, 2: 1.0}]) == {1: pytest.approx(4.0), 2: 1.0}


def test_files_are_read_as_written(tmp_path: Path) -> None:
    file = tmp_path / "users.jsonl"
    assert launches.begin(file, HEADER).launches == []
    given = in_turn({RAW: [2.0], AUTO: [1.0]})
    for launch in given:
        launches.append(file, launch)
    launches.append(file, Skipped(CASE, "no such thing"))
    found = launches.read(file)
    assert (found.header, found.launches, found.skipped) == (HEADER, given, [Skipped(CASE, "no such thing")])


def test_a_file_whose_end_is_missing_is_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "users.jsonl"
    launches.begin(file, HEADER)
    given = in_turn({RAW: [2.0], AUTO: [1.0]})
    launches.append(file, given[0])
    whole = file.read_text()
    launches.append(file, given[1])
    file.write_text(file.read_text()[:-20])
    assert launches.begin(file, HEADER).launches == given[:1]
    assert file.read_text() == whole
    file.write_text(whole + "{}\n")
    with pytest.raises(SwapmeetError, match="line 3"):
        launches.read(file)


def test_versions_are_not_mixed(tmp_path: Path) -> None:
    file = tmp_path / "users.jsonl"
    launches.begin(file, HEADER)
    launches.begin(file, {**HEADER, "commit": "abc-dirty", "created": "later", "command": "other"})
    with pytest.raises(SwapmeetError, match="differs in commit, options"):
        launches.begin(file, {**HEADER, "commit": "def", "options": {"calls": "5"}})


def test_cells_below_the_target_are_named() -> None:
    slow = in_turn({RAW: [1.0] * 5, AUTO: [2.0] * 5, "tra": [1.0] * 5}, size=8)
    noisy = in_turn({RAW: [1.0] * 5, AUTO: [2.0, 2.0, 2.0, 2.0, 0.5], "tra": [0.5] * 5}, size=8192)
    found = page.rows(
        [one(a.candidate, a.turn, *a.cells, *b.cells) for a, b in zip(slow, noisy, strict=True)]  # both in one launch
    )
    assert page.slower(found).splitlines()[0] == "In 1 of 2 cells `auto` is below 0.97 beyond its interval:"
    assert "| OSU Alltoall | one node | MPICH 5.0.2 | 2 | 8 B | 0.50 (0.50-0.50) |" in page.slower(found)
    line = page.micro_table(found).splitlines()[-1]
    assert "| 0.50 (0.50-0.50) | 0.50 (0.50-2.00) | 0.50 at 8 B | `tra` |" in line
    assert line.endswith("| 1.00 (1.00-1.00) | 2.00 (2.00-2.00) | 1.00 at 8 B |")


def test_the_best_spec_is_the_fastest_over_all_sizes() -> None:
    found = page.rows(in_turn({RAW: [6.0], AUTO: [6.0], "tra": [3.0], "pairwise": [2.0]}))
    assert "| `pairwise` | 3.00 (3.00-3.00) |" in page.micro_table(found)
    assert "tra" not in page.micro_table(found)


def test_sizes_end_where_a_call_would_move_too_much() -> None:
    target = mpis.default()
    most = {ranks: settings.one_node(target, ranks, [], None, None).sizes.most for ranks in (2, 4, 8, 16)}
    assert most == {2: 1 << 20, 4: 1 << 20, 8: 1 << 18, 16: 1 << 16}


@pytest.mark.parametrize("shape", ["4", "x4", "4x", "1x4", "4x0", "4x4x4"])
def test_what_is_no_cluster_is_refused(shape: str) -> None:
    with pytest.raises(SwapmeetError, match="NODESxRANKS"):
        settings.cluster(mpis.default(), shape, settings.Network(), [], None, None)


@pytest.mark.parametrize("words", [["--benchmarks", "osu"], ["--specs", "no-such"], ["--cluster", "4"]])
def test_what_cannot_be_is_refused(tmp_path: Path, words: list[str]) -> None:
    done = users("measure", "--mpi", mpis.default().name, "-n", 2, "-o", tmp_path / "f", *words)
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("users: ")


@pytest.mark.slow
def test_a_small_run(tmp_path: Path) -> None:
    """Launches in turn, without the library and with it; nothing is measured again; and a page comes out of it."""
    file, mpi = tmp_path / "users.jsonl", mpis.default()
    words = ["measure", "--mpi", f"{mpi.name},intel-of-nowhere", "-n", 2, "--cluster", "none", "--rounds", 2]
    words += ["--benchmarks", "osu-alltoallv,imb", "--calls", 5, "--most", 16, "-o", file]
    done = users(*words)
    assert done.returncode == 0, done.stderr
    assert "intel-of-nowhere is skipped" in done.stderr
    results = launches.read(file)
    order = [(launch.case.benchmark, launch.turn, launch.candidate) for launch in results.launches]
    candidates = (RAW, AUTO, "shared-memory")
    names = ("osu-alltoallv", "imb")
    assert order == [(name, turn, one) for turn in (1, 2) for name in names for one in candidates]
    for launch in results.launches:
        sizes = [1, 2, 4, 8, 16]
        both = [("Alltoall", size) for size in (0, *sizes)] + [("Alltoallv", size) for size in (0, *sizes)]
        wanted = both if launch.case.benchmark == "imb" else [("Alltoallv", size) for size in sizes]
        assert [(cell.what, cell.bytes) for cell in launch.cells] == wanted
        for cell in launch.cells:
            assert cell.calls == 5 and cell.least_us is not None and cell.greatest_us is not None
            assert 0 < cell.least_us <= cell.mean_us + 0.001 and cell.mean_us <= cell.greatest_us + 0.001
        assert ("LD_PRELOAD" in launch.command) == (launch.candidate != RAW)
        assert ("SWAPMEET_" in launch.command) == (launch.candidate == "shared-memory")
    before = file.read_text()
    assert users(*words).returncode == 0
    assert file.read_text() == before

    document = file.with_suffix(".md")
    document.write_text(f"before\n{page.BEGIN}old\n{page.END}after\n")
    done = users("page", file)
    assert done.returncode == 0, done.stderr
    text = document.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old\n" not in text
    for name in ("OSU Alltoallv", "IMB Alltoall", "IMB Alltoallv"):
        assert f"| {name} | one node |" in text
        picture = file.with_suffix("") / f"users-{name.lower().replace(' ', '-')}.svg"
        assert picture.name in text and "<svg" in picture.read_text()


@pytest.mark.parametrize("document", PAGES, ids=lambda document: document.stem)
def test_pages_are_made_of_the_data_beside_them(document: Path) -> None:
    made = document.read_text().partition(page.BEGIN)[2].partition(page.END)[0]
    for part in page.contents(launches.read(document.with_suffix(".jsonl")), []).split("\n\n"):
        assert part in made


@pytest.mark.slow
def test_an_interruption_leaves_what_was_measured(tmp_path: Path) -> None:
    file = tmp_path / "users.jsonl"
    words = ["measure", "--mpi", mpis.default().name, "-n", 2, "--cluster", "none", "--rounds", 2]
    words += ["--benchmarks", "osu-alltoall", "--calls", 5, "--most", 16, "-o", file]
    argv = [sys.executable, str(FOLDER), *map(str, words)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        line = process.stderr.readline()  # of the first turn
        process.terminate()
        rest = process.stderr.read()
    assert process.returncode == 130, rest
    assert "turn 1" in line and "the same command goes on" in rest
    done = len(launches.read(file).launches)
    assert 3 <= done < 6
    again = users(*words)
    assert again.returncode == 0 and "turn 1" not in again.stderr, again.stderr
    turns = ratios.ratios(launches.read(file).launches, launches.read(file).launches[0].case, AUTO)
    assert [list(found) for found in turns.values()] == [[1, 2]] * 5


@pytest.mark.slow
def test_a_program_of_another_mpi_is_skipped_with_the_reason(tmp_path: Path) -> None:
    """As IMB-MPI1, which is linked with one MPI, is on others."""
    if len({mpi.abi for mpi in mpis.found()[0]}) < 2:
        pytest.skip("there is one MPI only")
    ours = mpis.default()
    other = next(mpi for mpi in mpis.found()[0] if mpi.abi not in (ours.abi, "standard"))
    from swapmeet.mpi.library import program

    file = tmp_path / "users.jsonl"
    done = users("measure", "--mpi", ours.name, "-n", 2, "--cluster", "none", "--benchmarks", "imb", "--rounds", 1,
                 "--imb", program(other, "users"), "-o", file)  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert "build the program for" in lines[1]["why"] and len(lines) == 2
