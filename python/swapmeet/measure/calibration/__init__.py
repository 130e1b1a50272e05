"""Measuring what a machine's description says (docs/calibration.md)."""
