"""What the kernel lets two processes of a node do with each other's memory: tried, by two processes, as ranks are.

The library needs one of the first two to share memory, and the third to copy large blocks once instead of twice. This
file is also the program of the two; it needs no package.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SAMPLE = b"swapmeet"
LIMIT_S = 20


@dataclass(frozen=True)
class Permissions:
    """Why something is not possible; "" where it is."""

    memfd: str  #: memory without a name (memfd_create), opened by another process through /proc
    shm: str  #: memory with a name, in /dev/shm
    single_copy: str  #: process_vm_readv, from one rank's memory into another's


class _Piece(ctypes.Structure):
    """A struct iovec."""

    _fields_ = (("address", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


def permissions() -> Permissions:
    """Try it, with two processes neither of which began the other."""
    words = [sys.executable, "-I", "-S", __file__]
    pipe = subprocess.PIPE
    with subprocess.Popen([*words, "offer"], stdin=pipe, stdout=pipe, text=True) as maker:
        assert maker.stdin and maker.stdout
        try:
            offered = maker.stdout.readline()
            answer = subprocess.run([*words, "take", offered], capture_output=True, text=True, timeout=LIMIT_S).stdout
            return Permissions(**json.loads(answer))
        except (OSError, ValueError, TypeError, subprocess.TimeoutExpired) as problem:
            why = f"could not be tried ({problem})"
            return Permissions(why, why, why)
        finally:
            maker.stdin.close()


def _offer() -> None:
    """Own what another process may look at, until standard input ends."""
    memory = ctypes.create_string_buffer(SAMPLE)
    file, why = -1, ""
    try:
        file = os.memfd_create("swapmeet-doctor")
        os.write(file, SAMPLE)
    except OSError as problem:
        why = f"memfd_create: {problem.strerror}"
    offered = {"process": os.getpid(), "address": ctypes.addressof(memory), "file": file, "problem": why}
    print(json.dumps(offered), flush=True)
    sys.stdin.read()


def _take(offered: dict[str, object]) -> dict[str, str]:
    """Look at it from here."""
    return {
        "memfd": str(offered["problem"]) or _open("/proc/{process}/fd/{file}".format(**offered)),
        "shm": _named(Path(f"/dev/shm/swapmeet-doctor-{os.urandom(8).hex()}")),
        "single_copy": _read(int(str(offered["process"])), int(str(offered["address"]))),
    }


def _open(link: str) -> str:
    try:
        with open(link, "rb+") as file:
            return "" if file.read() == SAMPLE else f"{link} is another file"
    except OSError as problem:
        return f"/proc/PID/fd: {problem.strerror}"


def _named(path: Path) -> str:
    try:
        with path.open("xb") as file:
            file.write(SAMPLE)
        path.unlink()
    except OSError as problem:
        return f"/dev/shm: {problem.strerror}"
    return ""


def _read(process: int, address: int) -> str:
    memory = ctypes.create_string_buffer(len(SAMPLE))
    here, there = _Piece(ctypes.addressof(memory), len(SAMPLE)), _Piece(address, len(SAMPLE))
    read = ctypes.CDLL(None, use_errno=True).process_vm_readv
    read.restype = ctypes.c_ssize_t
    one = ctypes.c_ulong(1)
    if read(process, ctypes.byref(here), one, ctypes.byref(there), one, ctypes.c_ulong(0)) == len(SAMPLE):
        return ""
    return f"process_vm_readv: {os.strerror(ctypes.get_errno())}"


if __name__ == "__main__":
    if sys.argv[1] == "offer":
        _offer()
    else:
        print(json.dumps(_take(json.loads(sys.argv[2]))))
