"""What is found out about this machine, without an MPI."""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Iterator
from pathlib import Path

from swapmeet import __version__
from swapmeet.cache import cache_folder, problem_of
from swapmeet.doctor.finding import Finding, fine, note
from swapmeet.doctor.kernel import Permissions
from swapmeet.errors import SwapmeetError
from swapmeet.mpi.installed import PACKAGE

MIB = 1 << 20
SMALL_SHM = 64 * MIB  #: what containers have in /dev/shm unless they are told
NEEDED_FILE = 64 * MIB  #: SWAPMEET_SHM_LIMIT's default


def findings(permitted: Permissions) -> Iterator[Finding]:
    """All rows about the machine."""
    yield fine("Swapmeet", f"{__version__} in {PACKAGE}; Python {platform.python_version()}")
    yield fine("machine", _machine())
    yield _shared_memory(permitted)
    yield _single_copy(permitted)
    yield _memory()
    yield fine("network", _network())
    if devices := [name for name in ("nvidia0", "kfd", "dri/renderD128") if Path("/dev", name).exists()]:
        who = ", ".join(f"/dev/{name}" for name in devices)
        yield fine("devices", f"{who}: ranks that use one leave their all-to-alls to the host MPI (docs/devices.md)")
    yield _cache()


def _machine() -> str:
    allowed, cores = len(os.sched_getaffinity(0)), os.cpu_count() or 1
    may_use = f", of which this process may use {allowed}" if allowed != cores else ""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.release()}, {' '.join(platform.libc_ver())}"
    return f"{platform.node()}, {platform.machine()}, {cores} cores{may_use}, {memory:.1f} GiB; {system}"


def _shared_memory(permitted: Permissions) -> Finding:
    matter = "shared memory"
    if not permitted.memfd:
        return fine(matter, "memfd_create, and opened by another process through /proc")
    if not permitted.shm:
        room = os.statvfs("/dev/shm")
        free = room.f_bavail * room.f_frsize
        what = f"{permitted.memfd}; in its place /dev/shm, which has {free // MIB} MiB free"
        if free < SMALL_SHM:
            return note(matter, what, "a container gets more by --shm-size=1g; or mount a larger /dev/shm")
        return fine(matter, what)
    return note(
        matter,
        f"{permitted.memfd}; {permitted.shm}: messages within a node go by MPI",
        "allow memfd_create and /proc/PID/fd (seccomp, hidepid), or mount /dev/shm so that it can be written to",
    )


def _single_copy(permitted: Permissions) -> Finding:
    matter = "single copy"
    if not permitted.single_copy:
        return fine(matter, "process_vm_readv")
    scope = _number("/proc/sys/kernel/yama/ptrace_scope")
    if scope:
        hint = f"kernel.yama.ptrace_scope is {scope}: an administrator may set it to 0 (sysctl)"
    else:
        hint = "a container gets it by --cap-add=SYS_PTRACE, or by a seccomp profile that allows it"
    if not permitted.memfd:
        hint += "; `swapmeet run --heap` needs none (docs/howto/heap.md)"
    return note(matter, f"{permitted.single_copy}: large blocks are copied twice within a node", hint)


def _memory() -> Finding:
    most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if most != resource.RLIM_INFINITY and most < NEEDED_FILE:
        return note(
            "memory", f"files may have {most} B, shared memory included", "ulimit -f unlimited; or SWAPMEET_SHM_LIMIT"
        )
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    if space != resource.RLIM_INFINITY:
        return note("memory", f"a process may map {space // MIB} MiB", "ulimit -v unlimited, if allocations fail")
    overcommit = _number("/proc/sys/vm/overcommit_memory")
    if overcommit == 2:
        return note(
            "memory",
            "vm.overcommit_memory is 2: memory counts when it is asked for",
            "if allocations fail: lower SWAPMEET_SHM_LIMIT and SWAPMEET_SCRATCH_LIMIT, or vm.overcommit_memory=0",
        )
    return fine("memory", f"no limits; vm.overcommit_memory is {'unknown' if overcommit is None else overcommit}")


def _network() -> str:
    """What the kernel reports of links between nodes."""
    found = []
    for port in sorted(Path("/sys/class/infiniband").glob("*/ports/*")):
        found.append(f"{port.parts[-3]} port {port.name}: {_text(port / 'state')}, {_text(port / 'rate')}")
    found += [f"{path.name}: Slingshot" for path in sorted(Path("/sys/class/cxi").glob("*"))]
    for card in sorted(Path("/sys/class/net").glob("*")):
        if not (card / "device").exists():  # a bridge, a tunnel
            continue
        speed = _number(str(card / "speed"))
        rate = f", {speed} Mb/s" if speed and speed > 0 else ""
        found.append(f"{card.name}: {_text(card / 'operstate') or 'unknown'}{rate}")
    return "; ".join(found) or "no link to other nodes is seen"


def _cache() -> Finding:
    """Where builds of an installed Swapmeet go, and orders of networks."""
    try:
        folder = cache_folder()
    except SwapmeetError as homeless:
        return note("cache", str(homeless), "an installed command builds the library there")
    if problem := problem_of(folder):
        return note("cache", f"{folder} is not used: {problem}", "set XDG_CACHE_HOME to a folder of yours")
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if os.access(there, os.W_OK):
        return fine("cache", str(folder))
    return note("cache", f"{folder} cannot be written to", "set XDG_CACHE_HOME to a folder that can")


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return ""


def _number(path: str) -> int | None:
    try:
        return int(_text(Path(path)))
    except ValueError:
        return None
