"""Descriptions of machines: what messages, bytes and copies cost there, each number with its source.

A description is a JSON file; docs/models.md documents it, and the machines of this folder are examples. In the core
it is _core.MachineCosts: plain numbers, for prices.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.structs import document

FORMAT = "swapmeet-machine"
VERSION = 1
MOST_BYTES = 1 << 20  #: of a file
MOST_TITLE = 200  #: characters of a name
MOST_VALUE = 1e9  #: of a number, in its unit
MOST_RANKS_PER_NODE = 1 << 20
LINKS = ("shared", "within", "between")  #: each is as the next one where a file leaves it out
LINK_NUMBERS = (
    "latency_us",
    "overhead_us",
    "gap_us",
    "byte_ns",
    "rendezvous_us",
    "handshake_trips",
    "fragment_byte_ns",
    "cold_us",
)
LINK_COUNTS = ("eager_bytes", "fragment_bytes", "cached_peers")
RATIO = "ratios off by"  #: of "measured": "held_out"
COPY_TIMES = ("byte_ns", "piece_us")
COPIES = ("pack", "datatype")
NODE = {
    "byte_ns": "node_byte_ns",
    "message_us": "node_message_us",
    "memory_byte_ns": "memory_byte_ns",
    "cache_bytes": "cache_bytes",
}


@dataclass(frozen=True)
class Number:
    """A number of a description.

    Parameters
    ----------
    value : float
        In the unit that its name ends with.
    low, high : float
        What it may as well be.
    source : str
        Where it comes from; "" if the file has none.
    """

    value: float
    low: float
    high: float
    source: str = ""


@dataclass(frozen=True)
class Network:
    """What is between the nodes, for simulations."""

    topology: str  #: a name or file of docs/networks.md
    link_byte_ns: float  #: between switches, of a capacity of 1
    hop_us: float  #: of each link between switches
    message_us: float | None  #: what a message costs either end where nodes are full; None: as the other numbers say
    # For estimates alone:
    contention: float = 1  #: so many times slower are links on which messages for several other links meet
    overlap: float = 1  #: share of a core's work that goes on while the network works
    call_us: float = 0  #: what each exchange takes besides


class FittedCell(NamedTuple):
    """A published measurement that numbers were fitted to: the columns of our CSV, but for the system."""

    nodes: str
    per_node: int
    ranks: int
    algorithm: str
    block_bytes: int
    us: float


@dataclass(frozen=True)
class Machine:
    """A machine, described."""

    name: str
    note: str
    mpi: str  #: that it was measured with, as in "openmpi 5.0.11"; "" if the file has none
    signature: str  #: of the machine that it was measured on, as _core.machine_signature() returns it; or ""
    ratios_off_by: float  #: a factor that ratios of two expected times are rarely off by; 1 if the file does not say
    ranks_per_node: int | None  #: where no node map is given; None: all ranks on one node
    numbers: Mapping[str, Number]  #: by name, such as "between.latency_us"
    costs: _core.MachineCosts
    network: Network | None = None
    system: str = ""  #: in published measurements that its numbers were fitted to (docs/validation.md)
    fitted: Sequence[FittedCell] = ()  #: the cells that they were

    def nodes(self, given: str) -> str:
        """The node map to count with."""
        return given or ("" if self.ranks_per_node is None else str(self.ranks_per_node))


_amendments: list[Callable[[Machine], None]] = []  #: those that `amended` applies now


def names(network: bool = False) -> list[str]:
    """Of the machines that are built in; if so wanted, of those whose network is described."""
    found = sorted(entry.name[:-5] for entry in files(__package__).iterdir() if entry.name.endswith(".json"))
    return [name for name in found if load(name).network is not None] if network else found


def load(name_or_file: str, option: str = "--machine") -> Machine:
    """A built-in machine by its name, or the one that a file describes; `option`: where it was given.

    Raises
    ------
    SwapmeetError
        If there is none, or the file is something else: with the place and the reason.
    """
    machine = _load(name_or_file, option)
    for change in _amendments:
        change(machine)
    return machine


def unknown(name: str, option: str = "--machine", network: bool = False) -> SwapmeetError:
    """What is wrong with a name that neither a file nor a built-in machine has, with the nearest of these names."""
    known = names(network)
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean {near[0]}?" if near else f" ({', '.join(known)})"
    kind = "built-in machine with a network" if network else "built-in machine"
    return SwapmeetError(f'{option} "{name}": no such file, and no {kind}{hint}')


def without_network(name: str) -> SwapmeetError:
    """What is wrong with --machine where a network is needed and its description has none."""
    known = ", ".join(names(network=True))
    ways = f'add "network" (docs/models.md), or give a machine that has one: {known}'
    return SwapmeetError(f'--machine "{name}" has no network: {ways}')


@contextmanager
def amended(change: Callable[[Machine], None]) -> Iterator[None]:
    """While it lasts, `change` is applied to the costs of each machine that is loaded: to ask what would be if."""
    _amendments.append(change)
    try:
        yield
    finally:
        _amendments.remove(change)


def _load(name_or_file: str, option: str) -> Machine:
    if name_or_file in names():
        return parse((files(__package__) / f"{name_or_file}.json").read_text(encoding="utf-8"), name_or_file, option)
    path = Path(name_or_file)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise SwapmeetError(f'{option} "{path}": more than {MOST_BYTES} bytes: this describes no machine')
        text = content.decode("utf-8")
    except FileNotFoundError:
        raise unknown(name_or_file, option) from None
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "not UTF-8 text"
        raise SwapmeetError(f'{option} "{path}": {reason}') from None
    return parse(text, str(path), option)


def uniform(alpha_us: float, beta_ns: float) -> _core.MachineCosts:
    """Hockney's machine: every message costs alpha + bytes * beta, wherever it goes, and nothing else does."""
    machine = _core.MachineCosts()
    for name in LINKS:
        link = getattr(machine, name)
        link.latency_us, link.byte_ns = alpha_us, beta_ns
    return machine


