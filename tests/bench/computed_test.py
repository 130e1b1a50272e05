"""Tables of pages that are computed: benchmarks/computed.py makes them of the committed answers of commands."""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from swapmeet.cli.app import app

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "computed.py"


def program(name: str) -> ModuleType:
    """A program of benchmarks."""
    description = importlib.util.spec_from_file_location(name, PROGRAM.with_name(f"{name}.py"))
    assert description and description.loader
    module = importlib.util.module_from_spec(description)
    sys.modules[name] = module
    description.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def computed() -> ModuleType:
    """The program."""
    return program("computed")


@pytest.mark.parametrize("name", ["computed", "printed"])
def test_pages_are_up_to_date(name: str) -> None:
    for path, text in program(name).pages():
        assert path.read_text() == text, f"{path}: run python benchmarks/{name}.py"


def test_answers_are_those_of_the_commands(computed: ModuleType) -> None:
    found = computed.read()
    tables = [table for table in computed.TABLES if not table.file]
    assert set(found) == {table.name for table in computed.TABLES}
    for table in tables:
        made, *answers = found[table.name]
        assert "dirty" not in made["made"]["commit"]
        commands = [shlex.split(command) for command in table.commands]
        assert [answer["words"] for answer in answers] == [
            words for words in commands if words in [a["words"] for a in answers]
        ]
        missing = [words for words in commands if words not in [answer["words"] for answer in answers]]
        assert all("RESULTS" in words and "--against" not in words for words in missing), missing


@pytest.mark.parametrize("dims", ["2x2x2", "4x4x4", "8x8", "12x4"])
def test_orders_of_rings_are_as_computed_now(computed: ModuleType, dims: str) -> None:
    (answer,) = (line for line in computed.read()["tori"][1:] if f"dims={dims}," in line["words"][1])
    done = CliRunner().invoke(app, [*answer["words"], "--json"])
    assert json.loads(done.stdout)["conflict_free"] == answer["answer"]


@pytest.mark.long
def test_regrets_are_as_computed_now(computed: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROGRAM.parents[1])
    (answer,) = computed.read()["regret"][1:]
    done = CliRunner().invoke(app, [*answer["words"], "--json"])
    assert json.loads(done.stdout)["rows"] == answer["answer"]
