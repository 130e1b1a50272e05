"""The map of distances: its cells, its page, and the commands that print bounds."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from cli.command import refused, swapmeet

from swapmeet import machines
from swapmeet.limits import computing, floors, page, store
from swapmeet.limits.bounding import Bounds, simulated_costs
from swapmeet.simulate.platform import platform
from swapmeet.specs import parse_spec

DOCS = Path(__file__).parents[2] / "docs"
CELLS = DOCS / "limits"


@pytest.fixture(scope="module")
def rows() -> list[computing.Row]:
    wanted = computing.platforms(["cluster", "fugaku", "cscs-slimfly"], [16, 64])
    return list(computing.estimated(wanted, (8, 4096, 262144)))


def test_no_cell_is_below_its_bound(rows: list[computing.Row]) -> None:
    assert {(row["platform"], row["ranks"]) for row in rows} == {
        (name, ranks) for name in ("cluster", "fugaku", "cscs-slimfly") for ranks in (16, 64)
    }
    for row in rows:
        assert row["unbalanced_us"] <= row["bound_us"] <= row["best_us"] <= row["mpi_us"], row


def test_committed_cells_are_those_that_are_computed(rows: list[computing.Row]) -> None:
    known = {tuple(row[key] for key in ("platform", "how", "ranks", "bytes")): row for row in store.read(CELLS)}
    for row in rows:
        other = known[row["platform"], row["how"], row["ranks"], row["bytes"]]
        assert row["bound_us"] == pytest.approx(other["bound_us"], rel=0.01)
        assert row["best_us"] == pytest.approx(other["best_us"], rel=0.01)


def test_all_committed_cells_hold_their_bounds() -> None:
    for row in store.read(CELLS):
        if row["how"] == computing.ESTIMATED:
            assert row["bound_us"] <= row["best_us"] <= row["mpi_us"], row
        assert row["unbalanced_us"] <= min(row["best_us"], row["mpi_us"]), row


def test_all_committed_specs_are_served() -> None:
    rows = [row for row in store.read(CELLS) if row["how"] != computing.SIMULATED]
    each = {name: machines.load(name).ranks_per_node or 1 for name in {row["platform"] for row in rows}}
    for name, ranks, spec in {(row["platform"], row["ranks"], row[key]) for row in rows for key in ("best", "mpi")}:
        nodes = str(each[name]) if 1 < each[name] < ranks else ""
        assert not parse_spec(spec).unsuitable(ranks, nodes), (name, ranks, spec)


def test_the_page_is_of_the_committed_cells() -> None:
    text = "\n\n".join(page.whole(CELLS, CELLS.name)) + "\n"
    assert (DOCS / "limits.md").read_text() == text
    for picture in CELLS.glob("*.png"):
        assert f"]({CELLS.name}/{picture.name})" in text and picture.stat().st_size < 200_000
    assert (CELLS / store.FILE).stat().st_size < 400_000


def test_the_command_maps_a_platform(tmp_path: Path) -> None:
    done = swapmeet("limits", "-o", str(tmp_path), "--machine", "cluster", "-P", "16")
    assert done.returncode == 0, done.stderr
    assert len(store.read(tmp_path)) == len(computing.SIZES) and (tmp_path / "cluster.png").stat().st_size > 10_000
    assert "## Work list" in swapmeet("limits", "-o", str(tmp_path), "--markdown").stdout
    assert "leave --machine" in refused("limits", "-o", str(tmp_path), "--markdown", "-P", "16")
    assert "none/cells.jsonl: No such file" in refused("limits", "-o", str(tmp_path / "none"), "--markdown")


def test_the_command_keeps_cells_of_others(tmp_path: Path) -> None:
    cells = [{"platform": name, "how": "estimate", "ranks": 16, "bytes": 8, "best_us": 1.0} for name in ("a", "b")]
    store.write(tmp_path, cells)
    newer = cells[1] | {"best_us": 0.5}
    assert store.write(tmp_path, [newer]) == store.read(tmp_path) == [cells[0], newer]


@pytest.mark.parametrize(("name", "shape"), [("fugaku", "8x8x16"), ("lumi-c", None), ("polaris", None)])
def test_orders_of_the_network_are_candidates_up_to_1024_ranks(name: str, shape: str | None) -> None:
    where = platform(name, 1024, f"torus(dims={shape},hosts=1,ordered=1)" if shape else None)
    order = f"direct(order=topology({where.topology},place=block:{where.per_node}),window=1,complete=all)"
    assert order in set(computing.specs(where))


def test_large_blocks_on_a_torus_go_in_the_order_of_its_rings() -> None:
    for row in store.read(CELLS):
        if (row["platform"], row["how"], row["ranks"]) == ("fugaku", "estimate", 1024) and row["bytes"] >= 1 << 18:
            assert row["best"].startswith("direct(order=topology(torus(dims=8x8x16,hosts=1,ordered=1)"), row
            assert row["best_us"] < 1.25 * row["bound_us"], row


def test_floors_are_between_bounds_and_estimates() -> None:
    some = [str(parse_spec(text)) for text in ("direct(window=all)", "grid", "torus")]
    computed = list(floors.cells(some, (2048, 1 << 20)))
    committed = [row for row in store.read(CELLS) if row["how"] == floors.FLOOR]
    assert [row["bytes"] for row in committed] == list(floors.SIZES)
    for row in computed + committed:
        assert row["bound_us"] <= row["floor_us"] <= row["best_us"] <= row["mpi_us"], row
        assert row["copies_us"] + row["bytes_us"] < row["best_us"], row
    direct, bounds = computed[1], Bounds(platform(floors.MACHINE, floors.RANKS))
    assert direct["floor"] == some[0] and bounds.links.blocks == pytest.approx(512)
    links_us = 512 * (1 << 20) * 1e-3 * bounds.costs.link_byte_ns
    assert links_us < direct["floor_us"] < 1.05 * links_us, "messages are little of it"


def test_model_prints_bounds() -> None:
    done = swapmeet("model", "--bound", "-P", "16,64", "-S", "8,4KiB", "--machine", "theta", "--csv")
    read = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["P"], row["block_bytes"]) for row in read] == [
        ("16", "8"),
        ("16", "4096"),
        ("64", "8"),
        ("64", "4096"),
    ]
    of = Bounds(platform("theta", 64)).of(4096)
    assert float(read[3]["bound_us"]) == pytest.approx(of.bound.us) and read[3]["binding"] == "memory"
    assert float(read[2]["bound_us"]) > float(read[2]["unbalanced_us"]) > 0
    known = {
        (row["platform"], row["ranks"], row["bytes"]): row for row in store.read(CELLS) if row["how"] == "estimate"
    }
    for row in read:
        cell = known["theta", int(row["P"]), int(row["block_bytes"])]
        assert [float(row[key]) for key in ("bound_us", "unbalanced_us")] == pytest.approx(
            [cell["bound_us"], cell["unbalanced_us"]], rel=0.01
        ), "the map's"
    shown = swapmeet("model", "--bound", "-P", "64", "-S", "8", "--machine", "theta", "--ports", "1")
    assert shown.returncode == 0 and "is estimated to be faster than the bound" in " ".join(shown.stdout.split())


def test_bounds_refuse_what_they_cannot_be_of() -> None:
    assert "--bound needs" in refused("model", "--bound", "-P", "64")
    without = refused("model", "--bound", "-P", "64", "-S", "8", "--machine", "hockney")
    assert "give a machine that has one: cluster," in without and "--network" not in without
    assert "leave SPEC out" in refused("model", "tra", "--bound", "-P", "64", "-S", "8", "--machine", "theta")
    for option in ("--seed", "--alpha", "--beta"):
        words = ("model", "--bound", "-P", "64", "-S", "8", "--machine", "theta", option, "0")
        assert f"leave {option} out" in refused(*words)
    assert "without --bound" in refused("model", "tra", "-P", "64", "--ports", "2")
    assert "--bound is a text" in refused("topology", "slim-fly(q=5,hosts=4)", "--compare", "--csv", "--bound")


def test_topology_prints_what_links_carry_at_least() -> None:
    done = swapmeet("topology", "slim-fly(q=5,hosts=4)", "--bound")
    assert done.returncode == 0 and "208.0 if all are sent directly; 208.0 at least" in done.stdout
    cut = swapmeet("topology", "fat-tree(leaves=4,hosts=4,spines=2)", "--bound").stdout
    assert "crosses the cut between 4 hosts (n0, n1, n2, n3)" in cut


def test_bounds_are_not_rounded_up(tmp_path: Path) -> None:
    """4 ranks at each end of a link of capacity 3: 16 blocks over 3."""
    lines = ["link a b 3", *(f"host n{i} {'a' if i < 4 else 'b'}" for i in range(8))]
    (tmp_path / "network").write_text("\n".join(lines))
    shown = swapmeet("topology", str(tmp_path / "network"), "--bound").stdout
    assert "5.3 if all are sent directly; 5.3 at least" in shown and "at least 7 slots (links 6, " in shown
    told = json.loads(swapmeet("topology", str(tmp_path / "network"), "--bound", "--json").stdout)["link_bound"]
    assert [told["direct_blocks"], told["forwarded_blocks"]] == pytest.approx([16 / 3, 16 / 3])


@pytest.mark.slow
def test_bounds_of_simulations_are_without_what_they_may_not_charge() -> None:
    where = platform("fugaku", 64)
    costs = simulated_costs(where)
    assert (costs.overlap, costs.contention, costs.between.cold_us, costs.between.handshake_trips) == (1, 1, 0, 0)
    assert Bounds(where, costs).of(8).bound.us < Bounds(where).of(8).bound.us - 11, "without the 11.1 us of a call"
