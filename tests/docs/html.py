"""What a page of the site contains, without a browser: what it fetches, links, anchors and its text."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from pathlib import Path

FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The contents of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[tuple[str, str | None]] = []  #: address, and of pictures what stands for them
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.anchors |= {found[name] or "" for name in ("id", "name") if name in found}
        address = found.get(FETCHED.get(tag, ""))
        if address and found.get("rel") != "canonical" and not address.startswith("data:"):
            self.fetched.append((address, (found.get("alt") or "") if tag == "img" else None))
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))

    def handle_data(self, data: str) -> None:
        self.text += data


@cache
def read(path: Path) -> Page:
    """A page, parsed once."""
    return Page(path.read_text(encoding="utf-8"))
