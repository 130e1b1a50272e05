"""order=topology(TABLE) on real MPIs: right data on every communicator, whatever the file says; never a hang."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapmeet import _core
from swapmeet.network.slot_tables import with_table

pytestmark = pytest.mark.in_turn  # the tested code is ours, whichever the host MPI is

NETWORK = "torus(dims=4x2)"
TORUS = f"{NETWORK},place=random:3"
LIMIT_S = 60


@pytest.fixture
def exchange(launch, compiled, tallies, tmp_path: Path):
    """Run the program, require right data, and return (warnings, algorithm by communicator size, standard error)."""

    def exchange(mpi: str, algorithm: str, ranks: int = 6, rounds: int = 1, **env: str):
        variables = {
            "SWAPMEET_STATS": f"{tmp_path}/statistics.json",
            **env,
        }
        argv = [compiled(mpi, "part_orders"), str(rounds)]
        done = launch(ranks, argv, mpi=mpi, algorithm=algorithm, env=variables, timeout=LIMIT_S)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "orders: right" in done.stdout
        warnings = [line for line in done.stderr.splitlines() if "warning" in line]
        tallied = tallies(tmp_path / "statistics.json")
        served = {(tally["communicator_ranks"], tally["collective"]): tally["algorithm"] for tally in tallied}
        return warnings, served, done.stderr

    return exchange


@pytest.fixture
def tabled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A spec of a network, with its table for so many ranks, as commands make it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SWAPMEET_ORDER_TIME", "0.05")

    def tabled(algorithm: str, ranks: int = 6) -> str:
        return str(_core.parse_spec(with_table(algorithm, ranks)))

    return tabled


@pytest.mark.parametrize(
    "policy",
    [
        "window=1",
        "window=2,post=interleaved",
        "window=3,complete=any,segment=16",
        "complete=test,window=1",
        "window=all,sizes=padded",
    ],
)
def test_any_communicator_has_its_own_order(exchange, tabled, wheel: str, policy: str) -> None:
    algorithm = tabled(f"direct(order=topology({TORUS}),{policy})")
    warnings, served, _ = exchange(wheel, algorithm, rounds=2)
    assert warnings == []
    assert set(served.values()) == {algorithm}
    assert {ranks for ranks, _ in served} == {3, 6}  # and 5, on other ranks


def test_what_is_executed_is_what_is_verified(exchange, tabled, wheel: str) -> None:
    """The order of the world is the one that the tools show."""
    algorithm = f"direct(order=topology({TORUS}),window=1)"
    slots = _core.order_slots(_core.parse_spec(algorithm), 6)
    table = tabled(algorithm)
    _, _, said = exchange(wheel, table, SWAPMEET_EXPLAIN="1")
    assert Path(_core.order_source(_core.parse_spec(table))[0]).read_text() == str(slots)
    assert f"{slots.key:016x}.slots: {slots.slots} slots, {slots.bound} at least" in said


def test_a_network_is_answered_with_the_command_that_makes_its_table(exchange, wheel: str) -> None:
    """The library knows no networks; a program goes on by the automatic choice."""
    warnings, served, _ = exchange(wheel, f"direct(order=topology({TORUS}))", SWAPMEET_TRIALS="0")
    assert f'`swapmeet topology "{NETWORK}" --slots TABLE` makes one' in warnings[0]
    assert not any("topology" in spec for spec in served.values())


def test_parts_have_their_rows_of_the_table(exchange, wheel: str, tmp_path: Path) -> None:
    """Every second rank meets every second one: among six in the order of shift, these are two of the five slots."""
    rows = (" ".join("-" if to == rank else str((to - rank) % 6 - 1) for to in range(6)) for rank in range(6))
    table = tmp_path / "table"
    table.write_text("swapmeet-slots 1\nkey 1\nranks 6\nslots 5\nbound 5\n" + "\n".join(rows) + "\n")
    _, _, said = exchange(wheel, f"direct(order=topology({table}),window=1)", SWAPMEET_EXPLAIN="1")
    assert f"order for 6 ranks by {table}: 5 slots, 5 at least" in said
    assert f"order for 3 ranks by {table}: 2 slots, 2 at least" in said


def test_leaders_meet_in_the_order_of_their_nodes(exchange, tabled, wheel: str) -> None:
    algorithm = tabled(f"leaders(order=topology({TORUS}),window=1,intra=mpi)")
    warnings, served, _ = exchange(wheel, algorithm, SWAPMEET_NODES="2")
    assert warnings == []
    assert all("leaders(order=topology" in spec for spec in served.values())


@pytest.mark.parametrize(
    ("policy", "nodes"),
    [
        ("window=1,r1=all", "2"),
        ("window=2,complete=any,layout=basic,sizes=padded", "3"),
        ("window=1,intra=shm,messages=staggered", "1+2+3"),
    ],
)
def test_nodes_of_two_layers_meet_in_their_order(exchange, tabled, wheel: str, policy: str, nodes: str) -> None:
    algorithm = tabled(f"two-layer(order=topology({TORUS}),{policy})")
    warnings, served, said = exchange(wheel, algorithm, SWAPMEET_NODES=nodes, SWAPMEET_EXPLAIN="1")
    assert warnings == []
    assert set(served.values()) == {algorithm}
    assert f"order for 6 ranks by {_core.order_source(_core.parse_spec(algorithm))[0]}: " in said


def test_two_layers_that_have_no_order_are_left_to_the_mpi(exchange, tabled, wheel: str) -> None:
    warnings, served, _ = exchange(wheel, tabled(f"two-layer(order=topology({TORUS}),r2=2)"), SWAPMEET_NODES="1")
    assert warnings and all("needs a direct exchange between nodes: r2=all" in line for line in warnings)
    assert not any("topology" in spec for spec in served.values())


def test_a_table_of_sizes_is_an_order(exchange, wheel: str, tmp_path: Path) -> None:
    """What `swapmeet topology --workload` writes."""
    placed = _core.PlacedNetwork(_core.named_network(NETWORK), placement="random:3", ranks=6)
    (tmp_path / "table").write_text(str(placed.slots(moves=100, sizes=_core.workload_sizes("uniform:max=1KiB", 0, 6))))
    warnings, served, _ = exchange(wheel, f"direct(order=topology({tmp_path}/table),window=2,complete=any)")
    assert warnings == []
    assert {collective for (_, collective), spec in served.items() if "order=topology" in spec} >= {"Alltoallv"}


def hostile() -> dict[str, tuple[str, str]]:
    """(what the file says, what is said of it)"""
    table = "swapmeet-slots 1\nkey 1\nranks 4\nslots 3\nbound 3\n- 0 1 2\n2 - 0 1\n1 2 - 0\n0 1 2 -\n"
    return {
        "network": ("host a s0\nhost b s0\n", "it is no table of slots"),
        "binary": ("\0\1\2\3" * 1000, "it is no table of slots"),
        "version": (table.replace("slots 1", "slots 2"), "expected swapmeet-slots 1 (line 1"),
        "table": (table, "the table is of 4 ranks, not of 6"),
        "cut": (table[:-8], "the table is cut off"),
        "twice": (table.replace("- 0 1 2\n", "- 0 0 2\n"), "sends twice in a slot"),
        "folder": ("", "not a file"),
        "missing": ("", "there is no such file"),
    }


@pytest.mark.parametrize("kind", list(hostile()))
def test_a_bad_file_costs_a_warning(exchange, wheel: str, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "table"
    content, problem = hostile()[kind]
    if kind == "folder":
        file.mkdir()
    elif kind != "missing":
        file.write_text(content)
    warnings, served, _ = exchange(wheel, f"direct(order=topology({file}),window=2)", SWAPMEET_TRIALS="0")
    # Rank 0 of the job speaks once, and the first rank of the two communicators without it.
    assert 1 <= len(warnings) <= (5 if kind == "table" else 3)
    assert any(problem in line for line in warnings)
    for line in warnings:
        assert line.startswith("swapmeet: warning: SWAPMEET_ALGORITHM=")
        assert "; using the automatic choice on such communicators" in line
    assert not any("topology" in spec for spec in served.values())


def test_one_warning_for_the_world(launch, compiled, wheel: str, tmp_path: Path) -> None:
    argv = [compiled(wheel, "calls"), "alltoall=3", "alltoallv=2"]
    algorithm = f"direct(order=topology({tmp_path}/none))"
    done = launch(4, argv, mpi=wheel, algorithm=algorithm, env={"SWAPMEET_TRIALS": "0"}, timeout=LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len([line for line in done.stderr.splitlines() if "swapmeet" in line]) == 1


def test_a_huge_file_is_refused(exchange, wheel: str, tmp_path: Path) -> None:
    file = tmp_path / "network"
    with file.open("wb") as sparse:
        sparse.truncate(1 << 30)
    warnings, _, _ = exchange(wheel, f"direct(order=topology({file}))", SWAPMEET_TRIALS="0")
    assert "more than 256 MiB" in warnings[0]


@pytest.mark.parametrize("place", ["block:3", "cyclic:2", "n7,n6,n5,n4,n3,n2"])
def test_a_stale_placement_gives_right_answers(exchange, wheel: str, tmp_path: Path, place: str) -> None:
    """A table that was made for other hosts."""
    placed = _core.PlacedNetwork(_core.named_network(NETWORK), placement=place, ranks=6)
    table = tmp_path / "table"
    table.write_text(str(placed.slots(moves=100)))
    warnings, served, _ = exchange(wheel, f"direct(order=topology({table}),window=1)")
    assert warnings == []
    assert all("order=topology" in spec for spec in served.values())


def test_rules_of_tuning_files(exchange, tabled, wheel: str, tmp_path: Path) -> None:
    from swapmeet.mpi import mpis

    mpi = mpis.find(wheel)
    file = tmp_path / "tuning"
    rule = "rule: alltoall ranks=2..8 use={}\n"
    head = f"swapmeet-tuning 1\nmpi: {mpi.kind} {mpi.version}\nmachine: {_core.machine_signature()}\n"
    file.write_text(head + rule.format(tabled(f"direct(order=topology({TORUS}),window=1)")) + "end\n")
    warnings, served, _ = exchange(wheel, "auto", SWAPMEET_TUNING_FILE=str(file))
    assert warnings == []
    assert {spec.partition("(")[2][:14] for (_, c), spec in served.items() if c == "Alltoall"} == {"order=topology"}
    file.write_text(head + rule.format(f"direct(order=topology({tmp_path}/none),window=1)") + "end\n")
    warnings, served, _ = exchange(wheel, "auto", SWAPMEET_TUNING_FILE=str(file))
    assert warnings and all("tuning file " in line and "there is no such file" in line for line in warnings)
    assert not any("topology" in spec for spec in served.values())
