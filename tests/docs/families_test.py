"""The pages of families: what the command makes is committed, and every name of a spec has its page."""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from docs.pages import ROOT

from swapmeet import _core


@pytest.fixture(scope="module")
def families() -> ModuleType:
    """The module that makes the pages."""
    folder = str(ROOT / "docs" / "reference")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("families")
    finally:
        sys.path.remove(folder)


def test_pages_are_up_to_date(families: ModuleType) -> None:
    pages = dict(families.pages())
    assert set(pages) == set(families.FOLDER.glob("*.md"))
    for file, text in pages.items():
        assert file.read_text(encoding="utf-8") == text, f"{file}: run python docs/reference/families.py"


def test_pictures_are_up_to_date(families: ModuleType, tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="takes matplotlib: pip install 'swapmeet[plot]'")
    drawn = [family for family in families.FAMILIES if family.drawn]
    assert {file.stem for file in families.FOLDER.glob("*.svg")} == {family.name for family in drawn}
    for family in drawn[:3]:
        committed = (families.FOLDER / f"{family.name}.svg").read_text(encoding="utf-8")
        if f"Matplotlib v{matplotlib.__version__}," not in committed:
            pytest.skip(f"the pictures were made by another matplotlib than {matplotlib.__version__}")
        families.draw(tmp_path, [family])
        made = (tmp_path / f"{family.name}.svg").read_text(encoding="utf-8")
        assert made == committed, f"{family.name}.svg: run python docs/reference/families.py"


def test_every_name_has_one_page(families: ModuleType) -> None:
    names = Counter(name for family in families.FAMILIES for name in family.aliases)
    assert names == Counter(name for name, *_ in _core.aliases())
    assert {family.name for family in families.FAMILIES if family.is_family} == set(_core.families())
    linked = set(re.findall(r"\]\(families/([\w-]+)\.md\)", (ROOT / "docs" / "family.md").read_text(encoding="utf-8")))
    assert linked == {family.name for family in families.FAMILIES}


def test_each_page_has_all_parts(families: ModuleType) -> None:
    for file, text in families.pages():
        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
        drawn = ["Its schedule"] if file.stem != "native" else []
        assert headings == [*drawn, "Cost and bounds", "When it wins", "Names and parameters"], file
        wins = text.split("## When it wins")[1].split("\n## ")[0]
        assert re.search(r"\bin 0 of|\| .* \|", wins), f"{file}: nothing from data states where it wins"
