"""From options to what is measured."""

from __future__ import annotations

import pytest

from swapmeet import SwapmeetError
from swapmeet.measure.bench.request import Request
from swapmeet.units import parse_duration


def exchanges(**options: object) -> list[tuple[str, str]]:
    return [(collective, sizes) for collective, sizes, *_ in Request(**options).exchanges()]  # type: ignore[arg-type]


def test_sizes_double_as_osu_s_do() -> None:
    assert exchanges(doubling="8") == [("alltoall", str(size)) for size in (1, 2, 4, 8)]
    assert exchanges(doubling="4:16") == [("alltoall", str(size)) for size in (4, 8, 16)]
    assert exchanges(doubling="3:13") == [("alltoall", str(size)) for size in (3, 6, 12)]
    assert exchanges(doubling="1KiB:1KiB") == [("alltoall", "1024")]


def test_sizes_as_listed() -> None:
    assert exchanges(sizes="8,1KiB,8") == [("alltoall", "8"), ("alltoall", "1024")]
    assert exchanges(sizes="8", collective="alltoall,alltoallv") == [("alltoall", "8"), ("alltoallv", "8")]


def test_workloads_are_of_an_alltoallv() -> None:
    text = "uniform:max=1KiB"
    assert exchanges(workloads=["uniform:max=1024"]) == [("alltoallv", text)]
    assert exchanges(workloads=[text], sizes="8") == [("alltoallv", "8"), ("alltoallv", text)]
    seeded = Request(workloads=[text], seeds="3,4", datatype="byte,double").exchanges()
    assert seeded == tuple(("alltoallv", text, seed, kind) for kind in ("byte", "double") for seed in (3, 4))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"doubling": "8:4"}, "[MIN:]MAX"),
        ({"doubling": "0"}, "[MIN:]MAX"),
        ({"doubling": "many"}, "-m"),
        ({"doubling": "8", "sizes": "8"}, "leave one out"),
        ({"sizes": "8,,9"}, "-S"),
        ({"collective": "bcast"}, "expected alltoall, alltoallv"),
        ({"datatype": "float"}, "expected byte, double, strided"),
        ({"workloads": ["uniform"]}, "--workload"),
        ({"workloads": ["uniform:max=8"], "collective": "alltoall"}, "alltoallv"),
        ({"workloads": ["uniform:max=8"], "seeds": "x"}, "--seed"),
        ({"samples": 5, "most": 7}, "-i"),
        ({"samples": 0}, "-i 0"),
        ({"launches": 0}, "--launches 0"),
        ({"precision": 0.0}, "--precision"),
        ({"least": 9, "most": 8}, "--most 8"),
        ({"budget": "soon"}, "--budget"),
        ({"budget": "0s"}, "--budget"),
        ({"nodes": "3+x"}, "--nodes"),
        ({"ranks": "0"}, "-P"),
        ({"specs": ["no-such-thing"]}, "no-such-thing"),
        ({"mpi": "no-such-mpi"}, "no-such-mpi"),
        ({"ranks": "1000", "sizes": "1GiB"}, "choose smaller blocks or fewer ranks"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(options: dict[str, object], words: str) -> None:
    with pytest.raises(SwapmeetError) as problem:
        Request(**options).settings()  # type: ignore[arg-type]
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


def test_numbers_of_samples() -> None:
    def numbers(**options: object) -> tuple[int, int]:
        settings = Request(ranks="2", **options).settings()  # type: ignore[arg-type]
        return settings.least, settings.most

    assert numbers(samples=7) == (7, 7)
    assert numbers(most=10) == (10, 10)
    assert numbers(least=500) == (500, 500)
    assert numbers() == (30, 300)


def test_options_are_kept_and_may_be_changed() -> None:
    first = Request(specs=["pairwise"], ranks="2", sizes="8", launches=2, phases=True)
    kept = first.given()
    assert kept == {"specs": ["pairwise"], "ranks": "2", "sizes": "8", "launches": 2, "phases": True}
    again = Request(specs=[], launches=5).after({**kept, "of a later version": 1})
    assert again == Request(specs=["pairwise"], ranks="2", sizes="8", launches=5, phases=True)


@pytest.mark.parametrize("name", ["touch", "pin"])
def test_conditions_are_not_mixed_in_a_file(name: str) -> None:
    with pytest.raises(SwapmeetError, match=f"--{name} differs"):
        Request(**{name: True}).after({"ranks": "2"})
    assert Request(**{name: True}).after({name: True}) == Request(**{name: True})
    assert Request().after({name: True}) == Request(**{name: True})


def test_durations() -> None:
    assert [parse_duration(text, "") for text in ("90", "90s", "1.5m", "2min", "2h")] == [90, 90, 90, 120, 7200]
