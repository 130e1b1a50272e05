"""A process with pipes, deadlines, and whatever it has started on this machine: none of it is left behind."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from swapmeet.mpi.launch import GRACE_S, end_with_parent

TAIL_BYTES = 4000  #: of standard error, told where a launch failed


class Process:
    """A launcher and what it has started on this machine. All deadlines are as of time.monotonic().

    Raises
    ------
    OSError
        If it cannot be started.
    """

    def __init__(self, words: Sequence[str], variables: Mapping[str, str]) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._popen = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=variables,
            bufsize=0,
            start_new_session=True,  # Ctrl-C is for us, who then end it
            preexec_fn=end_with_parent,  # Open MPI's launcher does not tell its ranks that nobody writes any more
        )
        assert self._popen.stdin and self._popen.stdout
        self._pipes = (self._popen.stdin, self._popen.stdout)
        self._in, self._out = (pipe.fileno() for pipe in self._pipes)
        os.set_blocking(self._in, False)
        self._buffer = b""
        self._family: dict[int, int] = {}

    def write(self, data: bytes, deadline: float) -> None:
        """Write all, or what a launch that has ended would take."""
        while data:
            _wait(self._in, select.POLLOUT, deadline)
            try:
                data = data[os.write(self._in, data) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                return  # reading will tell

    def line(self, deadline: float) -> str | None:
        """The next line; None at the end."""
        if time.monotonic() > deadline:  # also of one who talks on and on
            raise TimeoutError
        while b"\n" not in self._buffer:
            _wait(self._out, select.POLLIN, deadline)
            more = os.read(self._out, 1 << 16)
            if not more:
                return None
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\n")
        self._family = self._family or descendants(self._popen.pid)
        return line.decode(errors="replace").rstrip("\r")

    @property
    def status(self) -> int | None:
        """The exit status; None while it runs."""
        return self._popen.poll()

    def finish(self, farewell: bytes) -> None:
        """Write the last words, and wait for the end; then see to it that nothing is left."""
        deadline = time.monotonic() + GRACE_S
        try:
            with contextlib.suppress(TimeoutError, OSError, subprocess.TimeoutExpired):
                self.write(farewell, deadline)
                while self.line(deadline) is not None:
                    pass
                self._popen.wait(max(0.1, deadline - time.monotonic()))
        finally:
            self.stop()

    def stop(self) -> None:
        """Ask the launcher to end its ranks; kill what does not listen. Safe to repeat."""
        self._family |= descendants(self._popen.pid)
        try:
            if self._popen.poll() is None:
                self._popen.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._popen.wait(GRACE_S)
        finally:
            if self._popen.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._popen.pid, signal.SIGKILL)
            for process, begun in self._family.items():
                if begun_at(process) == begun:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(process, signal.SIGKILL)
            self._popen.wait()
            for pipe in self._pipes:
                pipe.close()

    def tail(self) -> str:
        """The end of standard error."""
        length = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, length - TAIL_BYTES))
        return self._errors.read().decode(errors="replace").strip()


def _wait(file: int, event: int, deadline: float) -> None:
    """Wait until a pipe can be read or written, or is broken; TimeoutError at the deadline."""
    poll = select.poll()
    poll.register(file, event)
    left = deadline - time.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise TimeoutError


def begun_at(process: int) -> int | None:
    """When a process began, in ticks of the kernel's: a later one of the same number differs in it."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def descendants(ancestor: int) -> dict[int, int]:
    """All processes below one, and when they began. Launchers put ranks in separate groups and sessions."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(path.parent.name))
    found, left = {}, [*children.get(ancestor, [])]
    while left:
        process = left.pop()
        left += children.get(process, [])
        if (begun := begun_at(process)) is not None:
            found[process] = begun
    return found
