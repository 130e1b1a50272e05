"""order=topology(...): the grammar, where orders come from, what is verified, what is kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapmeet import _core

NETWORK = "torus(dims=3x2,hosts=2)"
POLICIES = [
    f"window={window},complete={complete},post={post}"
    for window in ("all", "1", "3")
    for complete in ("all", "any", "test")
    for post in ("receives-first", "interleaved")
]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where orders are kept: nothing is there at first."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SWAPMEET_ORDER_TIME", "0.05")
    return tmp_path / "cache" / "swapmeet" / "orders"


def direct(source: str, policy: str = "window=1") -> _core.Spec:
    return _core.parse_spec(f"direct(order=topology({source}),{policy})")


# The grammar

names = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=8)
networks = st.one_of(
    names.map(lambda name: f"/a-b/{name}.conf"),
    st.tuples(names, names, names).map(lambda n: f"{n[0]}({n[1]}=5,{n[2]}=4)"),
    st.tuples(names, names).map(lambda n: f"{n[0]}({n[1]}),x(y(),z)"),
)
routings = st.sampled_from(("", "destination", "first", "hash", "hash:7"))
places = st.sampled_from(("", "block:2", "cyclic", "random:1:3", "n3,n1*4,n3"))


@given(networks, routings, places, st.sampled_from(("direct", "leaders")))
def test_text_of_a_spec_parses_back(network: str, routing: str, place: str, family: str) -> None:
    words = network + (f",routing={routing}" if routing else "") + (f",place={place}" if place else "")
    spec = _core.parse_spec(f"{family}( order = topology( {words} ) , window=3)")
    assert _core.parse_spec(str(spec)) == spec
    assert _core.order_source(spec) == (network, "" if routing == "destination" else routing, place)
    assert dict(spec.parameters)["window"] == "3"


def test_an_order_of_a_network_is_a_queue_unless_a_spec_says_otherwise() -> None:
    def policy(spec: str) -> tuple[str, str]:
        said = dict(_core.parse_spec(spec).parameters)
        return said["window"], said["complete"]

    order = "order=topology(torus(dims=5))"
    assert policy(f"direct({order})") == ("8", "any")
    assert policy(f"direct({order},window=2)") == ("2", "all")
    assert policy(f"direct(complete=test,{order})") == ("all", "test")
    assert policy(f"direct({order},stride=all,complete=all)") == ("all", "all")
    assert policy(f"spread-out({order})") == policy(f"two-layer({order})") == ("all", "all")
    assert policy("direct(order=random)") == ("all", "all")


@given(st.text(alphabet="topolgy(),=ruinplace hash:1", max_size=40))
def test_no_source_crashes_the_parser(text: str) -> None:
    try:
        spec = _core.parse_spec(f"direct(order=topology{text},window=2)")
    except ValueError as problem:
        assert "(column " in str(problem)
    else:
        assert _core.parse_spec(str(spec)) == spec


@pytest.mark.parametrize(
    "value",
    [
        "topology",
        "topology()",
        "topology( )",
        "topology(a",
        "topology(a)b",
        "topology(a,routing=)",
        "topology(a,place=)",
        "topology(a,routing=best)",
        "topology(a,routing=hash:x)",
        "topology(,place=block)",
        "topology(a)(b)",
        "topology(/a b/c.slots)",
        "topology(a,place=b c)",
    ],
)
def test_what_is_no_source(value: str) -> None:
    with pytest.raises(ValueError, match=r"order must be shift, xor|expected \"\)\""):
        _core.parse_spec(f"direct(order={value})")


@pytest.mark.parametrize("name", ["leaders", "two-layer"])
def test_nodes_have_the_order_of_shift_by_groups_or_of_the_topology(name: str) -> None:
    assert "order" not in str(_core.parse_spec(f"{name}(order=shift)"))
    for value in ("xor", "random", "scatter", "groups:nodes"):
        with pytest.raises(ValueError, match="order must be shift, groups:N or topology"):
            _core.parse_spec(f"{name}(order={value})")


@pytest.mark.parametrize(
    ("spec", "nodes", "problem"),
    [
        ("two-layer(r2=2,", "2", "a direct exchange between nodes: r2=all"),
        ("two-layer(r2=4,", "2", "a direct exchange between nodes: r2=all"),
        ("two-layer(r2=5,", "2", ""),  # of five nodes as good as all
        ("two-layer(r2=2,", "5", ""),  # of two
        ("two-layer(r2=root,", "1", "a direct exchange between nodes: r2=all"),
        ("two-layer(", "2/10", "needs nodes in one level, and there are 2"),
        ("two-layer(dims=groups:2/10,", "", "needs nodes in one level, and there are 2"),
        ("two-layer(dims=groups:4,", "", ""),
        ("tra(", "2", "it needs dims=nodes, or groups of one size"),
        ("torus(", "", "it needs dims=nodes, or groups of one size"),
        ("grid(dims=5x2,", "", "it needs dims=nodes, or groups of one size"),
    ],
)
def test_which_exchanges_have_no_order(spec: str, nodes: str, problem: str) -> None:
    told = _core.parse_spec(f"{spec}order=topology({NETWORK}))").unsuitable(10, nodes)
    assert (problem in told) if problem else told == ""


# Verified as every schedule, and by the links


def loads_in_slots(placed: _core.PlacedNetwork, slots: _core.Slots) -> int:
    """The largest load over capacity of any link in any slot: counted here anew."""
    capacity = [capacity for *_, capacity in placed.network.links]
    load: dict[tuple[int, int], int] = {}
    for a in range(slots.ranks):
        for b in range(slots.ranks):
            if a != b:
                for link in placed.path(placed.placement[a], placed.placement[b]):
                    key = (slots.slot(a, b), link)
                    load[key] = load.get(key, 0) + 1
    return max((-(-count // capacity[link]) for (_, link), count in load.items()), default=0)


@pytest.mark.parametrize("policy", POLICIES)
def test_orders_are_verified(policy: str) -> None:
    for place, numbers in (("block", (1, 2, 3, 7, 12, 13, 24)), ("random:3:2", (5, 16)), ("cyclic:5", (11,))):
        spec = direct(f"{NETWORK},place={place}", policy)
        for ranks in numbers:
            assert _core.verify(spec, ranks).findings == [], (place, ranks)
            assert _core.order_overfull(spec, ranks) == ""


@pytest.mark.parametrize("policy", [p for p in POLICIES if "complete=all" in p])
def test_ranks_of_few_never_wait_for_ever(policy: str) -> None:
    """Every order of completion of an order that leaves ranks idle here and there."""
    spec = direct("torus(dims=4),place=random:5", policy)
    schedules = [_core.generate(spec, 3, rank) for rank in range(3)]
    verdict, _ = _core.search_orders(schedules)
    assert verdict.findings == []


@pytest.mark.parametrize("routing", ["destination", "first", "hash:3"])
@pytest.mark.parametrize("place", ["block", "block:2", "random:1:3", "cyclic:4"])
def test_no_link_carries_more_than_its_capacity(routing: str, place: str) -> None:
    spec = direct(f"{NETWORK},routing={routing},place={place}")
    seed = {"destination": _core.Spread.destination, "first": _core.Spread.first, "hash:3": _core.Spread.hash}[routing]
    for ranks in (6, 12):
        placed = _core.PlacedNetwork(_core.named_network(NETWORK), seed, 3, place, ranks)
        slots = _core.order_slots(spec, ranks)
        assert slots.key == placed.key
        assert placed.overfull(slots) == ""
        assert loads_in_slots(placed, slots) == 1
        largest, _ = placed.load(spec)
        assert (len(largest), max(largest)) == (slots.slots, 1)


def test_a_link_with_too_much_is_found() -> None:
    placed = _core.PlacedNetwork(_core.named_network("torus(dims=4)"))
    slots = _core.parse_slots(
        "swapmeet-slots 1\nkey 0\nranks 4\nslots 3\nbound 4\n- 0 1 2\n2 - 0 1\n1 2 - 0\n0 1 2 -\n"
    )
    assert loads_in_slots(placed, slots) > 1
    assert "carries more than 1 in slot" in placed.overfull(slots)


def test_batches_hold_slots() -> None:
    """With complete=all and a window of 1, slot k is step k on every rank."""
    spec = direct(NETWORK)
    slots = _core.order_slots(spec, 9)
    for rank in range(9):
        steps = _core.generate(spec, 9, rank).steps
        assert len(steps) == slots.slots
        for slot, (*_, sends, receives) in enumerate(steps):
            assert [peer for peer, _ in sends] == [to for to in [slots.to(rank)[slot]] if to >= 0]
            assert [peer for peer, _ in receives] == [source for source in [slots.source(rank)[slot]] if source >= 0]


@pytest.mark.parametrize("per_node", ["1", "2", "all"])
@pytest.mark.parametrize("policy", [p for p in POLICIES if "receives-first" in p])
def test_leaders_meet_in_slots_of_their_nodes(policy: str, per_node: str) -> None:
    spec = _core.parse_spec(f"leaders(order=topology(torus(dims=5)),per-node={per_node},{policy})")
    for ranks, nodes in ((8, "2"), (9, "4+2"), (10, "cyclic:3"), (3, "1"), (4, "4")):
        assert _core.verify(spec, ranks, nodes=nodes).findings == [], (ranks, nodes)
        assert _core.order_overfull(spec, ranks, nodes) == ""


@pytest.mark.parametrize("more", ["", "r1=2", "layout=basic,pack=datatype", "layout=zero-copy", "messages=staggered"])
@pytest.mark.parametrize("policy", [p for p in POLICIES if "receives-first" in p])
def test_nodes_of_two_layers_meet_in_slots(policy: str, more: str) -> None:
    spec = _core.parse_spec(f"two-layer(order=topology(torus(dims=5)),{policy}{',' * bool(more)}{more})")
    for ranks, nodes in ((8, "2"), (9, "4+2"), (10, "cyclic:3"), (5, "1"), (4, "4"), (1, ""), (13, "3+1+2")):
        assert _core.verify(spec, ranks, nodes=nodes).findings == [], (ranks, nodes)
        assert _core.order_overfull(spec, ranks, nodes) == ""
        shifted = _core.parse_spec(str(spec).replace("order=topology(torus(dims=5))", "order=shift"))
        for rank in range(ranks):  # only the order differs
            one, other = (_core.generate(s, ranks, rank, nodes) for s in (spec, shifted))
            assert (one.messages, one.blocks) == (other.messages, other.blocks)


@pytest.mark.parametrize("nodes", ["2", "3", "cyclic:4", "1+2+3", "0,1,0,2,3,3,4,1,2,4,0,0"])
def test_a_step_of_two_layers_holds_a_slot_of_nodes(nodes: str) -> None:
    """With complete=all and a window of 1: who sends in the k-th step between nodes, and to whom, says slot k."""
    spec = _core.parse_spec("two-layer(order=topology(torus(dims=5),place=random:2),r1=all,window=1,layout=modified)")
    groups = _core.parse_node_map(nodes, 12)[0]
    number = {group: i for i, group in enumerate(dict.fromkeys(groups))}  # by first ranks
    node_of = [number[group] for group in groups]
    slots = _core.order_slots(spec, 12, nodes)
    assert slots.ranks == len(number)
    for rank in range(12):
        schedule = _core.generate(spec, 12, rank, nodes)
        between = schedule.steps[-1 - slots.slots : -1]  # the last one unpacks
        for slot, (*_, sends, receives) in enumerate(between):
            assert {node_of[peer] for peer, _ in sends} <= {slots.to(node_of[rank])[slot]}
            assert {node_of[peer] for peer, _ in receives} <= {slots.source(node_of[rank])[slot]}
        crossing = [peer for step in schedule.steps for peer, _ in step[4] if node_of[peer] != node_of[rank]]
        assert crossing == [peer for step in between for peer, _ in step[4]]


def test_rounds_of_two_layers_are_slots() -> None:
    """The load of links, counted from what ranks send, idle slots included: a node's ranks go the same way at once."""
    placed = _core.PlacedNetwork(_core.named_network("torus(dims=5)"), placement="block:2")
    spec = _core.parse_spec("two-layer(order=topology(torus(dims=5)),r1=all,window=1)")
    slots = _core.order_slots(spec, 10, "2")
    largest, _ = placed.load(spec)
    assert (
        largest == [5] + [4] * slots.slots
    )  # a block for each rank of the other nodes and one; then 2 ranks, 2 blocks each


