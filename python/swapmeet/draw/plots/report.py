"""One HTML file with all pictures and medians, which needs no network."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any

from swapmeet.draw.plots.measured import Measurements, interval
from swapmeet.draw.plots.pictures import LeftOut, Picture, Table
from swapmeet.draw.plots.style import as_svg
from swapmeet.measure.bench import statistics
from swapmeet.measure.bench.cells import NATIVE
from swapmeet.measure.bench.results import Results
from swapmeet.units import digits, duration

HEADINGS = {
    "heat": (
        "Speed-up over the host MPI",
        "Median time of a call by the MPI over that by the spec, and its 95 % interval. Grey: tie (≈) or unclear (?).",
    ),
    "latency": (
        "Latency over the size of blocks",
        "Medians with 95 % intervals as bands. Dotted: l = C·s^K (l in µs, s in bytes), fitted to large blocks;"
        " R = C / C of native.",
    ),
    "radix": (
        "Time over the radix",
        "Ring: the best radix; diamond: r = √P, rounded up; plain line: the host MPI.",
    ),
    "phases": ("Where the time goes", "Means over ranks and launches."),
    "samples": (
        "All samples",
        "Each sample, and how many lie where: narrow is steady; further left is faster.",
    ),
}


def report(
    data: Measurements, pictures: Sequence[Picture], left_out: Sequence[LeftOut], progress: Callable[[], None]
) -> str:
    """The report as text.

    Parameters
    ----------
    data
        For the text on top, and for the table of medians.
    pictures
        To be shown, of any kind.
    left_out
        What cannot be shown, and why.
    progress
        Called after each picture.
    """
    sections = []
    for kind, (heading, meaning) in HEADINGS.items():
        images: dict[str, str] = {}
        tables: list[Table] = []
        for picture in pictures:
            if picture.kind == kind:
                figure = picture.draw()
                title = figure.get_suptitle() or picture.name
                images[title] = _image(title, as_svg(figure))
                tables += picture.tables()
                progress()
        if images:
            sections.append(_section(kind, heading, meaning, images, tables))
    folder = resources.files(__package__)
    template, style, script = (
        folder.joinpath(name).read_text(encoding="utf-8") for name in ("report.html", "report.css", "report.js")
    )
    parts = {
        "title": html.escape("Swapmeet: " + ", ".join(results.path.name for results in data.files)),
        "style": style,
        "facts": "".join(_facts(results) for results in data.files),
        "sections": "".join(sections),
        "left_out": _listed("Left out", [f"{one.kind}: {one.why}" for one in left_out]),
        "medians": _html_table(medians(data), "medians"),
        "script": script,
    }
    return re.sub(r"<!--(\w+)-->", lambda match: parts[match[1]], template)


def _image(title: str, svg: bytes) -> str:
    content = base64.b64encode(svg).decode()
    return f'<img loading=lazy alt="{html.escape(title)}" src="data:image/svg+xml;base64,{content}">'


def _section(kind: str, heading: str, meaning: str, images: Mapping[str, str], tables: Sequence[Table]) -> str:
    options = "".join(f"<option>{html.escape(title)}</option>" for title in images)
    below = "".join(
        f"<details><summary>{html.escape(one.caption)}</summary>{_html_table(one)}</details>" for one in tables
    )
    alone = " hidden" if len(images) == 1 else ""
    return (
        f'<section id="{kind}"><h2>{html.escape(heading)}</h2><p>{html.escape(meaning)}</p>'
        f'<p class=chooser{alone}><button type=button data-step="-1" aria-label="previous">‹</button>'
        f'<select aria-label="which">{options}</select>'
        f'<button type=button data-step="1" aria-label="next">›</button></p>'
        f"<div class=figure>{''.join(images.values())}</div>{below}</section>"
    )


def _facts(results: Results) -> str:
    """What is known of a file: machine, versions, launches, problems."""
    header = results.header
    machine: dict[str, Any] = header.get("machine", {})
    memory = machine.get("memory_bytes")
    rows = [
        ("machine", machine.get("host")),
        ("processor", machine.get("processor")),
        ("cores", machine.get("cores")),
        ("memory", f"{memory / 2**30:.1f} GiB" if isinstance(memory, (int, float)) else None),
        ("kernel", machine.get("kernel")),
        ("MPI", ", ".join(sorted({launch.mpi for launch in results.launches}))),
        ("swapmeet", " ".join(str(part) for part in (header.get("swapmeet"), _commit(header)) if part)),
        ("measured", _dates(results)),
        ("launches", f"{len(results.launches):,}" if results.launches else None),
        ("options", _options(header.get("options", {}))),
    ]
    lines = "".join(
        f"<dt>{name}</dt><dd>{html.escape(str(value))}</dd>" for name, value in rows if value not in (None, "")
    )
    commands: dict[str, int] = {}
    for launch in results.launches:
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in sorted(launch.environment.items()))
        line = f"{variables} {shlex.join(launch.command)}".strip()
        commands[line] = commands.get(line, 0) + 1
    launched = [f"{line}   ({times} times)" if times > 1 else line for line, times in commands.items()]
    problems: dict[str, int] = {}
    for problem in results.problems:
        cell = problem.cell
        where = f"{cell.mpi}, P = {cell.ranks}, {cell.collective} of {cell.sizes}" if cell else ""
        text = ": ".join(filter(None, (where, problem.spec, problem.message)))
        problems[text] = problems.get(text, 0) + 1
    told = [f"{text} ({times} times)" if times > 1 else text for text, times in problems.items()]
    told += ["the last line was cut off, as by an interruption"] if results.torn else []
    notes = sorted({note for launch in results.launches for note in launch.notes})
    return (
        f"<section class=facts><h2>{html.escape(str(results.path))}</h2><dl>{lines}</dl>"
        + _listed("Problems", told, opened=len(told) <= 8)
        + _listed("Notes", notes)
        + _listed("Launch lines", launched, code=True)
        + "</section>"
    )


def _commit(header: dict[str, Any]) -> str:
    return f"(commit {header['commit']})" if header.get("commit") else ""


def _dates(results: Results) -> str:
    dates = [str(campaign["created"]) for campaign in results.campaigns if campaign.get("created")]
    return f"{dates[0]}, resumed {', '.join(dates[1:])}" if len(dates) > 1 else "".join(dates)


def _options(options: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} = {value if isinstance(value, str) else json.dumps(value)}" for name, value in options.items()
    )


def _listed(heading: str, lines: Sequence[str], opened: bool = False, code: bool = False) -> str:
    if not lines:
        return ""
    before, after = ("<code>", "</code>") if code else ("", "")
    items = "".join(f"<li>{before}{html.escape(line)}{after}</li>" for line in lines)
    return f"<details{' open' if opened else ''}><summary>{heading} ({len(lines)})</summary><ul>{items}</ul></details>"


def medians(data: Measurements) -> Table:
    """Every median and speed-up."""
    rows = []
    for setting in data.settings():
        for place in data.places(setting):
            for spec in data.specs([place]):
                median, speedup = data.median(place, spec), data.speedup(place, spec)
                if median is None:
                    continue
                bounds = interval(median)
                limits = interval(speedup) if speedup else None
                rows.append(
                    (
                        setting.title,
                        f"{place.cell.ranks:,}",
                        data.size_label(place.cell),
                        spec,
                        duration(median.value),
                        f"{duration(bounds[0])} – {duration(bounds[1])}" if bounds else "",
                        digits(speedup.value) if speedup else "",
                        f"{digits(limits[0])} – {digits(limits[1])}" if limits else "",
                        statistics.verdict(speedup) if speedup else ("" if spec != NATIVE else "the MPI"),
                        f"{median.samples:,}",
                        f"{median.launches:,}",
                    )
                )
    columns = ("exchange", "P", "sizes", "spec", "median", "95 %", "speed-up", "95 %", "verdict", "samples", "launches")
    return Table("Medians", columns, rows)


def _html_table(table: Table, name: str = "") -> str:
    head = "".join(f"<th>{html.escape(column)}</th>" for column in table.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(text).replace(',', ',<wbr>')}</td>" for text in row) + "</tr>"
        for row in table.rows
    )
    named = f' id="{name}"' if name else ""
    return f"<div class=scroll><table{named}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
