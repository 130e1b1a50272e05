"""The packages of python/swapmeet form a line: none imports one to its right. Only `cli` reads options."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "python"

#: What all use, each a module or a package.
BASE = [
    "errors",
    "texts",
    "structs",
    "units",
    "quantiles",
    "tables",
    "output",
    "progress",
    "cache",
    "specs",
    "machines",
]
#: From left to right.
LINE = [
    "network",
    "model",
    "mpi",
    "exchange",
    "cluster",
    "measure",
    "choose",
    "simulate",
    "draw",
    "doctor",
    "reproduction",
    "validation",
    "limits",
    "demo",
    "cli",
    "__main__",
]
#: Names of earlier versions, which nothing of ours imports.
EARLIER = ["bench"]

Imports = dict[str, set[str]]


def name_of(path: Path, root: Path) -> str:
    """As it is imported: swapmeet.mpi.launch."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, modules: set[str]) -> Iterator[str]:
    """Modules of ours that a file imports, in functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name their packages"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield from {whole, node.module or ""} & modules if whole in modules else {node.module or ""} & modules


def imports_of(root: Path) -> Imports:
    """What each module imports, without its packages."""
    files = {name_of(path, root): path for path in sorted(root.glob("swapmeet/**/*.py"))}
    modules = set(files)
    return {
        name: {one for one in imported(path, modules) if not f"{name}.".startswith(f"{one}.")}
        for name, path in files.items()
    }


def place(module: str) -> int:
    """Of a module in the line; the base is on its left."""
    _, part, *_ = [*module.split("."), ""]
    return LINE.index(part) if part in LINE else -1


def wrong_imports(imports: Imports) -> list[str]:
    """Imports that go to the right."""
    return [
        f"{name} imports {one}"
        for name, found in imports.items()
        for one in sorted(found)
        if place(one) > place(name) and name.split(".")[1:2] != EARLIER or one.split(".")[1:2] == EARLIER
    ]


def circle(imports: Imports) -> list[str]:
    """Modules that import each other, or none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as problem:
        return list(problem.args[1])
    return []


def test_every_package_has_its_place() -> None:
    found = {
        path.stem for path in (SOURCE / "swapmeet").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert found - {"__init__"} == {*BASE, *LINE, *EARLIER}


@pytest.fixture(scope="module")
def ours() -> Imports:
    return imports_of(SOURCE)


def test_no_package_imports_one_to_its_right(ours: Imports) -> None:
    assert wrong_imports(ours) == []


def test_nothing_imports_in_circles(ours: Imports) -> None:
    assert circle(ours) == []


def test_only_the_command_line_reads_options() -> None:
    files = (SOURCE / "swapmeet").rglob("*.py")
    assert {path.relative_to(SOURCE / "swapmeet").parts[0] for path in files if "import typer" in path.read_text()} == {
        "cli"
    }


@pytest.mark.parametrize(
    ("module", "line", "found_by"),
    [
        ("model/prices.py", "from swapmeet.measure import bench", wrong_imports),
        ("specs.py", "def late():\n    from swapmeet.cli.app import app", wrong_imports),
        ("measure/bench/__init__.py", "import swapmeet.choose.fit", wrong_imports),
        ("cli/app.py", "from swapmeet.cli import run\nfrom swapmeet.bench import results", wrong_imports),
        ("cli/run.py", "from swapmeet.cli import app", circle),
    ],
)
def test_an_arrow_back_is_found(tmp_path: Path, module: str, line: str, found_by) -> None:
    modules = [
        "__init__.py",
        "specs.py",
        "model/prices.py",
        "measure/bench/__init__.py",
        "choose/fit.py",
        "bench/results.py",
    ]
    for one in [*modules, "measure/__init__.py", "cli/app.py", "cli/run.py"]:
        (tmp_path / "swapmeet" / one).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "swapmeet" / one).write_text("from swapmeet.cli import run\n" if one == "cli/app.py" else "")
    assert found_by(imports_of(tmp_path)) == []
    (tmp_path / "swapmeet" / module).write_text(f"{line}\n")
    assert found_by(imports_of(tmp_path))
