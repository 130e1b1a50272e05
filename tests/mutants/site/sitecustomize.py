"""Has Python take the package `swapmeet` from the tree with mistakes: Python reads this file when it starts."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

PACKAGES = str(Path(__file__).resolve().parents[3] / "python")


class FromTree(MetaPathFinder):
    """Finds that package and its modules, before the finder of the editable install does."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """As the base class has it."""
        if name.partition(".")[0] != "swapmeet":
            return None
        return PathFinder.find_spec(name, path or [PACKAGES])


sys.meta_path.insert(0, FromTree())
