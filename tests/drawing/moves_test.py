"""Every schedule, replayed frame by frame, delivers; and what pictures say of it is what the core counts."""

from __future__ import annotations

import pytest

from swapmeet import _core
from swapmeet.draw import links
from swapmeet.draw.picture import Picture, take
from swapmeet.draw.replay import places, replay

ALIASES = [name for name, *_ in _core.aliases() if _core.parse_spec(name).family != "native"]
SHAPES = [(1, ""), (2, ""), (7, ""), (8, "4"), (6, "4+2"), (9, "cyclic:2"), (13, "5+3+1")]


def picture_of(spec: str, ranks: int, nodes: str = "") -> Picture:
    return take(_core.parse_spec(spec), ranks, nodes)


@pytest.mark.parametrize("alias", ALIASES)
def test_every_alias_delivers_what_is_counted(alias: str) -> None:
    for ranks, nodes in SHAPES:
        if _core.parse_spec(alias).unsuitable(ranks, nodes):
            continue
        picture = picture_of(alias, ranks, nodes)
        received: dict[tuple[int, int], int] = {}
        for frame in picture.frames:
            for one in [*frame.copies, *frame.messages]:
                received |= {(one.target, to - ranks): block for _, to, block in one.moves if ranks <= to < 2 * ranks}
        assert received == {(rank, source): source * ranks + rank for rank in range(ranks) for source in range(ranks)}
        sent = [message for frame in picture.frames for message in frame.messages]
        assert len(sent) == sum(schedule.messages for schedule in picture.schedules)
        assert sum(len(message.moves) for message in sent) == sum(schedule.blocks for schedule in picture.schedules)


@pytest.mark.parametrize(
    ("spec", "ranks", "nodes"),
    [
        ("tra(r=3)", 27, ""),
        ("tra(r=2)", 13, ""),
        ("bruck(dims=3x4,r=2)", 12, ""),
        ("two-layer", 16, "4"),
        ("torus", 12, ""),
    ],
)
def test_messages_move_blocks_by_the_digit_that_is_told(spec: str, ranks: int, nodes: str) -> None:
    """A message goes as far along one dimension as the digit of each of its blocks says."""
    picture = picture_of(spec, ranks, nodes)
    coordinates = _core.coordinates(picture.spec, ranks, nodes)
    for frame, number in zip(picture.frames, picture.exchanged, strict=True):
        assert (number is None) == (not frame.messages)
        if number is None:
            continue
        digit, size = picture.digits.all[number], picture.digits.sizes
        for message in frame.messages:
            for _, _, block in message.moves:
                value = picture.digits.of(*divmod(block, ranks))[number]
                ends = zip(coordinates[message.source], coordinates[message.target], strict=True)
                moved = [(b - a) % n for (a, b), n in zip(ends, size, strict=True)]
                assert moved == [value * digit.weight if d == digit.dimension else 0 for d in range(len(size))]


def test_hops_of_a_block_are_its_digits_that_are_not_zero() -> None:
    picture = picture_of("tra(r=3)", 27)
    hops = [0] * 27**2
    for frame in picture.frames:
        for message in frame.messages:
            for _, _, block in message.moves:
                hops[block] += 1
    assert hops == [sum(map(bool, picture.digits.of(*divmod(block, 27)))) for block in range(27**2)]


def test_a_window_is_what_is_in_flight_together() -> None:
    for window, rounds in (("1", 6), ("4", 2), ("all", 1)):
        for completion in ("all", "any", "test"):
            picture = picture_of(f"direct(order=shift,window={window},complete={completion})", 7)
            assert len(picture.rounds) == rounds
            assert all(len(frame.messages) <= 7 * (6 if window == "all" else int(window)) for frame in picture.rounds)


def test_messages_that_do_not_meet_are_told() -> None:
    step = "step window=all complete=all post=receives-first\n"
    head = "schedule ranks=2 rank={0} scratch=0 segment=0\n"
    text = f"{head}{step}  send {{1}} last send[{{1}}]\n{step}  receive {{1}} last receive[{{1}}]\n"
    schedules = [_core.parse_schedule(text.format(rank, 1 - rank)) for rank in range(2)]
    with pytest.raises(RuntimeError, match="another step"):
        replay(schedules)


def test_runs_are_read() -> None:
    assert places("send[3]", 8) == [3]
    assert places("receive[7..1/-2]", 8) == [15, 13, 11, 9]
    assert places("scratch[0..2]", 8) == [16, 17, 18]
    with pytest.raises(ValueError, match="not a run"):
        places("send[3", 8)


@pytest.mark.parametrize("window", ["1", "2", "all"])
def test_loads_of_links_are_those_of_the_core(window: str) -> None:
    network = _core.named_network("fat-tree(leaves=4,hosts=2,spines=2)")
    placed = _core.PlacedNetwork(network, placement="block", ranks=8)
    spec = _core.parse_spec(f"direct(order=shift,window={window},complete=all)")
    picture = take(spec, 8, ",".join(map(str, placed.placement)), placed)
    loads = [
        load for load, frame in zip(links.loads(placed, picture.frames), picture.frames, strict=True) if frame.messages
    ]
    largest, totals = placed.load(spec)
    assert [sum(load.get(link, 0) for load in loads) for link in range(len(totals))] == totals
    assert [max(load.values()) for load in loads] == largest


def test_titles_tell_the_phases() -> None:
    told = [title for title, _ in picture_of("node-leaders", 8, "4").titles]
    assert [title.split(": ")[1] for title in told] == [
        "leaders gather",
        "leaders exchange between nodes",
        "leaders scatter",
    ]
    told = [title for title, _ in picture_of("two-layer", 6, "4+2").titles if title.startswith("Round")]
    assert [title.split(": ")[1] for title in told] == [
        "within nodes, digit of weight 1",
        "within nodes, digit of weight 2",
        "between nodes",
    ]
    told = [title for title, _ in picture_of("two-layer", 8, "2/4").titles if title.startswith("Round")]
    assert [title.split(": ")[1] for title in told] == [
        "within nodes",
        "between nodes of a group",
        "between groups of nodes",
    ]
    title, meaning = picture_of("tra(r=2)", 8).titles[2]
    assert title == "Round 1 of 3: digit of weight 1"
    assert meaning == "8 messages with 32 blocks. Each rank sends to rank + 1 (modulo 8)."
