"""Prices: special cases that the papers print, limits, and messages followed event by event."""

import itertools
import math
from collections import defaultdict

import pytest
from core.flow_test import listed

from swapmeet import _core, machines
from swapmeet.model import hockney

THETA = hockney.AlphaBeta(22.9, 11)  #: a fit of the two times that `tra` gives for Theta
SPECS = ("direct", "pairwise", "tra", "bruck", "two-layer", "leaders", "grid", "random-segmented", "bruck-zero-copy-dt")


def price(
    text: str, ranks: int, size: int, machine: _core.MachineCosts, model: str = "hockney", nodes: str = ""
) -> float:
    return _core.Work(_core.parse_spec(text), ranks, nodes).price(machine, model, size).total


def test_formula_of_the_papers() -> None:
    """T = alpha * K + beta * D * S, of every spec, with or without nodes, under every model."""
    costs = THETA.costs
    for text, ranks, size in itertools.product(
        ("pairwise", "tra", "radix", "bruck(radix=3,window=1)"), (1, 2, 24, 2048), (0, 1, 500)
    ):
        counts = _core.count(_core.parse_spec(text), ranks)
        expected = THETA.time_us(counts.messages, counts.blocks * size)
        for model, nodes in itertools.product(_core.models(), ("", "8")):
            assert price(text, ranks, size, costs, model, nodes) == pytest.approx(expected), (text, model, nodes)


def test_formula_of_two_layers() -> None:
    """K1 and K2 of `tra` with the costs of their messages: within nodes, and between them."""
    machine = _core.MachineCosts()
    machine.within.latency_us, machine.within.byte_ns = 0.5, 0.1
    machine.between.latency_us, machine.between.byte_ns = 20, 11
    for q, n, r1, r2 in ((64, 32, 8, 32), (16, 16, 4, 2), (10, 7, 3, 3)):
        p, size = q * n, 128
        one, two = (_core.count(_core.parse_spec(f"bruck(radix={r})"), ranks) for ranks, r in ((q, r1), (n, r2)))
        expected = one.messages * 0.5 + two.messages * 20 + 1e-3 * size * (one.blocks * n * 0.1 + two.blocks * q * 11)
        for model in _core.models():
            assert price(f"tra2(r1={r1},r2={r2})", p, size, machine, model, str(q)) == pytest.approx(expected)


def test_theta() -> None:
    """The only absolute times of `tra`: 16.17 and 7.699 ms."""
    for name, model, tolerance in (("theta-fit", "hockney", 0.005), ("theta", "max-rate", 0.03)):
        machine = machines.load(name)
        for radix, paper_us in ((2, 16170), (46, 7699)):
            found = price(f"tra(radix={radix})", 2048, 128, machine.costs, model, machine.nodes(""))
            assert found == pytest.approx(paper_us, rel=tolerance), (name, radix)


def test_equations_of_nonuniform() -> None:
    """Equations 1 and 2 for P a power of two: exact K and D, which the paper rounds up by (P + 1) / P."""
    for ranks, size in itertools.product((2, 64, 1024), (8, 500)):
        steps = math.log2(ranks)
        padded = price("padded-bruck", ranks, size, THETA.costs)
        assert padded == pytest.approx(hockney.padded_bruck_us(THETA, ranks, size) - 0.011 * steps / 2 * size)
        sizes, data = (price("two-phase-bruck", ranks, bytes_, THETA.costs) for bytes_ in (hockney.SIZE_BYTES, size))
        rounding = 0.011 * steps / 2 * (hockney.SIZE_BYTES + size)
        assert sizes + data == pytest.approx(hockney.two_phase_bruck_us(THETA, ranks, size) - rounding)


@pytest.mark.parametrize("root", [4, 16, 30, 64])
def test_first_switch(root: int) -> None:
    """P = r^2: direct wins over radix sqrt(P) once S > alpha / beta (up to the P - 1 that are no P)."""
    ranks, switch = root * root, THETA.alpha_us / (THETA.beta_ns / 1000)
    k, d = ranks - 1 - 2 * (root - 1), 2 * (root - 1) * root - (ranks - 1)
    for size in (int(switch * k / d) - 1, int(switch * k / d) + 2):
        direct, radix = (price(text, ranks, size, THETA.costs) for text in ("pairwise", f"tra(radix={root})"))
        assert (direct < radix) == (size > switch * k / d)
    assert k == d  # so the switch is alpha / beta exactly


