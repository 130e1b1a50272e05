"""What commands need that may not be installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from swapmeet.errors import SwapmeetError


@contextmanager
def needs_package(command: str) -> Iterator[None]:
    """Imports that take long, hence only where they are needed, and may be missing."""
    try:
        yield
    except ImportError as problem:
        raise SwapmeetError(f"swapmeet {command} needs {problem.name}: `pip install 'swapmeet[bench]'`") from None
