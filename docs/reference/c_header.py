"""Reads a C header with comments in Doxygen's style, and writes it as a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

COMMENT = re.compile(r"^/\*\*(?P<text>.*?)\*/\n(?P<code>.*?)(?=^\n|^/\*\*|\Z)", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"\b(swapmeet_\w+)(?=\(|;)")
TAG = re.compile(r"^@(\w+)\s*")
TERM = re.compile(r"`[^`]*`|\b(swapmeet_\w+)\(\)|\b(?:MPI_[A-Z]\w*|SWAPMEET_[A-Z]\w*|NULL)\b|[*]")


@dataclass
class Entry:
    """A comment and what it is about."""

    text: str
    parameters: dict[str, str] = field(default_factory=dict)
    returns: str = ""
    since: str = ""
    code: str = ""

    @property
    def names(self) -> list[str]:
        """The functions and types that are declared, those of large counts aside."""
        declared = r"^(?:int|const char\*|\}|typedef struct swapmeet_\w+) *(swapmeet_\w+)(?=[(;])"
        found = dict.fromkeys(re.findall(declared, self.code, re.MULTILINE))
        return [name for name in found if not name.endswith("_c")]

    @property
    def title(self) -> str:
        """What the page calls it."""
        if self.names:
            return ", ".join(f"`{name}`" for name in self.names)
        (kind,) = re.findall(r"^enum \{.*?\b(SWAPMEET_\w+?)_", self.code, re.S) or ["Constants"]
        return f"`{kind}_...`"


def read(header: str) -> tuple[str, list[Entry]]:
    """What the header says of itself, and of each of its declarations."""
    entries = [_entry(match["text"], match["code"]) for match in COMMENT.finditer(header)]
    return entries[0].text, entries[1:]


def page(header: str, title: str, introduction: str) -> str:
    """The page, in Markdown."""
    about, entries = read(header)
    known = {name: entry.names[0] for entry in entries for name in entry.names}
    return "\n".join([f"# {title}", "", _prose(about, known), "", introduction, "", *_sections(entries, known)])


def _sections(entries: list[Entry], known: dict[str, str]) -> Iterator[str]:
    for entry in entries:
        anchor = entry.names[0] if entry.names else "phases"
        yield f"## {entry.title} {{#{anchor}}}\n\n```c\n{entry.code}\n```\n\n{_prose(entry.text, known)}\n"
        if entry.parameters:
            yield "\n".join(f"- `{name}`: {_prose(text, known)}" for name, text in entry.parameters.items()) + "\n"
        if entry.returns:
            yield f"**Returns** {_prose(entry.returns, known)}\n"
        if entry.since:
            yield f"Since {entry.since}.\n"


def _entry(comment: str, code: str) -> Entry:
    entry, add = Entry("", code=_balanced(code)), "text"
    for line in (re.sub(r"^\s*\* ?", "", line).strip() for line in comment.splitlines()):
        if tag := TAG.match(line):
            line = line[tag.end() :]
            if tag[1] == "param":
                name, line = line.split(None, 1)
                add = f"@{name}"
            else:
                add = {"return": "returns", "since": "since"}[tag[1]]
        if add.startswith("@"):
            entry.parameters[add[1:]] = f"{entry.parameters.get(add[1:], '')} {line}".strip()
        else:
            setattr(entry, add, (getattr(entry, add) + (f"\n{line}" if add == "text" else f" {line}")).strip())
    return entry


def _balanced(code: str) -> str:
    """Without the beginning or the end of a condition whose other end is elsewhere."""
    lines = code.rstrip().splitlines()
    while len(re.findall(r"^#if", "\n".join(lines), re.M)) < len(re.findall(r"^#endif", "\n".join(lines), re.M)):
        lines.pop(len(lines) - 1 - lines[::-1].index("#endif"))
    return "\n".join(lines)


def _prose(text: str, known: dict[str, str]) -> str:
    """Names as code, those that are declared here as links."""

    def term(match: re.Match[str]) -> str:
        word = match[0]
        if word == "*":
            return r"\*"
        if name := match[1]:
            return f"[`{word}`](#{known[name]})" if name in known else f"`{word}`"
        return word if word.startswith("`") else f"`{word}`"

    return TERM.sub(term, text)
