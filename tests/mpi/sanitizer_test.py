"""The MPI half under ThreadSanitizer, with threads. Debian's Open MPI only: the wheels crash under it themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

MPI = "openmpi-system"
ROOT = Path(__file__).parents[2]
#: Not what MPI itself does; its functions synchronise by locks, which are seen.
TSAN = {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1"}

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not shutil.which("mpicc.openmpi"), reason="Debian's libopenmpi-dev is not installed"),
]


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """libswapmeet.so, compiled for it: some minutes."""
    build = tmp_path_factory.mktemp("sanitized")
    words = [f"-DSWAPMEET_MPICC={shutil.which('mpicc.openmpi')}", "-DSWAPMEET_SANITIZE=thread"]
    subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, *words], check=True)
    subprocess.run(["cmake", "--build", build, "--target", "swapmeet"], check=True)
    return build / "lib" / "libswapmeet.so"


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("thread", [False, True])
@pytest.mark.parametrize("algorithm", ["auto", "pairwise", "tuna", "shared-memory"])
@pytest.mark.parametrize(
    ("name", "words", "right"),
    [
        ("threads", [], "threads: 0 elements wrong"),
        ("threads_varying", [], "threads: 0 elements wrong"),
        ("node_threads", ["300"], "node: 0 calls wrong"),
        ("nonblocking", ["multiple", "mixed"], "nonblocking: right"),
        ("progress", ["threads"], "progress: right"),
    ],
)
def test_no_races(
    launch, compiled, sanitized: Path, name: str, words: list[str], right: str, algorithm: str, thread: bool
) -> None:
    program = compiled(MPI, name, "-pthread", "-fsanitize=thread")
    env = {**TSAN, "SWAPMEET_ALGORITHM": algorithm, "SWAPMEET_STATS": os.devnull}
    env |= {"SWAPMEET_NONBLOCKING": "thread"} if thread else {}
    argv = ["env", f"LD_PRELOAD={sanitized}", program, *words]
    done = launch(2, argv, mpi=MPI, preload=False, env=env, timeout=300)
    assert done.returncode == 0 and right in done.stdout, done.stdout[-4000:] + done.stderr[-4000:]
    assert "WARNING: ThreadSanitizer" not in done.stdout + done.stderr
