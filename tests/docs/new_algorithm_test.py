"""docs/howto/algorithm.md: what it adds to the sources fits them, and makes an algorithm that is proved."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from docs.pages import ROOT

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "howto" / "algorithm.md").read_text()
FILE = re.compile(r"^`(?P<path>src/[\w/.]+)`:\n\n```cpp\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
DIFF = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SOURCES = [f"src/{part}/*.cpp" for part in ("algorithms", "schedule", "topology")]
SOURCES += [f"src/model/{name}.cpp" for name in ("counts", "grid_work", "leader_counts", "proxies", "tally", "work")]
SOURCES += [f"tools/proofs/{name}.cpp" for name in ("checks", "symmetry", "verify")]
DRIVER = """
#include <cstdio>
#include "model/counts.hpp"
#include "model/work.hpp"
#include "proofs/verify.hpp"
using namespace swapmeet;
int main() {
  const Spec spec = *parse_spec("ring");
  for (Rank p = 1; p <= 32; ++p) {
    const Counts counts = count(spec, Shape{p});
    Work work;
    count_work(spec, Shape{p}, Nodes(Shape{p}), work);
    std::int64_t messages = 0;
    for (const PhaseWork& phase : work.phases) messages += phase.within.messages;
    const Verdict verdict = verify(spec, Shape{p});
    const bool counted = verdict.messages == p * counts.messages && verdict.blocks == p * counts.blocks &&
                         counts.messages == p - 1 && counts.blocks == p * (p - 1) / 2 && messages == p - 1;
    std::printf("%s %d %s\\n", to_text(spec).c_str(), p, verdict.proved() && counted ? "proved" : "WRONG");
  }
}
"""


def apply(folder: Path, *options: str) -> None:
    """Apply the page's changes in a folder with the sources."""
    (patch,) = DIFF.findall(PAGE)
    words = ["git", "apply", "-C1", *options, "-"]
    done = subprocess.run(words, cwd=folder, input=patch, capture_output=True, text=True)
    assert done.returncode == 0, f"docs/howto/algorithm.md no longer fits the sources:\n{done.stderr}"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for folder in ("src", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_its_changes_fit_the_sources(sources: Path) -> None:
    apply(sources)
    assert "Family::ring" in (sources / "src" / "algorithms" / "families.cpp").read_text()
    [(name, text)] = FILE.findall(PAGE)
    assert name == "src/algorithms/ring.cpp"
    assert len(text.splitlines()) <= 42
    assert set(re.findall(r"^[+]{3} b/(.*)$", PAGE, re.MULTILINE)) == {
        "src/algorithms/families.cpp",
        "src/schedule/spec.hpp",
    }


@pytest.mark.long
def test_the_algorithm_is_proved(sources: Path) -> None:
    apply(sources)
    for path, text in FILE.findall(PAGE):
        (sources / path).write_text(text)
    (sources / "driver.cpp").write_text(DRIVER)
    files = [str(path) for pattern in SOURCES for path in sources.glob(pattern)]
    words = ["c++", "-std=c++20", "-O0", "-Isrc", "-Itools", "driver.cpp", *files, "-o", "driver"]
    subprocess.run(words, cwd=sources, check=True)
    said = subprocess.run(["./driver"], cwd=sources, capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == [f"ring(window=all,complete=all) {p} proved" for p in range(1, 33)]
