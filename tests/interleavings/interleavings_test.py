"""What the ranks of a node do in shared memory, in every order and with every value that C++ lets a load read."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

import pytest
from limits import scaled
from mutations import MUTATIONS

from swapmeet.mpi import mpis
from swapmeet.mpi.library import program

Run = Callable[..., str]

pytestmark = pytest.mark.slow  # to compile it

#: Each order of memory that the protocols rely on, and what finds it if it is relaxed.
ORDERS = [
    ("row flag:stores", "rows"),
    ("row flag:loads", "rows"),
    ("cell number:stores", "small"),
    ("cell number:loads", "small"),
    ("cells emptied:stores", "small-one-way"),
    ("cells emptied:loads", "small-one-way"),
    ("closed:stores", "arenas"),
    ("closed:loads", "arenas"),
    ("bytes of the heap:stores", "heap"),
    ("bytes of the heap:loads", "heap"),
]


@pytest.fixture(scope="module")
def explore() -> Run:
    """Runs the explorer, which knows no MPI, but is built along with the library for one; or the one with mistakes."""

    def explore(*words: str, code: int = 0, mistaken: bool = False, timeout: float = 120) -> str:
        path = program(mpis.find("mpich"), "interleavings_mistaken" if mistaken else "interleavings")
        done = subprocess.run([path, "run", *words], capture_output=True, text=True, timeout=scaled(timeout))
        assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    return explore


def test_nothing_is_wrong_in_any_order(explore: Run, capsys) -> None:
    output = explore("brief")
    with capsys.disabled():
        print(f"\n{output}")
    assert int(re.findall(r"(\d+) states", output)[0]) > 100


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_nothing_is_wrong_in_any_order_of_more_calls_and_ranks(explore: Run, capsys) -> None:
    output = explore("all", timeout=3000)
    with capsys.disabled():
        print(f"\n{output}")


@pytest.mark.parametrize(("words", "scenario"), ORDERS)
def test_no_order_of_memory_may_be_relaxed(explore: Run, words: str, scenario: str) -> None:
    output = explore(scenario, f"weaken={words}", code=1)
    assert re.search("at the same time|takes the address of another", output), output


@pytest.mark.parametrize("number", range(1, len(MUTATIONS) + 1), ids=[mutation.name for mutation in MUTATIONS])
def test_mistakes_are_found(explore: Run, number: int) -> None:
    mutation = MUTATIONS[number - 1]
    output = explore(mutation.scenario, f"mutation={number}", mistaken=True, code=1)
    assert re.search(mutation.finding, output), output


def test_the_code_with_mistakes_is_right_without_them(explore: Run) -> None:
    explore("small", mistaken=True)
