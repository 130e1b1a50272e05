"""Files that commands write."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from swapmeet import SwapmeetError, texts

GOAL = [sys.executable, "-m", "swapmeet", "goal", "tra", "-P", "2", "-S", "8", "-o"]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_mode_of_the_old_one(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        texts.write(tmp_path / "new", "one")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o600
    (tmp_path / "new").chmod(0o664)
    texts.write(tmp_path / "new", "two")
    assert (mode(tmp_path / "new"), (tmp_path / "new").read_text()) == (0o664, "two")
    assert [file.name for file in tmp_path.iterdir()] == ["new"]


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    def pages() -> list[str]:
        raise KeyboardInterrupt

    file = tmp_path / "file"
    file.write_text("precious")
    with pytest.raises(KeyboardInterrupt):
        texts.write(file, (part for _ in range(1) for part in pages()))
    assert ([one.name for one in tmp_path.iterdir()], file.read_text()) == (["file"], "precious")


def test_a_link_is_followed_to_where_it_leads(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "there" / "target"
    link.symlink_to(target)
    with pytest.raises(SwapmeetError, match=r"link: No such file or directory: give a place"):
        texts.require_place(link)
    target.parent.mkdir()
    texts.require_place(link)
    texts.write(link, b"content")
    assert link.is_symlink() and target.read_bytes() == b"content"


def test_names_that_are_not_utf_8_may_be_in_a_page(tmp_path: Path) -> None:
    texts.write(tmp_path / "page", os.fsdecode(b"sch\xf6n"))
    assert (tmp_path / "page").read_text() == "sch?n"


@pytest.mark.parametrize("place", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_is_written_to(place: str, tmp_path: Path) -> None:
    done = subprocess.run([*GOAL, place], capture_output=True, text=True, check=True)
    assert "\nnum_ranks 2\n" in done.stdout
    with (tmp_path / "file").open("w") as file:
        print("before", file=file, flush=True)
        subprocess.run([*GOAL, place], stdout=file, check=True)
        print("after", file=file)
    lines = (tmp_path / "file").read_text().splitlines()
    assert (lines[0], lines[2], lines[-1]) == ("before", "num_ranks 2", "after")


def test_a_pipe_is_a_place(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    texts.require_place(pipe)
    reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True)
    texts.write(pipe, ["one ", "two"])
    assert reader.communicate()[0] == "one two"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