@pytest.mark.parametrize("root", [4, 10, 16])
def test_second_switch(root: int) -> None:
    """P = r^6: radix P^(1/2) wins over P^(1/3) once S > S_2, which is about 2 * P^(-1/2) * alpha / beta."""
    ranks, a, b = root**6, root**3, root**2
    k, d = 2 * (a - 1) - 3 * (b - 1), 3 * (b - 1) * root**4 - 2 * (a - 1) * a
    switch = THETA.alpha_us / (THETA.beta_ns / 1000) * k / d
    for size, wins in ((switch * 0.9, False), (switch * 1.1, True)):
        if int(size) > 0:
            times = [price(f"tra(radix={r})", ranks, int(size) + wins, THETA.costs) for r in (a, b)]
            assert (times[0] < times[1]) == wins
    assert k / d * root**3 == pytest.approx(2, rel=2.2 / root)


def test_the_classical_max_rate() -> None:
    """Of Q ranks that send to another node: alpha + Q * bytes / min(node's rate, Q * a rank's rate)."""
    machine = machines.uniform(2, 0.1)
    machine.node_byte_ns = 0.03
    for q in (1, 2, 3, 4, 8):
        found = price(f"bruck(dims={q}x2,radix=all)", 2 * q, 1000, machine, "max-rate", str(q))
        inside = (q - 1) * (0.1 * 2) + (2 if q > 1 else 0)
        assert found == pytest.approx(inside + 2 + q * max(0.1, q * 0.03))


def followed(messages: int, window: int, size: int, link: _core.Link) -> float:
    """One rank of many that do the same: each batch sent, taken in, then the next. Times of single events."""
    now = 0.0
    left = messages
    while left > 0:
        batch = min(left, window)
        left -= batch
        core = nic = now
        arrivals = []
        for _ in range(batch):
            core += link.overhead_us
            head = max(core, nic)
            nic = head + max(link.gap_us + size * link.byte_ns / 1000, link.overhead_us)
            arrivals.append(head + size * link.byte_ns / 1000 + link.latency_us)
        for arrival in arrivals:
            core = max(core, arrival) + link.overhead_us
        now = core
    return now


def test_loggp_event_by_event() -> None:
    for o, g, latency in itertools.product((0.1, 0.5, 2), (0.05, 0.4, 3), (0.5, 5)):
        machine = machines.uniform(latency, 0.25)
        for link in (machine.between, machine.within):
            link.overhead_us, link.gap_us = o, g
        for ranks, window, size in itertools.product((2, 5, 13, 25), (1, 2, 3, 4, 6, 12, 24), (0, 100, 5000)):
            if (ranks - 1) % window:
                continue
            found = price(f"direct(window={window})", ranks, size, machine, "loggp")
            expected = followed(ranks - 1, window, size, machine.between)
            assert found == pytest.approx(expected), (o, g, latency, ranks, window, size)


def test_pipelined_event_by_event() -> None:
    """Of a rank that does as all others, what overlaps is priced as if it overlapped wholly: 12 % off at most."""
    for o, latency, byte in itertools.product((0.05, 0.3, 1), (0.5, 5, 20), (0.04, 0.1, 1)):
        machine = machines.uniform(latency, byte)
        machine.between.overhead_us = machine.within.overhead_us = o
        for ranks, window, size in itertools.product((2, 5, 17), (1, 2, 4, 16), (0, 64, 512, 4096)):
            if (ranks - 1) % window:
                continue
            found = price(f"direct(window={window})", ranks, size, machine, "pipelined", "1")
            expected = followed(ranks - 1, window, size, machine.between)
            assert 0.88 * expected < found < (1 + 1e-9) * expected, (o, latency, byte, ranks, window, size)


def test_each_message_through_shared_memory_is_waited_for() -> None:
    machine = machines.load("cluster").costs
    shared, work = machine.shared, _core.Work(_core.parse_spec("direct(intra=shm)"), 8, "8")
    found = work.price(machine, "pipelined", 0)
    assert found.latency == pytest.approx(7 * shared.latency_us)
    assert found.overhead == pytest.approx(14 * shared.overhead_us)


