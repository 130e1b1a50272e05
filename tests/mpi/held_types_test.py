"""Derived types that the library holds while calls that do not block are under way."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("nodes", ["", "2"])
def test_no_callback_of_an_attribute_is_called(launch, compiled, wheel: str, nodes: str) -> None:
    """As in the host MPI alone: a callback may refuse, or throw."""
    env = {"SWAPMEET_NODES": nodes} if nodes else {}
    done = launch(3, [compiled(wheel, "held_types"), "attribute"], mpi=wheel, env=env)
    assert (done.returncode, done.stdout) == (0, f"{3 * ('.' * 15 + ' ')}calls 0, wrong 0\n"), done.stderr


@pytest.mark.parametrize("nodes", ["", "2"])
def test_a_type_that_is_not_committed_is_refused_at_once(launch, compiled, wheel: str, nodes: str) -> None:
    env = {"SWAPMEET_NODES": nodes} if nodes else {}
    done = launch(3, [compiled(wheel, "held_types"), "uncommitted"], mpi=wheel, env=env)
    assert (done.returncode, done.stdout) == (0, f"{3 * ('t' * 6 + ' ')}calls 0, wrong 0\n"), done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("nodes", ["", "2"])
@pytest.mark.parametrize("form", ["blocking", "started", "planned"])
def test_types_of_blocks_without_data_need_not_be_committed(launch, compiled, form: str, nodes: str) -> None:
    """On MPICH, which does not look at them; Open MPI refuses them."""
    env = {"SWAPMEET_NODES": nodes} if nodes else {}
    done = launch(3, [compiled("mpich", "empty_types"), form], mpi="mpich", env=env, timeout=60)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@pytest.mark.parametrize("nodes", ["", "2"])
def test_a_freed_request_holds_no_types(launch, compiled, wheel: str, nodes: str) -> None:
    """What an attribute has called when its type ends may be gone later."""
    env = {"SWAPMEET_NODES": nodes} if nodes else {}
    done = launch(3, [compiled(wheel, "freed_plans")], mpi=wheel, env=env)
    assert (done.returncode, done.stdout) == (0, "3 3 3, 3 3 3\n"), done.stderr
