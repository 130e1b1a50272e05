"""Pages, help texts, messages and docstrings use the field's words: idioms that a reader who knows MPI would have to
learn stay out.

The list is CONTRIBUTING.md's in short. A page that is made by a command is mended in the text that the command prints.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from docs.pages import PAGES, ROOT
from markdown_it import MarkdownIt

from swapmeet import _core
from swapmeet.cli.app import app

#: What is not to be written, as a regular expression, and what is.
INSTEAD = {
    r"MPI underneath": "the host MPI",
    r"(goes?|sent) straight|straight blocks?": "is sent directly, direct blocks",
    r"(is|are) told|tells?": "reports, prints, warns",
    r"says?|said": "states, prints, reports, requires",
    r"who(ever|m)?": "the noun: the rank, the user",
    r"patience|early calls?": "set-up policy",
    r"thereabouts": "about, or nothing",
    r"so many|so much": "the number, or that many",
    r"of (its|their|our) own": "nothing, or ours, separate",
    r"(no|some)body": "no rank, a rank, no user",
    r"carried places?": "proxy slots",
    r"meeters?": "endpoints",
    r"couriers?": "the message engine",
    r"kept blocks?": "owned buffers",
    r"lets? (it )?be|(is|are) let be": "leaves unchanged",
    r"to be had": "available",
    r"at stake": "the current digit, the gain",
    r"the like|and such": "the things meant",
    r"(held|holds?) against": "compared with",
    r"do(es)? alike": "act alike",
    r"what is left": "the rest",
    r"mend(s|ed|ing)?": "fixes, corrects",
    r"without a word": "without a message",
    r"g(o|oes|oing|one) on with": "continues",
    r"as ever": "nothing",
}
FORBIDDEN = re.compile("|".join(rf"(?P<_{i}>\b(?:{idiom})\b)" for i, idiom in enumerate(INSTEAD)), re.IGNORECASE)
WORDS = list(INSTEAD.values())
MADE = re.compile(r"<!--[^>]*\bbegin\b.*?\bend -->", re.DOTALL)  #: between marks of a command
MOST_WORDS = 27_000  #: of all pages of docs


def found(text: str) -> list[str]:
    """Each forbidden idiom of a text with what to write instead."""
    hits = [(match[0], WORDS[int(str(match.lastgroup)[1:])]) for match in FORBIDDEN.finditer(text)]
    return [f'"{words}": write {instead}' for words, instead in hits]


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """The sentences of a page, tables and headings included, code left out, with their lines."""
    for token in MarkdownIt().enable("table").parse(page.read_text()):
        if token.children:
            text = " ".join(child.content for child in token.children if child.type == "text")
            yield (token.map or [0])[0] + 1, text


def words_of(page: Path) -> int:
    """The words of a page outside of tables, blocks of code, and what a command writes into it."""
    count, in_table = 0, False
    for token in MarkdownIt().enable("table").parse(MADE.sub("", page.read_text())):
        in_table = token.type == "table_open" or (in_table and token.type != "table_close")
        if token.type == "inline" and not in_table:
            count += len(token.content.split())
    return count


def test_the_documentation_stays_short() -> None:
    """A reader's hours: a new page replaces words of others."""
    counts = {page: words_of(page) for page in sorted((ROOT / "docs").rglob("*.md"))}
    longest = sorted(counts.items(), key=lambda item: -item[1])[:5]
    assert sum(counts.values()) <= MOST_WORDS, longest


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page: Path) -> None:
    wrong = [f"{page}:{line}: {hit}" for line, text in prose(page) for hit in found(text)]
    assert not wrong, "\n".join(wrong)


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """A command and all below it, with their names."""
    yield name, command
    for below, one in getattr(command, "commands", {}).items():
        yield from commands(one, f"{name} {below}")


def test_help() -> None:
    texts = {f"swapmeet {name}": one.help or "" for name, one in commands(typer.main.get_command(app), "")}
    for name, one in commands(typer.main.get_command(app), ""):
        texts |= {f"swapmeet {name} --{param.name}": getattr(param, "help", "") or "" for param in one.params}
    texts |= {row[0]: " ".join(map(str, row[1:])) for row in _core.option_table()}
    wrong = [f"{where}: {hit}" for where, text in texts.items() for hit in found(text)]
    assert not wrong, "\n".join(wrong)


def texts_of(module: Path) -> Iterator[tuple[int, str]]:
    """Docstrings and messages of a Python module with their lines; expressions in messages left out."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


@pytest.mark.parametrize("package", sorted((ROOT / "python" / "swapmeet").iterdir()), ids=lambda path: path.name)
def test_messages_and_docstrings(package: Path) -> None:
    modules = package.rglob("*.py") if package.is_dir() else [package] if package.suffix == ".py" else []
    wrong = [f"{one}:{line}: {hit}" for one in modules for line, text in texts_of(one) for hit in found(text)]
    assert not wrong, "\n".join(wrong)


#: A text of C or C++, of several words; names of fields in JSON are none.
LITERAL = re.compile(r'"((?:[^"\\]|\\.)* (?:[^"\\]|\\.)*)"')


def test_messages_of_the_library() -> None:
    wrong = []
    for path in sorted((ROOT / "src").rglob("*.?pp")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            texts = [text for text in LITERAL.findall(line.partition("//")[0]) if not text.endswith('": ')]
            wrong += [f"{path}:{number}: {hit}" for text in texts for hit in found(text)]
    assert not wrong, "\n".join(wrong)


def test_the_public_interface() -> None:
    for path in (ROOT / "include" / "swapmeet" / "swapmeet.h", ROOT / "fortran" / "swapmeet.f90"):
        wrong = [f"{path}:{n}: {hit}" for n, line in enumerate(path.read_text().splitlines(), 1) for hit in found(line)]
        assert not wrong, "\n".join(wrong)


def test_an_idiom_is_found() -> None:
    assert found("Whoever waits is told so.") == [
        '"Whoever": write the noun: the rank, the user',
        '"is told": write reports, prints, warns',
    ]
    assert not found("The library reports it; whole nodes, a whopper.")
