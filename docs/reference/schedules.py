"""Pages to step through a schedule, as `swapmeet draw` makes them, within pages of the site.

A page asks for one by a comment, which other readers of the page do not see: <!-- schedule: tra(r=3) -P 9 --nodes 3 -->
"""

from __future__ import annotations

import html
import re

from swapmeet import _core
from swapmeet.draw.page import page
from swapmeet.draw.picture import Picture, take
from swapmeet.network import reading

COMMENT = re.compile(
    r"<!-- schedule: (?P<spec>\S+) -P (?P<ranks>\d+)(?: --nodes (?P<nodes>\S+))?(?: --on (?P<network>\S+))? -->"
)


def made(markdown: str) -> dict[str, str]:
    """The pages that a page of the site asks for: name below schedules/, text."""
    return {_name(match): page(_picture(match)) for match in COMMENT.finditer(markdown)}


def embedded(markdown: str, root: str) -> str:
    """The page with frames for comments; `root` leads from the page to the root of the site."""

    def frame(match: re.Match[str]) -> str:
        title = f"{match['spec']} on {match['ranks']} ranks, to step through"
        address = html.escape(f"{root}/schedules/{_name(match)}#step={_first_messages(match)}")
        return (
            f'<iframe class="schedule" title="{html.escape(title)}" src="{address}" loading="lazy"></iframe>\n\n'
            f'<p><a href="{address}">Open it in a page by itself</a></p>'
        )

    return COMMENT.sub(frame, markdown)


def _picture(match: re.Match[str]) -> Picture:
    ranks, nodes, placed = int(match["ranks"]), match["nodes"] or "", None
    if match["network"]:
        placed = reading.place(reading.read_network(match["network"]), "destination", "block", ranks)
        nodes = nodes or ",".join(map(str, placed.placement))  # ranks of a host share a node
    return take(_core.parse_spec(match["spec"]), ranks, nodes, placed)


def _first_messages(match: re.Match[str]) -> int:
    """The number of the first step that sends."""
    return next(number for number, frame in enumerate(_picture(match).frames, 1) if frame.messages)


def _name(match: re.Match[str]) -> str:
    words = "-".join(filter(None, match.group("spec", "ranks", "nodes", "network")))
    return re.sub(r"\W+", "-", words) + ".html"
