"""Evidence between runs: its text, how it is put together, and what follows from it."""

from __future__ import annotations

import math
import statistics
from typing import Any

import pytest
from evidence import A2A, A2AV, BAD, DAY, GOOD, KEY, PAIRWISE, SPECS, took
from hypothesis import given
from hypothesis import strategies as st

from swapmeet import _core
from swapmeet.choose import memory


@st.composite
def evidences(draw: Any) -> _core.Evidence:
    nodes, per_node, more = draw(st.integers(1, 99)), draw(st.integers(1, 99)), draw(st.integers(0, 3))
    collective = draw(st.sampled_from([A2A, A2AV]))
    ranks = max(2, nodes * per_node + (more * (nodes - 1) if nodes > 1 else 0))
    return took(
        draw(st.sampled_from(SPECS)),
        draw(st.floats(0.01, 1e9)),
        collective=collective,
        ranks=ranks,
        nodes=nodes,
        per_node=(per_node, max(2, per_node) if nodes == 1 else per_node + max(more, 1)),
        size_class=draw(st.integers(0 if collective == A2A else -1, 40)),
        calls=draw(st.integers(1, 10**6)),
        spread_s=draw(st.floats(0, 1000)),
        by=draw(st.sampled_from(["calibration", "trial", "tune"])),
        date=draw(st.integers(946684800, 253402300799)),
        made=draw(st.integers(0, 10**9)),
        program=draw(st.integers(0, 2**64 - 1)),
    )


@given(st.lists(evidences(), max_size=30))
def test_a_text_says_what_was_written(all: list[_core.Evidence]) -> None:
    assume = [one for one in all if one.plausible]
    assert len(assume) == len(all)
    read = _core.parse_memory(_core.memory_text(KEY, all))
    assert read.key == KEY and (read.lines, read.unusable, read.problem) == (len(all), 0, "")
    assert [one.line for one in read.evidence] == [one.line for one in all]
    for one, written in zip(read.evidence, all, strict=True):
        assert one.mean_s == pytest.approx(written.mean_s, rel=1e-5) and one.date == written.date
        assert (one.collective, one.ranks, one.nodes, one.per_node, one.size_class, one.spec, one.calls, one.by) == (
            written.collective, written.ranks, written.nodes, written.per_node, written.size_class, written.spec,
            written.calls, written.by,
        )  # fmt: skip
        assert (one.made, one.program) == (written.made, written.program if written.made else 0)


def test_a_line_reads_as_it_is() -> None:
    assert took("pairwise", 12.3, spread_s=4e-7).line == (
        f"took: alltoall ranks=64 nodes=8 per-node=8 bytes=64 use={_core.parse_spec('pairwise')} calls=9 "
        "mean_us=12.3 spread_us=0.4 by=trial date=2026-01-02T03:04:05Z"
    )
    assert took(made=200, program=0xABC).line == took().line + " made=200 program=0000000000000abc"


@pytest.mark.parametrize(("word", "other", "problem"), BAD)
def test_what_cannot_be_true_is_left_out(word: str, other: str, problem: str) -> None:
    bad = GOOD.replace(word, other, 1)
    assert bad != GOOD
    with pytest.raises(ValueError, match=problem):
        _core.parse_evidence(bad)
    read = _core.parse_memory(_core.memory_text(KEY, [took("pairwise"), took()]) + bad + "\n" + GOOD + "\n")
    assert (read.lines, read.unusable, len(read.evidence)) == (4, 1, 3)
    assert "(line 8, column" in read.problem


@pytest.mark.parametrize(
    "text", ["", "\n", "swapmeet-memory 2\n", "swapmeet-memory 10\n", "swapmeet-tuning 1\n", "\0" * 99]
)
def test_another_format_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="of another version|no memory of Swapmeet"):
        _core.parse_memory(text)


@pytest.mark.parametrize("part", ["mpi", "machine", "library"])
def test_a_file_names_what_its_times_hold_for(part: str) -> None:
    lines = _core.memory_text(KEY, [took()]).splitlines(keepends=True)
    with pytest.raises(ValueError, match="a line mpi:, machine: or library: is missing"):
        _core.parse_memory("".join(line for line in lines if not line.startswith(f"{part}:")))


@given(st.binary(max_size=300), st.integers(0, 600))
def test_no_text_is_too_bad(noise: bytes, place: int) -> None:
    text = _core.memory_text(KEY, [took(spec) for spec in SPECS]).encode()
    text = text[:place] + noise + text[place:]
    try:
        read = _core.parse_memory(text.decode("latin-1"))
    except ValueError:
        return
    assert read.lines == len(read.evidence) + read.unusable
    assert all(one.plausible for one in read.evidence)


def test_a_line_that_is_cut_off_is_none() -> None:
    text = _core.memory_text(KEY, [took(), took("pairwise")])
    for end in range(text.rindex("took:"), len(text)):
        read = _core.parse_memory(text[:end])
        assert [one.line for one in read.evidence] == [took().line]


@given(st.lists(st.lists(st.floats(1, 100), min_size=2, max_size=20), min_size=1, max_size=5))
def test_merging_is_as_if_all_had_been_measured_at_once(parts: list[list[float]]) -> None:
    def of(us: list[float]) -> _core.Evidence:
        deviation = statistics.stdev(us) / 1e6 / math.sqrt(len(us))
        return took(mean_us=statistics.mean(us), calls=len(us), spread_s=deviation)

    (one,) = _core.merged([of(part) for part in parts])
    everything = of([us for part in parts for us in part])
    assert (one.calls, one.mean_s) == (everything.calls, pytest.approx(everything.mean_s))
    assert one.spread_s == pytest.approx(everything.spread_s, rel=1e-6, abs=1e-12)


