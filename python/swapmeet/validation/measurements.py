"""Times of MPI_Alltoall that others have published: the one module that reads them, whatever program wrote them.

How a file begins shows which of four forms it has (docs/validation.md):

- our CSV, a line for each cell;
- the summary of PICO (aggregated_results_summary.csv), whose times are in ns and whose buffer is for all ranks;
- the text of osu_alltoall, with a line "# swapmeet system=... nodes=... ranks=... algorithm=..." before its times;
- JSON lines of `swapmeet bench`.

`published` instead of a file stands for the measurements that come with this package.
"""

from __future__ import annotations

import csv
import io
import math
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.quantiles import quartiles

if TYPE_CHECKING:
    from swapmeet.measure.bench.records import Launch

COLUMNS = ("system", "nodes", "ranks_per_node", "ranks", "algorithm", "block_bytes", "median_us")
PICO_COLUMNS = ("collective_type", "buffer_size", "algo_name", "median", "nnodes", "tasks_per_node", "system")
OSU_WORDS = ("system", "nodes", "ranks", "algorithm")
OSU_MORE = ("ranks_per_node",)
OSU_TITLE = re.compile(r"# OSU(?:-compatible:)? MPI All-to-All Personalized Exchange Latency Test\b.*")
OSU_COLUMNS = ("Size", "Avg Latency(us)")
OSU_VALIDATION = "Validation"
PUBLISHED = "published"
NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NODES = re.compile(r"[1-9][0-9]{0,6}(?:x[1-9][0-9]{0,6})*")
MOST_BYTES = 64 << 20  #: of a file
MOST_US = 1e12
MOST_RANKS = 1 << 24
FORMS = "the columns of our CSV or of PICO's summary, a text of osu_alltoall, or JSON lines of swapmeet bench"


@dataclass(frozen=True)
class Measured:
    """One algorithm in one cell, times in microseconds."""

    system: str
    nodes: str  #: how many, or the sizes of a torus, as in 8x8x8
    per_node: int
    ranks: int
    algorithm: str
    block_bytes: int
    us: float  #: median
    low_us: float  #: quartiles, or the median again where a file does not say
    high_us: float
    samples: int = 1  #: that they are of; 1 where a file does not say

    @property
    def place(self) -> tuple[str, str, int]:
        """Where it was measured, but for the size."""
        return self.system, self.nodes, self.ranks

    @property
    def cell(self) -> tuple[str, str, int, int]:
        """Where, and for which size."""
        return *self.place, self.block_bytes


def by_place(cells: Iterable[Measured]) -> dict[tuple[str, str, int], dict[int, dict[str, Measured]]]:
    """By place, then by the size of a block, then by algorithm."""
    found: dict[tuple[str, str, int], dict[int, dict[str, Measured]]] = {}
    for one in cells:
        found.setdefault(one.place, {}).setdefault(one.block_bytes, {})[one.algorithm] = one
    return found


def published() -> list[Measured]:
    """The measurements that come with this package (python/swapmeet/validation/data)."""
    return read([Path(PUBLISHED)])


def read(paths: Iterable[Path]) -> list[Measured]:
    """The content of some files, in their order.

    Raises
    ------
    SwapmeetError
        With file, line and what was expected; also where one algorithm is measured twice in a cell.
    """
    found: dict[tuple[object, ...], Measured] = {}
    for path in paths:
        ours = path == Path(PUBLISHED)
        for line, one in _read(Path(str(files(__package__) / "data" / "alltoall.csv")) if ours else path):
            key = (*one.cell, one.algorithm)
            if key in found:
                raise _problem(path, line, f"each algorithm once in a cell, not {one.algorithm} again")
            found[key] = one
    if not found:
        raise SwapmeetError("no MPI_Alltoall was measured in " + ", ".join(map(str, paths)))
    return list(found.values())


def _problem(path: Path, line: int, expected: str) -> SwapmeetError:
    return SwapmeetError(f"{path}, line {line}: expected {expected}")


