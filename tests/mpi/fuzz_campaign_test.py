"""The campaign of random programs: what ends it."""

from __future__ import annotations

import json
from pathlib import Path

import fuzz_campaign
import pytest


@pytest.mark.parametrize(
    ("right", "batches", "status"),
    [
        ([False] * 100, fuzz_campaign.MOST_WRONG, 1),
        ([False, True] * 100, 20, 1),
        ([True] * 100, 10, 0),
    ],
)
def test_a_campaign_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, right: list[bool], batches: int, status: int
) -> None:
    """With as many programs as asked for, or after some wrong batches in a row."""
    file = tmp_path / "rows"
    monkeypatch.setattr(
        fuzz_campaign, "run", lambda batch: {"batch": batch, "programs": 7, "right": right[batch], "printed": ""}
    )
    monkeypatch.setattr("sys.argv", ["fuzz_campaign.py", "70", str(file)])
    assert fuzz_campaign.main() == status
    assert [json.loads(line)["batch"] for line in file.read_text().splitlines()] == list(range(batches))
