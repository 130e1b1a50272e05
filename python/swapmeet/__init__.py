"""Swapmeet: all-to-all collectives of MPI by the algorithm expected to be the fastest.

The companion of libswapmeet.so: finds MPIs, builds the library for them, launches programs with it, and shows and
verifies its schedules. The algorithms themselves live in the core, `swapmeet._core`.
"""

from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from swapmeet.errors import SwapmeetError

__all__ = ["SwapmeetError", "__version__"]
__version__ = version("swapmeet")


class _WithoutCore:
    """Stands for the core where that is not compiled, or for other Pythons only. What does not need it works."""

    def __getattr__(self, name: str) -> Any:
        import sys

        raise SwapmeetError(
            f"the core is missing for {sys.implementation.cache_tag}: in a checkout, run `make build`; elsewhere use "
            f"another Python, or compile it: pip install --force-reinstall swapmeet-{__version__}.tar.gz"
        )


def has_core() -> bool:
    """Whether the core is there."""
    return find_spec("swapmeet._core") is not None


def __getattr__(name: str) -> Any:
    """The core, which is loaded when it is first asked for."""
    if name != "_core":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return import_module("swapmeet._core")
    except ModuleNotFoundError:
        return _WithoutCore()
