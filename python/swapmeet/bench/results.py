"""What version 0.1 had under this name, for programs that read results files (docs/results.md)."""

from swapmeet.measure.bench.results import Results, read

__all__ = ["Results", "read"]
