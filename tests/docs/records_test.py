"""The pages on files show the records that are read: each kind of line, and each field of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from swapmeet.measure import verdict
from swapmeet.measure.bench import reading
from swapmeet.measure.profiling import recording

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "results.md": [
        reading.Campaign,
        reading.Launch,
        reading.Samples,
        reading.PhasesLine,
        reading.Overlap,
        reading.Limits,
        reading.Finished,
        reading.Problem,
        reading.Cell,
    ],
    "profile.md": [
        recording.Header,
        recording.Communicator,
        recording.ExchangeLine,
        recording.CallsLine,
        recording.Total,
        recording.Until,
        recording.End,
    ],
    "statistics.md": [verdict.Statistics, verdict.Row],
}


@pytest.mark.parametrize("page", PAGES)
def test_pages_name_all_fields(page: str) -> None:
    text = (DOCS / page).read_text()
    for kind in PAGES[page]:
        (_,), schemas = msgspec.json.schema_components([kind])
        fields = next(schema["properties"] for schema in schemas.values() if schema["title"] == kind.__name__)
        names = [*fields, *fields.get("type", {}).get("enum", [])]
        missing = [name for name in names if f"`{name}`" not in text and f'"{name}"' not in text]
        assert not missing, (kind.__name__, missing)
