"""libswapmeet-heap.so in programs without MPI: malloc and its siblings, whose large blocks come from the heap."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from limits import scaled

from swapmeet.mpi import mpis
from swapmeet.mpi.library import heap_library

PROGRAMS = Path(__file__).parent / "programs"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile programs/NAME.c."""
    folder = tmp_path_factory.mktemp("heap")

    def compiled(name: str, *flags: str) -> Path:
        output = folder / "-".join([name, *(flag.strip("-").replace("=", "") for flag in flags)])
        if not output.exists():
            words = ["cc", PROGRAMS / f"{name}.c", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-builtin", *flags]
            subprocess.run([*words, "-pthread", "-ldl", "-o", output], check=True)
        return output

    return compiled


@pytest.fixture(scope="session")
def heap(compiled) -> Run:
    """Run the program heap with the library."""

    def run(*words: object, setting: str = "1", before: str = "", behind: str = "", program: Path | None = None):
        preload = f"{before}{heap_library(mpis.find('mpich'))}{behind}"
        variables = {**os.environ, "SWAPMEET_HEAP": setting, "LD_PRELOAD": preload}
        argv = [program or compiled("heap"), *map(str, words)]
        return subprocess.run(argv, env=variables, capture_output=True, text=True, timeout=scaled(300))

    return run


def check(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stdout + done.stderr
    assert "heap: right" in done.stdout and not done.stderr


@pytest.mark.parametrize("what", ["calls", "sizes", "fork", "closed", "exec", "kept", "grow"])
def test_every_byte(heap, what: str) -> None:
    check(heap(what))


def test_four_threads(heap) -> None:
    check(heap("threads", 25_000))


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_four_threads_for_long(heap) -> None:
    check(heap("threads", 2_500_000))


def test_a_library_frees_what_others_have_allocated(heap, compiled) -> None:
    check(heap("library", compiled("other_library", "-shared", "-fPIC")))


def test_a_daemon_has_memory_of_its_own(heap) -> None:
    check(heap("daemon"))


@pytest.mark.parametrize("words", [("invalid", 1), ("invalid", 63), ("twice",)])
def test_what_is_no_block_ends_the_program(heap, words: tuple[object, ...]) -> None:
    done = heap(*words)
    assert done.returncode == -6 and done.stderr == "swapmeet: free(): invalid pointer\n"


@pytest.mark.parametrize("setting", ["0", "", "mpi", "2", "4095", "256kb", "-1", "1x", "99999999999999999999", "1MiB"])
def test_ordinary_memory_where_nobody_asks(heap, setting: str) -> None:
    check(heap("ordinary", setting=setting))


@pytest.mark.parametrize("setting", ["262144", "256KiB", "65536"])
def test_a_threshold(heap, setting: str) -> None:
    assert heap("ordinary", setting=setting).stderr == "heap: wrong: it comes from the heap\n"


@pytest.mark.parametrize("limit", ["-v 4000000", "-f 4000000"])
def test_ordinary_memory_within_limits(heap, compiled, limit: str) -> None:
    check(heap("-c", f"ulimit {limit}; exec {compiled('heap')} ordinary", program=Path("/bin/bash")))


def test_a_sanitizer_has_malloc_for_itself(heap, compiled) -> None:
    library = subprocess.run(["cc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    if "/" not in library:
        pytest.skip("no AddressSanitizer here")
    check(heap("ordinary", program=compiled("heap", "-fsanitize=address"), before=f"{library}:"))


def test_another_allocator_is_left_alone(heap, compiled) -> None:
    """One that is preloaded before or behind."""
    other = compiled("other_allocator", "-shared", "-fPIC")
    for before, behind in ((f"{other}:", ""), ("", f":{other}")):
        check(heap("ordinary", before=before, behind=behind))


def test_nothing_is_left_after_a_kill(compiled) -> None:
    """The memory has no name: /dev/shm holds what it held."""
    before = set(Path("/dev/shm").iterdir())
    library = heap_library(mpis.find("mpich"))
    variables = {"SWAPMEET_HEAP": "1", "LD_PRELOAD": str(library)}
    process = subprocess.Popen([compiled("heap"), "threads", "100000000"], env=variables)
    try:
        files = Path(f"/proc/{process.pid}/fd")
        end = time.monotonic() + scaled(30)
        while not any("swapmeet-" in str(link.readlink()) for link in files.iterdir()) and time.monotonic() < end:
            time.sleep(0.01)
        assert any("swapmeet-" in str(link.readlink()) for link in files.iterdir())
    finally:
        process.kill()
        process.wait()
    assert {path for path in set(Path("/dev/shm").iterdir()) - before if path.name.startswith("swapmeet-")} == set()
