"""The cache of choices: without memory for it, ranks have their choices all the same; one shape is kept once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: `operator new` counts large allocations and lets those behind a limit fail.
DRIVER = """
#include <cstdio>
#include <cstdlib>
#include <new>

#include "choose/known_choices.hpp"

using namespace swapmeet;

namespace {
constexpr std::size_t large = std::size_t{1} << 20;
std::size_t taken = 0, allowed = SIZE_MAX;  // of large allocations: the number, and its limit
std::size_t held = 0;                       // bytes in large allocations that are not freed
}  // namespace

void* operator new(std::size_t bytes) {
  if (bytes >= large && taken++ >= allowed) throw std::bad_alloc();
  auto* const place = static_cast<std::size_t*>(std::malloc(bytes + 16));
  if (!place) throw std::bad_alloc();
  *place = bytes;
  if (bytes >= large) held += bytes;
  return place + 2;
}
void operator delete(void* memory) noexcept {
  if (!memory) return;
  std::size_t* const place = static_cast<std::size_t*>(memory) - 2;
  if (*place >= large) held -= *place;
  std::free(place);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

int main() {
  Shape shape{1 << 20};
  std::vector<std::int32_t> nodes;
  for (Rank rank = 0; rank < shape.ranks; ++rank) nodes.push_back(rank / 64);
  shape.hierarchy = {nodes};
  const Options options;
  const Means means{true, true, ""};
  const Knowledge knowledge;
  const auto choose_by = [&](auto& chooser, std::int64_t bytes) {
    return chooser.choose(Collective::alltoall, shape, bytes, options, means, knowledge);
  };
  taken = 0;
  const Choice choice = choose(Collective::alltoall, shape, 8, options, means, knowledge);
  KnownChoices without_memory;
  allowed = std::exchange(taken, 0);  // nothing is left for the cache
  const bool same = choose_by(without_memory, 8).spec == choice.spec;
  std::printf("without memory: %s\\n", same ? "the same choice" : "another");
  allowed = SIZE_MAX;
  const std::size_t before = held;
  KnownChoices choices;
  std::int64_t bytes = 1;
  int kept = 0;
  for (; kept < 8 && bytes < INT64_MAX; ++kept) {
    const Choice one = choose_by(choices, bytes);
    bytes = one.most_bytes == INT64_MAX ? INT64_MAX : one.most_bytes + 1;
  }
  std::printf("%d choices, %zu shapes\\n", kept, (held - before) / (nodes.size() * sizeof nodes[0]));
}
"""


@pytest.mark.slow
def test_without_memory_and_in_little(tmp_path: Path) -> None:
    source, program = tmp_path / "driver.cpp", tmp_path / "driver"
    source.write_text(DRIVER)
    core = sorted((ROOT / "build" / "core").glob("libswapmeet_*.a"))
    if not core:
        pytest.skip("the core was not built here")
    subprocess.run(["c++", "-std=c++20", f"-I{ROOT}/src", source, "-o", program, *core], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[0] == "without memory: the same choice"
    number, shapes = (int(word) for word in said[1].split() if word.isdecimal())
    assert number > 1 and shapes == 1
