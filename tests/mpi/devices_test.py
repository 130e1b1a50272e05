"""Buffers on devices, whose driver is loaded at whatever time: a stand-in, whose memory kills who touches it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.in_turn  # the tested code is ours, whichever the host MPI is

CUDA, ROCM, LEVEL_ZERO = "libcuda.so.1", "libhsa-runtime64.so.1", "libze_loader.so.1"
ALL = ["calls=3", "all=1"]
LATER = [
    *["calls=10", "all=1", "load=1", "start=1", *ALL, "device=1", *ALL, "host=1", *ALL],
    *["load=-1", "start=0", "send=0", "receive=1", *ALL, "start=2", "start=3", "device=-1", *ALL, "copies"],
]

Devices = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def devices(launch, compiled, tmp_path_factory: pytest.TempPathFactory) -> Devices:
    """Run the program `devices` with a driver of this name."""
    folder = tmp_path_factory.mktemp("drivers")

    def devices(mpi: str, n: int, driver: str, *words: str, algorithm: str | None = None, **env: str):
        if not (folder / driver).exists():
            (folder / driver).symlink_to(compiled("mpich", "device_driver", "-shared", "-fPIC", "-fno-builtin"))
        argv: list[str | Path] = [compiled(mpi, "devices", "-ldl"), folder / driver, *words]
        # without trials, the automatic choice serves from the ninth call on, however short calls are
        env = {"SWAPMEET_EXPLAIN": "1", "SWAPMEET_TRIALS": "0", **env}
        return launch(n, argv, mpi=mpi, algorithm=algorithm, env=env)

    return devices


def check(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Everything was right. Returns what served the calls, and why."""
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "devices: done" in done.stdout
    return re.findall(r"swapmeet: Alltoallv? on [^:]*: (.*)", done.stderr)


def copies(done: subprocess.CompletedProcess[str]) -> int:
    [number] = re.findall(r"devices: (\d+) copies", done.stdout)
    return int(number)


@pytest.mark.parametrize("algorithm", [None, "pairwise", "bruck", "two-phase-bruck", "shared-memory"])
def test_a_driver_that_is_loaded_later(devices: Devices, wheel: str, algorithm: str | None) -> None:
    """On one rank, then on all; and what is served before goes on to be served."""
    done = devices(wheel, 3, CUDA, *LATER, algorithm=algorithm)
    assert any(not line.startswith("native") for line in check(done)), done.stderr
    assert copies(done) > 0


@pytest.mark.parametrize("driver", [CUDA, ROCM])
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("algorithm", ["bruck", "random-segmented"])
def test_drivers_of_other_kinds_and_other_numbers_of_ranks(
    devices: Devices, ranks: int, driver: str, algorithm: str
) -> None:
    done = devices("mpich", ranks, driver, *LATER, algorithm=algorithm)
    check(done)
    assert copies(done) > 0


@pytest.mark.parametrize("algorithm", [None, "bruck"])
def test_native_where_a_rank_uses_a_device(devices: Devices, wheel: str, algorithm: str | None) -> None:
    done = devices(wheel, 3, CUDA, "load=2", "start=2", "calls=20", "all=1", "dup", "calls=20", algorithm=algorithm)
    lines = check(done)
    assert lines
    for line in lines:
        assert line == "native (a rank uses CUDA, so buffers may be memory of its device)"
    assert done.stderr.count("swapmeet: warning: a rank uses CUDA") == (1 if algorithm else 0)


@pytest.mark.parametrize("algorithm", [None, "bruck"])
def test_through_the_host_where_that_is_wanted(devices: Devices, wheel: str, algorithm: str | None) -> None:
    words = ["load=0", "start=0", "calls=10", "device=0", *ALL, "host=0", "dup", "calls=10", "device=0", *ALL, "copies"]
    done = devices(wheel, 3, CUDA, *words, algorithm=algorithm, SWAPMEET_DEVICE="host")
    assert any(not line.startswith("native") for line in check(done)), done.stderr
    assert copies(done) > 0
    assert "brought to the host and back" in done.stderr


