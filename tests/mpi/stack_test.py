"""How much stack all-to-alls take: ranks may run on threads whose stacks are small."""

from __future__ import annotations

import re

import pytest

OWN_BYTES = 8 << 10  #: above what the host MPI takes for the same calls; setting up included
SPECS = [
    "shared-memory",  # the first: the library begins in it
    "native",
    "direct(intra=cma)",
    "pairwise",
    "direct(order=random,window=2,complete=any,segment=1KiB)",
    "tra(r=2)",
    "bruck(radix=2,pack=datatype)",
    "two-phase-bruck",
    "two-layer(r1=2,r2=all)",
    "node-leaders",
    "padded-alltoall",
    "auto",
]


@pytest.mark.in_turn
@pytest.mark.parametrize("nodes", ["3", "1+2"])
@pytest.mark.parametrize("types", ["plain", "derived"])
def test_a_small_stack_is_enough(launch, compiled, wheel: str, types: str, nodes: str) -> None:
    program = compiled(wheel, "stack", "-pthread", "-ldl")
    done = launch(3, [program, "outside", types, *SPECS], mpi=wheel, env={"SWAPMEET_NODES": nodes})
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^stack (\d) (\d+) (\S+)( wrong)?$", done.stdout, re.MULTILINE)
    assert len(found) == 3 * len(SPECS)
    assert not [row for row in found if row[3]]
    host = max(int(row[1]) for row in found if row[2] == "native")
    assert not [row for row in found if int(row[1]) > host + OWN_BYTES], found


@pytest.mark.parametrize(("nodes", "spec"), [("", "auto"), ("2", "two-phase-bruck"), ("2", "hybrid")])
def test_the_programs_operations_have_a_usual_stack(launch, compiled, wheel: str, nodes: str, spec: str) -> None:
    """The host MPI calls them in its progress, also while a communicator is set up there."""
    env = {"SWAPMEET_ALGORITHM": spec, **({"SWAPMEET_NODES": nodes} if nodes else {})}
    done = launch(3, [compiled(wheel, "deep_operation"), str(4 << 20)], mpi=wheel, env=env)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
