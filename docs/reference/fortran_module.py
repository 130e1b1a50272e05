"""Reads the Fortran module, and writes its public part as a page."""

from __future__ import annotations

import re

PUBLIC = re.compile(r"^  public :: ((?:swapmeet_\w+(?:, )?)+)$", re.MULTILINE)
TYPE = re.compile(r"^  type, (?:bind\(c\), )?public :: (\w+)\n(.*?)^  end type", re.MULTILINE | re.DOTALL)
GENERIC = re.compile(r"^  interface (swapmeet_\w+)\n    procedure ([\w, ]+)\n", re.MULTILINE)
PROCEDURE = re.compile(
    r"(?P<comment>(?:^  !>.*\n)*)^  (?P<head>(?:subroutine|function) (?P<name>\w+)\((?:.*&\n)*.*\n)"
    r"(?P<declarations>(?:^    (?:type|class|integer|character|logical|real)\b.*::.*\n)*)",
    re.MULTILINE,
)


def page(module: str, title: str, introduction: str) -> str:
    """The page, in Markdown."""
    about = "\n".join(line.removeprefix("!>").strip() for line in module.split("\nmodule ")[0].splitlines())
    generic = {name: specific.split(", ") for name, specific in GENERIC.findall(module)}
    found = {match["name"]: match for match in PROCEDURE.finditer(module)}
    parts = [f"# {title}", "", about, "", introduction, ""]
    for names in PUBLIC.findall(module):
        for name in names.split(", "):
            specific = [found[each] for each in generic.get(name, [name])]
            code = "\n".join(_signature(match, name) for match in specific)
            comment = re.sub(r"^ *!> ?", "", specific[0]["comment"], flags=re.MULTILINE)
            parts.append(f"## `{name}` {{#{name}}}\n\n```fortran\n{code}```\n\n{comment}")
    for name, body in TYPE.findall(module):
        code = f"type :: {name}\n{_dedented(body)}end type\n"
        parts.append(f"## `type({name})` {{#type-{name}}}\n\n```fortran\n{code}```\n")
    return "\n".join(parts)


def _signature(match: re.Match[str], name: str) -> str:
    head = re.sub(r" &\n\s*", " ", match["head"]).replace(f" {match['name']}(", f" {name}(", 1)
    known = set(re.findall(r"\w+", head))
    lines = match["declarations"].splitlines(keepends=True)
    return _dedented(head + "".join(line for line in lines if known & set(re.findall(r"\w+", line.split("::")[1]))))


def _dedented(code: str) -> str:
    return re.sub(r"^  ", "", code, flags=re.MULTILINE)
