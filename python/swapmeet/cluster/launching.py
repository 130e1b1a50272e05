"""How each MPI's launcher starts ranks on the hosts of a cluster: by an agent in place of ssh."""

from __future__ import annotations

import os
from collections.abc import Sequence

from swapmeet.cluster.description import Network
from swapmeet.errors import SwapmeetError
from swapmeet.mpi.launch import LAUNCHER_WORDS
from swapmeet.mpi.library import program
from swapmeet.mpi.mpis import MAPPING, OVERSUBSCRIBE, Mpi, environment

#: Intel's launcher wants a file where nodes have unequal numbers of ranks.
WITH_MACHINES = 'printf "%s\\n" {machines} >/dev/shm/machines && exec "$@" '


def command(mpi: Mpi, per_node: Sequence[int], network: Network, words: Sequence[str]) -> list[str]:
    """What makes a cluster and starts ranks on it, node by node.

    Parameters
    ----------
    mpi : Mpi
        The MPI to launch with.
    per_node : sequence of int
        The ranks of each node.
    network : Network
        Between the nodes.
    words : sequence of str
        What `launch.command` returned: its launcher is replaced.
    """
    made = [str(program(mpi, "cluster")), *network.words(len(per_node)), "--"]
    return [*made, *_from_the_head(mpi, per_node, words[LAUNCHER_WORDS:])]


def _from_the_head(mpi: Mpi, per_node: Sequence[int], words: Sequence[str]) -> list[str]:
    agent = program(mpi, "cluster_agent")
    machines = [f"node{node}:{ranks}" for node, ranks in enumerate(per_node)]
    launcher, ranks = [str(mpi.mpiexec)], ["-n", str(sum(per_node)), *words]
    if mpi.kind == "openmpi":
        return [*launcher, "--host", ",".join(machines), *ranks]
    if mpi.kind == "mpich":
        return [*launcher, "-launcher", "ssh", "-launcher-exec", str(agent), "-hosts", ",".join(machines), *ranks]
    if mpi.kind == "intel":
        script = WITH_MACHINES.format(machines=" ".join(machines))
        options = ["-bootstrap", "ssh", "-bootstrap-exec", str(agent), "-machinefile", "/dev/shm/machines"]
        return ["sh", "-c", script, "sh", *launcher, *options, *ranks]
    raise SwapmeetError(f"how {mpi.name} starts ranks on other hosts is not known: take MPICH, Open MPI or Intel MPI")


def variables(mpi: Mpi, ranks: int) -> dict[str, str]:
    """What a launch on a cluster needs, besides what it needs anyway; what the user has set stays as it is.

    Nodes share the cores of this machine: ranks are bound to none.
    """
    agent = str(program(mpi, "cluster_agent"))
    standard = {}
    if mpi.kind == "openmpi":
        standard = {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",  # as everyone is in there
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_plm_rsh_agent": agent,  # 4.x
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            "PRTE_MCA_plm_ssh_agent": agent,  # 5.x
            "PRTE_MCA_hwloc_default_binding_policy": "none",
            MAPPING: "slot" + OVERSUBSCRIBE,
        }
    elif mpi.kind == "intel":
        standard = {"I_MPI_PIN": "0"}
    wanted = environment(mpi, ranks)
    for name, value in standard.items():
        if os.environ.get(name) in (None, OVERSUBSCRIBE):  # `bench` passes on what one host needs
            wanted[name] = value
    return wanted