@pytest.mark.parametrize("algorithm", ["two-phase-bruck", "pairwise", "shared-memory"])
def test_some_blocks_on_the_host_and_some_on_the_device(devices: Devices, wheel: str, algorithm: str) -> None:
    """In one call: what lies between them in the address space is none of the library's business."""
    words = ["load=-1", "start=-1", "mixed=100", "mixed=5000", "copies"]
    done = devices(wheel, 3, CUDA, *words, algorithm=algorithm, SWAPMEET_DEVICE="host")
    check(done)
    assert copies(done) > 0


def test_communicators_made_later_are_native(devices: Devices) -> None:
    done = devices("mpich", 3, CUDA, "calls=1", "load=1", "start=1", "dup", "calls=1", algorithm="bruck")
    lines = check(done)
    assert len(lines) == 2 and lines[0].startswith("bruck") and lines[1].startswith("native (a rank uses CUDA")


def test_a_driver_that_is_idle_changes_nothing(devices: Devices) -> None:
    """Until it is initialised."""
    words = ["load=-1", *ALL, "start=-1", "device=-1", *ALL]
    for driver in CUDA, ROCM, LEVEL_ZERO:
        done = devices("mpich", 3, driver, *(words if driver != LEVEL_ZERO else words[:3]), algorithm="bruck")
        assert all(line.startswith("bruck") for line in check(done) if "Alltoall " in line)


@pytest.mark.parametrize("driver", [CUDA, ROCM])
def test_memory_that_the_host_may_touch_stays(devices: Devices, driver: str) -> None:
    words = ["calls=1", "load=-1", "start=-1", "managed=-1", *ALL, "copies"]
    done = devices("mpich", 3, driver, *words, algorithm="bruck")
    check(done)
    assert copies(done) == 0


@pytest.mark.parametrize(
    ("first", "then"),
    [(["threads"], []), ([], ["use=-1"]), ([], ["calls=2", "use=-1"]), ([], ["calls=2", "other=-1", "calls=2"])],
    ids=["threads", "used", "used later", "another library first"],
)
def test_however_it_is_noticed(devices: Devices, first: list[str], then: list[str]) -> None:
    words = ["calls=2", "load=-1", "start=-1", "device=-1", "calls=2", "copies"]
    done = devices("mpich", 2, CUDA, *first, *then, *words, algorithm="bruck")
    check(done)
    assert copies(done) == 2 * 2 * 2  # nothing that is received is read first


def test_level_zero_is_refused_with_a_word(devices: Devices) -> None:
    """It copies nothing for who does not know its context."""
    before = ["calls=2", "load=1", "start=1", "calls=2", "all=1"]
    assert "device" not in devices("mpich", 2, LEVEL_ZERO, *before, algorithm="bruck").stderr
    done = devices("mpich", 2, LEVEL_ZERO, *before, "device=1", "calls=1", algorithm="bruck")
    assert done.returncode != 0 and "devices: done" not in done.stdout
    assert "swapmeet: error: a buffer of an all-to-all is memory of a device that cannot be brought" in done.stderr


@pytest.mark.parametrize("algorithm", ["pairwise", "two-phase-bruck", "shared-memory"])
@pytest.mark.parametrize("word", ["dense", "gaps"])
def test_a_rank_that_cannot_copy_what_it_receives_stays_with_the_others(
    devices: Devices, wheel: str, word: str, algorithm: str
) -> None:
    """It sends nothing, and has an error as of wrong arguments; the host MPI's call has the others in it, or nobody."""
    words = ["load=0", "start=0", "receive=0", f"{word}=0", "host=0", "calls=1"]
    done = devices(wheel, 3, LEVEL_ZERO, *words, algorithm=algorithm, SWAPMEET_DEVICE="host", SWAPMEET_FIRST_CALLS="0")
    check(done)


def test_drivers_are_noticed_without_loading_anything_late(launch, compiled, wheel: str) -> None:
    done = launch(2, [compiled(wheel, "loads")], mpi=wheel)
    assert done.returncode == 0 and "loaded: 0" in done.stdout, done.stdout + done.stderr
