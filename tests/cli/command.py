"""Running the command as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from limits import scaled


def swapmeet(
    *words: str, env: Mapping[str, str] | None = None, stdin: str = "", timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """`swapmeet WORDS...` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "swapmeet", *words],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=scaled(timeout),
        env={**os.environ, **(env or {})},
    )


def refused(*words: str, env: Mapping[str, str] | None = None) -> str:
    """The one line on standard error with which the command refuses bad input."""
    done = swapmeet(*words, env=env)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("swapmeet: ")
    return line
