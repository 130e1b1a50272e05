"""Tables of what there is: options, algorithms, MPIs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from rich.table import Table

from swapmeet import _core
from swapmeet.errors import SwapmeetError
from swapmeet.model import bounds
from swapmeet.mpi.library import build_folder, built, library
from swapmeet.mpi.mpis import Mpi
from swapmeet.tables import markdown

FIELDS = (*(field.name for field in dataclasses.fields(Mpi) if field.repr), "abi", "prefix", "library", "build")


def options_table() -> Table:
    """Every option of the library."""
    return _table(("variable", "value", "default", "meaning"), _core.option_table())


def option_records() -> list[dict[str, str]]:
    """The same for other programs."""
    names = ("variable", "value", "default", "meaning")
    return [dict(zip(names, row, strict=True)) for row in _core.option_table()]


def options_markdown() -> str:
    """Every option of the library, as a table in Markdown."""
    rows = [(f"`{name}`", kind, f"`{standard}`", meaning) for name, kind, standard, meaning in _core.option_table()]
    return "\n".join(markdown(("Variable", "Value", "Default", "Meaning"), rows))


def aliases_markdown() -> str:
    """The named algorithms, as a table in Markdown."""
    rows = [
        (f"`{name}`", f"`{_core.parse_spec(name)}`", meaning, f"`{source}`" if source else "")
        for name, _, meaning, source in _core.aliases()
    ]
    return "\n".join(markdown(("Alias", "Stands for", "Meaning", "Source"), rows))


def algorithm_tables() -> tuple[Table, ...]:
    """Families, aliases, what these hold at most, and parameters."""
    families = _table(("family", "as a spec"), [(name, str(_core.parse_spec(name))) for name in _core.families()])
    aliases = _table(
        ("alias", "stands for", "meaning", "source"),
        [(name, str(_core.parse_spec(name)), meaning, source) for name, _, meaning, source in _core.aliases()],
    )
    parameters = _table(
        ("parameter", "values", "meaning"),
        [
            (f"{key} (or {synonym})" if synonym else key, values, meaning)
            for key, synonym, values, meaning, _ in _core.parameters()
        ],
    )
    return families, aliases, *bounds.of_aliases(ranks=64, per_node=8), parameters


def algorithm_records() -> dict[str, list[dict[str, object]]]:
    """Families, aliases and parameters for other programs."""
    return {
        "families": [{"family": name, "spec": str(_core.parse_spec(name))} for name in _core.families()],
        "aliases": [
            {"alias": name, "spec": str(_core.parse_spec(name)), "meaning": meaning, "source": source}
            for name, _, meaning, source in _core.aliases()
        ],
        "parameters": [
            {"parameter": key, "synonym": synonym, "values": values, "meaning": meaning}
            for key, synonym, values, meaning, _ in _core.parameters()
        ],
    }


def alias_names(sparse: bool = True) -> list[str]:
    """Every named algorithm of ours; if not `sparse`, without those that are others but for sparse exchanges."""
    return [name for name, *_ in _core.aliases() if sparse or "sparse=" not in str(_core.parse_spec(name))]


def mpi_table(mpis: Sequence[Mpi]) -> Table:
    """The MPIs that were found."""
    rows = [
        (mpi.name, mpi.kind, mpi.version, mpi.abi, str(mpi.mpicc), str(built(mpi) or "not built yet")) for mpi in mpis
    ]
    return _table(("name", "kind", "version", "ABI", "mpicc", "libswapmeet"), rows)


def mpi_record(mpi: Mpi) -> dict[str, object]:
    """An MPI for other programs; its library is null if it is not built yet."""
    fields = {name: getattr(mpi, name) for name in FIELDS if name not in ("library", "build")}
    return {**fields, "library": built(mpi)}


def mpi_field(mpi: Mpi, field: str) -> str:
    """One property of an MPI, for scripts; `library` is built if it is not up to date.

    Raises
    ------
    SwapmeetError
        If there is no such property.
    """
    if field == "library":
        return str(library(mpi))
    if field == "build":
        return str(build_folder(mpi))
    if field in FIELDS:
        return str(getattr(mpi, field) or "")
    raise SwapmeetError(f'--field "{field}": expected one of {", ".join(FIELDS)}')


def _table(columns: Iterable[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table()
    for i, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=i == 0)
    for row in rows:
        table.add_row(*row)
    return table
