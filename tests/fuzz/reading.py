"""Readers of files from outside, in Python: each reads a file, or refuses it with one short sentence."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from swapmeet import SwapmeetError, machines
from swapmeet.choose import mpich
from swapmeet.measure import verdict
from swapmeet.measure.profiling import recording
from swapmeet.mpi import hang_reports
from swapmeet.validation import measurements

CORPUS = Path(__file__).parent / "files"
LONGEST_SENTENCE = 2000

#: By the name of the corpus.
READERS: dict[str, Callable[[Path], object]] = {
    "machine": lambda file: machines.parse(file.read_text(errors="replace"), "machine.json"),
    "measurements": lambda file: measurements.read([file]),
    "mpich-rules": mpich.read,
    "recording": lambda file: recording.read([file]),
    "statistics": verdict.read,
    "watchdog": lambda file: hang_reports.read(file.parent),
}


def reader(name: str) -> Callable[[bytes], None]:
    """Gives the named reader a file with some bytes, in a folder of its own."""
    folder = tempfile.TemporaryDirectory(prefix="swapmeet-fuzz-")

    def read(data: bytes) -> None:
        file = Path(folder.name) / "0.jsonl"
        file.write_bytes(data)
        try:
            READERS[name](file)
        except SwapmeetError as refusal:
            sentence = str(refusal)
            assert 0 < len(sentence) < LONGEST_SENTENCE and "\n" not in sentence, sentence

    return read
