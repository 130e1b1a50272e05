"""Networks: generators, the text form, readers of foreign files, routes, placements, and the load of links."""

from __future__ import annotations

import collections
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limits import examples

from swapmeet import _core


def neighbours(network: _core.Network) -> dict[str, set[str]]:
    found = collections.defaultdict(set)
    for a, b, _ in network.links:
        found[network.names[a]].add(network.names[b])
    return found


def switches(network: _core.Network) -> list[str]:
    return network.names[network.hosts :]


# Generators


@pytest.mark.slow
@pytest.mark.parametrize("q", [3, 4, 5, 7, 8, 9, 11, 13, 16])
def test_slim_fly_has_the_size_degree_and_diameter_of_the_paper(q: int) -> None:
    network = _core.named_network(f"slim-fly(q={q},hosts=1)")
    delta = {0: 0, 1: 1, 3: -1}[q % 4]
    adjacent = neighbours(network)
    assert network.hosts == len(switches(network)) == 2 * q * q
    assert {len(adjacent[s]) - 1 for s in switches(network)} == {(3 * q - delta) // 2}
    assert network.diameter() == 2
    assert all(s in adjacent[t] for s in adjacent for t in adjacent[s])


def test_slim_fly_of_a_prime_by_its_formula() -> None:
    """q = 5: X = {1, 4}, X' = {2, 3}; (0,x,y) ~ (1,m,c) iff y = mx + c."""
    adjacent = neighbours(_core.named_network("slim-fly(q=5,hosts=1)"))
    for x, y in itertools.product(range(5), repeat=2):
        across = {f"b{m}.{c}" for m in range(5) for c in range(5) if (m * x + c) % 5 == y}
        assert {n for n in adjacent[f"a{x}.{y}"] if n[0] != "n"} == across | {f"a{x}.{(y + d) % 5}" for d in (1, 4)}
        assert {n for n in adjacent[f"b{x}.{y}"] if n[0] == "b"} == {f"b{x}.{(y + d) % 5}" for d in (2, 3)}


@pytest.mark.parametrize("q", [2, 6, 10, 12, 15])
def test_slim_fly_refuses_other_numbers(q: int) -> None:
    with pytest.raises(ValueError, match=f"q must be a prime power of the form 4w-1, 4w or 4w.1.*not {q}"):
        _core.named_network(f"slim-fly(q={q})")


def test_fat_trees() -> None:
    network = _core.named_network("fat-tree(leaves=4,hosts=6,spines=3,parallel=2)")
    assert (network.hosts, len(switches(network)), network.diameter()) == (24, 7, 2)
    assert all(c == (2 if min(a, b) >= network.hosts else 1) for a, b, c in network.links)
    network = _core.named_network("fat-tree3(pods=4,leaves=2,hosts=2,aggregations=2,cores=2)")
    assert (network.hosts, len(switches(network)), network.diameter()) == (16, 4 * 4 + 4, 4)
    adjacent = neighbours(network)
    assert adjacent["core1.0"] == {f"aggregation{pod}.1" for pod in range(4)}
    assert adjacent["leaf2.1"] == {"aggregation2.0", "aggregation2.1", "n10", "n11"}


@pytest.mark.parametrize(("a", "p", "h", "g"), [(4, 2, 2, 9), (4, 1, 2, 5), (3, 1, 1, 4), (2, 1, 3, 3), (4, 1, 1, 1)])
def test_every_two_groups_of_a_dragonfly_have_as_many_links(a: int, p: int, h: int, g: int) -> None:
    network = _core.named_network(f"dragonfly(a={a},p={p},h={h},g={g})")
    assert (network.hosts, len(switches(network))) == (a * p * g, a * g)
    between: collections.Counter[tuple[str, str]] = collections.Counter()
    ports: collections.Counter[int] = collections.Counter()
    for s, t, capacity in network.links:
        groups = tuple(network.names[v].partition(".")[0] for v in (s, t))
        if min(s, t) >= network.hosts and groups[0] != groups[1]:
            between[groups] += capacity
            ports[s] += capacity
    assert set(between.values()) <= {a * h // max(1, g - 1)}
    assert len(between) == g * (g - 1)
    assert max(ports.values(), default=0) <= h


def test_dragonflies_are_balanced_by_default() -> None:
    assert _core.named_network("dragonfly(a=4,p=2,h=2)") == _core.named_network("dragonfly(a=4,p=2,h=2,g=9)")


@pytest.mark.parametrize(("dims", "degree", "diameter"), [("5", 2, 2), ("4x4", 4, 4), ("2x3x4", 5, 4), ("1x2", 1, 1)])
def test_torus(dims: str, degree: int, diameter: int) -> None:
    network = _core.named_network(f"torus(dims={dims})")
    adjacent = neighbours(network)
    assert {len(adjacent[s]) - 1 for s in switches(network)} == {degree}
    assert network.diameter() == diameter


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("slimfly(q=5)", "expected a network: slim-fly, fat-tree, fat-tree3, dragonfly, torus .column 1."),
        ("slim-fly(q=5,p=4)", "expected one of q, hosts=1 .column 14."),
        ("slim-fly(hosts=4)", "expected q=NUMBER"),
        ("slim-fly(q=5,q=5)", "each parameter once, not q again"),
        ("slim-fly(q=)", "expected a number from 2 to 1048576 .column 12."),
        ("slim-fly(q=5", "expected .*at the end .column 13."),
        ("torus(hosts=2)", "expected dims="),
        ("torus(dims=4x0)", "sizes of dimensions"),
        ("torus(dims=1024x1024x2)", "more than 1048576 hosts and switches"),
        ("dragonfly(a=2,p=1,h=1,g=4)", "g must not be more than a.h.1 = 3"),
    ],
)
def test_names_that_are_wrong(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        _core.named_network(text)


# The text form

NAMES = (
    "slim-fly(q=4,hosts=2)",
    "fat-tree(leaves=3,hosts=2,spines=2,parallel=3)",
    "fat-tree3(pods=2,leaves=2,hosts=2,aggregations=2,cores=1)",
    "dragonfly(a=3,p=1,h=1)",
    "torus(dims=3x2x2,hosts=2)",
)


@pytest.mark.parametrize("name", NAMES)
def test_text_reads_back(name: str) -> None:
    network = _core.named_network(name)
    assert _core.parse_network(str(network)) == network


@st.composite
def networks(draw: st.DrawFn) -> str:
    """A connected network in our text form: a random tree of switches, more links, one-way ones too, hosts anywhere."""
    count = draw(st.integers(1, 7))
    arcs = {(draw(st.integers(0, i - 1)), i) for i in range(1, count)}
    more = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda ends: ends[0] < ends[1])
    arcs |= set(draw(st.lists(more, max_size=6))) if count > 1 else set()
    capacity = st.sampled_from(("", " 1", " 2", " 3"))
    lines = [f"link s{a} s{b}{draw(capacity)}" for a, b in sorted(arcs)]
    for a, b in draw(st.lists(more, max_size=3, unique=True)) if count > 1 else []:
        if (a, b) not in arcs:
            lines.append(f"arc s{b} s{a}{draw(capacity)}")
    for host in range(draw(st.integers(1, 7))):
        homes = draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=2, unique=True))
        lines += [f"host h{host} s{home}{draw(capacity)}" for home in homes]
    return "\n".join(draw(st.permutations(lines))) + "\n"


