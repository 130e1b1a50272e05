"""`python -m swapmeet` is the command `swapmeet`."""

from swapmeet.cli import app

app(prog_name="swapmeet")