# Where orders come from

TABLE = "swapmeet-slots 1\nkey 0123456789abcdef\nranks 3\nslots 5\nbound 2\n- 0 4\n4 - 0\n0 4 -\n"


def test_a_table_says_the_slots(tmp_path: Path) -> None:
    file = tmp_path / "table"
    file.write_text(TABLE)
    slots = _core.order_slots(direct(str(file)), 3)
    assert (slots.slots, slots.to(0), slots.to(1)) == (2, [1, 2], [2, 0])  # slots that nobody uses are left out
    assert _core.verify(direct(str(file)), 3).proved
    assert "the table is of 3 ranks, not of 4" in direct(str(file)).unsuitable(4)


def test_all_formats_are_read(tmp_path: Path) -> None:
    slurm = tmp_path / "topology.conf"
    slurm.write_text("SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=top Switches=s[0-1]\n")
    text = tmp_path / "network"
    text.write_text(str(_core.named_network("fat-tree(leaves=2,hosts=4,spines=4)")))
    for file in (slurm, text):
        assert _core.verify(direct(str(file)), 8).proved
        assert direct(str(file)).unsuitable(8) == ""


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("host a s1\nhost b s2\n", "no path from b to a (line 2"),
        ("host a s1\nhost a s1\n", "a second link from a to s1: give the one link the capacity of both (line 2"),
        ("host a s1\nhost b s1\nhost", "expected host NAME SWITCH [CAPACITY] (line 3"),
        (
            "host a s1\nhost b s2\nlink s1 s2\nroute s1 b s2\nroute s2 b s1\n",
            "the routes from a to b go round in circles",
        ),
        ("\x1b[31mhost a s1\n", "expected switch, host"),
        (TABLE[:-6], "only 2 of 3 ranks: the table is cut off (line 7"),
        (TABLE.replace("0 4 -", "0 0 -"), "rank 2 sends twice in a slot (line 8"),
        ("", "there is no host (line 1"),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, content: str, problem: str) -> None:
    file = tmp_path / "file"
    file.write_text(content)
    told = direct(str(file)).unsuitable(3)
    assert told.startswith(f"{file}: ")
    assert problem in told
    assert "\x1b" not in told
    with pytest.raises(ValueError, match="file"):
        _core.generate(direct(str(file)), 3, 0)