def test_what_is_new_is_believed() -> None:
    """However many calls there were before the machine changed."""
    known = took(mean_us=10, calls=10**12)
    for _ in range(10):
        (known,) = _core.merged([known, took(mean_us=100, calls=500)])
    assert known.mean_s > 80e-6 and known.calls <= 200


def test_how_many_calls_were_made_is_of_the_last_run_and_of_the_kind() -> None:
    known = [took(made=100), took("pairwise", made=100), took(size_class=7, made=100)]
    now = [took("pairwise", date=DAY + 9, made=2)]
    assert [one.made for one in _core.merged(known + now)] == [2, 2, 100]
    assert [one.made for one in _core.merged(now + known)] == [2, 2, 100]
    assert [one.made for one in _core.merged([*known, took("pairwise", date=DAY + 9)])] == [100] * 3


def test_measurers_and_kinds_are_kept_apart() -> None:
    all = [took(), took(by="tune"), took(size_class=7), took(nodes=4, per_node=(16, 16)), took("pairwise")]
    assert len(_core.merged(all * 3)) == len(all)


def test_bounds() -> None:
    """The slowest specs go, but never the host MPI, and then the oldest kinds."""
    windows = [took(f"direct(window={w})", 10 + w) for w in range(1, 40)]
    kept = _core.merged([*windows, took(mean_us=1000)])
    assert len(kept) == 16 and "native" in {str(one.spec) for one in kept}
    assert max(one.mean_s for one in kept if str(one.spec) != "native") < 26e-6
    kinds = [
        took(spec, ranks=2 * k, nodes=2, per_node=(k, k), date=DAY + k) for k in range(1, 800) for spec in SPECS[:2]
    ]
    kept = _core.merged(kinds)
    assert len(kept) == 1000
    assert min(one.date for one in kept) == DAY + 300
    assert len(_core.memory_text(KEY, kept)) < 512 * 1024


@given(st.integers(0, 2**40))
def test_each_size_is_in_its_class(block_bytes: int) -> None:
    least, most = _core.bytes_of_class(_core.block_class(block_bytes))
    assert least <= block_bytes <= most
    assert _core.block_class(max(least - 1, 0)) != _core.block_class(most + 1)


def test_kinds_of_shapes() -> None:
    assert _core.kind_of(A2A, 8, "") == (1, 8, 8)
    assert _core.kind_of(A2A, 8, "4") == (2, 4, 4)
    assert _core.kind_of(A2A, 7, "3+2") == (3, 2, 3)


# What follows from it


def rules(*all: _core.Evidence) -> list[tuple[str, tuple[int, int]]]:
    return [(str(best.spec), best.bytes) for best, _ in memory.certain(all)]


def test_what_is_faster_beyond_doubt_is_used() -> None:
    assert rules(took(), took("pairwise", 15)) == [(PAIRWISE, (46, 90))]
    ((best, why),) = memory.certain([took(), took("pairwise", 15)])
    assert why == "memory of 2026-01-02: 15.0 us, the host MPI 20.0 us; 9 calls"
    assert (best.rank_range, best.node_range, best.per_node) == ((64, 64), (8, 8), (8, 8))


@pytest.mark.parametrize("spread_us", [1.5, 100.0])
def test_an_interval_that_includes_a_loss_is_no_rule(spread_us: float) -> None:
    assert rules(took(), took("pairwise", 18, spread_s=spread_us / 1e6)) == []
    assert rules(took(spread_s=spread_us / 1e6), took("pairwise", 18)) == []


def test_without_the_host_mpi_nothing_follows() -> None:
    assert rules(took("pairwise", 15), took("tuna(r=2)", 1)) == []
    assert rules(took()) == []


def test_few_calls_are_none() -> None:
    assert rules(took(), took("pairwise", 15, calls=2, spread_s=0)) == []


def test_the_host_mpi_stays_where_it_is_fastest() -> None:
    assert rules(took(), took("pairwise", 21)) == [("native", (46, 90))]


def test_of_several_the_surest_is_used() -> None:
    sure, wide = took("pairwise", 10), took("tuna(r=2)", 9.5, spread_s=1e-6)
    assert rules(took(), sure, wide) == [(PAIRWISE, (46, 90))]


def test_what_was_measured_on_purpose_counts_more() -> None:
    assert rules(took(), took("pairwise", 15), took("pairwise", 30, by="tune")) == [("native", (46, 90))]


@given(st.permutations(range(11)))
def test_the_order_of_evidence_does_not_matter(order: list[int]) -> None:
    all = [took(), *(took(spec, 15 - i, size_class=k) for k in (5, 6) for i, spec in enumerate(SPECS[1:]))]
    assert rules(*(all[i] for i in order)) == rules(*all)


def test_what_a_choice_rests_on() -> None:
    few = [took(calls=1), took("pairwise", 15, calls=2)]
    of_one_node = [took(nodes=1, per_node=(64, 64)), took("pairwise", 15, nodes=1, per_node=(64, 64))]
    assert [one.line for one in _core.usable([*few, *of_one_node])] == [one.line for one in few]


def test_what_is_remembered_is_evidence_of_the_choice() -> None:
    def chosen(*known: _core.Evidence, nodes: str = "8") -> str:
        knowledge = _core.Knowledge(evidence=list(known))
        return str(_core.choose(A2A, 64, 64, _core.read_options([]), nodes=nodes, knowledge=knowledge)[0])

    by_model = chosen()
    slow = (took(), took(by_model, 60))
    assert chosen(*slow) != by_model
    assert chosen(*slow, nodes="16") == chosen(nodes="16")
    assert chosen(took(), took("pairwise", 1)) == PAIRWISE
