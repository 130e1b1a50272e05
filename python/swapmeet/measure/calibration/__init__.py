"""Measuring the numbers of a machine's description (docs/calibration.md)."""
