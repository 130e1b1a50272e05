"""Schedules for people: `swapmeet show`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table

from swapmeet import _core
from swapmeet.model import bounds

MOST_COLUMNS = 8  #: ranks in the table of all ranks

Messages = Sequence[tuple[int, Sequence[str]]]


def plain(spec: _core.Spec, ranks: int, rank: int | None, nodes: str = "") -> Iterator[str]:
    """The text form, of one rank or of all one by one; each parses back."""
    for r in range(ranks) if rank is None else [rank]:
        yield str(_core.generate(spec, ranks, r, nodes))


def record(spec: _core.Spec, ranks: int, rank: int | None, nodes: str = "") -> dict[str, object]:
    """The schedule of one rank or of all, for other programs."""
    wanted = range(ranks) if rank is None else [rank]
    found = {"spec": str(spec), "ranks": ranks, "nodes": nodes}
    return found | {"schedules": [{"rank": r} | _record(_core.generate(spec, ranks, r, nodes)) for r in wanted]}


def _record(schedule: _core.Schedule) -> dict[str, object]:
    return {
        "messages": schedule.messages,
        "blocks": schedule.blocks,
        "scratch_blocks": schedule.scratch_blocks,
        "segment_bytes": schedule.segment_bytes,
        "steps": [
            {
                "window": window,
                "complete": completion,
                "post": posting,
                "copies": [{"from": source, "to": target} for source, target in copies],
                "sends": [{"rank": peer, "blocks": runs} for peer, runs in sends],
                "receives": [{"rank": peer, "blocks": runs} for peer, runs in receives],
            }
            for window, completion, posting, copies, sends, receives in schedule.steps
        ],
    }


def one_rank(spec: _core.Spec, ranks: int, rank: int, nodes: str = "") -> RenderableType:
    """What the rank copies, sends and receives in each step, messages in the order of starting."""
    schedule = _core.generate(spec, ranks, rank, nodes)
    headline = _headline(spec, schedule, f"rank {rank} of {ranks}", "the rank sends")
    parts: list[RenderableType] = [f"{headline}; scratch: {schedule.scratch_blocks} blocks"]
    parts.append(bounds.sentences(_core.certify(spec, ranks, nodes)))
    parts.append(bounds.sentence_of_unequal(bounds.of_unequal(spec, ranks, nodes)))
    for number, (window, completion, posting, copies, sends, receives) in enumerate(schedule.steps):
        copied = [f"  copy {source} to {target}" for source, target in copies]
        if sends or receives:
            table = Table("#", "send to", "blocks", "receive from", "blocks")
            for i in range(max(len(sends), len(receives))):
                if _starts_batch(i, window, completion):
                    table.add_section()
                table.add_row(str(i), *_cells(sends, i), *_cells(receives, i))
            parts += [f"step {number}: {_policy(window, completion, posting)}", *copied, table]
        elif copied:
            parts += [f"step {number}: no messages", *copied]
        else:
            parts.append(f"step {number}: nothing to do")
    parts.append(
        "Blocks are of the send buffer, the receive buffer or scratch: scratch[1..7/2] are its blocks 1, 3, 5, 7."
    )
    return Group(*parts)


def all_ranks(spec: _core.Spec, ranks: int, nodes: str = "") -> RenderableType:
    """A table for each step: the ranks that each sends to (>) and receives from (<), in the order of starting."""
    shown = min(ranks, MOST_COLUMNS)
    schedules = [_core.generate(spec, ranks, rank, nodes) for rank in range(shown)]
    who = "rank 0 sends" if _core.count(spec, ranks, nodes).ranks_differ else "each rank sends"
    parts: list[RenderableType] = [_headline(spec, schedules[0], f"{ranks} ranks", who)]
    parts.append(bounds.sentences(_core.certify(spec, ranks, nodes)))
    parts.append(bounds.sentence_of_unequal(bounds.of_unequal(spec, ranks, nodes)))
    for number in range(max(len(schedule.steps) for schedule in schedules)):
        columns = [_peers(schedule, number) for schedule in schedules]
        if not any(columns):
            copies = any(_copies(schedule, number) for schedule in schedules)
            parts.append(f"step {number}: {'copies only (--rank R shows them)' if copies else 'nothing to do'}")
            continue
        window, completion, posting, *_ = next(s for s in schedules if number < len(s.steps)).steps[number]
        table = Table("#", *(f"rank {rank}" for rank in range(shown)))
        parts.append(f"step {number}: {_policy(window, completion, posting)}; > sends to, < receives from")
        for i in range(max(map(len, columns))):
            if _starts_batch(i, window, completion):
                table.add_section()
            table.add_row(str(i), *(column[i] if i < len(column) else "" for column in columns))
        parts.append(table)
    if shown < ranks:
        parts.append(f"Ranks 0 to {shown - 1} of {ranks}: --rank R shows another, --plain all of them.")
    return Group(*parts)


def _headline(spec: _core.Spec, schedule: _core.Schedule, what: str, who: str) -> str:
    passes = f", once for each segment of {schedule.segment_bytes} bytes" if schedule.segment_bytes else ""
    return f"{spec} on {what}: {who} K = {schedule.messages} messages with D = {schedule.blocks} blocks{passes}"


def _policy(window: int, completion: str, posting: str) -> str:
    posted = "each granted by its receiver" if posting == "granted" else posting.replace("-", " ")
    if window == 0:
        return f"all messages in flight, {posted}"
    if completion == "all":
        return f"batches of {window} in each direction, {posted}"
    polling = ", polling" if completion == "test" else ""
    return f"{window} in flight in each direction, refilled when any completes{polling}, {posted}"


def _starts_batch(i: int, window: int, completion: str) -> bool:
    return completion == "all" and window > 0 and i > 0 and i % window == 0


def _cells(messages: Messages, i: int) -> tuple[str, str]:
    if i >= len(messages):
        return "", ""
    peer, runs = messages[i]
    return str(peer), " ".join(runs)


def _copies(schedule: _core.Schedule, step: int) -> bool:
    return step < len(schedule.steps) and bool(schedule.steps[step][3])


def _peers(schedule: _core.Schedule, step: int) -> list[str]:
    *_, sends, receives = schedule.steps[step] if step < len(schedule.steps) else ((), ())
    cells = []
    for i in range(max(len(sends), len(receives))):
        to = f">{sends[i][0]}" if i < len(sends) else ""
        source = f"<{receives[i][0]}" if i < len(receives) else ""
        cells.append(f"{to} {source}".strip())
    return cells
