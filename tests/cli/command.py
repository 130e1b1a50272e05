"""Running the command as a user would."""

from __future__ import annotations

import atexit
import functools
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from limits import scaled

#: Variables that decide how Python itself starts.
PYTHONS = ("PYTHON", "LC_", "LANG", "LD_")


def swapmeet(
    *words: str | Path,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    timeout: float = 300,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """`swapmeet WORDS...` in a process of its own, forked from one that has loaded it."""
    environment = {**os.environ, **(env or {})}
    command = [str(word) for word in words]
    if _pythons(environment) == _server()[1]:
        return _forked(command, environment, stdin, scaled(timeout), str(cwd or Path.cwd()))
    return subprocess.run(
        [sys.executable, "-m", "swapmeet", *command],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=scaled(timeout),
        env=environment,
        cwd=cwd,
    )


def refused(*words: str | Path, env: Mapping[str, str] | None = None) -> str:
    """The one line on standard error with which the command refuses bad input."""
    done = swapmeet(*words, env=env)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("swapmeet: ")
    return line


def _pythons(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(PYTHONS)}


@functools.cache
def _server() -> tuple[subprocess.Popen[bytes], dict[str, str]]:
    """forked.py, which ends with this process, and what of its environment decides how Python starts."""
    words = [sys.executable, Path(__file__).with_name("forked.py")]
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    atexit.register(server.communicate)
    return server, _pythons(os.environ)


def _answer(server: subprocess.Popen[bytes], words: list[str]) -> int:
    """A line of the answer, and no more of it, for select(). If the server has ended, the next command gets another."""
    assert server.stdout
    line = server.stdout.readline()
    if not line:
        _server.cache_clear()
        raise RuntimeError(f"forked.py ended with status {server.wait()} during: swapmeet {' '.join(words)}")
    return int(line)


def _forked(
    words: list[str], environment: dict[str, str], stdin: str, timeout_s: float, folder: str
) -> subprocess.CompletedProcess[str]:
    server = _server()[0]
    assert server.stdin
    with tempfile.TemporaryDirectory(prefix="command-") as streams:
        files = [Path(streams) / name for name in ("stdin", "stdout", "stderr")]
        for file, text in zip(files, (stdin, "", ""), strict=True):
            file.write_text(text)
        request = {"words": words, "environment": environment, "folder": folder, "files": list(map(str, files))}
        server.stdin.write(json.dumps(request).encode() + b"\n")
        process = _answer(server, words)
        late = not select.select([server.stdout], [], [], timeout_s)[0]
        if late:
            os.kill(process, signal.SIGKILL)
        status = _answer(server, words)
        printed, errors = (file.read_text() for file in files[1:])
    if late:
        raise subprocess.TimeoutExpired(words, timeout_s, printed, errors)
    return subprocess.CompletedProcess(words, status, printed, errors)
