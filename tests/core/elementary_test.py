"""Elementary functions that are the same on all ranks: accurate, and the same bits whatever computes them."""

from __future__ import annotations

import ctypes
import math
import random
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
NUMBER = 20_000
ACCURACY = 1e-13
ARGUMENTS = {"exp": 1, "log": 1, "erfc": 1, "hypot": 2}

Functions = dict[str, Callable[..., float]]


def compiled(folder: Path, *flags: str) -> Functions:
    """The functions, by a compiler with these flags besides those of the core."""
    file = folder / f"elementary{len(flags)}.so"
    words = ["c++", "-std=c++20", "-shared", "-fPIC", "-ffp-contract=off", *flags, f"-I{SOURCE}"]
    subprocess.run([*words, SOURCE / "schedule" / "elementary.cpp", "-o", file], check=True)
    loaded = ctypes.CDLL(str(file))
    functions = {}
    for name, count in ARGUMENTS.items():
        function = getattr(loaded, f"_ZN8swapmeet10elementary{len(name)}{name}E{'d' * count}")
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * count
        functions[name] = function
    return functions


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Functions:
    return compiled(tmp_path_factory.mktemp("elementary"), "-O2")


def arguments(name: str) -> list[tuple[float, ...]]:
    draw = random.Random(name)
    of = {
        "exp": lambda: (draw.uniform(-700, 700) if draw.random() < 0.5 else draw.gauss(0, 1),),
        "log": lambda: (math.exp(draw.uniform(-700, 700)) if draw.random() < 0.5 else draw.uniform(0.9, 1.1),),
        "erfc": lambda: (draw.uniform(-6, 26),),
        "hypot": lambda: (draw.gauss(0, 1), draw.gauss(0, 100)),
    }[name]
    return [of() for _ in range(NUMBER)]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_they_are_accurate(functions: Functions, name: str) -> None:
    for given in arguments(name):
        expected = getattr(math, name)(*given)
        assert functions[name](*given) == pytest.approx(expected, rel=ACCURACY, abs=1e-300), given


def test_special_values(functions: Functions) -> None:
    assert [functions["exp"](x) for x in (0, 1000, -1000, -math.inf, math.inf)] == [1, math.inf, 0, 0, math.inf]
    assert [functions["log"](x) for x in (1, 0, math.inf)] == [0, -math.inf, math.inf]
    assert [functions["erfc"](x) for x in (0, 100, -100, math.inf, -math.inf)] == [1, 0, 2, 0, 2]
    assert functions["exp"](-745) > 0
    for name in ("exp", "log", "erfc"):
        assert math.isnan(functions[name](math.nan))
    assert math.isnan(functions["log"](-1))
    assert functions["hypot"](3, -4) == 5


@pytest.mark.parametrize("flags", [("-O0", "-g"), ("-O3", "-march=native", "-g")], ids=["plain", "native"])
def test_the_same_bits_by_other_instructions(functions: Functions, flags: tuple[str, ...], tmp_path: Path) -> None:
    others = compiled(tmp_path, *flags)
    for name in ARGUMENTS:
        for given in arguments(name):
            assert struct.pack("d", functions[name](*given)) == struct.pack("d", others[name](*given)), (name, given)
