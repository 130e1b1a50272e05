"""What a reader of measurements asks about the machine."""

from __future__ import annotations

import datetime
import os
import platform
import resource
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swapmeet import __version__
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import library

#: Beginnings of variables that tune an exchange.
TUNING = ("I_MPI_", "OMPI_MCA_", "PRTE_MCA_", "MPIR_CVAR_", "UCX_", "FI_", "SWAPMEET_")


def now() -> str:
    """The time, as in 2026-01-31T12:34:56+00:00."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def header(options: dict[str, Any]) -> dict[str, Any]:
    """The campaign line of a results file; `options` as they were given."""
    return {
        "swapmeet": __version__,
        "commit": _commit(),
        "created": now(),
        "machine": {
            "host": platform.node(),
            "processor": _field("/proc/cpuinfo", "model name") or platform.processor(),
            "cores": len(os.sched_getaffinity(0)),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "kernel": platform.release(),
        },
        "options": options,
    }


def measured_on(line: Mapping[str, Any]) -> str:
    """Where and when, for a page: processor, kernel, commit and day of a campaign line."""
    machine = line["machine"]
    where = f"{machine['cores']} cores of {machine['processor']}, Linux {machine['kernel']}"
    return f"{where}, commit {line['commit']}, {line['created'][:10]}"


def available_bytes() -> int:
    """Memory that programs may still take on this machine, within `ulimit -v`; all of it if that is unknown."""
    words = (_field("/proc/meminfo", "MemAvailable") or "").split()
    available = int(words[0]) << 10 if words else os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return available if limit == resource.RLIM_INFINITY else min(available, limit)


def tuning(variables: dict[str, str]) -> dict[str, str]:
    """Those of the variables that tune an MPI or Swapmeet."""
    return {name: value for name, value in sorted(variables.items()) if name.startswith(TUNING)}


def _field(path: str, name: str) -> str | None:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), None)


def _commit() -> str:
    """Of the source that the library is built from; "" if it is not in a checkout."""
    try:
        words = ["git", "-C", str(library.source_tree()), "describe", "--always", "--dirty", "--abbrev=12"]
        return subprocess.run(words, capture_output=True, text=True).stdout.strip()
    except (OSError, SwapmeetError):
        return ""
