"""Mistakes put into a copy of the protocol's code, all in one build: which of them is made is chosen when it runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "mutants"))
from applying import Change, changed

CHANNEL, ROWS, TURNS = "node/channel.hpp", "node/rows.hpp", "engine/rows_in_turn.hpp"
NODE, ARENAS = "node/node.cpp", "node/arenas.cpp"
RACE = "at the same time"
LOST = "out of step|wait for one another for ever"


@dataclass(frozen=True)
class Mutation:
    """Replaces a text in a file of src/, as tests/mutants/applying.py has it."""

    name: str
    file: str
    old: str
    new: str
    scenario: str  #: that finds it
    finding: str  #: a pattern of what is reported


HAND_OVER = """cell.message = message;
    cell.number.store(++filled_, std::memory_order_release);"""
RAISE = """if (equal_bytes_ == 0 && !entries_.empty())
      std::memcpy(head(me_, number_) + sizeof(std::uint64_t), entries_.data(), entries_.size() * sizeof(RowEntry));
    flag_cell(me_, number_).store(my_flag_, std::memory_order_release);"""
TAKE = """transfer.pieces[0].write(0, transfer.bytes, cell->payload);
    charge(transfer.bytes, ChargeTo::receiver);
    link.out.learn(cell->acknowledged);
    in.emptied();"""
REFUSE = """acknowledgement_->refused.store(++refusals_, std::memory_order_relaxed);
    emptied();"""
FULL = "filled_ - emptied_ == ring_.cells()"
OWN_TURN = "static_cast<std::int32_t>(flag - (exchange - lead)) >= 0"
NUMBERED = "cell.number.load(std::memory_order_acquire) == emptied_ + 1"
CLOSED = "header->closed.load(std::memory_order_acquire) < part.members"
PLACE = "return transfer.link->left >= transfer.moved + arrived;"
ROW = "return exchange & (rows - 1);"


def swapped(statements: str) -> str:
    """The last statement first."""
    *first, last = statements.removesuffix(";").rsplit(";", 1)
    return f"{last}; {first[0]};"


MUTATIONS = (
    Mutation("a cell is numbered before its head is written", CHANNEL, HAND_OVER, swapped(HAND_OVER), "small", RACE),
    Mutation("a flag is raised before the list of blocks is written", ROWS, RAISE, swapped(RAISE), "rows-listed", RACE),
    Mutation(
        "a cell is emptied before its bytes are read", NODE, TAKE, f"in.emptied(); {TAKE[:-13]}", "small-one-way", RACE
    ),
    Mutation("a cell that was read is not emptied", NODE, TAKE, TAKE[:-13], "small", LOST),
    Mutation("a refusal is not counted", CHANNEL, REFUSE, "emptied();", "offers-refused", LOST),
    Mutation("a refusal is counted too late", CHANNEL, REFUSE, swapped(REFUSE), "offers-refused", LOST),
    Mutation(
        "a ring has one cell less than its sender takes",
        CHANNEL,
        FULL,
        f"{FULL} + 1",
        "small-one-way",
        f"{RACE}|{LOST}",
    ),
    Mutation("a full ring is looked at once too early", CHANNEL, FULL, f"{FULL} - 1", "one-cell", LOST),
    Mutation(
        "numbers of cells do not wrap around",
        CHANNEL,
        NUMBERED,
        NUMBERED.replace("== emptied_ +", ">= emptied_ + 0 *"),
        "small",
        "",
    ),
    Mutation("numbers of exchanges do not wrap around", TURNS, OWN_TURN, "flag >= exchange - lead", "rows-wrap", RACE),
    Mutation("a rank does not wait for the flags of others", TURNS, OWN_TURN, "true", "rows-wrap", RACE),
    Mutation("there is one row", TURNS, ROW, "return 0;", "rows", f"{RACE}|{LOST}"),
    Mutation(
        "all but one have left a part of the arena", ARENAS, CLOSED, CLOSED.replace(" <", " + 1 <"), "arenas", RACE
    ),
    Mutation("what arrives in place waits for nothing", NODE, PLACE, "return true;", "in-place", "wrong byte"),
)


def mutate(source: Path, target: Path) -> None:
    """Copy the files of src/ that have mutations, with all of them, to where an include path can begin.

    Raises
    ------
    ValueError
        If a text is not there once.
    """
    for file in sorted({mutation.file for mutation in MUTATIONS}):
        here = [Change(number, one.old, one.new) for number, one in enumerate(MUTATIONS, 1) if one.file == file]
        text = changed(file, (source / file).read_text(), here, lambda number: f"::mutation == {number}")
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        (target / file).write_text(text)


if __name__ == "__main__":
    mutate(Path(sys.argv[1]), Path(sys.argv[2]))
