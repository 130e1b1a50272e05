"""The commands in the documentation: each line of a block of shell code, with what a comment before it says of it.

A comment `<!-- test: ... -->` right before a block is for tests only:

    <!-- test: skip needs Apptainer -->        its commands are not run, for this reason; their options are looked at
    <!-- test: with -P 4096 => -P 64; ... -->  they are run with these words in place of those
    <!-- test: slurm -n 256 => -n 6; ... -->   the same, in a job of a Slurm
"""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
PROGRAMS = "(?:swapmeet|make|mpirun|mpiexec|mpicc|mpif90|cmake|git|pip|apt-get|srun|sbatch|cd) |library=|\\.venv/bin/"
BEGINS = re.compile(rf"(?:[A-Z_]+=\S+ )*(?:{PROGRAMS})")
DIRECTIVE = re.compile(r"<!-- test: (skip|with|slurm) ?(.*?) -->", re.DOTALL)
REMARK = re.compile(r" {3,}(?![ \\]).*$")
ENDS = re.compile(r"[();<>|&]+")


@dataclass(frozen=True)
class Command:
    """A command as a page has it, and as it is to be run."""

    page: Path
    line: int
    text: str
    run: str
    skip: str  #: why it is not run; "" if it is
    slurm: bool  #: it is run in a job of a Slurm

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}: {self.text}"

    def calls(self) -> list[list[str]]:
        """The words behind `swapmeet`, wherever it is called."""
        return swapmeet_calls(self.run)


@functools.cache
def commands(page: Path) -> list[Command]:
    """All commands in blocks of a page; what is within sentences and tables is not parsed."""
    found: list[Command] = []
    skip, slurm, replacements = "", False, list[tuple[str, str]]()
    for token in MarkdownIt().disable("inline").parse(page.read_text()):
        if token.type == "html_block":
            for kind, text in DIRECTIVE.findall(token.content):
                slurm |= kind == "slurm"
                if kind == "skip":
                    skip = text
                elif text:
                    replacements += [_replacement(page, pair) for pair in text.split("; ")]
        elif token.type in ("fence", "code_block"):
            for line, text in _shell_lines(token):
                run = text
                for old, new in replacements:
                    run = run.replace(old, new)
                found.append(Command(page, line, text, run, skip, slurm))
            skip, slurm, replacements = "", False, []
        elif token.type != "paragraph_close":
            skip, slurm, replacements = "", False, []
    return found


def inline_calls(page: Path) -> Iterator[tuple[int, list[str]]]:
    """The words behind `swapmeet` in code within sentences and tables, with the line."""
    for token in MarkdownIt().enable("table").parse(page.read_text()):
        for child in token.children or []:
            if child.type == "code_inline" and child.content.startswith("swapmeet "):
                for words in swapmeet_calls(child.content.replace("\\|", "|")):
                    yield (token.map or [0])[0] + 1, words


def swapmeet_calls(command: str) -> list[list[str]]:
    """The words behind each `swapmeet` of a command; what follows `--` is another program's."""
    calls: list[list[str]] = []
    lexer = shlex.shlex(command.replace("$(", " ( "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] | None = None
    for word in lexer:
        if word == "swapmeet" or word.endswith("/bin/swapmeet"):
            words = []
            calls.append(words)
        elif word == "--" and words is not None:
            words += ["--", "PROGRAM"]
            words = None
        elif ENDS.fullmatch(word):
            words = None
        elif words is not None:
            words.append(word)
    return calls


def _replacement(page: Path, pair: str) -> tuple[str, str]:
    old, arrow, new = pair.partition(" => ")
    assert arrow, f"{page}: expected OLD => NEW in `<!-- test: with ... -->`, not {pair!r}"
    return old.strip(), new.strip()


def _shell_lines(token: Token) -> Iterator[tuple[int, str]]:
    """Line numbers and commands of a block; nothing if it is no shell code."""
    language = token.info.strip()
    if language not in ("", "sh", "console"):
        return
    first = (token.map or [0])[0] + (2 if token.type == "fence" else 1)
    lines = [(first + i, line) for i, line in enumerate(token.content.splitlines())]
    if language == "console":
        lines = _typed(lines)
    elif not language and not (lines and BEGINS.match(lines[0][1])):
        return
    for number, text in _joined(lines):
        text = REMARK.sub("", re.sub(r"(^|\s)#.*$", "", text)).strip()
        if text:
            yield number, text


def _typed(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """What follows the prompt, without what was answered."""
    typed: list[tuple[int, str]] = []
    for number, text in lines:
        if text.startswith("$ "):
            typed.append((number, text[2:]))
        elif typed and typed[-1][0] == number - 1 and typed[-1][1].endswith("\\"):
            typed.append((number, text))
    return typed


def _joined(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines that end with a backslash, and the ones after them, as one."""
    begun: tuple[int, str] | None = None
    for number, text in lines:
        begun = (begun[0], begun[1] + " " + text.strip()) if begun else (number, text)
        if begun[1].endswith("\\"):
            begun = (begun[0], begun[1][:-1].rstrip())
            continue
        yield begun
        begun = None
    if begun:
        yield begun
