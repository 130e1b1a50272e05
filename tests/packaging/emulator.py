"""Programs for aarch64 on this processor, by qemu-user."""

from __future__ import annotations

import os
import re
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from limits import scaled

from swapmeet.mpi import launch, mpis

EMULATOR = ("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu")


def run(*words: str | Path, limit_s: float = 300, **env: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=scaled(limit_s), env={**os.environ, **env})
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


def emulated(ranks: int, library: Path, *words: str | Path, name: str = "mpich", **settings: str) -> str:
    """What ranks print, with a library preloaded; they are launched by this machine's launcher of the same MPI."""
    # The MPIs must not copy between processes: qemu-user has no process_vm_readv.
    variables = {
        "MPIR_CVAR_CH4_CMA_ENABLE": "0",
        "OMPI_MCA_btl_sm_single_copy_mechanism": "none",
        "LD_PRELOAD": str(library),
        "SWAPMEET_EXPLAIN": "1",
        "SWAPMEET_MEMORY": "off",
        **settings,
    }
    options = [word for name, value in variables.items() for word in ("-E", f"{name}={value}")]
    mpi = mpis.find(name)
    argv = launch.command(mpi, ranks, [EMULATOR[0], *options, *EMULATOR[1:], *words])
    # Open MPI's launcher and ranks have pointers of two processors, so they must not share memory.
    return run(*argv, limit_s=1200, **mpis.environment(mpi, ranks), PMIX_MCA_gds="hash")


def zlib(folder: Path) -> Path:
    """The folder of Debian's zlib for aarch64, which Open MPI needs, below `folder`."""
    shown = subprocess.run(["apt-cache", "show", "zlib1g"], capture_output=True, text=True, check=False).stdout
    file = re.search(r"^Filename: (\S+)_\w+\.deb$", shown, re.MULTILINE)
    if not file:
        pytest.skip("zlib for aarch64 comes from Debian's archive, and apt knows none")
    package = folder / "zlib.deb"
    try:
        urllib.request.urlretrieve(f"http://deb.debian.org/debian/{file[1]}_arm64.deb", package)
    except urllib.error.URLError as error:
        pytest.skip(f"zlib for aarch64 cannot be downloaded: {error}")
    run("dpkg", "-x", package, folder)
    return next(folder.rglob("libz.so.1")).parent
