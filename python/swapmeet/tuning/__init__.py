"""Tuning files: from measurements to rules that the library follows (docs/tuning.md)."""
