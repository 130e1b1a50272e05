"""The man pages are rendered without a warning."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from swapmeet import _core

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "reference"))
import manual  # noqa: E402

PAGES = dict(manual.pages())


@pytest.mark.skipif(not shutil.which("man"), reason="man is not installed")
@pytest.mark.parametrize("name", PAGES)
def test_they_are_rendered_without_a_warning(name: str) -> None:
    words = ["man", "--warnings=all,break", "--local-file", manual.FOLDER / name]
    done = subprocess.run(words, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
    assert (done.returncode, done.stderr) == (0, "")
    words = ["swapmeet run", "--stats FILE"] if name.endswith("1") else [row[0] for row in _core.option_table()]
    assert all(word in done.stdout for word in words)
    assert "`" not in done.stdout and "\\" not in done.stdout
