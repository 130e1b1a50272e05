"""Draws the pictures of docs/pictures.md that are not made with a page; that of the report as Chromium shows it.

    python docs/reference/gallery.py

Measurements are those of docs/pictures/bench.jsonl, which names machine, commit and date.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from swapmeet.reproduction.drawing import compact

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
KINDS = ("heat", "latency", "radix", "phases", "samples")
BENCH = "docs/pictures/bench.jsonl"
#: Commands whose last word is the file.
COMMANDS = {
    **{f"plot-{kind}": ("plot", BENCH, "--kind", kind, "-o") for kind in KINDS},
    "model-radix": ("model", "tra", "-P", "64,1024", "--plot"),
    "model-workload": (
        "model",
        "two-phase-bruck",
        "spread-out",
        "-P",
        "64",
        "--workload",
        "uniform:max=4KiB",
        "--plot",
    ),
    "links": ("topology", "slim-fly(q=5,hosts=4)", "--compare", "--picture"),
}
CHROMIUM = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1300,860")


def swapmeet(*words: str | Path) -> None:
    """Run the command at the root."""
    subprocess.run([sys.executable, "-m", "swapmeet", *map(str, words)], cwd=ROOT, check=True, capture_output=True)


def finish(file: Path) -> None:
    """Make it small, and print how small."""
    compact(file)
    print(f"{file}: {file.stat().st_size} B", file=sys.stderr)


def main() -> None:
    """Draw all."""
    for name, words in COMMANDS.items():
        swapmeet(*words, FOLDER / f"{name}.png")
        finish(FOLDER / f"{name}.png")
    with tempfile.TemporaryDirectory() as folder:
        page, file = Path(folder) / "report.html", FOLDER / "plot-report.png"
        swapmeet("plot", BENCH, "-o", page)
        words = [*CHROMIUM, f"--user-data-dir={folder}/profile", f"--screenshot={file}", page.as_uri()]
        subprocess.run(words, check=True, capture_output=True)
        finish(file)


if __name__ == "__main__":
    main()
