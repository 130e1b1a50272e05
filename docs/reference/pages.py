"""What MkDocs asks while it builds the site: pages made from the sources, and links where pages name one another."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

import c_header
import fortran_module
import schedules
import typer
import typer.cli
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from swapmeet.cli.app import app

ROOT = Path(__file__).parents[2]
#: Pages that lie elsewhere in the tree, and what they are called here.
ELSEWHERE = {"examples/README.md": "examples.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}
MENTION = re.compile(
    r"(?<![\w/`])(?<!\]\()(?:docs/(?P<page>[\w/-]+\.(?:md|bib))|(?P<elsewhere>examples/README\.md|CONTRIBUTING\.md|CHANGELOG\.md))"
)
CODE = re.compile(r"(^ {4,}[^\n]*$|^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)


def on_config(config: Any) -> Any:
    """Pages that nobody has given a place come last, rather than get lost."""
    named = set(re.findall(r"[\w/-]+\.md", str(config.nav)))
    there = sorted(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md"))
    if forgotten := [name for name in there if name not in named]:
        config.nav.append({"More": forgotten})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add what is not in docs/."""
    for source, name in ELSEWHERE.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    for name, content in generated().items():
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    for page in list(files.documentation_pages()):
        for name, content in schedules.made(page.content_string).items():
            if files.get_file_from_path(f"schedules/{name}") is None:
                files.append(File.generated(config, f"schedules/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:
    """Make a link of what reads docs/tuning.md, as pages name one another outside code."""

    def link(match: re.Match[str]) -> str:
        name = match["page"] or ELSEWHERE[match["elsewhere"]]
        target = files.get_file_from_path(name)
        if target is None:
            return f"[{match[0]}]({name})"  # which is not there: an error in strict mode
        title = target.page.title if target.page and target.page.title else PurePosixPath(name).name
        return f"[{title}]({os.path.relpath(name, PurePosixPath(page.file.src_uri).parent)})"

    root = os.path.relpath(".", PurePosixPath(page.file.src_uri).parent)
    parts = CODE.split(schedules.embedded(markdown, root))
    parts[::2] = [MENTION.sub(link, part) for part in parts[::2]]
    return "".join(parts)


def generated() -> dict[str, str]:
    """The pages of the reference that are made from sources: name, Markdown."""
    header = (ROOT / "include/swapmeet/swapmeet.h").read_text()
    module = (ROOT / "fortran/swapmeet.f90").read_text()
    return {
        "commands": _commands(),
        "c": c_header.page(
            header,
            "Reference: C",
            "`#include <mpi.h>`, then `#include <swapmeet/swapmeet.h>`. docs/api.md says how to link, and shows the "
            "three languages side by side.",
        ),
        "fortran": fortran_module.page(
            module, "Reference: Fortran", "What each does is said of the [function in C](c.md) of the same name."
        ),
        "python": "# Reference: Python\n\n::: swapmeet.exchange\n",
    }


def _commands() -> str:
    command = typer.main.get_command(app)
    with typer.Context(command, info_name="swapmeet") as context:
        text = typer.cli.get_docs_for_click(obj=command, ctx=context, name="swapmeet", title="Reference: commands")
    text = re.sub(r"\*\*Commands\*\*:\n\n(?:\* .*\n)+\n", "", text)  # headings say it, and do not cut it off
    text = re.sub(r"\[default: ([^\]]+)\]", r"(default: `\1`)", text)
    return text.replace("**Usage**:\n\n", "").replace("```console\n$ ", "```text\n")
