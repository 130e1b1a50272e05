"""The automatic choice: data, the same on every rank, and never a spec that is unsuitable."""

from pathlib import Path

import pytest

from swapmeet import _core

ALL = (_core.Collective.alltoall, _core.Collective.alltoallv, _core.Collective.alltoallw)
SIZES = (0, 1, 511, 512, 4096, 16384, 16385, 1 << 20, 1 << 40)


def options(algorithm: str = "auto") -> _core.Options:
    return _core.read_options([f"SWAPMEET_ALGORITHM={algorithm}"])


@pytest.mark.parametrize("collective", ALL)
@pytest.mark.parametrize("ranks", [1, 2, 3, 63, 64, 65, 97, 4096, 1 << 20])
def test_only_suitable_specs_are_chosen(collective: _core.Collective, ranks: int) -> None:
    for block_bytes in SIZES:
        spec, reason, most_bytes = _core.choose(collective, ranks, block_bytes, options())
        assert not spec.unsuitable(ranks)
        assert reason
        assert most_bytes >= block_bytes
        assert _core.choose(collective, ranks, most_bytes, options())[0] == spec


@pytest.mark.parametrize("collective", ALL)
def test_ranks_of_a_node_share_memory_if_they_can(collective: _core.Collective) -> None:
    shared = _core.parse_spec("shared-memory")
    for ranks in (2, 3, 16, 64):
        assert _core.choose(collective, ranks, 8, options())[0] == shared
        assert _core.choose(collective, ranks, 8, options(), single_copy=False)[0] == shared
        assert _core.choose(collective, ranks, 8, options(), shared_memory=False)[0].family == "native"


@pytest.mark.parametrize(
    ("ranks", "nodes"), [(16, "4"), (32, "cyclic:8"), (11, "4+3+4"), (64, "8"), (128, "8"), (512, "64"), (4096, "64")]
)
def test_small_blocks_are_combined_where_nodes_have_several_ranks_each(ranks: int, nodes: str) -> None:
    def chosen(block_bytes: int, **means: bool) -> _core.Spec:
        return _core.choose(_core.Collective.alltoall, ranks, block_bytes, options(), nodes=nodes, **means)[0]

    for block_bytes in (0, 8, 512, 1024):
        spec = chosen(block_bytes)
        parameters = dict(spec.parameters)
        assert parameters.get("dims") == "nodes" or spec.family == "leaders"
        assert parameters["intra"] in ("shm", "auto")
    assert chosen(1 << 20).family == "native"
    assert chosen(8, shared_memory=False).family == "native", "that was never measured"


def test_a_node_of_few_ranks_has_nobody_to_send_for() -> None:
    for ranks, nodes in ((16, "1"), (16, "8+7+1")):
        spec = _core.choose(_core.Collective.alltoall, ranks, 8, options(), nodes=nodes)[0]
        assert dict(spec.parameters).get("dims") != "nodes"


def test_large_blocks_of_unequal_size_are_sent_directly() -> None:
    spec = _core.choose(_core.Collective.alltoallv, 16, 0, options(), nodes="4")[0]
    assert dict(spec.parameters)["direct"] == "1KiB"


@pytest.mark.parametrize("spec", ["direct(intra=shm)", "tra2(intra=auto)", "node-leaders(intra=cma)"])
def test_an_order_for_memory_that_cannot_be_shared_goes_to_the_mpi_underneath(spec: str) -> None:
    for collective in ALL:
        chosen, reason, _ = _core.choose(collective, 6, 8, options(spec), shared_memory=False)
        assert chosen.family == "native"
        assert "no shared memory: it is not to be had" in reason


def test_an_order_for_a_single_copy_that_is_forbidden_goes_to_the_mpi_underneath() -> None:
    chosen, reason, _ = _core.choose(_core.Collective.alltoall, 6, 8, options("direct(intra=cma)"), single_copy=False)
    assert chosen.family == "native"
    assert "no single copy: it is not to be had" in reason