@pytest.mark.slow
@given(networks())
@settings(max_examples=examples(100))
def test_text_of_any_network_reads_back(text: str) -> None:
    network = _core.parse_network(text)
    assert _core.parse_network(str(network)) == network
    assert str(_core.parse_network(str(network))) == str(network)


SMALL = "host a s1\nhost b s2\nlink s1 s2 2\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "there is no host"),
        ("switch s\n", "there is no host .line 1"),
        ("hosts a s\n", 'expected switch, host, link, arc or route, found "hosts" .line 1, column 1'),
        ("host a\n", r"expected host NAME SWITCH \[CAPACITY\] .line 1, column 7"),
        ("host a s 0\n", 'expected a capacity from 1 to 65535, found "0" .line 1, column 10'),
        ("host a s 1.5\n", 'found "1.5"'),
        ("host a s 1 2\n", r"expected host NAME SWITCH \[CAPACITY\]"),
        (SMALL + "host c a\n", "a is a host: hosts are linked to switches .line 4, column 8"),
        (SMALL + "host s1 s2\n", "s1 is a switch .line 4, column 6"),
        (SMALL + "link a s2\n", "a is a host: write host a SWITCH .line 4, column 6"),
        (SMALL + "switch s1 a\n", "a is a host .line 4, column 11"),
        (SMALL + "link s2 s1\n", "a second link from s2 to s1: .* .line 4, column 1"),
        (SMALL + "arc s1 s2\n", "a second link"),
        (SMALL + "host a s1\n", "a second link from a to s1"),
        (SMALL + "link s1 s1\n", "a link from s1 to itself .line 4, column 9"),
        (SMALL + "# far away\nhost c s9\n", "no path from c to a .line 5|no path from a to c .line 1"),
        (SMALL + "arc s2 s3\nhost c s3\n", "no path from c to a .line 5"),
        (SMALL + "route s1 c s2\n", "unknown host c .line 4, column 10"),
        (SMALL + "route s7 b s2\n", "unknown switch s7"),
        (SMALL + "route a b s2\n", "a is a host: it passes nothing on"),
        (SMALL + "route s1 s2 s2\n", "s2 is a switch: routes lead to hosts"),
        (SMALL + "route s1 b b\n", "there is no link from s1 to b"),
        (SMALL + "route s1 b a\n", "a is another host"),
        (SMALL + "route s1 b\n", "expected route SWITCH HOST NEXT"),
        (SMALL + "route s1 b s2\nroute s1 b s2\n", "two routes from s1 to b"),
    ],
)
def test_texts_that_are_wrong(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        _core.parse_network(text)


# Foreign files

SLURM = """# two leaves
SwitchName=leaf0 Nodes=n[00-02],gpu1
SwitchName=leaf1 Nodes=n[03-04] LinkSpeed=100
SwitchName=top Switches=leaf[0-1]
"""


def test_slurm_trees_have_no_taper() -> None:
    network = _core.parse_network(SLURM)
    assert network.names == ["n00", "n01", "n02", "gpu1", "n03", "n04", *network.names[6:]]
    named = {(network.names[a], network.names[b]): capacity for a, b, capacity in network.links}
    assert (named["leaf0", "top"], named["top", "leaf1"], named["n03", "leaf1"]) == (4, 2, 1)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SwitchName=a Nodes=n[0-\n", r'"\[" without "\]" .line 1, column 21'),
        ("SwitchName=a Nodes=n[3-1]\n", "expected a range"),
        ("SwitchName=a Nodes=n1 Speed=1\n", 'found "Speed" .line 1, column 23'),
        ("SwitchName=a\n", "neither Nodes= nor Switches="),
        ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "switch a a second time .line 2"),
        ("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\nSwitchName=c Switches=a,b\n", "host n1 a second time .line 2"),
        ("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n", "no path from a to b .line 2"),
        ("SwitchName=a Switches=b\n", "unknown switch b below a .line 1"),
        ("SwitchName=a Switches=b Nodes=n1\nSwitchName=b Switches=a\n", "is below itself"),
    ],
)
def test_slurm_files_that_are_wrong(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        _core.parse_network(text)


INFINIBAND = """#
# Topology file: generated on Sun Jan  5 12:00:00 2025
#
vendid=0x2c9
devid=0xc738
sysimgguid=0x2c90300ad8f00
switchguid=0x2c90300ad8f00(2c90300ad8f00)
Switch\t36 "S-0001"\t\t# "MF0;leaf1:SX6036/U1" enhanced port 0 lid 1 lmc 0
[1]\t"H-0001"[1](1) \t\t# "node1 HCA-1" lid 4 4xFDR
[2]\t"H-0002"[1](2) \t\t# "node2 HCA-1" lid 5 4xFDR
[35]\t"S-0002"[1]\t\t# "MF0;leaf2:SX6036/U1" lid 2 4xFDR
[36]\t"S-0002"[2]\t\t# "MF0;leaf2:SX6036/U1" lid 2 4xFDR

vendid=0x2c9
Switch\t36 "S-0002"\t\t# "MF0;leaf2:SX6036/U1" enhanced port 0 lid 2 lmc 0
[1]\t"S-0001"[35]\t\t# "MF0;leaf1:SX6036/U1" lid 1 4xFDR
[2]\t"S-0001"[36]\t\t# "MF0;leaf1:SX6036/U1" lid 1 4xFDR
[3]\t"H-0003"[1](3) \t\t# "node3 HCA-1" lid 6 4xEDR

Ca\t2 "H-0001"\t\t# "node1 HCA-1"
[1](1) \t"S-0001"[1]\t\t# lid 4 lmc 0 "MF0;leaf1:SX6036/U1" lid 1 4xFDR

Ca\t2 "H-0002"\t\t# "node2 HCA-1"
[1](2) \t"S-0001"[2]\t\t# lid 5 lmc 0 "MF0;leaf1:SX6036/U1" lid 1 4xFDR

Ca\t2 "H-0003"\t\t# "node3 HCA-1"
[1](3) \t"S-0002"[3]\t\t# lid 6 lmc 0 "MF0;leaf2:SX6036/U1" lid 2 4xEDR
"""


def test_cables_of_infiniband_add_up() -> None:
    network = _core.parse_network(INFINIBAND)
    assert network.names == ["node1", "node2", "node3", "leaf1", "leaf2"]
    named = {(network.names[a], network.names[b]): capacity for a, b, capacity in network.links}
    assert named["leaf1", "leaf2"] == named["leaf2", "leaf1"] == 2
    assert named["node3", "leaf2"] == 1  # 1.8 times the slowest


def test_dumps_that_are_cut_off_are_refused() -> None:
    """Wherever it ends: the line and the problem."""
    lines = INFINIBAND.splitlines(keepends=True)
    for count in range(9, len(lines) - 1):
        with pytest.raises(ValueError, match="line"):
            _core.parse_network("".join(lines[:count]))
    with pytest.raises(ValueError, match=r'unknown "H-0003": the dump does not describe it .line 18'):
        _core.parse_network(INFINIBAND[: INFINIBAND.index('Ca\t2 "H-0003"')])
    with pytest.raises(ValueError, match=r'expected \[PORT\] "GUID"\[PORT\]: the dump is cut off .line 27'):
        _core.parse_network(INFINIBAND[: INFINIBAND.rindex('"S-0002')])


# Routes


def paths(placed: _core.PlacedNetwork) -> dict[tuple[int, int], list[tuple[int, int]]]:
    links = placed.network.links
    hosts = range(placed.network.hosts)
    return {(a, b): [links[i][:2] for i in placed.path(a, b)] for a in hosts for b in hosts if a != b}


def hops(network: _core.Network, start: int) -> dict[int, int]:
    """By breadth-first search from `start`; hosts pass nothing on."""
    found = {start: 0}
    queue = collections.deque([start])
    while queue:
        at = queue.popleft()
        if at >= network.hosts or at == start:
            for a, b, _ in network.links:
                if a == at and b not in found:
                    found[b] = found[at] + 1
                    queue.append(b)
    return found


@pytest.mark.slow
@given(networks(), st.sampled_from(list(_core.Spread)), st.integers(0, 3))
@settings(max_examples=examples(100))
def test_paths_are_minimal(text: str, spread: _core.Spread, seed: int) -> None:
    placed = _core.PlacedNetwork(_core.parse_network(text), spread, seed)
    for (a, b), path in paths(placed).items():
        assert path[0][0] == a
        assert path[-1][1] == b
        assert all(first[1] == second[0] for first, second in itertools.pairwise(path))
        assert all(v >= placed.network.hosts for v, _ in path[1:])
        assert len(path) == hops(placed.network, a)[b]


def test_ties_are_broken_as_stated() -> None:
    network = _core.named_network("fat-tree(leaves=2,hosts=4,spines=4)")
    spines = {
        spread: [network.names[paths(_core.PlacedNetwork(network, spread, 1))[0, b][1][1]] for b in range(4, 8)]
        for spread in _core.Spread
    }
    assert spines[_core.Spread.first] == ["spine0"] * 4
    assert spines[_core.Spread.destination] == ["spine0", "spine1", "spine2", "spine3"]
    assert set(spines[_core.Spread.hash]) <= {"spine0", "spine1", "spine2", "spine3"}
    many = _core.named_network("fat-tree(leaves=2,hosts=40,spines=4)")
    taken = collections.Counter(path[1][1] for path in paths(_core.PlacedNetwork(many, _core.Spread.hash)).values())
    taken = collections.Counter({v: n for v, n in taken.items() if many.names[v].startswith("spine")})
    assert len(taken) == 4
    assert max(taken.values()) < 1.15 * min(taken.values())


def test_destinations_spread_over_all_cores_of_three_levels() -> None:
    placed = _core.PlacedNetwork(_core.named_network("fat-tree3(pods=4,leaves=2,hosts=2,aggregations=2,cores=2)"))
    assert placed.bound()[:2] == (15, 14)  # up: 2 hosts to 14 over 2 links
    names, links = placed.network.names, placed.network.links
    _, blocks = placed.load(direct("shift"))
    assert {n for n, (_, b, _) in zip(blocks, links, strict=True) if names[b].startswith("core")} == {12}


def test_given_routes_come_first() -> None:
    text = str(_core.named_network("torus(dims=4)"))
    placed = _core.PlacedNetwork(_core.parse_network(text + "route t0 n1 t3\nroute t3 n1 t2\n"))
    assert [placed.network.names[b] for _, b in paths(placed)[0, 1]] == ["t0", "t3", "t2", "t1", "n1"]
    assert len(paths(placed)[2, 1]) == 3
    with pytest.raises(ValueError, match="the routes from n0 to n1 go round in circles"):
        _core.PlacedNetwork(_core.parse_network(text + "route t0 n1 t3\nroute t3 n1 t0\n"))


# Placement


@pytest.mark.parametrize(
    ("text", "ranks", "hosts"),
    [
        ("", 0, [0, 1, 2, 3]),
        ("block", 6, [0, 0, 1, 1, 2, 2]),
        ("block:3", 5, [0, 0, 0, 1, 1]),
        ("cyclic", 6, [0, 1, 2, 3, 0, 1]),
        ("cyclic:2", 3, [0, 1, 0]),
        ("n2*2,n0,n2", 0, [2, 2, 0, 2]),
    ],
)
def test_placements(text: str, ranks: int, hosts: list[int]) -> None:
    network = _core.named_network("torus(dims=4)")
    assert _core.PlacedNetwork(network, placement=text, ranks=ranks).placement == hosts


def test_random_placements_are_parts_of_the_machine() -> None:
    network = _core.named_network("torus(dims=100)")
    placed = [_core.PlacedNetwork(network, placement=f"random:{seed}:2", ranks=20).placement for seed in (1, 1, 2)]
    assert placed[0] == placed[1] != placed[2]
    assert set(collections.Counter(placed[0]).values()) == {2}


@pytest.mark.parametrize(
    ("text", "ranks", "problem"),
    [
        ("n1,n9", 0, 'unknown host "n9" .column 4'),
        ("n1*0", 0, "expected a number of ranks behind . .column 4"),
        ("n1,n2", 3, "it places 2 ranks, not 3"),
        ("block:1", 5, "there is room for 4 ranks only, not 5"),
        ("block:x", 0, "expected block"),
        ("cyclic:5", 0, "there are only 4 hosts .column 8"),
        ("random", 0, "expected a seed, as in random:1"),
        ("t0", 0, 'unknown host "t0"'),
    ],
)
def test_placements_that_are_wrong(text: str, ranks: int, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        _core.PlacedNetwork(_core.named_network("torus(dims=4)"), placement=text, ranks=ranks)


def test_keys_differ_with_all_that_bears_on_slots() -> None:
    a, b = _core.named_network("torus(dims=4)"), _core.named_network("torus(dims=5)")
    keys = [
        _core.PlacedNetwork(a).key,
        _core.PlacedNetwork(b).key,
        _core.PlacedNetwork(a, _core.Spread.first).key,
        _core.PlacedNetwork(a, _core.Spread.hash, 0).key,
        _core.PlacedNetwork(a, _core.Spread.hash, 1).key,
        _core.PlacedNetwork(a, placement="cyclic", ranks=5).key,
    ]
    assert len(set(keys)) == len(keys)
    assert keys[0] == _core.PlacedNetwork(_core.parse_network(str(a)), seed=7).key


# Loads


def direct(order: str, seed: int = 0) -> _core.Spec:
    return _core.parse_spec(f"direct(order={order},window=1,seed={seed})")


def test_loads_of_slim_fly_are_those_of_the_paper() -> None:
    """Source: docs/networks.md, "Slim Fly"; all links are alike under minimal routing."""
    placed = _core.PlacedNetwork(_core.named_network("slim-fly(q=5,hosts=4)"))
    assert placed.bound()[:4] == (208, 208, 199, 199)
    largest, blocks = placed.load(direct("shift"))
    assert (len(largest), sum(largest)) == (199, 1120)
    links = placed.network.links
    assert {n for n, (a, b, _) in zip(blocks, links, strict=True) if min(a, b) >= 200} == {208}
    assert {n for n, (a, b, _) in zip(blocks, links, strict=True) if min(a, b) < 200} == {199}
    totals = [sum(placed.order_load(direct("random", seed))[0]) for seed in range(12)]
    assert 830 < min(totals) < 860 < max(totals) < 900, totals


@given(networks(), st.integers(0, 9), st.sampled_from(["shift", "random", "scatter"]), st.sampled_from([1, 2, 5]))
@settings(max_examples=examples(60))
def test_loads_are_those_of_a_count_by_hand(text: str, seed: int, order: str, window: int) -> None:
    network = _core.parse_network(text)
    placed = _core.PlacedNetwork(network, placement=f"random:{seed}:2")
    spec = _core.parse_spec(f"direct(order={order},window={window},seed={seed})")
    where, ranks = placed.placement, len(placed.placement)
    rounds: dict[int, collections.Counter[object]] = collections.defaultdict(collections.Counter)
    for rank in range(ranks):
        for i, (peer, _) in enumerate(_core.generate(spec, ranks, rank).steps[0][4]):
            rounds[i // window].update([("out", rank), ("in", peer)])
            if where[rank] != where[peer]:
                rounds[i // window].update(placed.path(where[rank], where[peer]))
    capacity = {i: link[2] for i, link in enumerate(network.links)}
    largest = [max(-(-n // capacity.get(r, 1)) for r, n in rounds[i].items()) for i in range(len(rounds))]  # type: ignore[call-overload]
    assert placed.load(spec)[0] == largest
    total = sum(rounds.values(), collections.Counter())
    assert placed.load(spec)[1] == [total[i] for i in range(len(network.links))]
    bound = max((-(-n // capacity.get(r, 1)) for r, n in total.items()), default=0)  # type: ignore[call-overload]
    assert placed.bound()[0] == bound <= sum(largest)


def test_loads_of_any_schedule() -> None:
    placed = _core.PlacedNetwork(_core.named_network("torus(dims=8)"))
    largest, blocks = placed.load(_core.parse_spec("bruck(radix=2)"))
    assert len(largest) == 3
    assert sum(blocks) > 0
    with pytest.raises(ValueError, match="native is the host MPI"):
        placed.load(_core.parse_spec("native"))
    with pytest.raises(ValueError, match="power of two"):
        _core.PlacedNetwork(_core.named_network("torus(dims=3)")).load(direct("xor"))
