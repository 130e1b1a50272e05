"""Has `swapmeet._core` be the module that tests/sanitizing_core.py has made: Python reads this when it starts."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any


class Sanitized(MetaPathFinder):
    """Finds that module, and no other."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """As the base class has it."""
        place = os.environ["SANITIZED_CORE"]
        return importlib.util.spec_from_file_location(name, place) if name == "swapmeet._core" else None


sys.meta_path.insert(0, Sanitized())
