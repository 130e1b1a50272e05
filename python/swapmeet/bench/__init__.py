"""Where version 0.1 had what reads results files: now in swapmeet.measure.bench."""
