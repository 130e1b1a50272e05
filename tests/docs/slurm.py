"""A Slurm of our own for the pages that need one: three nodes, which are namespaces of this machine."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PACKAGES = ("munge", "slurmctld", "slurmd", "slurm-client")
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "unshare")
NODES = 3
START_S = 30

#: CPUs that are not there, for ranks that share cores. Debian's Slurm needs control groups, though it uses none here.
CONFIGURATION = """\
ClusterName=pages
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmi2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
SlurmdParameters=config_overrides
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=8
PartitionName=all Nodes=ALL Default=YES State=UP
"""

#: Each node has a name, shared memory and a folder for PMIx of its own.
NODE = """\
hostname {name}
mount --bind {folder}/pmix.{name} {folder}/pmix
mount -t tmpfs tmpfs /dev/shm
exec slurmd -D -N {name} -f {folder}/slurm.conf
"""


def require() -> None:
    """Install Slurm where we may; else skip."""
    if os.geteuid() != 0:
        pytest.skip("a Slurm of its own takes root")
    if all(map(shutil.which, PROGRAMS)):
        return
    if shutil.which("apt-get") is None:
        pytest.skip("this is not Debian: Slurm is not installed")
    words = ["apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES]
    done = subprocess.run(
        words, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, capture_output=True, text=True
    )
    if done.returncode != 0:
        pytest.skip(f"Slurm cannot be installed: {done.stderr[-300:]}")


@contextmanager
def running(folder: Path) -> Iterator[dict[str, str]]:
    """A Slurm that keeps everything in `folder`, until the end; what its commands need in their environment."""
    host, port = os.uname().nodename.partition(".")[0], 17000
    names = [f"n{number}" for number in range(1, NODES + 1)]
    for name in ("state", "pmix", *names, *(f"pmix.{name}" for name in names)):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    filled = CONFIGURATION.format(folder=folder, host=host, port=port, nodes=NODES, first=port + 1, last=port + NODES)
    (folder / "slurm.conf").write_text(filled)
    (folder / "cgroup.conf").write_text("IgnoreSystemd=yes\n")
    (folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={folder}/pmix\n")
    files = [f"--{kind}-file={folder}/munge.{kind}" for kind in ("key", "log", "pid", "seed")]
    environment = {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf", "SLURM_OVERCOMMIT": "1"}
    started = [
        subprocess.Popen(words, env=environment, stdout=log, stderr=log)
        for log in [(folder / "log").open("w")]
        for words in [
            ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *files],
            ["slurmctld", "-D", "-c", "-f", f"{folder}/slurm.conf"],
            *(["unshare", "-m", "-u", "sh", "-ec", NODE.format(name=name, folder=folder)] for name in names),
        ]
    ]
    try:
        deadline = time.monotonic() + START_S
        while _idle(environment) < NODES:
            assert time.monotonic() < deadline, (folder / "log").read_text()[-3000:]
            time.sleep(0.5)
        yield {name: environment[name] for name in ("SLURM_CONF", "SLURM_OVERCOMMIT")}
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(timeout=START_S)


def _idle(environment: dict[str, str]) -> int:
    """How many nodes wait for jobs."""
    words = ["sinfo", "--noheader", "--Node", "--states=idle"]
    return len(subprocess.run(words, env=environment, capture_output=True, text=True).stdout.splitlines())
