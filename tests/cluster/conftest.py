"""Programs on a cluster in this machine; skipped with a reason where there can be none."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import naps
import pytest
from limits import scaled

from swapmeet import SwapmeetError
from swapmeet.cluster import launching as cluster_launching
from swapmeet.cluster.description import Network
from swapmeet.mpi import launch as launching
from swapmeet.mpi import mpis
from swapmeet.mpi.library import library, program

OnCluster = Callable[..., "subprocess.CompletedProcess[str]"]


def cluster_words(command: Sequence[str | Path], nodes: int = 2, **network: Any) -> list[str]:
    """The program that runs `command` on the head of a cluster, without an MPI."""
    return [str(program(mpis.find("mpich"), "cluster")), *Network(**network).words(nodes), "--", *map(str, command)]


@pytest.fixture(scope="session")
def namespaces() -> None:
    """That this kernel lets this user have them."""
    done = subprocess.run(cluster_words(["true"], nodes=1), capture_output=True, text=True, timeout=scaled(60))
    if done.returncode == 2:
        pytest.skip(f"no cluster here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def agent() -> str:
    return str(program(mpis.find("mpich"), "cluster_agent"))


@pytest.fixture(scope="session")
def exchange(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """exchange.c for an MPI; compiled once."""
    done: dict[str, Path] = {}

    def exchange(mpi: str) -> Path:
        if mpi not in done:
            target = mpis.find(mpi)
            done[mpi] = tmp_path_factory.mktemp("cluster") / f"exchange-{mpi}"
            words = [*target.compiler, Path(__file__).with_name("exchange.c"), "-O1", "-Wall", "-o", done[mpi]]
            subprocess.run(words, check=True, env={**os.environ, **mpis.environment(target, 1)})
        return done[mpi]

    return exchange


@pytest.fixture(scope="session")
def on_cluster(namespaces: None, pytestconfig: pytest.Config) -> OnCluster:
    """Run a program on so many ranks of each node and capture what it prints."""

    def on_cluster(
        mpi: str,
        per_node: Sequence[int],
        argv: Sequence[str | Path],
        algorithm: str | None = None,
        preload: bool = True,
        env: Mapping[str, str] | None = None,
        timeout: float = 240,
        **network: Any,
    ) -> subprocess.CompletedProcess[str]:
        try:
            chosen = mpis.find(mpi)
        except SwapmeetError as problem:
            pytest.skip(str(problem))
        ranks = sum(per_node)
        variables = {**(env or {}), **(launching.library_variables(algorithm, explain=True) if preload else {})}
        argv, preloaded = naps.beside(pytestconfig, argv, [library(chosen)] if preload else [])
        words = launching.command(chosen, ranks, argv, preloaded, variables)
        words = cluster_launching.command(chosen, per_node, Network(**network), words)
        needed = cluster_launching.variables(chosen, ranks)
        return launching.run(chosen, ranks, words, env={**needed, **(env or {})}, timeout_s=scaled(timeout))

    return on_cluster
