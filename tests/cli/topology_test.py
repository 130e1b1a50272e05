"""`swapmeet topology`."""

import csv
import io
from pathlib import Path

import pytest
from cli.command import swapmeet
from typer.testing import CliRunner

from swapmeet.cli.app import app

SMALL = "dragonfly(a=4,p=2,h=1)"


def here(*words: str, status: int = 0) -> str:
    """What `swapmeet topology WORDS...` prints, in this process: a new one takes a second."""
    done = CliRunner().invoke(app, ["topology", *words])
    assert done.exit_code == status, done.output
    return done.output


def refused(*words: str) -> str:
    output = here(*words, status=2)
    (line,) = output.splitlines()
    return line


def test_a_network_is_described() -> None:
    lines = swapmeet("topology", "slim-fly(q=5,hosts=4)").stdout.splitlines()
    assert lines[0] == "hosts 200, switches 50, links between switches 350 (directed), of capacity 1"
    assert "diameter 2 (links between switches)" in lines
    assert "all-to-all: at least 208 slots (links 208, injection 199, ejection 199)" in lines


def test_orders_are_compared() -> None:
    output = here(SMALL, "--compare", "--csv", "--moves", "5000", "--spec", "direct(order=shift,window=4)")
    rows = {row["order"]: row for row in csv.DictReader(io.StringIO(output))}
    assert set(rows) == {"shift", "random", "scatter", "direct(order=shift,window=4)", "conflict-free"}
    assert all(
        float(row["ratio"]) == pytest.approx(int(row["slots"]) / int(row["bound"]), abs=1e-6) for row in rows.values()
    )
    assert min(int(row["slots"]) for row in rows.values()) == int(rows["conflict-free"]["slots"])
    table = here(SMALL, "--compare", "--moves", "100")
    assert "conflict-free" in table
    assert "largest in a round" in table


def test_tables_are_written_and_known_again(tmp_path: Path) -> None:
    network, table = tmp_path / "network.txt", tmp_path / "slots.txt"
    network.write_text(here(SMALL, "--text"))
    assert "conflict-free: " in here(str(network), "-P", "9", "--slots", str(table), "--moves", "100")
    assert "made for this network" in here(SMALL, "-P", "9", "--check-slots", str(table))
    stale = here(SMALL, "-P", "8", "--check-slots", str(table), status=1)
    assert "another network, routing or placement" in stale


def test_bad_input_is_refused(tmp_path: Path) -> None:
    broken = tmp_path / "broken.txt"
    broken.write_text("host a s1\nhost b s2\n")
    assert "broken.txt: no path from b to a (line 2" in refused(str(broken))
    broken.write_bytes(b"\xff\xfe")
    assert "it is not text" in refused(str(broken))
    assert "No such file" in refused(str(tmp_path / "none.txt"))
    assert "not a file of up to 256 MiB" in refused("/dev/zero")
    assert "100000 ranks: orders are compared and computed for up to 8192" in refused(
        SMALL, "--compare", "-P", "100000"
    )
    assert "is no file, and no network: expected a network" in refused("mesh")
    assert 'unknown host "x"' in refused(SMALL, "--place", "x")
    assert "expected destination, first, hash" in refused(SMALL, "--routing", "magic")
    assert "has no effect without --compare" in refused(SMALL, "--csv")
    assert "cannot serve P = 40" in refused(SMALL, "--compare", "--spec", "direct(order=xor)", "--moves", "0")
    (tmp_path / "file").touch()
    unwritable = refused(SMALL, "--slots", str(tmp_path / "file" / "where"), "--moves", "0")
    assert unwritable.endswith("give a place that can be written to by --slots")
