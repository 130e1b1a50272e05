"""One colour for each rank, as bright as all others, so that dark text is readable on each."""

from __future__ import annotations

import math
from collections.abc import Sequence

FILL = (0.82, 0.105)  #: lightness and chroma, in OKLCH
LINE = (0.56, 0.15)
SPREAD = 0.16  #: of the lightness, among the ranks of a node


def rank_colours(node_of: Sequence[int], tone: tuple[float, float] = FILL) -> list[str]:
    """Hues go around the ranks; where there are nodes, around the nodes, whose ranks differ in lightness."""
    lightness, chroma = tone
    nodes = sorted(set(node_of))
    members = {node: [rank for rank, other in enumerate(node_of) if other == node] for node in nodes}
    colours = []
    for rank, node in enumerate(node_of):
        if len(nodes) == 1:
            hue, shift = rank / len(node_of), 0.0
        else:
            place = (members[node].index(rank) + 0.5) / len(members[node]) - 0.5
            hue, shift = (nodes.index(node) + 0.35 * place) / len(nodes), -place * SPREAD
        colours.append(oklch(min(0.92, lightness + shift), chroma, 360 * hue + 25))
    return colours


def oklch(lightness: float, chroma: float, hue_degrees: float) -> str:
    """The colour as #rrggbb; as much chroma as sRGB has, if it has less.

    Source:  B. Ottosson, A perceptual color space for image processing (2020)
    """
    angle = math.radians(hue_degrees)
    while True:
        channels = _linear_rgb(lightness, chroma * math.cos(angle), chroma * math.sin(angle))
        if chroma < 0.01 or all(-1e-4 <= channel <= 1.0001 for channel in channels):
            return "#" + "".join(f"{_encoded(channel):02x}" for channel in channels)
        chroma *= 0.95


def _linear_rgb(lightness: float, a: float, b: float) -> tuple[float, float, float]:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def _encoded(channel: float) -> int:
    channel = min(1.0, max(0.0, channel))
    return round(255 * (12.92 * channel if channel <= 0.0031308 else 1.055 * channel ** (1 / 2.4) - 0.055))