def _read(path: Path) -> Iterator[tuple[int, Measured]]:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise SwapmeetError(f"{path}: more than {MOST_BYTES >> 20} MiB")
        lines = content.decode("utf-8-sig").splitlines()
    except OSError as problem:
        raise SwapmeetError(f"{path}: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise _problem(path, content[: problem.start].count(b"\n") + 1, "text in UTF-8") from None
    above, first = _begun(lines)
    names = {name.strip() for name in first.split(",")}
    if first.startswith("{"):
        yield from _bench(path, content.removeprefix(b"\xef\xbb\xbf"))
    elif first.startswith("#"):
        yield from _osu(path, lines)
    elif names >= set(COLUMNS):
        yield from _rows(path, lines, above, _own)
    elif names >= set(PICO_COLUMNS):
        yield from _rows(path, lines, above, _pico)
    else:
        missing = sorted(set(COLUMNS) - names)
        hint = f" (missing {', '.join(missing)})" if len(missing) < len(COLUMNS) else ""
        raise _problem(path, above + 1, f"{FORMS}{hint}, not {_brief(first)}")


def _begun(lines: Sequence[str]) -> tuple[int, str]:
    """How many lines are above the one that shows of which form they are, and that one.

    Comments may stand above the names of a CSV.
    """
    begin = next((i for i, line in enumerate(lines) if line.strip()), 0)
    after = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith("#")), None)
    if after is not None and "," in lines[after]:
        return after, lines[after]
    return begin, lines[begin] if lines else ""


class _Row:
    """One line of a CSV, or the words that stand for one."""

    def __init__(self, path: Path, line: int, values: Mapping[str, str | None]):
        self.path, self.line, self.values = path, line, values

    def text(self, name: str) -> str:
        value = (self.values.get(name) or "").strip()
        if not value or not value.isprintable() or len(value) > 200:
            raise _problem(self.path, self.line, f"a name in {name}, not {_brief(value)}")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        value = (self.values.get(name) or "").strip()
        if not value and default is not None:
            return default
        number = float(value) if NUMBER.fullmatch(value) else math.nan
        if not 0 < number <= MOST_US:
            raise _problem(self.path, self.line, f"a positive number in {name}, not {_brief(value)}")
        return number

    def whole(self, name: str, most: int = MOST_RANKS, default: float | None = None) -> int:
        number = self.number(name, default)
        if not float(number).is_integer() or number > most:
            raise _problem(self.path, self.line, f"a whole number from 1 to {most} in {name}, not {number:g}")
        return int(number)

    def nodes(self, name: str) -> str:
        value = self.text(name).removesuffix(".0")  # as some programs write whole numbers
        if not NODES.fullmatch(value):
            raise _problem(self.path, self.line, f"nodes such as 32 or 8x8x8 in {name}, not {_brief(value)}")
        return value

    def require_ranks(self, nodes: str, per_node: int, ranks: int) -> None:
        held = math.prod(map(int, nodes.split("x"))) * per_node
        if ranks > held:
            raise _problem(self.path, self.line, f"at most {held} ranks on {nodes} nodes of {per_node}, not {ranks}")


def _rows(
    path: Path, lines: Sequence[str], above: int, take: Callable[[_Row], Measured | None]
) -> Iterator[tuple[int, Measured]]:
    reader = csv.DictReader(lines[above:], strict=True)
    try:
        names = [name.strip() for name in reader.fieldnames or ()]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise _problem(path, above + 1, f"each column once, not {', '.join(twice)} again")
        reader.fieldnames = names
        for values in reader:
            line = above + reader.line_num
            if None in values or None in values.values():
                raise _problem(path, line, f"{len(names)} fields, as the line of names has them")
            one = take(_Row(path, line, values))
            if one is not None:
                yield line, one
    except csv.Error as problem:
        raise _problem(path, above + reader.line_num, f"CSV ({problem})") from None


