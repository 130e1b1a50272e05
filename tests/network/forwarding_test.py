"""Forwarding tables of InfiniBand switches, behind a dump of ibnetdiscover."""

from __future__ import annotations

import pytest

from swapmeet import _core

#: Two leaves with two hosts each, linked by two spines.
FABRIC = """
vendid=0x2c9
switchguid=0x1(1)
Switch 4 "S-0000000000000001" # "MF0;leaf1:MSB/U1" enhanced port 0 lid 11 lmc 0
[1] "H-00000000000000a1"[1](a1) # "n1 mlx5_0" lid 1 4xEDR
[2] "H-00000000000000a2"[1](a2) # "n2 mlx5_0" lid 2 4xEDR
[3] "S-0000000000000003"[1] # "spine1" lid 13 4xEDR
[4] "S-0000000000000004"[1] # "spine2" lid 14 4xEDR

Switch 4 "S-0000000000000002" # "leaf2" enhanced port 0 lid 12 lmc 0
[1] "H-00000000000000a3"[1](a3) # "n3 mlx5_0" lid 3 4xEDR
[2] "H-00000000000000a4"[1](a4) # "n4 mlx5_0" lid 4 4xEDR
[3] "S-0000000000000003"[2] # "spine1" lid 13 4xEDR
[4] "S-0000000000000004"[2] # "spine2" lid 14 4xEDR

Switch 2 "S-0000000000000003" # "spine1" enhanced port 0 lid 13 lmc 0
[1] "S-0000000000000001"[3] # "leaf1" lid 11 4xEDR
[2] "S-0000000000000002"[3] # "leaf2" lid 12 4xEDR

Switch 2 "S-0000000000000004" # "spine2" enhanced port 0 lid 14 lmc 0
[1] "S-0000000000000001"[4] # "leaf1" lid 11 4xEDR
[2] "S-0000000000000002"[4] # "leaf2" lid 12 4xEDR

""" + "".join(
    f'Ca 1 "H-00000000000000a{i}" # "n{i} mlx5_0"\n[1](a{i}) "S-000000000000000{1 + (i > 2)}"[{1 + (i + 1) % 2}] '
    f'# lid {i} lmc 0 "leaf" lid 1{1 + (i > 2)} 4xEDR\n\n'
    for i in (1, 2, 3, 4)
)


def table(guid: int, ports: dict[int, int]) -> str:
    """What ibroute prints: ports by lid."""
    owner = "(Channel Adapter portguid 0x00000000000000a1: 'n')"
    rows = "".join(f"0x{lid:04x} {port:03d} : {owner}\n" for lid, port in ports.items())
    return (
        f"Unicast lids [0x0-0xe] of switch Lid 1{guid} guid 0x{guid:016x} (name):\n"
        f"  Lid  Out   Destination\n       Port     Info \n{rows}{len(ports)} valid lids dumped \n"
    )


TABLES = [
    table(1, {1: 1, 2: 2, 3: 4, 4: 4, 11: 0, 12: 3}),
    table(2, {1: 3, 2: 3, 3: 1, 4: 2}),
    table(3, {1: 1, 2: 1, 3: 2, 4: 2}),
    table(4, {1: 1, 2: 1, 3: 2, 4: 2}),
]


def ways(text: str) -> dict[tuple[str, str], list[str]]:
    """The switches between each two hosts."""
    placed = _core.PlacedNetwork(_core.parse_network(text))
    names, links = placed.network.names, placed.network.links
    return {
        (names[a], names[b]): [names[links[link][1]] for link in placed.path(a, b)][:-1]
        for a in range(4)
        for b in range(4)
        if a != b
    }


@pytest.mark.parametrize("text", ["".join([FABRIC, *TABLES]), "".join([*TABLES, FABRIC])])
def test_messages_go_as_the_tables_say(text: str) -> None:
    found = ways(text)
    for (a, b), way in found.items():
        leaves = ["leaf1" if name in ("n1", "n2") else "leaf2" for name in (a, b)]
        between = [] if leaves[0] == leaves[1] else ["spine2" if leaves[0] == "leaf1" else "spine1"]
        assert way == list(dict.fromkeys([leaves[0], *between, leaves[1]])), (a, b)
    assert _core.parse_network(str(_core.parse_network(text))) == _core.parse_network(text)


def test_switches_without_a_table_route_as_others() -> None:
    assert ways(FABRIC + TABLES[0])["n1", "n3"] == ["leaf1", "spine2", "leaf2"]
    assert ways(FABRIC)["n1", "n2"] == ["leaf1"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (FABRIC + TABLES[0].replace("0x0003 004", "0x0003"), "expected LID PORT, as in 0x0001 016: the table is cut"),
        (FABRIC + TABLES[0].replace("0x0003 004", "0x0003 999"), "expected LID PORT"),
        (FABRIC + TABLES[0].partition("\n")[2], "a lid before any"),
        (FABRIC + "Unicast lids [0x0-0xe]\n", "expected Unicast lids ... guid 0xGUID"),
        (FABRIC + table(9, {1: 1}), 'unknown switch "S-0000000000000009"'),
        (FABRIC + table(1, {1: 7}), "port 7 of leaf1 leads nowhere in the dump"),
        (FABRIC + table(1, {1: 2}), "port 2 of leaf1 leads to n2, not to n1"),
    ],
)
def test_tables_that_are_wrong(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"\(line \d+") as told:
        _core.parse_network(text)
    assert problem in str(told.value)


def test_tables_that_go_in_circles() -> None:
    network = _core.parse_network(FABRIC + table(1, {3: 3, 1: 1}) + table(3, {3: 1}))
    with pytest.raises(ValueError, match="the routes from n1 to n3 go round in circles"):
        _core.PlacedNetwork(network)
