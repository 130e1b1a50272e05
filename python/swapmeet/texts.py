"""Text that a user gives or gets: files, read up to a size and written at once; what is not UTF-8; what to print."""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from swapmeet.errors import SwapmeetError

MIB = 1 << 20
ROOM_BYTES = 64 << 10  #: a disk with less of it is full
FOREIGN = "another user's, in a folder where all may write"
CONTROLS = re.compile("[\x00-\x1f\x7f-\x84\x86-\x9f]")  #: but U+0085, which ends a line as U+2028 does
#: For what we print where the encoding of standard output lacks it.
SUBSTITUTES = {
    "±": "+-",
    "²": "^2",
    "µ": "u",
    "·": ".",
    "×": "x",
    "–": "-",
    "…": "...",
    "√": "sqrt ",
    "≈": "~",
    "≤": "<=",
    "≥": ">=",
}


def text_of(path: Path, most_bytes: int) -> str:
    """The content of a file or a pipe; no more is read than `most_bytes`.

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


def is_utf8(text: str) -> bool:
    """Whether an argument or a variable, as Python has it, was UTF-8."""
    return printable(text) == text


def printable(text: str) -> str:
    """An argument or a variable with U+FFFD for bytes that are not UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def without_controls(line: str) -> str:
    """A line to print, of texts from outside: with "?" for control characters, which may change a terminal."""
    return CONTROLS.sub("?", line)


def print_in_any_encoding() -> None:
    """Have standard output and error take every text, also names of files that are no Unicode."""
    codecs.register_error("swapmeet", _substituted)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="swapmeet")  # type: ignore[union-attr]


def _substituted(problem: UnicodeError) -> tuple[bytes, int]:
    """What is printed instead of characters that the encoding lacks."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    other = "\ufffd" if problem.encoding.startswith("utf") else "?"
    text = "".join(SUBSTITUTES.get(char, other) for char in problem.object[problem.start : problem.end])
    return text.encode(problem.encoding), problem.end


def is_anothers(path: Path) -> bool:
    """Whether another user has put a link or a file where all may write, as the library refuses it."""
    try:
        found, folder = path.lstat(), path.parent.stat()
    except OSError:
        return False
    return bool(folder.st_mode & stat.S_IWOTH) and found.st_uid not in (os.geteuid(), folder.st_uid)


def require_place(path: Path, option: str = "-o") -> None:
    """Refuse what write() will not be able to write, before anything is measured. Makes the folder."""
    with writing(path, option):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if _descriptor(path) is not None or _is_device(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        with tempfile.TemporaryFile(dir=Path(os.path.realpath(path)).parent):
            pass


def write(path: Path, page: str | bytes | Iterable[str], option: str = "-o") -> None:
    """Put a file in its place at once: a program that starts meanwhile reads the old one or the new one.

    A new one has the mode of the old one. A device, a pipe or an open file (/dev/stdout) is written to. `option`: what
    names the file, for messages.

    Raises
    ------
    SwapmeetError
        If it cannot be written; then what was there stays.
    """
    texts = [page] if isinstance(page, str) else page
    parts = [texts] if isinstance(texts, bytes) else (text.encode(errors="replace") for text in texts)
    with writing(path, option):
        number = _descriptor(path)
        if number is not None or _is_device(path):
            sys.stdout.flush()
            with open(path if number is None else os.dup(number), "wb") as opened:
                opened.writelines(parts)
            return
        path = Path(os.path.realpath(path))
        draft = path.with_name(f".swapmeet-{os.urandom(8).hex()}")
        draft_number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        try:
            with open(draft_number, "wb") as file:
                if path.exists():
                    os.fchmod(draft_number, stat.S_IMODE(path.stat().st_mode))
                file.writelines(parts)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise


def _descriptor(path: Path) -> int | None:
    """Of what is open already, for no other file is to be put in its place."""
    name = os.path.abspath(path)
    found = re.fullmatch(r"(?:/dev|/proc/self)/fd/(\d+)", name)
    return int(found[1]) if found else {"/dev/stdout": 1, "/dev/stderr": 2}.get(name)


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A folder for files that are written within, by this process and others.

    Raises
    ------
    SwapmeetError
        If there is no place for them; in the end, too: then what another process has written may be cut off.
    """
    place = ""
    try:
        with tempfile.TemporaryDirectory(prefix=prefix) as folder:
            place = f"{Path(folder).parent}: "
            yield Path(folder)
            Path(folder, "room").write_bytes(bytes(ROOM_BYTES))
    except OSError as problem:
        if problem.filename is not None:
            raise
        raise SwapmeetError(f"{place}{problem.strerror}: give a folder for temporary files by TMPDIR") from None


@contextlib.contextmanager
def writing(path: Path, option: str = "") -> Iterator[None]:
    """Around what writes a file: makes its folder, refuses what another user put there, and raises SwapmeetError."""
    try:
        if is_anothers(path):
            raise PermissionError(errno.EPERM, FOREIGN)
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as problem:
        place = "a place that can be written to" + (f" by {option}" if option else "")
        raise SwapmeetError(f"{path}: {problem.strerror}: give {place}") from None