def _own(row: _Row) -> Measured:
    us = row.number("median_us")
    nodes, per_node, ranks = row.nodes("nodes"), row.whole("ranks_per_node"), row.whole("ranks")
    row.require_ranks(nodes, per_node, ranks)
    low, high = row.number("q25_us", us), row.number("q75_us", us)
    if not low <= us <= high:
        raise _problem(row.path, row.line, f"q25_us <= median_us <= q75_us, not {low:g}, {us:g}, {high:g}")
    size = row.whole("block_bytes", 1 << 40)
    samples = row.whole("samples", default=1)
    return Measured(row.text("system"), nodes, per_node, ranks, row.text("algorithm"), size, us, low, high, samples)


def _pico(row: _Row) -> Measured | None:
    if row.text("collective_type").upper() != "ALLTOALL" or _on_devices(row):
        return None
    us = row.number("median") / 1000
    nodes, per_node = row.nodes("nnodes"), row.whole("tasks_per_node")
    ranks = math.prod(map(int, nodes.split("x"))) * per_node
    buffer = row.whole("buffer_size", 1 << 50)
    if buffer % ranks:
        raise _problem(row.path, row.line, f"a buffer_size that {ranks} ranks share, not {buffer}")
    low, high = (row.number(f"percentile_{q}", 1000 * us) / 1000 for q in (25, 75))
    if not low <= us <= high:
        raise _problem(
            row.path, row.line, f"percentile_25 <= median <= percentile_75, not {low:g}, {us:g}, {high:g} us"
        )
    size, samples = buffer // ranks, row.whole("n_iter", default=1)
    return Measured(row.text("system"), nodes, per_node, ranks, row.text("algo_name"), size, us, low, high, samples)


def _on_devices(row: _Row) -> bool:
    """Whether the buffers were in the memory of GPUs, by PICO's column CUDA; false where there is none."""
    value = (row.values.get("CUDA") or "false").strip()
    if value.lower() not in ("true", "false"):
        raise _problem(row.path, row.line, f"true or false in CUDA, not {_brief(value)}")
    return value.lower() == "true"


def _osu(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, Measured]]:
    words: dict[str, str | None] = {}
    title, columns = False, list[str]()
    for number, line in enumerate(lines, 1):
        if line.startswith("# swapmeet"):
            words = _osu_words(path, number, line)
        elif line.startswith("# OSU"):
            title, columns = bool(OSU_TITLE.fullmatch(line.rstrip())), []
            if not title:
                raise _problem(path, number, f"MPI All-to-All Personalized Exchange Latency Test, not {_brief(line)}")
        elif line.startswith("# Size"):
            columns = re.split(r"\s{2,}", line.removeprefix("#").strip())
            if tuple(columns[:2]) != OSU_COLUMNS:
                raise _problem(path, number, f"# {'  '.join(OSU_COLUMNS)}, not {_brief(line)}")
        elif line.strip() and not line.startswith("#"):
            missing = [word for word in OSU_WORDS if word not in words]
            if missing:
                raise _problem(path, number, f"a line before it with {', '.join(missing)}: see docs/validation.md")
            if not title or not columns:
                what = "columns" if title else "test"
                raise _problem(path, number, f"the lines of osu_alltoall before it that name its {what}")
            yield number, _osu_line(_Row(path, number, words), line, columns)


def _osu_words(path: Path, number: int, line: str) -> dict[str, str | None]:
    form = "# swapmeet " + " ".join(f"{word}=..." for word in OSU_WORDS)
    try:
        pairs = [word.partition("=") for word in shlex.split(line.removeprefix("# swapmeet"))]
    except ValueError as problem:
        raise _problem(path, number, f"{form} ({problem})") from None
    keys = [key for key, _, _ in pairs]
    strange = [key for key, _, value in pairs if not value or key not in (*OSU_WORDS, *OSU_MORE) or keys.count(key) > 1]
    if strange:
        raise _problem(path, number, f"{form}, each once, not {_brief(strange[0])}; a value with spaces in quotes")
    return {key: value for key, _, value in pairs}


