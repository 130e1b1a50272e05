"""The user's folder for what can be made again. Libraries are loaded from it: no other user may write to it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from swapmeet.errors import SwapmeetError


def cache_folder() -> Path:
    """Where it is. A relative XDG_CACHE_HOME does not count, by its specification.

    Raises
    ------
    SwapmeetError
        If this user has no home, as in some containers.
    """
    named = Path(os.environ.get("XDG_CACHE_HOME") or "")
    if named.is_absolute():
        return named / "swapmeet"
    try:
        return Path.home().absolute() / ".cache" / "swapmeet"
    except RuntimeError:
        raise SwapmeetError("this user has no home folder: set HOME or XDG_CACHE_HOME") from None


def problem_of(folder: Path) -> str | None:
    """Why what is in a folder may be another user's; None: it is not, or there is no such folder."""
    try:
        found, above = folder.stat(), folder.parent.stat()
    except OSError:
        return None
    if found.st_uid != os.geteuid():
        return "it is another user's"
    if found.st_mode & stat.S_IWOTH:
        return "every user may write to it"
    if above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX:
        return f"every user may replace it, in {folder.parent}"
    return None


def own_cache_folder() -> Path:
    """The folder, made if need be for the user alone.

    Raises
    ------
    SwapmeetError
        If there is none, it cannot be made, or another user may have put something into it.
    """
    folder = cache_folder()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as problem:
        raise SwapmeetError(f"{folder} cannot be made: {problem.strerror}; set XDG_CACHE_HOME") from None
    if problem_found := problem_of(folder):
        raise SwapmeetError(f"the cache {folder} is not used: {problem_found}; set XDG_CACHE_HOME to a folder of yours")
    return folder
