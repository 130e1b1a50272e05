"""Handlers of the program run on its threads and their stacks, whatever the library has under way."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("words", "env"), [([], {}), (["threads"], {"SWAPMEET_NONBLOCKING": "thread"})], ids=["progress", "thread"]
)
def test_handlers_run_where_the_program_has_them(launch, compiled, wheel: str, words: list[str], env) -> None:
    env = {"SWAPMEET_NODES": "2", **env}
    done = launch(3, [compiled(wheel, "signals"), *words], mpi=wheel, env=env, timeout=60)
    assert (done.returncode, done.stdout) == (0, "signals: right\n"), done.stdout + done.stderr
