"""How much work leaders' schedules and counts are, in instructions, which are the same however busy the machine is."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.unsanitized("valgrind runs it"),
    pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed: apt-get install valgrind"),
]
#: work count|plan RANKS (SPEC NODES)...
PROGRAM = """
#include <cstdlib>
#include <string_view>

#include "algorithms/generate.hpp"
#include "model/counts.hpp"
#include "topology/node_map.hpp"

using namespace swapmeet;

int main(int argc, char** argv) {
  const Rank ranks = std::atoi(argv[2]);
  for (int i = 3; i < argc; i += 2) {
    const Spec spec = *parse_spec(argv[i]);
    const Shape shape{ranks, *parse_node_map(argv[i + 1], ranks)};
    if (std::string_view(argv[1]) == "count") count(spec, shape);
    else for (const Rank rank : {0, ranks / 3}) generate(spec, shape, rank);
  }
}
"""
Instructions = Callable[..., int]


@pytest.fixture(scope="module")
def instructions(tmp_path_factory: pytest.TempPathFactory) -> Instructions:
    """Of one run of the program."""
    core = ROOT / "build" / "core" / "libswapmeet_core.a"
    if not core.exists():
        pytest.skip("the core was not built here")
    folder = tmp_path_factory.mktemp("work")
    (folder / "work.cpp").write_text(PROGRAM)
    words = ["c++", "-std=c++20", "-O1", f"-I{ROOT}/src", folder / "work.cpp", core, "-o", folder / "work"]
    subprocess.run(words, check=True)

    def instructions(*arguments: str | int) -> int:
        valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        words = [*valgrind, folder / "work", *map(str, arguments)]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        collected = re.search(r"Collected : (\d+)", done.stderr)
        assert collected, done.stderr
        return int(collected[1])

    return instructions


def test_the_work_of_a_plan_grows_with_the_ranks(instructions: Instructions) -> None:
    """Each time that there are twice as many, twice as much is added: no rank or node is searched for."""
    cases = [
        word
        for per_node in ("1", "4", "all")
        for nodes in ("128", "16", "1", "cyclic:128", "4+2")
        for word in (f"leaders(per-node={per_node})", nodes)
    ]
    few, some, many = (instructions("plan", ranks, *cases) for ranks in (1024, 2048, 4096))
    assert 1.5 < (many - some) / (some - few) < 2.5, (few, some, many)


@pytest.mark.parametrize(
    ("per_node", "nodes", "pairs"),
    [
        ("1", "128", 8 * 8),
        ("all", "128", 8 * 1024),
        ("all", "16", 64 * 1024),
        ("all", "2", 512 * 1024),
        ("1", "1", 1024 * 1024),
        ("4", "cyclic:128", 128 * 512),
    ],
)
def test_the_work_of_counting(instructions: Instructions, per_node: str, nodes: str, pairs: int) -> None:
    """As src/model/counts.hpp states it: some work for each rank, and for each pair of a node and a leader."""
    start, each = 5_000_000, 250  #: 2,000,000 and 140 were counted (GCC 12)
    work = instructions("count", 1024, f"leaders(per-node={per_node})", nodes)
    assert work < start + each * (1024 + pairs), work
