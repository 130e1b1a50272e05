"""What readers.py began with and what it has found: each file is read, or refused with one sentence."""

from __future__ import annotations

import pytest
from reading import CORPUS, READERS, reader


@pytest.mark.parametrize("name", READERS)
def test_files_are_read_or_refused(name: str) -> None:
    files = sorted((CORPUS / name).iterdir())
    assert files
    read = reader(name)
    for file in files:
        read(file.read_bytes())