def test_other_things_that_are_wrong(tmp_path: Path) -> None:
    assert "is no file, and no network: " in direct(f"{tmp_path}/none").unsuitable(3)
    assert "not a file" in direct(str(tmp_path)).unsuitable(3)
    assert 'place="x": unknown host "x"' in direct(f"{NETWORK},place=x").unsuitable(1)
    assert "it places 2 ranks, not 3" in direct(f"{NETWORK},place=n0,n1").unsuitable(3)
    assert "too many to find the routes of 4000 ranks" in direct("torus(dims=300x300,hosts=1)").unsuitable(4000)
    with pytest.raises(ValueError, match="more than 4096 ranks"):
        _core.order_slots(direct(NETWORK), 5000)


# The cache


def again(spec: _core.Spec, ranks: int) -> _core.Slots:
    """The order, made anew: the last one is remembered in the process."""
    _core.order_slots(direct("torus(dims=3)"), 2)
    return _core.order_slots(spec, ranks)


def test_orders_are_kept(cache: Path) -> None:
    spec = direct(NETWORK)
    slots = again(spec, 12)
    (file,) = (path for path in cache.iterdir() if path.stem == f"{slots.key:016x}")
    assert file.read_text() == str(slots)
    _core.order_slots(direct(NETWORK + ",place=random:1"), 12)
    assert len(list(cache.iterdir())) == 3  # with the one of again()


