"""Measurements: of all-to-alls (bench), of a machine (calibration), of an application (profiling)."""
