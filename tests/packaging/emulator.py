"""Programs for aarch64 on this processor, by qemu-user."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from limits import scaled

from swapmeet.mpi import launch, mpis

EMULATOR = ("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu")


def run(*words: str | Path, limit_s: float = 300, **env: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=scaled(limit_s), env={**os.environ, **env})
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


def emulated(ranks: int, library: Path, *words: str | Path, **settings: str) -> str:
    """What ranks print, with a library preloaded; they are launched by this machine's launcher of the same MPICH."""
    # MPICH must not copy between processes: qemu-user has no process_vm_readv.
    variables = {
        "MPIR_CVAR_CH4_CMA_ENABLE": "0",
        "LD_PRELOAD": str(library),
        "SWAPMEET_EXPLAIN": "1",
        "SWAPMEET_MEMORY": "off",
        **settings,
    }
    options = [word for name, value in variables.items() for word in ("-E", f"{name}={value}")]
    mpi = mpis.find("mpich")
    argv = launch.command(mpi, ranks, [EMULATOR[0], *options, *EMULATOR[1:], *words])
    return run(*argv, limit_s=1200, **mpis.environment(mpi, ranks))