def backwards(slots: _core.Slots) -> str:
    """The same order backwards: conflict-free too, but not what would be computed."""
    lines, last = str(slots).splitlines(), slots.slots - 1
    rows = [" ".join(w if w == "-" else str(last - int(w)) for w in line.split()) for line in lines[5:]]
    return "\n".join([*lines[:5], *rows]) + "\n"


def test_kept_orders_are_used(cache: Path) -> None:
    spec = direct(NETWORK)
    slots = again(spec, 12)
    (cache / f"{slots.key:016x}.slots").write_text(backwards(slots))
    assert again(spec, 12).slot(0, 1) == slots.slots - 1 - slots.slot(0, 1)


@pytest.mark.parametrize("spoil", ["", "half", "key", "ranks", "foreign", "conflict", "folder"])
def test_kept_orders_that_are_wrong_are_made_anew(cache: Path, spoil: str) -> None:
    spec = direct("torus(dims=4)")
    slots = again(spec, 4)
    file = cache / f"{slots.key:016x}.slots"
    text = file.read_text()
    conflict = "slots 3\nbound 4\n- 0 1 2\n2 - 0 1\n1 2 - 0\n0 1 2 -\n"
    wrong = {
        "": "",
        "half": text[: len(text) // 2],
        "key": text.replace("key ", "key 1"),
        "ranks": str(_core.order_slots(direct("torus(dims=4)"), 3)),
        "foreign": "\x7fELF\0\0",
        "conflict": "".join(text.splitlines(keepends=True)[:3]) + conflict,
    }
    file.unlink()
    if spoil == "folder":
        (file / "in the way").mkdir(parents=True)
    else:
        file.write_text(wrong[spoil])
    assert again(spec, 4) == slots
    assert spoil == "folder" or file.read_text() == text
    assert not [other for other in cache.iterdir() if other.suffix != ".slots"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs files of another user")
def test_orders_of_another_user_are_not_used(cache: Path) -> None:
    """In a cache where he may write, he could have put any."""
    spec = direct(NETWORK)
    slots = again(spec, 12)
    file = cache / f"{slots.key:016x}.slots"
    file.write_text(backwards(slots))
    os.chown(file, 12345, 12345)
    assert again(spec, 12) == slots


def test_a_link_in_place_of_a_draft_is_not_followed(cache: Path, tmp_path: Path) -> None:
    """What is written first has a name that others can guess."""
    spec = direct(NETWORK)
    file = cache / f"{again(spec, 12).key:016x}.slots"
    file.unlink()
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for draft in (f"{file}.new", f"{file}.{os.getpid()}"):
        Path(draft).symlink_to(precious)
    again(spec, 12)
    assert precious.read_text() == "precious" and not file.is_symlink()


def test_no_cache_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    for place in (f"{tmp_path}/file", "relative", "/proc/1/none"):
        monkeypatch.setenv("XDG_CACHE_HOME", place)
        assert again(direct(NETWORK), 5).ranks == 5
