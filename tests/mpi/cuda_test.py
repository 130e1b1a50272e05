"""Buffers in the memory of a real GPU, where there is one: devices_test.py has a stand-in for the driver."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

EVERYWHERE = ["send=-1", "all=2", "receive=-1", "all=2", "device=-1", "all=2", "device=1", "all=2", "host=-1", "all=2"]


def problem() -> str:
    """Why there is no GPU to use; "" if there is one."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as why:
        return f"no NVIDIA driver: {why}"
    number = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(number)) or number.value == 0:
        return "an NVIDIA driver, but no GPU"
    return ""


pytestmark = pytest.mark.skipif(bool(problem()), reason=problem())


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(
    "algorithm", ["pairwise", "bruck", "tra(r=2)", "two-phase-bruck", "random-segmented", "shared-memory"]
)
def test_a_gpu_by_way_of_the_host(launch, compiled, wheel: str, ranks: int, algorithm: str) -> None:
    """Every kind of exchange, of buffers that only the GPU, only the CPU, or one rank's GPU can access."""
    argv: list[str | Path] = [compiled(wheel, "devices", "-ldl"), compiled(wheel, "cuda_driver", "-shared", "-fPIC")]
    argv += ["load=-1", "start=-1", *EVERYWHERE, "managed=-1", "all=1", "host=-1", "mixed=100", "mixed=5000"]
    env = {"SWAPMEET_DEVICE": "host", "SWAPMEET_EXPLAIN": "1", "SWAPMEET_TRIALS": "0"}
    done = launch(ranks, argv, mpi=wheel, algorithm=algorithm, env=env)
    assert done.returncode == 0 and "devices: done" in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]
    assert "brought to the host and back" in done.stderr


def test_a_gpu_that_is_used_after_the_first_calls(launch, compiled, wheel: str) -> None:
    argv: list[str | Path] = [compiled(wheel, "devices", "-ldl"), compiled(wheel, "cuda_driver", "-shared", "-fPIC")]
    argv += ["calls=3", "all=1", "load=1", "start=1", "all=1", "device=1", "all=2", "host=1", "all=1"]
    done = launch(3, argv, mpi=wheel, algorithm="bruck", env={"SWAPMEET_EXPLAIN": "1"})
    assert done.returncode == 0 and "devices: done" in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]


def test_the_host_mpi_serves_who_uses_a_gpu(launch, compiled, wheel: str) -> None:
    """By default, for it may know the device."""
    argv: list[str | Path] = [compiled(wheel, "devices", "-ldl"), compiled(wheel, "cuda_driver", "-shared", "-fPIC")]
    done = launch(2, [*argv, "load=-1", "start=-1", "calls=20"], mpi=wheel, env={"SWAPMEET_EXPLAIN": "1"})
    assert done.returncode == 0 and "devices: done" in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]
    assert "native (a rank uses CUDA, so buffers may be memory of its device)" in done.stderr