def max_rate_by_hand(spec: _core.Spec, ranks: int, nodes: str, size: int, machine: _core.MachineCosts) -> float:
    """Step by step over all ranks' messages: docs/models.md, without copies. All messages of a step in one batch."""
    levels = _core.parse_node_map(nodes, ranks)
    node_of = levels[0] if levels else [0] * ranks
    steps: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for rank in range(ranks):
        for step, (*_, sends, _) in enumerate(_core.generate(spec, ranks, rank, nodes).steps):
            steps[step] += [(rank, peer, sum(len(listed(run)) for run in runs)) for peer, runs in sends]
    time = 0.0
    for sent in steps.values():
        kinds = {True: machine.within, False: machine.between}
        for stays, link in kinds.items():
            rows = [row for row in sent if (node_of[row[0]] == node_of[row[1]]) == stays]

            def most(key: str, rows: list[tuple[int, int, int]] = rows) -> tuple[float, float]:
                numbers: dict[int, list[float]] = defaultdict(lambda: [0, 0])
                for source, target, blocks in rows:
                    for who in {"rank": (source, ranks + target), "node": (node_of[source], ranks + node_of[target])}[
                        key
                    ]:
                        numbers[who][0] += 1
                        numbers[who][1] += blocks * size / 1000
                return tuple(max((n[i] for n in numbers.values()), default=0.0) for i in (0, 1))  # type: ignore[return-value]

            (k, data), (node_k, node_data) = most("rank"), most("node")
            time += 2 * k * link.overhead_us
            time += k * link.gap_us if stays else max(k * link.gap_us, node_k * machine.node_message_us)
            shared = machine.memory_byte_ns if stays else machine.node_byte_ns
            time += max(data * link.byte_ns, node_data * shared)
        far = any(node_of[a] != node_of[b] for a, b, _ in sent)
        link = kinds[not far]
        largest = max((blocks * size for _, _, blocks in sent), default=0)
        time += (link.latency_us + (link.rendezvous_us if largest > link.eager_bytes else 0)) if sent else 0
    return time


@pytest.mark.parametrize("nodes", ["", "4", "4+2", "cyclic:2"])
def test_max_rate_message_by_message(nodes: str) -> None:
    """Exactly where all messages of a step stay within nodes or all leave them, and for direct exchanges."""
    machine = machines.load("polaris").costs
    machine.pack = machine.datatype = _core.Copying()
    machine.call_us = 0
    for text, ranks, size in itertools.product(
        ("direct", "two-layer", "two-layer-staggered", "leaders(window=all)", "leaders(per-node=2)"),
        (1, 2, 8, 10, 12),
        (0, 1, 300, 5000),
    ):
        spec = _core.parse_spec(text)
        if spec.unsuitable(ranks, nodes) or (text == "direct" and (ranks % 4 or "+" in nodes) and nodes):
            continue
        if spec.family == "bruck" and _core.count(spec, ranks, nodes).ranks_differ and size > 1000:
            continue  # messages differ in size: some are eager
        found = price(text, ranks, size, machine, "max-rate", nodes)
        assert found == pytest.approx(max_rate_by_hand(spec, ranks, nodes, size, machine), rel=1e-9), (
            text,
            ranks,
            size,
        )


@pytest.mark.parametrize("model", _core.models())
@pytest.mark.parametrize("text", SPECS)
def test_limits(text: str, model: str) -> None:
    """More bytes never take less time; one rank sends nothing; nothing costs nothing where all costs are 0."""
    for name in machines.names():
        machine = machines.load(name)
        times = [price(text, 96, size, machine.costs, model, "8") for size in (0, 1, 8, 100, 4096, 8193, 10**5, 10**7)]
        assert times[0] > 0 and all(b >= a * (1 - 1e-12) for a, b in itertools.pairwise(times))
        one = _core.Work(_core.parse_spec(text), 1).price(machine.costs, model, 8)
        assert one.latency == one.overhead == one.gap == one.bandwidth == 0
        assert one.total <= machine.costs.call_us + 4 * (
            machine.costs.pack.piece_us + 8 * machine.costs.pack.byte_ns / 1000
        )
    assert price(text, 96, 10**6, _core.MachineCosts(), model, "8") == 0


