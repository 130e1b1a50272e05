"""Draws the pictures of docs/pictures.md.

    python docs/reference/gallery.py

Measurements are those of docs/pictures/bench.jsonl, which names machine, commit and date.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from swapmeet.reproduction.drawing import compact

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
KINDS = ("heat", "latency", "radix", "phases", "samples")
#: Commands whose last word is the file.
COMMANDS = {
    **{f"plot-{kind}": ("plot", "docs/pictures/bench.jsonl", "--kind", kind, "-o") for kind in KINDS},
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
}


def main() -> None:
    """Draw all."""
    for name, words in COMMANDS.items():
        file = FOLDER / f"{name}.png"
        subprocess.run([sys.executable, "-m", "swapmeet", *words, str(file)], cwd=ROOT, check=True, capture_output=True)
        compact(file)
        print(f"{file}: {file.stat().st_size} B", file=sys.stderr)


if __name__ == "__main__":
    main()
