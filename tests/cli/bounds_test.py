"""What exchanges hold at most, as commands print it."""

import csv
import io

from cli.command import swapmeet

from swapmeet import _core


def test_show_and_explain_say_what_the_exchange_holds() -> None:
    shown = swapmeet("show", "pairwise", "-P", "8", "--nodes", "4").stdout
    assert "A rank: at most 2 requests outstanding, 7 peers, 0 scratch blocks; 3 messages with 3 blocks" in shown
    assert "All ranks of a node: at most 8 requests outstanding, 28 peers" in shown
    said = swapmeet("explain", "-P", "8", "-S", "512", env={"SWAPMEET_ALGORITHM": "spread-out"}).stdout
    assert "7 messages with 7 blocks may arrive before their receives are posted (7,168 B)" in said


def test_show_and_explain_print_bounds_of_unequal_blocks() -> None:
    """K = 6 messages with D = 24 blocks, each announced; an agreement of 4 messages."""
    bound = "16 messages may arrive before their receives are posted, with ≤ 24 times the largest block and ≤ 4 times"
    assert bound in " ".join(swapmeet("show", "tuna", "-P", "16").stdout.split())
    asked = ("explain", "-P", "16", "--collective", "alltoallv")
    assert bound in swapmeet(*asked, env={"SWAPMEET_ALGORITHM": "tuna"}).stdout
    rows = list(csv.DictReader(io.StringIO(swapmeet("model", "tuna", "-P", "16", "--csv").stdout)))
    assert [rows[0][f"unequal_early_{name}"] for name in ("messages", "blocks", "sums")] == ["16", "24", "4"]
    assert "where blocks are of unequal size" in swapmeet("algorithms").stdout


def test_model_and_algorithms_have_a_table_of_bounds() -> None:
    rows = list(csv.DictReader(io.StringIO(swapmeet("model", "pairwise", "-P", "64,131072", "--csv").stdout)))
    few, many = (_core.certify(_core.parse_spec("pairwise"), ranks).rank for ranks in (64, 131072))
    assert [(row["early_messages"], row["bounds_exact"]) for row in rows] == [
        (str(few.early_messages), "1"),
        (str(many.early_messages), "0"),
    ]
    assert f"≤ {many.early_messages:,}" in swapmeet("model", "pairwise", "-P", "131072").stdout
    assert "early messages" not in swapmeet("model", "bruck", "-P", "8", "--rounds").stdout
    assert "At most, on 64 ranks in nodes of 8" in swapmeet("algorithms").stdout


def test_long_lists_have_closed_forms() -> None:
    rows = list(csv.DictReader(io.StringIO(swapmeet("model", "pairwise", "-P", "2:64", "--csv").stdout)))
    assert len(rows) == 63
    assert {row["bounds_exact"] for row in rows[2:]} == {"0"}
