"""What commands make of a spec that names a network, before they launch a program with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.network.slot_tables import with_table

RING = "torus(dims=6)"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SWAPMEET_ORDER_TIME", "0.05")
    return tmp_path / "cache"


def table_of(spec: str) -> Path:
    return Path(_core.order_source(_core.parse_spec(spec))[0])


def test_other_specs_stay() -> None:
    for spec in ("auto", "native", "pairwise", "two-layer(order=groups:3)", "no spec at all"):
        assert with_table(spec, 6) == spec
        assert with_table(spec, None) == spec


@pytest.mark.parametrize("place", ["", ",place=random:3"])
def test_a_network_becomes_its_table(cache: Path, place: str) -> None:
    spec = f"leaders(order=topology({RING},routing=hash:1{place}),per-node=2,window=1)"
    made = with_table(spec, 6)
    table = table_of(made)
    assert cache in table.parents
    world = _core.parse_spec(f"direct(order=topology({RING},routing=hash:1{place}))")
    assert table.read_text() == str(_core.order_slots(world, 6))
    expected = dict(_core.parse_spec(spec).parameters) | {"order": f"topology({table})"}
    assert dict(_core.parse_spec(made).parameters) == expected
    assert with_table(made, 6) == made
    assert table_of(with_table(spec, 4)) != table


def test_hosts_of_a_real_network_have_to_be_known(tmp_path: Path) -> None:
    network = tmp_path / "network"
    network.write_text("host a s0\nhost b s0\nhost c s1\nlink s0 s1\n")
    spec = f"direct(order=topology({network}),window=1)"
    with pytest.raises(SwapmeetError, match=r"on which hosts of .* is not known; add ,place=HOSTS"):
        with_table(spec, 3)
    placed = with_table(spec.replace("),", ",place=c,a,b),"), 3)
    assert table_of(placed) != table_of(with_table(spec, 3, simulated=True))


def test_what_cannot_be_had_is_said(tmp_path: Path, cache: Path) -> None:
    spec = f"direct(order=topology({RING}),window=1)"
    with pytest.raises(SwapmeetError, match=r"for how many ranks is not known; make the table in the job"):
        with_table(spec, None)
    with pytest.raises(SwapmeetError, match=r"is no file, and no network"):
        with_table(spec.replace(RING, str(tmp_path / "none")), 6)
    with pytest.raises(SwapmeetError, match="an order of more than 4096 ranks is too large"):
        with_table(spec, 5000)
    cache.write_text("")
    with pytest.raises(SwapmeetError, match=str(cache)):
        with_table(spec.replace("dims=6", "dims=7"), 7)
