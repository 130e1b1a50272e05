"""The equations of `nonuniform`, section 3.3, against its statements and worked by hand."""

import itertools
import math

import pytest

from swapmeet import SwapmeetError, _core
from swapmeet.model import hockney
from swapmeet.model.hockney import AlphaBeta

THETA = AlphaBeta(22.9, 11)  #: a fit of the times that `tra` gives for Theta


def test_equations_by_hand() -> None:
    """P = 4, N = 100: 2 steps of 2.5 blocks. alpha = 3 us, beta = 2 ns/B."""
    machine = AlphaBeta(3, 2)
    assert hockney.padded_bruck_us(machine, 4, 100) == pytest.approx(2 * 3 + 0.002 * 2 * 2.5 * 100)
    assert hockney.two_phase_bruck_us(machine, 4, 50) == pytest.approx(4 * 3 + 0.002 * 2 * 2.5 * (4 + 50))


def test_padding_wins_below_8_bytes() -> None:
    """ "This certainly happens when N is less than 8 bytes", for every machine and number of ranks."""
    machines = [THETA, AlphaBeta(), AlphaBeta(0.001, 1000), AlphaBeta(1000, 0.001)]
    for machine, ranks, size in itertools.product(machines, (2, 3, 100, 32768), range(8)):
        assert hockney.padded_wins(machine, ranks, size)
        assert hockney.padded_bruck_us(machine, ranks, size) < hockney.two_phase_bruck_us(machine, ranks, size / 2)


def test_padding_wins_where_latency_rules() -> None:
    """Without a cost of bytes always, without a cost of messages only below 8 bytes; for less and less as P grows."""
    assert hockney.padded_wins(AlphaBeta(1, 0), 1000, 10**9)
    assert not hockney.padded_wins(AlphaBeta(0, 1), 2, 8)
    largest = [max(n for n in range(20_000) if hockney.padded_wins(THETA, p, n)) for p in (128, 1024, 8192, 32768)]
    assert largest == sorted(largest, reverse=True) and len(set(largest)) == 4


def test_equation_3_is_the_comparison_of_1_and_2() -> None:
    for ranks, size in itertools.product((2, 5, 64, 1000, 32768), (0, 7, 8, 9, 64, 500, 4096)):
        padded, two_phase = (
            hockney.padded_bruck_us(THETA, ranks, size),
            hockney.two_phase_bruck_us(THETA, ranks, size / 2),
        )
        assert math.isclose(padded, two_phase) or (padded < two_phase) == hockney.padded_wins(THETA, ranks, size)


def test_the_general_form_is_below_the_papers() -> None:
    """K is log P rounded up, and D at most log P * (P + 1) / 2."""
    for ranks in (2, 3, 4, 5, 100, 128, 4096, 5000):
        counts = _core.count(_core.parse_spec("bruck"), ranks)
        assert counts.messages == hockney.steps(ranks)
        assert counts.blocks <= hockney.blocks(ranks)
        exact = hockney.padded_us(THETA, counts.messages, counts.blocks, 100)
        assert exact <= hockney.padded_bruck_us(THETA, ranks, 100) <= exact * 1.6
    assert hockney.two_phase_us(AlphaBeta(1, 1000), 5, 10, 6) == 2 * 5 + 10 * (4 + 6)


@pytest.mark.parametrize("costs", [(-1, 0), (0, -1), (math.nan, 0), (0, math.inf)])
def test_costs_are_times(costs: tuple[float, float]) -> None:
    with pytest.raises(SwapmeetError, match="expected a time of 0 or more"):
        AlphaBeta(*costs)
