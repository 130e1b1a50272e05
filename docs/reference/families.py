"""Makes the pages of the families of schedules, docs/families.

    python docs/reference/families.py

Words come from family_list.py; names, parameters, counts, bounds and pictures from the library; where a family wins
from committed measurements, simulations and estimates (family_evidence.py).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

import family_evidence
from family_list import FAMILIES, Family

from swapmeet import _core
from swapmeet.model import bounds

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "families"
RANKS = (16, 64, 256, 1024)
BLOCK_BYTES = 64
COLUMNS = (
    "spec",
    "P",
    "K",
    "D",
    f"bytes sent, blocks of {BLOCK_BYTES} B",
    "working memory, blocks",
    "requests",
    "early messages",
)
#: Where the terms of all these pages are explained.
READ = "[How to read it](../family.md#a-page-for-each)."


def pages() -> Iterator[tuple[Path, str]]:
    """Each page with its text."""
    for family in FAMILIES:
        yield FOLDER / f"{family.name}.md", "\n\n".join(filter(None, parts(family))) + "\n"


def parts(family: Family) -> Iterator[str]:
    """The paragraphs, tables and headings of a page."""
    yield f"# {family.title}"
    yield family.meaning
    yield _sources(family)
    yield f"    swapmeet run -n 16 --algorithm {_quoted(family.example)} -- ./application"
    yield from _picture(family)
    yield "## Cost and bounds"
    yield from _counts(family)
    yield "## When it wins"
    yield family.wins
    yield from family_evidence.of(family, ROOT / "docs")
    yield "## Names and parameters"
    yield from _names(family)
    yield from _parameters(family)
    yield "Made by `python docs/reference/families.py`."


def draw(folder: Path, families: Iterable[Family] = FAMILIES) -> None:
    """Write the picture of each family's schedule. The same matplotlib writes the same file."""
    import matplotlib

    from swapmeet.draw.picture import take
    from swapmeet.draw.plots.style import save
    from swapmeet.draw.stills import still

    for family in families:
        if family.drawn is None:
            continue
        picture = take(_core.parse_spec(family.drawn.spec), family.drawn.ranks, family.drawn.nodes, None)
        with matplotlib.rc_context({"svg.hashsalt": family.name, "svg.fonttype": "none"}):
            file = folder / f"{family.name}.svg"
            save(still(picture, range(1, len(picture.rounds) + 1), named=False), file, "-o")
        file.write_text(_shorter(file.read_text(encoding="utf-8")), encoding="utf-8")


def _shorter(svg: str) -> str:
    """The same picture with coordinates to a hundredth of a point."""
    svg = re.sub(r"(?<=[\d ])(\d*\.\d{2})\d+(?=[\s\"'LMCQz(),;-])", r"\1", svg)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def _picture(family: Family) -> Iterator[str]:
    if family.drawn is None:
        return
    spec, ranks, nodes = family.drawn
    where = f" in nodes of {nodes}" if nodes else ""
    yield "## Its schedule"
    file = f"{family.name}.svg"
    yield f"[![The rounds of {spec} on {ranks} ranks{where}]({file})]({file})"
    yield READ
    option = f" --nodes {nodes}" if nodes else ""
    yield f"    swapmeet draw {_quoted(spec)} -P {ranks}{option} -o {family.name}.html"
    yield f"<!-- schedule: {spec} -P {ranks}{option} -->"


def _counts(family: Family) -> Iterator[str]:
    if not family.counted:
        yield family.uncounted
        return
    nodes = "8" if family.on_nodes else ""
    option = f" --nodes {nodes}" if nodes else ""
    specs = " ".join(map(_quoted, family.counted))
    yield f"    swapmeet model {specs} -P {','.join(map(str, RANKS))} -S {BLOCK_BYTES}{option}"
    rows = []
    for text in family.counted:
        spec = _core.parse_spec(text)
        for ranks in RANKS:
            counts, held = _core.count(spec, ranks, nodes), bounds.certificate(spec, ranks, nodes, exact=ranks <= 64)
            most = "" if held.exact else "≤ "
            sent = (counts.messages, counts.blocks, counts.blocks * BLOCK_BYTES, counts.scratch_blocks)
            limits = [f"{most}{number:,}" for number in (held.rank.requests, held.rank.early_messages)]
            rows.append([f"`{text}`", f"{ranks:,}", *(f"{number:,}" for number in sent), *limits])
    yield _table(COLUMNS, rows, numbers=len(COLUMNS) - 1)
    yield family.remark


def _names(family: Family) -> Iterator[str]:
    rows = [
        (f"`{name}`", f"`{_core.parse_spec(name)}`", meaning, _cited(source) if source else "")
        for name, _, meaning, source in _core.aliases()
        if name in family.aliases
    ]
    if rows:
        yield _table(("name", "stands for", "meaning", "source (docs/papers.bib)"), rows)
    if family.is_family:
        standard = str(_core.parse_spec(family.name))
        if standard != family.name:
            yield f"`{family.name}` alone stands for `{standard}`."
    else:
        families = dict.fromkeys(_core.parse_spec(name).family for name in family.aliases)
        links = " and ".join(f"[`{name}`]({name}.md)" for name in sorted(families))
        yield f"Points of {links}; main parameters:"


def _parameters(family: Family) -> Iterator[str]:
    rows = [
        (f"`{key}`" + (f" (or `{synonym}`)" if synonym else ""), values.replace("[", r"\["), meaning)
        for key, synonym, values, meaning, families in _core.parameters()
        if family.of in families and (family.is_family or key in family.parameters)
    ]
    yield _table(("parameter", "values", "meaning"), rows)


def _sources(family: Family) -> str:
    return family.origin or (f"Source: {_cited(family.source)} in docs/papers.bib." if family.source else "")


def _cited(key: str) -> str:
    """A work's authors and year, if they are known, and its key."""
    work = _bibliography()[key]
    return f"{work} (`{key}`)" if work else f"`{key}`"


@cache
def _bibliography() -> dict[str, str]:
    """Authors and year of each work, as far as they are known, by its key."""
    found = {}
    for entry in re.split(r"^@\w+\{", (ROOT / "docs" / "papers.bib").read_text(encoding="utf-8"), flags=re.MULTILINE)[
        1:
    ]:
        fields = dict(re.findall(r"(\w+)\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}", entry))
        authors = fields.get("author", "").split(" and ")
        short = authors[0].split(" ")[-1] + (" et al." if len(authors) > 2 else "")
        if len(authors) == 2:
            short = " and ".join(author.split(" ")[-1] for author in authors)
        found[entry.split(",", 1)[0]] = ", ".join(filter(None, (short, fields.get("year"))))
    return found


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: int = 0) -> str:
    """In Markdown; the last columns are numbers."""
    line = ["---"] * (len(columns) - numbers) + ["--:"] * numbers
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (columns, line, *rows)
    )


def _quoted(spec: str) -> str:
    return f"'{spec}'" if "(" in spec else spec


def main() -> None:
    """Write all pages and pictures."""
    FOLDER.mkdir(exist_ok=True)
    for file, text in pages():
        file.write_text(text, encoding="utf-8")
    draw(FOLDER)
    print(f"{FOLDER}: {len(FAMILIES)} families", file=sys.stderr)


if __name__ == "__main__":
    main()
