"""Measuring all-to-alls so that a sceptic believes it: `swapmeet bench`, and what reads its results."""
