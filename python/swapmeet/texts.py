"""Files of text that a user names."""

from __future__ import annotations

from pathlib import Path

from swapmeet.errors import SwapmeetError

MIB = 1 << 20


def text_of(path: Path, most_bytes: int) -> str:
    """What a file or a pipe says; no more is read than `most_bytes`.

    Raises
    ------
    SwapmeetError
        If it cannot be read, is larger, or is not UTF-8 text.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
        if len(content) > most_bytes:
            raise SwapmeetError(f"{path}: not a file of up to {most_bytes // MIB} MiB")
        return content.decode()
    except OSError as problem:
        raise SwapmeetError(f"{path}: cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise SwapmeetError(f"{path}: cannot be read: it is not text") from None
