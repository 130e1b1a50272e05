"""Memory on real MPIs: a run measures, the next one knows; and no store of any rank changes what a program computes."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from swapmeet import __version__, _core
from swapmeet.mpi import mpis

pytestmark = pytest.mark.in_turn

ALWAYS = {"SWAPMEET_TRIALS": "1000000"}  #: nothing but trials
RANK = {"mpich": "$PMI_RANK", "openmpi": "$OMPI_COMM_WORLD_RANK"}
A2A, A2AV = _core.Collective.alltoall, _core.Collective.alltoallv


def key(mpi: str) -> _core.MemoryKey:
    target = mpis.find(mpi)
    return _core.MemoryKey(f"{target.kind} {target.version}", _core.cluster_signature(), __version__)


def took(spec: str, mean_us: float, ranks: int = 3, **other: Any) -> _core.Evidence:
    fields = {"collective": A2A, "nodes": 2, "per_node": (1, 2), "size_class": 3, "calls": 9} | other
    fields |= {"spread_s": 1e-9, "date": 1767323045}
    return _core.Evidence(ranks=ranks, spec=_core.parse_spec(spec), mean_s=mean_us / 1e6, **fields)


NODES = {"SWAPMEET_NODES": "2"}  #: two of them, of the three ranks
#: Of the smallest blocks of the program.
PAIRWISE = [took("native", 20), took("pairwise", 10), took("spread-out", 15)]


@pytest.fixture
def ran(launch, compiled, tallies, tmp_path: Path, wheel: str):
    """Run the program on three ranks; (algorithm, reason) of all calls, and standard error."""

    def ran(calls: int = 30, script: str = "", **env: str) -> tuple[set[tuple[str, str]], str]:
        statistics = tmp_path / "statistics.json"
        env = {
            "SWAPMEET_STATS": str(statistics),
            "SWAPMEET_MEMORY": "auto",
            "SWAPMEET_FIRST_CALLS": "0",
            "XDG_STATE_HOME": f"{tmp_path}/s",
            **NODES,
            **env,
        }
        announced = ["announced"] * (ALWAYS.items() <= env.items())
        words = [compiled(wheel, "trials"), str(calls), *announced]
        if script:
            words = ["sh", "-c", f'rank={RANK[wheel]}; {script}; exec "$@"', "sh", *words]
        done: subprocess.CompletedProcess[str] = launch(3, words, mpi=wheel, env=env)
        assert done.returncode == 0 and done.stdout == "trials: right\n", done.stdout + done.stderr
        return {(t["algorithm"], t["reason"]) for t in tallies(statistics)}, done.stderr

    return ran


def remembered(served: set[tuple[str, str]]) -> set[str]:
    """The algorithms that were used because of memory."""
    return {
        algorithm for algorithm, reason in served if re.match(r"expected: [^,]* \(\d+ calls of other runs\), ", reason)
    }


def put(folder: Path, mpi: str, evidence: list[_core.Evidence]) -> Path:
    file = folder / "swapmeet" / key(mpi).file_name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_core.memory_text(key(mpi), evidence))
    return file


def test_what_a_run_measures_is_there_for_the_next(ran, wheel: str, tmp_path: Path) -> None:
    _, said = ran(60, **ALWAYS)
    assert "swapmeet" not in said
    (file,) = (tmp_path / "s/swapmeet").iterdir()
    assert file.name == key(wheel).file_name
    read = _core.parse_memory(file.read_text())
    assert read.key == key(wheel) and read.unusable == 0
    kinds = {(one.collective, one.size_class) for one in read.evidence}
    assert kinds >= {(A2A, 3), (A2A, 8), (A2A, 12), (A2AV, -1)}
    for collective, size_class in kinds:
        of_kind = [one for one in read.evidence if (one.collective, one.size_class) == (collective, size_class)]
        assert "native" in {str(one.spec) for one in of_kind} and len(of_kind) > 1
    assert {(one.ranks, one.nodes, one.per_node, one.by) for one in read.evidence} == {(3, 2, (1, 2), "trial")}
    assert all(50 < one.made <= 120 for one in read.evidence)
    calls = sum(one.calls for one in read.evidence)
    ran(60, **ALWAYS)
    assert sum(one.calls for one in _core.parse_memory(file.read_text()).evidence) > calls


def test_it_is_used_from_the_first_call_on(ran, wheel: str, tmp_path: Path) -> None:
    put(tmp_path / "s", wheel, PAIRWISE)
    served, said = ran(3)
    assert remembered(served) == {str(_core.parse_spec("pairwise"))}
    assert said == ""
    assert remembered(ran(3, SWAPMEET_MEMORY="off")[0]) == set()
    assert remembered(ran(3, SWAPMEET_TRIALS="0")[0]) == set()
    assert remembered(ran(3, SWAPMEET_ALGORITHM="spread-out")[0]) == set()
    assert remembered(ran(3, SWAPMEET_NODES="1")[0]) == set()  # other nodes than were measured


def test_a_measured_order_whose_table_is_gone_is_given_up(ran, wheel: str, tmp_path: Path) -> None:
    gone = f"direct(order=topology({tmp_path}/gone.slots),window=1)"
    put(tmp_path / "s", wheel, [*PAIRWISE, took(gone, 5)])
    served, said = ran(3)
    assert remembered(served) == {str(_core.parse_spec("pairwise"))}
    (warning,) = [line for line in said.splitlines() if "warning" in line]
    assert "measurements of earlier runs: use=" in warning and "there is no such file" in warning


def test_a_measured_order_whose_table_is_gone_is_not_tried(ran, wheel: str, tmp_path: Path) -> None:
    """Another order would be measured under its name."""
    gone = f"direct(order=topology({tmp_path}/gone.slots),window=1)"
    file = put(tmp_path / "s", wheel, [*PAIRWISE, took(gone, 12)])
    ran(60, **ALWAYS)
    of_order = [one for one in _core.parse_memory(file.read_text()).evidence if "topology" in str(one.spec)]
    assert [one.calls for one in of_order] == [9]


def test_where_the_last_run_made_many_calls_none_is_awaited(ran, wheel: str, tmp_path: Path) -> None:
    """Of the program, which two words name: here, how many calls it makes is one of them."""

    def awaits(calls: int) -> bool:
        return any(reason.startswith("one of the first calls") for _, reason in ran(calls)[0])

    kinds = [{"size_class": 3}, {"size_class": 8}, {"size_class": 12}, {"size_class": -1, "collective": A2AV}]
    each = [(spec, us, kind) for kind in kinds for spec, us in (("native", 20), ("pairwise", 10))]
    file = put(tmp_path / "s", wheel, [took(spec, us, **kind) for spec, us, kind in each])
    assert awaits(30) and not awaits(30)
    assert all(30 <= one.made <= 60 for one in _core.parse_memory(file.read_text()).evidence)
    assert awaits(1) and awaits(1)
    assert {one.made for one in _core.parse_memory(file.read_text()).evidence} == {1, 2}


def test_nodes_are_those_of_the_run(ran, wheel: str, tmp_path: Path) -> None:
    kind: dict[str, Any] = {"nodes": 3, "per_node": (1, 1)}
    put(tmp_path / "s", wheel, [took("native", 20, **kind), took("pairwise", 10, **kind)])
    assert remembered(ran(3, SWAPMEET_NODES="1")[0]) == {str(_core.parse_spec("pairwise"))}
    assert remembered(ran(3)[0]) == set()


def test_on_one_node_nothing_is_remembered(ran, wheel: str, tmp_path: Path) -> None:
    kind: dict[str, Any] = {"nodes": 1, "per_node": (3, 3)}
    file = put(tmp_path / "s", wheel, [took("native", 2, **kind), took("pairwise", 1, **kind)])
    before = file.read_text()
    assert remembered(ran(60, SWAPMEET_NODES="3", **ALWAYS)[0]) == set()
    assert file.read_text() == before


def test_ranks_with_other_stores_do_what_the_first_one_knows(ran, wheel: str, tmp_path: Path) -> None:
    """The communicators of the program have ranks 0 and 2 as their first ones."""
    put(tmp_path / "s0", wheel, PAIRWISE)
    put(tmp_path / "s1", wheel, []).write_text("nonsense\n")
    put(tmp_path / "s2", wheel, [took("native", 20), took("spread-out", 10)])
    served, said = ran(script=f"export XDG_STATE_HOME={tmp_path}/s$rank", **ALWAYS)
    assert remembered(served) == {str(_core.parse_spec(spec)) for spec in ("pairwise", "spread-out")}
    assert said == ""


def test_ranks_that_are_told_otherwise(ran, wheel: str, tmp_path: Path) -> None:
    """Whether and where a rank remembers is its own affair."""
    put(tmp_path / "s", wheel, PAIRWISE)
    served, said = ran(script="[ $rank = 0 ] || export SWAPMEET_MEMORY=off", **ALWAYS)
    assert remembered(served) == {str(_core.parse_spec("pairwise"))} and said == ""
    put(tmp_path / "s", wheel, PAIRWISE)
    served, said = ran(script="[ $rank = 2 ] || export SWAPMEET_MEMORY=off", **ALWAYS)
    assert remembered(served) == {str(_core.parse_spec("pairwise"))} and said == ""


@pytest.mark.unsanitized("malloc is the sanitizer's")
def test_a_rank_without_memory_for_what_is_remembered(ran, compiled, wheel: str, tmp_path: Path) -> None:
    """All ranks then do without it, since they could not choose alike."""
    kinds = [{"size_class": size_class} for size_class in range(20)]
    specs = {"native": 100, **{f"direct(window={window})": 10 + window for window in range(1, 18)}}
    put(tmp_path / "s", wheel, [took(spec, us, **kind) for spec, us in specs.items() for kind in kinds])
    large = compiled(wheel, "no_large", "-shared", "-fPIC", "-ldl")
    served, _ = ran(3, script=f'[ $rank = 0 ] || export LD_PRELOAD="$LD_PRELOAD:{large}"')
    assert remembered(served) == set()
    assert remembered(ran(3)[0])


@pytest.mark.parametrize("home", ["/proc/nowhere", "/dev/null", "relative", "/sys"])
def test_homes_that_cannot_be_written_to(ran, home: str) -> None:
    _, said = ran(XDG_STATE_HOME=home, HOME=home, **ALWAYS)
    assert said == ""


def test_poison_costs_one_warning(ran, wheel: str, tmp_path: Path) -> None:
    file = put(tmp_path / "s", wheel, PAIRWISE)
    line = PAIRWISE[1].line
    poison = [("mean_us=10", "mean_us=-1"), ("mean_us=10", "mean_us=nan"), ("use=", "use=no"), ("calls=9", "calls=1e9")]
    file.write_text(file.read_text() + "".join(line.replace(*words) + "\n" for words in poison))
    for trials, warned in ((ALWAYS, 1), ({}, 0)):  # the first run has written it anew
        served, said = ran(**trials)
        assert (str(_core.parse_spec("pairwise")) in remembered(served)) >= bool(warned)
        assert said.count("swapmeet: warning: ") == warned, said
        assert ("4 of 7 lines cannot be used" in said) == bool(warned)


def test_another_machines_store_is_refused(ran, wheel: str, tmp_path: Path) -> None:
    named = tmp_path / "a.memory"
    other = _core.MemoryKey(key(wheel).mpi, "another machine", __version__)
    named.write_text(_core.memory_text(other, PAIRWISE))
    before = named.read_text()
    served, said = ran(SWAPMEET_MEMORY=str(named), **ALWAYS)
    assert remembered(served) == set() and named.read_text() == before
    assert said.count("swapmeet: warning: ") == 1 and '"another machine"' in said


def test_what_is_faster_cannot_always_be_had(ran, wheel: str, tmp_path: Path) -> None:
    """Shared memory that this run has none of; too many ranks on a node; a spec that is for more ranks."""
    impossible = ["shared-memory", "leaders(leaders=9)", "direct(dims=4x4)"]
    specs = []
    for words in impossible:
        try:
            specs.append(took(words, 1 + len(specs)))
        except ValueError:
            continue
    assert specs
    put(tmp_path / "s", wheel, [took("native", 20), *specs])
    ran(SWAPMEET_SHM_LIMIT="0")
    ran(SWAPMEET_SCRATCH_LIMIT="0")


def test_a_job_whose_folder_vanishes_ends_well(ran, wheel: str, tmp_path: Path) -> None:
    file = put(tmp_path / "s", wheel, PAIRWISE)
    file.unlink()
    os.rmdir(file.parent)
    _, said = ran(**ALWAYS)
    assert said == "" and file.exists()