def test_the_choice_changes_where_it_says(tmp_path: Path) -> None:
    file = tmp_path / "a.tuning"
    rules = ["512..16384 use=random-sendrecv", "16385.. use=random-segmented"]
    lines = [
        "swapmeet-tuning 1",
        "mpi: openmpi 5.0.11",
        f"machine: {_core.machine_signature()}",
        *(f"rule: alltoall ranks=64 bytes={rule}" for rule in rules),
        "end",
    ]
    file.write_text("\n".join(lines) + "\n")
    tuned = _core.read_options([f"SWAPMEET_TUNING_FILE={file}"], 64, "openmpi 5.0.11")
    assert tuned.problems == []
    block_bytes, seen = 0, []
    while block_bytes < 2**63 - 1:
        spec, _, most_bytes = _core.choose(_core.Collective.alltoall, 64, block_bytes, tuned, shared_memory=False)
        seen.append((str(spec), block_bytes))
        if most_bytes == 2**63 - 1:
            break
        block_bytes = most_bytes + 1
    assert [first for _, first in seen] == [0, 512, 16385]
    assert seen[0][0] == "native"


@pytest.mark.parametrize("collective", ALL)
def test_an_order_is_obeyed_at_every_size(collective: _core.Collective) -> None:
    spec, reason, most_bytes = _core.choose(collective, 7, 3, options("pairwise"))
    assert spec == _core.parse_spec("pairwise")
    assert reason == "SWAPMEET_ALGORITHM"
    assert most_bytes == 2**63 - 1


def test_an_order_that_cannot_be_obeyed_goes_to_the_mpi_underneath() -> None:
    spec, reason, _ = _core.choose(_core.Collective.alltoall, 6, 8, options("direct(order=xor)"))
    assert spec.family == "native"
    assert reason.startswith('SWAPMEET_ALGORITHM="direct(order=xor,')
    assert reason.endswith("order=xor needs a power of two of ranks, not 6")


def test_an_order_of_the_topology_that_cannot_be_had_is_given_up_wherever_it_is_asked_for() -> None:
    gone, other = "direct(order=topology(gone.slots))", "direct(order=topology(other.slots))"
    kind = {"collective": _core.Collective.alltoall, "ranks": 4, "nodes": 2, "per_node": (2, 2), "size_class": 6}
    measured = {"calls": 9, "mean_s": 1e-5, "spread_s": 1e-9, "date": 1767323045}
    evidence = [_core.Evidence(spec=_core.parse_spec(spec), **kind, **measured) for spec in (gone, "pairwise", other)]
    knowledge, automatic = _core.Knowledge(evidence=evidence), options()
    warning = _core.give_up_order(_core.parse_spec(gone), "there is no such file", automatic, knowledge)
    assert warning.startswith('measurements of earlier runs: use="direct(order=topology(gone.slots)')
    assert [str(one.spec) for one in knowledge.evidence] == [
        str(_core.parse_spec(spec)) for spec in ("pairwise", other)
    ]
    asked = options(gone)
    warning = _core.give_up_order(_core.parse_spec(gone), "there is no such file", asked, _core.Knowledge())
    assert warning.startswith("SWAPMEET_ALGORITHM=") and asked.algorithm is None


def test_a_malformed_order_goes_to_the_mpi_underneath() -> None:
    assert _core.choose(_core.Collective.alltoall, 64, 1024, options("nonsense"))[0].family == "native"


@pytest.mark.parametrize("collective", ALL)
@pytest.mark.parametrize(
    ("ranks", "nodes"), [(2, ""), (5, "2+3"), (64, "8"), (512, "16"), (4096, "64"), (96, "cyclic:12")]
)
def test_candidates_are_within_reach_and_suit_the_nodes(collective: _core.Collective, ranks: int, nodes: str) -> None:
    boundless = _core.read_options(["SWAPMEET_REQUEST_LIMIT=1000000", "SWAPMEET_UNEXPECTED_LIMIT=1000GiB"], ranks)
    assert not boundless.problems
    for block_bytes in (8, 512, 4096, 1 << 20):
        host, *found = _core.candidates(collective, ranks, block_bytes, nodes=nodes, options=boundless)
        assert host.spec.family == "native"
        assert 1 <= len(found) <= 8
        assert len({str(one.spec) for one in found}) == len(found)
        assert [one.seconds for one in found] == sorted(one.seconds for one in found)
        for one in found:
            assert one.spec.family != "native"
            assert not one.spec.unsuitable(ranks, nodes)
        if nodes in ("8", "64") and block_bytes <= 512:
            assert any(dict(one.spec.parameters).get("dims") == "nodes" for one in found)
    without = _core.candidates(collective, ranks, 8, shared_memory=False, nodes=nodes)
    assert not any("intra=" in str(one.spec) for one in without)
