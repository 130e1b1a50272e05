"""The site of the documentation, built once for all tests of a run."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from docs.pages import ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it lies. It is built without a network, and a warning is an error."""
    for package in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'swapmeet[docs]'")
    run = tmp_path_factory.getbasetemp()
    folder = (run.parent if "PYTEST_XDIST_WORKER" in os.environ else run) / "site"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "index.html").exists():
            _build(folder)
    return folder


def _build(folder: Path) -> None:
    unfinished = folder.with_suffix(".unfinished")
    argv = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(unfinished)]
    unreachable = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "all_proxy")}
    environment = {**os.environ, **unreachable, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(argv, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    unfinished.rename(folder)
