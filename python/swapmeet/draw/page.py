"""One HTML file that shows a schedule step by step, and needs no network: style, script and data are inside."""

from __future__ import annotations

import html
import re
from importlib import resources

from swapmeet.draw.picture import Picture, data
from swapmeet.output import json_in_page

SCRIPTS = ("schedule.js", "ring.js", "buffers.js", "details.js", "network.js", "page.js")


def page(picture: Picture) -> str:
    """The page as text."""
    folder = resources.files(__package__) / "parts"

    def read(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    parts = {
        "title": html.escape(f"{picture.spec}, P = {picture.ranks}"),
        "style": read("page.css"),
        "schedule": json_in_page(data(picture)),
        "script": '(() => {\n"use strict";\n' + "\n".join(map(read, SCRIPTS)) + "})();",
    }
    return re.sub(r"<!--(\w+)-->", lambda match: parts[match[1]], read("page.html"))
