"""Times of MPI_Alltoall that others have published: the one module that reads them, whatever program wrote them.

Four forms are told apart by how a file begins (docs/validation.md):

- our CSV, a line for each cell;
- the summary of PICO (aggregated_results_summary.csv), whose times are in ns and whose buffer is for all ranks;
- the text of osu_alltoall, with a line "# swapmeet system=... nodes=... ranks=... algorithm=..." before it;
- JSON lines of `swapmeet bench`.
"""

from __future__ import annotations

import csv
import math
import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from swapmeet.errors import SwapmeetError

COLUMNS = ("system", "nodes", "ranks_per_node", "ranks", "algorithm", "block_bytes", "median_us")
PICO_COLUMNS = ("collective_type", "buffer_size", "algo_name", "median", "nnodes", "tasks_per_node", "system")
OSU_WORDS = ("system", "nodes", "ranks", "algorithm")
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
    return read([Path(str(files(__package__) / "data" / "alltoall.csv"))])


def read(paths: Iterable[Path]) -> list[Measured]:
    """All that some files say, in their order.

    Raises
    ------
    SwapmeetError
        With file, line and what was expected; also where one algorithm is measured twice in a cell.
    """
    found: dict[tuple[object, ...], Measured] = {}
    for path in paths:
        for line, one in _read(path):
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
    first = next((line for line in lines if line.strip()), "")
    names = {name.strip() for name in first.split(",")}
    if first.startswith("{"):
        yield from _bench(path)
    elif first.startswith("#"):
        yield from _osu(path, lines)
    elif names >= set(COLUMNS):
        yield from _rows(path, lines, _own)
    elif names >= set(PICO_COLUMNS):
        yield from _rows(path, lines, _pico)
    else:
        missing = sorted(set(COLUMNS) - names)
        hint = f" (missing {', '.join(missing)})" if len(missing) < len(COLUMNS) else ""
        raise _problem(path, 1, f"{FORMS}{hint}, not {_brief(first)}")


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
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 < number <= MOST_US:
            raise _problem(self.path, self.line, f"a positive number in {name}, not {_brief(value)}")
        return number

    def whole(self, name: str, most: int = MOST_RANKS, default: float | None = None) -> int:
        number = self.number(name, default)
        if not float(number).is_integer() or number > most:
            raise _problem(self.path, self.line, f"a whole number from 1 to {most} in {name}, not {number:g}")
        return int(number)

    def nodes(self, name: str) -> str:
        value = self.text(name)
        if not re.fullmatch(r"[1-9]\d{0,6}(x[1-9]\d{0,6})*", value):
            raise _problem(self.path, self.line, f"nodes such as 32 or 8x8x8 in {name}, not {_brief(value)}")
        return value

    def require_ranks(self, nodes: str, per_node: int, ranks: int) -> None:
        held = math.prod(map(int, nodes.split("x"))) * per_node
        if ranks > held:
            raise _problem(self.path, self.line, f"at most {held} ranks on {nodes} nodes of {per_node}, not {ranks}")


def _rows(path: Path, lines: Sequence[str], take: Callable[[_Row], Measured | None]) -> Iterator[tuple[int, Measured]]:
    reader = csv.DictReader(lines, strict=True)
    try:
        for values in reader:
            if None in values or None in values.values():
                many = len(reader.fieldnames or ())
                raise _problem(path, reader.line_num, f"{many} fields, as the first line has them")
            one = take(_Row(path, reader.line_num, values))
            if one is not None:
                yield reader.line_num, one
    except csv.Error as problem:
        raise _problem(path, reader.line_num, f"CSV ({problem})") from None


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
    if row.text("collective_type").upper() != "ALLTOALL":
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


def _osu(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, Measured]]:
    words: dict[str, str | None] = {}
    for number, line in enumerate(lines, 1):
        if line.startswith("# swapmeet"):
            pairs = [word.partition("=") for word in line.split()[2:]]
            if any(not value for _, _, value in pairs):
                raise _problem(path, number, "# swapmeet " + " ".join(f"{word}=..." for word in OSU_WORDS))
            words = {key: value for key, _, value in pairs}
        elif line.strip() and not line.startswith("#"):
            missing = [word for word in OSU_WORDS if word not in words]
            if missing:
                raise _problem(path, number, f"a line before it that says {', '.join(missing)}: see docs/validation.md")
            yield number, _osu_line(_Row(path, number, words), line)


def _osu_line(row: _Row, line: str) -> Measured:
    fields = line.split()
    row.values = {"Size": fields[0], "Avg Latency(us)": fields[1] if len(fields) > 1 else "", **row.values}
    us = row.number("Avg Latency(us)")
    nodes, ranks = row.nodes("nodes"), row.whole("ranks")
    per_node = -(-ranks // math.prod(map(int, nodes.split("x"))))
    size = row.whole("Size", 1 << 40)
    return Measured(row.text("system"), nodes, per_node, ranks, row.text("algorithm"), size, us, us, us)


def _bench(path: Path) -> Iterator[tuple[int, Measured]]:
    from swapmeet.bench.reading import read as read_results

    results = read_results(path)
    launches = {launch.launch: launch for launch in results.launches}
    for cell in results.cells():
        if cell.collective != "alltoall" or not cell.block_bytes or cell.datatype != "byte":
            continue
        for spec in results.specs(cell):
            runs = results.samples(cell, spec)
            seconds = sorted(second for run in runs for second in run.longest.tolist() if second > 0)
            if not seconds:
                continue
            nodes = cell.nodes or next((launches[run.launch].nodes for run in runs), "") or "1"
            count = int(nodes) if nodes.isdecimal() else 1
            quartiles = statistics.quantiles(seconds, n=4) if len(seconds) > 1 else seconds * 3
            us = [1e6 * second for second in quartiles]
            per_node = -(-cell.ranks // count)
            size, many = cell.block_bytes, len(seconds)
            yield 1, Measured(cell.mpi, str(count), per_node, cell.ranks, spec, size, us[1], us[0], us[2], many)


def _brief(text: str) -> str:
    return f'"{text}"' if len(text) <= 60 else f'"{text[:57]}..."'
