"""What an application did, in numbers that can be worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from recordings import END, communicator, exchange, single_calls, skewed, total, write

from swapmeet.measure.profiling.exchanges import distinct
from swapmeet.measure.profiling.recording import read
from swapmeet.measure.profiling.summary import Row, rows


def rows_of(folder: Path) -> list[Row]:
    recording = read([folder])
    return rows(recording, distinct(recording))


def test_numbers(tmp_path: Path) -> None:
    plain, vector = rows_of(skewed(tmp_path))
    assert (str(plain.kind), plain.kind.collective, plain.communicators, plain.calls) == (
        "MPI_COMM_WORLD, 2 ranks",
        "alltoall",
        1,
        10,
    )
    assert plain.bytes == 2 * 2 * 100 * 10
    assert plain.sizes == {100: 40}
    assert plain.rank_seconds == pytest.approx(0.18)
    assert (plain.rank_imbalance, plain.block_imbalance) == (1, 1)
    assert vector.calls == 4
    assert vector.sizes == {0: 4, 8: 8, 1000: 2, 3000: 2}
    assert [vector.quantile(q) for q in (0, 0.5, 1)] == [0, 8, 3000]
    assert vector.histogram() == pytest.approx({0: 4 / 16, 8: 8 / 16, 512: 2 / 16, 2048: 2 / 16})
    assert vector.rank_imbalance == pytest.approx((2 + 1) / 2)  # rank 0 sends all of one kind, half of the other
    assert vector.block_imbalance == pytest.approx((3 + 1) / 2)


def test_waiting_by_a_common_clock(tmp_path: Path) -> None:
    plain, vector = rows_of(skewed(tmp_path))
    assert plain.waiting is not None and vector.waiting is not None
    assert plain.waiting.clocks
    assert plain.waiting.spread == pytest.approx(0.002)
    assert plain.waiting.share == pytest.approx(2 / 18)  # rank 0 waits 2 of its 10 ms, rank 1 stays 8
    assert vector.waiting.spread == pytest.approx(0.005)


def test_waiting_without_a_common_clock(tmp_path: Path) -> None:
    lines = [communicator(0, [0, 1], "0.0"), exchange(0, 0, 8)]
    for rank, (boot, ms) in enumerate((("a", 10), ("b", 4))):
        own = [*lines, single_calls(0, [(0, 0, 500 * rank, ms, 1)]), total(0, 1, ms), END]
        write(tmp_path, {rank: own}, 2, boot=boot, clock=10**15 * rank)
    (row,) = rows_of(tmp_path)
    assert row.waiting is not None
    assert not row.waiting.clocks
    assert row.waiting.spread == pytest.approx(0.006)
    assert row.waiting.share == pytest.approx(6 / 14)
