"""`swapmeet model --machine`, --best and --regret, as a user runs them."""

import csv
import io

import pytest
from command import refused, swapmeet

from swapmeet import _core, machines
from swapmeet.choose import regret
from swapmeet.model import prices


def rows(*words: str) -> list[dict[str, str]]:
    done = swapmeet("model", *words, "--csv")
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_times_and_their_parts() -> None:
    (row,) = rows("tra", "-P", "2048", "-S", "128", "--machine", "theta-fit", "--model", "hockney")
    assert float(row["time_us"]) == pytest.approx(7699, rel=0.005)
    (row,) = rows("tra", "-P", "2048", "-S", "128", "--machine", "theta")
    assert float(row["time_us"]) == pytest.approx(sum(float(row[f"{part}_us"]) for part in prices.PARTS))
    done = swapmeet("model", "two-layer", "-P", "128", "-S", "64", "--machine", "theta")
    assert "64x2" in done.stdout and "by the model max-rate for the machine theta, 64 ranks a node" in done.stdout


def test_best() -> None:
    found = rows("tra", "-P", "64,1024", "-S", "8,64KiB", "--machine", "polaris", "--best")
    for ranks, size in (("64", "8"), ("1024", "65536")):
        times = [float(row["time_us"]) for row in found if (row["P"], row["block_bytes"]) == (ranks, size)]
        assert len(times) > 15 and times == sorted(times)
    winners = {(row["P"], row["block_bytes"]): row["spec"] for row in found if row["place"] == "1"}
    assert "direct" in winners["1024", "65536"] and "direct" not in winners["1024", "8"]
    assert any(row["spec"].startswith("bruck(radix=root,layout=basic") for row in found)
    assert "x best" in swapmeet("model", "-P", "100", "-S", "8", "--machine", "hockney", "--best").stdout


def test_candidate_radices() -> None:
    assert prices.candidate_radices(4096, 64) == [2, 3, 4, 6, 8, 16, 32, 64, 128, 4096][:3] + [
        6,
        8,
        16,
        32,
        64,
        128,
        4096,
    ]
    assert prices.candidate_radices(1, None) == [2]
    assert prices.candidate_radices(3, 64) == [2, 3]
    assert prices.roots(5**6)[-3:] == [25, 125, 15625] and 5 in prices.roots(5**6)


@pytest.mark.parametrize(("ranks", "leaders"), [(6_400, 3), (6_401, 3), (640_000, 3), (640_001, 0)])
def test_candidates_whose_work_takes_long_to_count_are_left_out(ranks: int, leaders: int) -> None:
    found = prices.candidates(ranks, "64", 64)
    assert len([spec for spec in found if spec.family == "leaders"]) == leaders


def test_regret() -> None:
    words = ("-P", "64,100", "-S", "8,1KiB", "--machine", "theta,fat-tree", "--regret")
    found = rows(*words)
    assert len(found) == 8
    machine = machines.load("theta")
    for row in found[:4]:
        times = {
            r: prices.Pricing(machine)
            .price(_core.parse_spec(f"tra(radix={r})"), int(row["P"]), int(row["block_bytes"]))
            .total
            for r in range(2, int(row["P"]) + 1)
        }
        least = min(times.values())
        assert float(row["best_us"]) == pytest.approx(least)
        assert float(row["regret 2, P"]) == pytest.approx(min(times[2], times[int(row["P"])]) / least - 1)
        assert float(row["regret √P"]) == pytest.approx(times[8 if row["P"] == "64" else 10] / least - 1)
    assert "8 cells on theta, fat-tree" in swapmeet("model", *words).stdout.replace("\n", " ")


@pytest.mark.parametrize("ranks", [regret.RANKS[:6], pytest.param(regret.RANKS, marks=pytest.mark.long)], ids=len)
def test_the_published_table(ranks: tuple[int, ...]) -> None:
    """docs/models.md: the candidates against all radices, of which by day there are up to 2048."""
    wanted = [machines.load(name) for name in regret.MACHINES]
    spec = _core.parse_spec("tra")
    losses = [cell.regret for cell in regret.cells(spec, wanted, ranks, regret.SIZES, "max-rate")]
    assert len(losses) == 60 * len(ranks)
    shares = {rule: sum(loss[rule] <= 0.05 for loss in losses) / len(losses) for rule in regret.RULES}
    assert shares["candidates"] >= 0.99
    assert 0.3 < shares["√P"] < 0.6 and 0.3 < shares["2, P"] < 0.6


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["-P", "4"], "SPEC is missing"),
        (["tra"], "-P is missing"),
        (["tra", "-P", "4", "--machine", "theta"], "times need the size of a block"),
        (["tra", "-P", "4", "-S", "8", "--machine", "nowhere"], "no such file, and no built-in machine"),
        (["tra", "-P", "4", "-S", "8", "--model", "loggp"], "times need a machine"),
        (["tra", "-P", "4", "-S", "8", "--machine", "theta", "--model", "guess"], "expected one of hockney"),
        (["tra", "-P", "4", "-S", "8", "--best"], "times need a machine"),
        (["--best", "--regret"], "two questions"),
        (["direct", "--regret"], "compares radices"),
        (["tra", "tra2", "--regret"], "one SPEC"),
        (["--regret", "-P", "1"], "choose 2 to"),
        (
            ["tra", "-P", "4", "--workload", "uniform:max=8", "--machine", "theta", "-S", "8"],
            "--workload goes with neither",
        ),
    ],
)
def test_refusals(words: list[str], problem: str) -> None:
    assert problem in refused("model", *words)
