"""The library for an MPI, built when it is first asked for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from swapmeet import library
from swapmeet.mpi import Mpi

SIMGRID = Mpi("simgrid", "simgrid", "3.32", Path("/nowhere/smpicc"), Path("/nowhere/smpirun"), None)


@pytest.mark.parametrize("takes_s", [0.0, 0.3])
def test_a_build_that_takes_long_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], takes_s: float
) -> None:
    monkeypatch.setattr(library, "TELL_AFTER_S", 0.2 if takes_s else 60)
    monkeypatch.setattr(library, "build_folder", lambda mpi: tmp_path)
    monkeypatch.setattr(library, "_core", lambda: tmp_path)
    monkeypatch.setattr(library, "_make", lambda folder, *_: time.sleep(takes_s))
    assert library.build.__wrapped__(SIMGRID, "swapmeet") == tmp_path
    told = capsys.readouterr().err.count("building libswapmeet for simgrid, which may take minutes")
    assert told == (1 if takes_s else 0)