def parse(text: str, name: str, option: str = "--machine") -> Machine:
    """The machine that `text` describes; `name` is where it is from, for messages.

    Raises
    ------
    SwapmeetError
        With the place in it and the reason.
    """
    reader = _Reader(name, option)
    hooks = {"object_pairs_hook": reader.pairs, "parse_constant": reader.constant}
    return reader.machine(document(text, f'{option} "{name}"', **hooks))


class _Reader:
    """Reads one description, and knows its name for messages."""

    def __init__(self, name: str, option: str):
        self.name, self.option = name, option
        self.numbers: dict[str, Number] = {}

    def problem(self, place: str, reason: str) -> SwapmeetError:
        if not place.isprintable() or len(place) > 200:  # a name in the description
            place = _brief(place)
        return SwapmeetError(f'{self.option} "{self.name}": {place + ": " if place else ""}{reason}')

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            raise self.problem(next(key for key in keys if keys.count(key) > 1), "given twice")
        return found

    def constant(self, word: str) -> float:
        raise self.problem("", f"{word} is no number of JSON")

    def table(self, value: Any, place: str, known: tuple[str, ...] | None) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.problem(place, f"expected an object, not {_brief(value)}")
        for key in value:
            if known is not None and key not in known:
                raise self.problem(f"{place}.{key}" if place else _brief(key), f"not one of {', '.join(known)}")
        return value

    def number(self, value: Any, place: str) -> float:
        """A number, or an object of one with its bounds and source."""
        bounds: dict[str, Any] = {}
        if isinstance(value, dict):
            bounds = self.table(value, place, ("value", "low", "high", "source"))
            if "value" not in bounds:
                raise self.problem(place, "has no value")
            value = bounds["value"]
        plain = self.plain(value, place)
        low = self.plain(bounds.get("low", plain), f"{place}.low")
        high = self.plain(bounds.get("high", plain), f"{place}.high")
        if not low <= plain <= high:
            raise self.problem(place, f"{plain:g} is not within {low:g} to {high:g}")
        self.numbers[place] = Number(plain, low, high, self.text(bounds.get("source", ""), f"{place}.source"))
        return plain

    def plain(self, value: Any, place: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_VALUE:
            raise self.problem(place, f"expected a number from 0 to {MOST_VALUE:g}, not {_brief(value)}")
        return float(value)

    def whole(self, value: Any, place: str, least: int, most: float) -> int:
        number = self.number(value, place)
        if not (number.is_integer() and least <= number <= most):
            raise self.problem(place, f"expected a whole number from {least} to {most:g}, not {_brief(value)}")
        return int(number)

    def text(self, value: Any, place: str) -> str:
        if not isinstance(value, str):
            raise self.problem(place, f"expected a text, not {_brief(value)}")
        if not value.isprintable():
            raise self.problem(place, f"holds what cannot be printed: {_brief(value)}")
        return value

    def machine(self, document: Any) -> Machine:
        known = (
            "format",
            "version",
            "name",
            "note",
            "mpi",
            "machine",
            "measured",
            "ranks_per_node",
            *LINKS,
            "node",
            *COPIES,
            "call_us",
            "network",
        )
        table = self.table(document, "", known)
        if table.get("format") != FORMAT:
            raise self.problem("format", f'expected "{FORMAT}", not {_brief(table.get("format"))}')
        if table.get("version") != VERSION:
            raise self.problem("version", f"expected {VERSION}, not {_brief(table.get('version'))}")
        if "between" not in table:
            raise self.problem("between", "is missing")
        costs = _core.MachineCosts()
        given: Any = None
        for name in reversed(LINKS):
            given = table.get(name, given)
            self.link(getattr(costs, name), given, name)
        node = self.table(table.get("node", {}), "node", tuple(NODE))
        for key in node:
            setattr(costs, NODE[key], self.number(node[key], f"node.{key}"))
        for name in COPIES:
            more = ("message_us",) if name in table and name == "datatype" else ()
            copies = self.table(table.get(name, table.get("pack", {})), name, (*COPY_TIMES, "uncached_byte_ns", *more))
            for key in copies:
                where, to = (costs, "datatype_us") if key in more else (getattr(costs, name), key)
                setattr(where, to, self.number(copies[key], f"{name}.{key}"))
        costs.call_us = self.number(table.get("call_us", 0), "call_us")
        ranks = table.get("ranks_per_node", 1)
        per_node = None if ranks is None else self.whole(ranks, "ranks_per_node", 1, MOST_RANKS_PER_NODE)
        title = self.text(table.get("name", Path(self.name).stem), "name")
        if len(title) > MOST_TITLE:
            raise self.problem("name", f"has {len(title)} characters; {MOST_TITLE} at most")
        note, mpi, signature = (self.text(table.get(key, ""), key) for key in ("note", "mpi", "machine"))
        network = self.network(table["network"]) if "network" in table else None
        measured = self.table(table.get("measured", {}), "measured", None)
        off_by = self.ratios_off_by(measured)
        system = self.text(measured.get("system", ""), "measured.system")
        fitted = self.fitted(measured.get("fitted", []))
        return Machine(title, note, mpi, signature, off_by, per_node, self.numbers, costs, network, system, fitted)

    def fitted(self, cells: Any) -> Sequence[FittedCell]:
        kinds = [(str,), (int,), (int,), (str,), (int,), (int, float)]
        if not isinstance(cells, list) or any(
            not isinstance(cell, list)
            or len(cell) != len(kinds)
            or any(type(part) not in kind for part, kind in zip(cell, kinds, strict=True))
            for cell in cells
        ):
            raise self.problem("measured.fitted", f"expected a list of [{', '.join(FittedCell._fields)}]")
        return [FittedCell(*cell) for cell in cells]

    def ratios_off_by(self, measured: Mapping[str, Any]) -> float:
        tested = measured.get("held_out", {})
        return self.plain(self.table(tested, "measured.held_out", None).get(RATIO, 1), f"measured.held_out.{RATIO}")

    def network(self, value: Any) -> Network:
        required = ("link_byte_ns", "hop_us")
        optional = ("message_us", "contention", "overlap", "call_us")
        table = self.table(value, "network", ("topology", *required, *optional, "source"))
        for key in ("topology", *required):
            if key not in table:
                raise self.problem(f"network.{key}", "is missing")
        self.text(table.get("source", ""), "network.source")
        numbers = {key: self.number(table[key], f"network.{key}") for key in (*required, *optional) if key in table}
        if numbers.get("contention", 1) < 1:
            raise self.problem("network.contention", f"expected 1 or more, not {numbers['contention']:g}")
        if numbers.get("overlap", 1) > 1:
            raise self.problem("network.overlap", f"expected a share from 0 to 1, not {numbers['overlap']:g}")
        return Network(
            self.text(table["topology"], "network.topology"),
            numbers["link_byte_ns"],
            numbers["hop_us"],
            numbers.get("message_us"),
            numbers.get("contention", 1),
            numbers.get("overlap", 1),
            numbers.get("call_us", 0),
        )

    def link(self, link: _core.Link, value: Any, name: str) -> None:
        table = self.table(value, name, (*LINK_NUMBERS, *LINK_COUNTS))
        for key in ("latency_us", "byte_ns"):
            if key not in table:
                raise self.problem(f"{name}.{key}", "is missing")
        for key in LINK_NUMBERS:
            if key in table:
                setattr(link, key, self.number(table[key], f"{name}.{key}"))
        for key in LINK_COUNTS:
            if key in table:
                setattr(link, key, self.whole(table[key], f"{name}.{key}", 0, MOST_VALUE))
        assert math.isfinite(link.start_us)


def _brief(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."