def test_a_sliding_window_hides_latency() -> None:
    machine = machines.load("fat-tree").costs
    for model in ("loggp", "max-rate"):
        batches, slides, at_once = (
            price(f"direct({parameters})", 97, 64, machine, model, "48")
            for parameters in ("window=4,complete=all", "window=4,complete=any", "window=all")
        )
        assert at_once <= slides * (1 + 1e-12) < batches


def test_shared_memory_and_rendezvous() -> None:
    machine = machines.load("polaris").costs
    assert price("direct(intra=auto)", 16, 64, machine, "max-rate") < price("direct", 16, 64, machine, "max-rate")
    below, above = (price("pairwise", 16, size, machine, "max-rate", "1") for size in (16384, 16385))
    assert above - below == pytest.approx(15 * machine.between.rendezvous_us, rel=0.01)


def test_rows_raise_one_flag() -> None:
    """For all that a rank writes within its node, while blocks fit."""
    costs = machines.load("polaris").costs
    others, shared = 15, costs.shared
    for model in ("hockney", "loggp", "max-rate"):
        cells, rows = (price(f"direct(intra={intra})", 16, 64, costs, model, "16") for intra in ("auto", "rows"))
        gain = (others - 1) * (shared.overhead_us + (shared.latency_us if model == "hockney" else 0))
        assert rows <= cells
        if model != "loggp":  # there its bytes may keep a rank longer than its core does
            assert cells - rows == pytest.approx(gain)
        large = [price(f"direct(intra={intra})", 16, 8193, costs, model, "16") for intra in ("auto", "rows")]
        assert large[0] == large[1]
    apart = [price(f"direct(intra={intra})", 16, 64, costs, "max-rate", "1") for intra in ("auto", "rows")]
    assert apart[0] == apart[1], "each rank is on a node of its own"


def test_refusals() -> None:
    work = _core.Work(_core.parse_spec("direct"), 4)
    with pytest.raises(ValueError, match="no model"):
        work.price(_core.MachineCosts(), "guess", 8)
    with pytest.raises(ValueError, match="negative"):
        work.price(_core.MachineCosts(), "loggp", -1)
    with pytest.raises(ValueError, match="family bruck"):
        _core.price_radices(_core.parse_spec("direct"), 4, "", [2], _core.MachineCosts(), "loggp", [8])
    with pytest.raises(ValueError, match="2 or more"):
        _core.price_radices(_core.parse_spec("tra"), 4, "", [1], _core.MachineCosts(), "loggp", [8])
    with pytest.raises(ValueError, match="no schedule"):
        _core.Work(_core.parse_spec("native"), 4)


def test_all_radices_at_once() -> None:
    machine, spec = machines.load("theta").costs, _core.parse_spec("tra")
    for model in _core.models():
        times = _core.price_radices(spec, 200, "64", [2, 15, 200], machine, model, [8, 512])
        expected = [
            [price(f"tra(radix={r})", 200, size, machine, model, "64") for size in (8, 512)] for r in (2, 15, 200)
        ]
        assert times == expected


@pytest.mark.parametrize("model", _core.models())
@pytest.mark.parametrize("nodes", ["", "8"])
@pytest.mark.parametrize("points", ["window=1", "window=5", "window=5,complete=any", "window=all"])
def test_a_grant_is_a_message_of_no_bytes(points: str, nodes: str, model: str) -> None:
    machine = machines.load("cluster").costs
    machine.call_us = machine.pack.byte_ns = machine.pack.piece_us = 0
    ranks, size = 24, 4096
    both = [price(f"direct({points})", ranks, bytes_, machine, model, nodes) for bytes_ in (0, size)]
    assert price(f"direct({points},post=granted)", ranks, size, machine, model, nodes) == pytest.approx(sum(both))
    counts = _core.count(_core.parse_spec(f"direct({points},post=granted)"), ranks)
    assert counts.grants == counts.messages == ranks - 1
    assert _core.count(_core.parse_spec(f"direct({points})"), ranks).grants == 0


def test_within_shared_memory_nothing_is_granted() -> None:
    machine = machines.load("cluster").costs
    plain, granted = (price(f"direct(window=2,intra=shm{post})", 8, 64, machine) for post in ("", ",post=granted"))
    assert granted == plain
