"""The pages of families: every name of a spec has one."""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
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


def test_every_name_has_one_page(families: ModuleType) -> None:
    names = Counter(name for family in families.FAMILIES for name in family.aliases)
    assert names == Counter(name for name, *_ in _core.aliases())
    assert {family.name for family in families.FAMILIES if family.is_family} == set(_core.families())
    linked = set(re.findall(r"\]\(families/([\w-]+)\.md\)", (ROOT / "docs" / "family.md").read_text(encoding="utf-8")))
    assert linked == {family.name for family in families.FAMILIES}