def _osu_line(row: _Row, line: str, columns: Sequence[str]) -> Measured:
    fields = line.split()
    if len(fields) != len(columns):
        raise _problem(row.path, row.line, f"{len(columns)} fields, as the line of names has them")
    found = dict(zip(columns, fields, strict=True))
    if found.get(OSU_VALIDATION, "Pass") != "Pass":
        raise _problem(row.path, row.line, f"Pass in {OSU_VALIDATION}, not {_brief(found[OSU_VALIDATION])}")
    row.values = {**found, **row.values}
    us = row.number("Avg Latency(us)")
    nodes, ranks = row.nodes("nodes"), row.whole("ranks")
    count = math.prod(map(int, nodes.split("x")))
    if "ranks_per_node" not in row.values and ranks % count:
        raise _problem(row.path, row.line, f"ranks_per_node=..., as {count} nodes do not share {ranks} ranks evenly")
    per_node = row.whole("ranks_per_node", default=ranks // count or 1)
    row.require_ranks(nodes, per_node, ranks)
    size = row.whole("Size", 1 << 40)
    return Measured(row.text("system"), nodes, per_node, ranks, row.text("algorithm"), size, us, us, us)


def _bench(path: Path, content: bytes) -> Iterator[tuple[int, Measured]]:
    from swapmeet.measure.bench.reading import read_open

    results, end = read_open(path, io.BytesIO(content))
    if results.torn:
        raise _problem(path, content[:end].count(b"\n") + 1, "a whole line: delete the last one, which is cut off")
    launches = {launch.launch: launch for launch in results.launches}
    for cell in results.cells():
        if cell.collective != "alltoall" or not cell.block_bytes or cell.datatype != "byte":
            continue
        for spec in results.specs(cell):
            runs = results.samples(cell, spec)
            seconds = sorted(second for run in runs for second in run.longest.tolist() if second > 0)
            if not seconds:
                continue
            places = sorted({_placed(path, launches[run.launch]) for run in runs})
            if len(places) > 1:
                told = " and ".join(f"{nodes} nodes of {per_node}" for nodes, per_node in places)
                raise SwapmeetError(
                    f"{path}: {cell.ranks} ranks of {cell.mpi} were launched on {told}: give one of them"
                )
            nodes, per_node = places[0]
            us = [1e6 * second for second in quartiles(seconds)]
            size, many = cell.block_bytes, len(seconds)
            yield 1, Measured(cell.mpi, nodes, per_node, cell.ranks, spec, size, us[1], us[0], us[2], many)


def _placed(path: Path, launch: Launch) -> tuple[str, int]:
    """The nodes of a launch and the ranks on each: by its SWAPMEET_NODES, or else by the MPI.

    A simulated torus has nodes of its shape, as 2x2x2.

    Raises
    ------
    SwapmeetError
        If the nodes do not have as many ranks each, in order: no description prices that.
    """
    from swapmeet.choose.fit import nodes_of
    from swapmeet.simulate.deviation import LABEL

    if launch.nodes:
        expected = (
            f'{path}: launch {launch.launch} has nodes "{launch.nodes}": expected nodes of as many ranks each, in order'
        )
        try:
            groups = _core.parse_node_map(launch.nodes, launch.ranks)[-1]  # the network is between the outermost
        except ValueError:
            raise SwapmeetError(expected) from None
        count, per_node = len(set(groups)), groups.count(groups[0])
        if groups != [rank // per_node for rank in range(launch.ranks)]:
            raise SwapmeetError(expected)
    else:
        count = nodes_of(launch)
        per_node = -(-launch.ranks // count)
    label = LABEL.fullmatch(launch.mpi)
    torus = re.fullmatch(r"torus\(dims=([0-9x]+)(?:,hosts=1)?(?:,ordered=[01])?\)", (label and label["topology"]) or "")
    whole = torus is not None and math.prod(map(int, torus[1].split("x"))) == count
    return torus[1] if torus is not None and whole else str(count), per_node


def _brief(text: str) -> str:
    return f'"{text}"' if len(text) <= 60 else f'"{text[:57]}..."'
