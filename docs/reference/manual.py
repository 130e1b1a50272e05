"""Writes the man pages, docs/man: swapmeet(1) of the command's own help, libswapmeet(7) of the table of options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from swapmeet import __version__, _core
from swapmeet.cli.app import app

FOLDER = Path(__file__).parents[1] / "man"
LIBRARY = (
    "libswapmeet.so, preloaded into the ranks of an MPI program, serves MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw and "
    "their siblings where that is expected to be faster, with the same answers. The host MPI serves the rest.",
    "`swapmeet run` preloads it; so does any launcher: `mpirun -n 16 env LD_PRELOAD=libswapmeet.so ./application`.",
)


def pages() -> Iterator[tuple[str, str]]:
    """Name and text of each page."""
    command: Any = typer.main.get_command(app)
    yield "swapmeet.1", "\n".join(_command_page(command)) + "\n"
    yield "libswapmeet.7", "\n".join(_library_page()) + "\n"


def _command_page(app: Any) -> Iterator[str]:
    yield from _head("swapmeet", 1, "fast all-to-all collectives of MPI")
    yield from (".SH SYNOPSIS", r".B swapmeet", r"\fICOMMAND\fR [\fIOPTION\fR]... [\fIARGUMENT\fR]...")
    yield from (".SH DESCRIPTION", *_text(app.help), ".SH OPTIONS")
    for option in app.params:
        yield from _option(option)
    yield ".SH COMMANDS"
    for name, command in app.commands.items():
        for words, one in _leaves(f"swapmeet {name}", command):
            yield f".SS {_plain(words)}{_synopsis(one)}"
            yield from _text(one.help)
            for option in one.params:
                if option.param_type_name == "option" or option.help:
                    yield from _option(option)
    yield from (".SH EXIT STATUS", *_text(app.epilog.removeprefix("Exit status: ")))
    yield from (".SH SEE ALSO", ".BR libswapmeet (7)")


def _leaves(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    """A command, or those of a group."""
    if not hasattr(command, "commands"):
        yield words, command
        return
    for name, one in command.commands.items():
        yield from _leaves(f"{words} {name}", one)


def _synopsis(command: Any) -> str:
    return "".join(rf" \fI{_plain(one.metavar)}\fR" for one in command.params if one.param_type_name == "argument")


def _option(option: Any) -> Iterator[str]:
    value = "" if getattr(option, "is_flag", False) else rf" \fI{_plain(option.metavar or 'VALUE')}\fR"
    names = (*option.opts, *option.secondary_opts)
    yield ".TP"
    yield (", ".join(rf"\fB{_plain(name)}\fR" for name in names) if names[0].startswith("-") else "") + value
    yield from _text(option.help or "")


def _library_page() -> Iterator[str]:
    yield from _head("libswapmeet", 7, "options of the library for fast all-to-alls of MPI")
    yield from (".SH DESCRIPTION", *_text("\n\n".join(LIBRARY)), ".SH ENVIRONMENT")
    for name, kind, standard, meaning in _core.option_table():
        yield from (".TP", rf"\fB{_plain(name)}\fR (default: {_plain(standard)})")
        yield from (*_text(f"Value: {kind}."), ".br", *_text(meaning))
    yield from (".SH SEE ALSO", ".BR swapmeet (1)")


def _head(name: str, section: int, what: str) -> Iterator[str]:
    yield r".\" Made by docs/reference/manual.py"
    yield f'.TH {name} {section} "" "Swapmeet {__version__}"'
    yield from (".SH NAME", rf"{name} \- {what}")


def _text(words: str) -> Iterator[str]:
    """Paragraphs, each in one line; what is between `` is bold."""
    for i, paragraph in enumerate(words.split("\n\n")):
        if i:
            yield ".PP"
        if line := _plain(" ".join(paragraph.split())):
            line = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", line)
            yield rf"\&{line}" if line[0] in ".'" else line


def _plain(text: str) -> str:
    return text.replace("\\", r"\e").replace("-", r"\-")


def main() -> None:
    """Write them."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
