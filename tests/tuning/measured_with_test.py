"""Results say of which MPI they are, so nobody needs to."""

from __future__ import annotations

from pathlib import Path

import pytest
from plots.synthetic import write

from swapmeet.choose import measuring
from swapmeet.mpi import mpis

HERE = [
    mpis.Mpi(kind, kind, version, Path("mpicc"), Path("mpiexec"), None)
    for kind, version in (("mpich", "5.0.2"), ("openmpi", "5.0.11"))
]


@pytest.mark.parametrize(
    ("measured", "name"),
    [
        (["openmpi 5.0.11"], "openmpi"),
        (["mpich 5.0.2"], "mpich"),
        (["mpich 5.0.2", "openmpi 5.0.11"], None),
        (["openmpi 4.1.4"], None),
    ],
)
def test_the_only_mpi_of_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: list[str], name: str | None
) -> None:
    monkeypatch.setattr(mpis, "found", lambda: (HERE, []))
    found = measuring.measured_with([write(tmp_path / "results.jsonl", mpis=measured)])
    assert (found.name if found else None) == name


def test_what_is_no_results_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "my.tuning").write_text("swapmeet-tuning 1\nend\n")
    assert measuring.measured_with([tmp_path / "my.tuning"]) is None
    assert measuring.measured_with([]) is None
