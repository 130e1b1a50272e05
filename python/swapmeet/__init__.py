"""Swapmeet: all-to-all collectives of MPI, as fast as the machine allows.

The companion of libswapmeet.so: finds MPIs, builds the library for them, launches programs with it, and shows and
verifies its schedules. The algorithms themselves live in the core, `swapmeet._core`.
"""

from importlib.metadata import version

from swapmeet.errors import SwapmeetError

__all__ = ["SwapmeetError", "__version__"]
__version__ = version("swapmeet")
