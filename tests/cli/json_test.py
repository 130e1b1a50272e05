"""`--json`: one valid object on standard output, nothing else, with the documented fields."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from plots.synthetic import linear, write
from profiling.recordings import skewed
from typer.testing import CliRunner

from swapmeet import output
from swapmeet.cli.app import app
from swapmeet.errors import SwapmeetError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "json.md").read_text()
#: A quick call of each command, and fields that its object has.
CALLS = {
    "info": ("info", ["mpis", "problems"]),
    "options": ("options", ["options"]),
    "algorithms": ("algorithms", ["families", "aliases", "parameters"]),
    "explain": ("explain -P 8 -S 512 --nodes 4", ["spec", "reason", "may_be_tried", "native", "started", "warnings"]),
    "explain, with times": ("explain -P 8 -S 512 --machine theta", ["expected"]),
    "explain, replay": ("explain --replay RECORDING", ["replayed", "left_out", "times"]),
    "show": ("show tra -P 4", ["schedules"]),
    "verify": ("verify tra pairwise -P 2:5", ["reports"]),
    "model": ("model tra -P 4,9 -S 64 --machine theta", ["rows"]),
    "model, rounds": ("model tra -P 9 --rounds", ["rows"]),
    "model, best": ("model --best -P 64 -S 64 --machine theta", ["rows"]),
    "model, bound": ("model --bound -P 64 -S 64 --machine theta", ["rows"]),
    "model, regret": ("model --regret -P 64 -S 64 --machine theta", ["rows"]),
    "model, workload": ("model bruck -P 8 --workload uniform:max=64", ["rows"]),
    "topology": ("topology fat-tree(leaves=2,hosts=2,spines=1) --compare", ["network", "rows", "conflict_free"]),
    "topology, bound": ("topology fat-tree(leaves=2,hosts=2,spines=1) --bound", ["network", "link_bound"]),
    "simulate": ("simulate --estimate tra -n 64 -S 8 --machine theta -o OUT", ["cells", "problems", "measured"]),
    "draw": ("draw tra -P 4 -o FOLDER/a.html", ["file", "spec", "rounds"]),
    "goal": ("goal tra -P 4 -S 64", ["spec", "block_bytes", "file", "goal"]),
    "goal, file": ("goal tra -P 4 -S 64 --machine theta -o FOLDER/a.goal", ["machine", "file"]),
    "limits": ("limits --machine cluster -P 16 -o FOLDER/limits", ["files", "rows"]),
    "tuning show": ("tuning show", ["folder", "files"]),
    "tuning forget": ("tuning forget --all", ["files"]),
    "reproduce": ("reproduce", ["figures"]),
    "validate": ("validate", ["predictions", "errors"]),
}


#: Objects whose keys are data.
MAPS = {"seconds", "blocks_by_least_bytes", "not_replayed_rank_seconds", "saved_seconds"}


def documented(command: str) -> str:
    """What the page has on a command: its row, its section, rows and pages that these name, and what holds for all."""
    above, _, rest = PAGE.partition("\n| command | fields |\n")
    table, *sections = rest.split("\n## ")
    rows = dict(re.findall(r"^\| `([a-z ]+)` \| (.*) \|$", table, re.MULTILINE))
    own = rows[command] + "".join(section for section in sections if f"`{command}`" in section.partition("\n")[0])
    for other, _ in re.findall(r"\b(?:as|rows of) `(\w+)( --best)?`", own):
        own += rows[other] + "".join(section for section in sections if f"`{other}`" in section.partition("\n")[0])
    return above + own + "".join((ROOT / page).read_text() for page in re.findall(r"docs/[a-z]+\.md", above + own))


def undocumented(found: Any, command: str) -> set[str]:
    """Names of fields, at any depth, that the page does not have."""
    page = documented(command)

    def names(part: Any) -> Iterator[str]:
        if isinstance(part, dict):
            for name, value in part.items():
                yield name
                if name not in MAPS:
                    yield from names(value)
        elif isinstance(part, list):
            for value in part:
                yield from names(value)

    return {name for name in names(found) if f"`{name}`" not in page}


def answer(words: list[str]) -> tuple[dict[str, Any], int]:
    """The object that a command prints, and its exit status."""
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exception is None or isinstance(done.exception, SystemExit), (done.output, done.exception)
    found = json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert not undocumented(found, found["command"])
    return found, done.exit_code


@pytest.mark.parametrize("name", CALLS)
def test_one_object_with_the_documented_fields(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    words, fields = CALLS[name]
    recording = tmp_path / "recording"
    recording.mkdir()
    words = words.replace("RECORDING", str(skewed(recording))).replace("OUT", str(tmp_path / "out.jsonl"))
    found, status = answer(words.replace("FOLDER", str(tmp_path)).split())
    assert status == 0
    assert found["swapmeet"] and found["command"] == name.partition(",")[0]
    assert set(fields) <= found.keys()
    if "rows" in fields:
        assert found["rows"]


def test_every_command_that_takes_it_is_documented() -> None:
    table = PAGE.partition("\n| command | fields |\n")[2].partition("\n## ")[0]
    documented = set(re.findall(r"^\| `([a-z ]+)` \|", table, re.MULTILINE))
    root = typer.main.get_command(app)

    def taking(command: Any, path: str) -> set[str]:
        if hasattr(command, "commands"):
            return set().union(*(taking(part, f"{path} {name}".strip()) for name, part in command.commands.items()))
        return {path} if any("--json" in option.opts for option in command.params) else set()

    assert taking(root, "") == documented


def test_rows_have_the_numbers_of_csv() -> None:
    words = ["model", "tra", "pairwise", "-P", "4,9", "-S", "64", "--machine", "theta"]
    found, _ = answer(words)
    lines = CliRunner().invoke(app, [*words, "--csv"]).stdout.splitlines()
    rows = list(csv.DictReader(lines))
    assert list(rows[0]) == list(found["rows"][0])
    assert len(rows) == len(found["rows"]) == 4
    assert [float(row["time_us"]) for row in rows] == [row["time_us"] for row in found["rows"]]


def test_what_is_found_decides_the_exit_status(tmp_path: Path) -> None:
    slots = tmp_path / "slots"
    network, other = "fat-tree(leaves=2,hosts=2,spines=1)", "fat-tree(leaves=2,hosts=3,spines=1)"
    assert CliRunner().invoke(app, ["topology", network, "--slots", str(slots)]).exit_code == 0
    found, status = answer(["topology", network, "--check-slots", str(slots)])
    assert (found["made_for_this"], status) == (True, 0)
    found, status = answer(["topology", other, "--check-slots", str(slots)])
    assert (found["made_for_this"], status) == (False, 1)


@pytest.mark.parametrize(
    "words",
    [
        ["options", "--markdown"],
        ["algorithms", "--markdown"],
        ["show", "tra", "-P", "4", "--plain"],
        ["model", "tra", "-P", "4", "--csv"],
        ["topology", "fat-tree(leaves=2,hosts=2,spines=1)", "--text"],
        ["compare", "a", "b", "--plain"],
        ["bench", "--osu"],
        ["validate", "--fit", "x"],
        ["simulate", "--dry-run"],
    ],
    ids=" ".join,
)
def test_two_forms_are_refused(words: list[str]) -> None:
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "leave" in done.stderr


def test_numbers_that_json_lacks_become_null() -> None:
    assert output.plain({"a": math.inf, "b": (1, math.nan), "c": Path("/x")}) == {"a": None, "b": [1, None], "c": "/x"}
    with pytest.raises(SwapmeetError):
        output.form(True, True)


def test_csv_has_a_column_for_each_name_of_a_field() -> None:
    lines = output.csv_lines([{"a": True, "b": {"x": None, "y": 1.5}}, {"a": False, "b": {"x": "p,q", "y": 2}}])
    assert "".join(lines) == 'a,b x,b y\n1,,1.5\n0,"p,q",2\n'


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two results files: by the second, pairwise has become twice as fast."""

    def faster(spec: str, ranks: int, size: float) -> float:
        return linear(spec, ranks, size) / (2 if spec == "pairwise" else 1)

    folder = tmp_path_factory.mktemp("results")
    return write(folder / "before.jsonl"), write(folder / "after.jsonl", law=faster)


def test_bench(results: tuple[Path, Path]) -> None:
    found, status = answer(["bench", "--report", str(results[0])])
    assert status == 0
    (cell, _) = found["cells"]
    assert (cell["ranks"], cell["sizes"], cell["mpi"]) == (4, "64", "openmpi 5.0.11")
    native, ours = cell["specs"]
    assert native["spec"] == "native" and "speedup" not in native
    assert ours["speedup"]["value"] == pytest.approx(native["seconds"]["value"] / ours["seconds"]["value"], rel=0.05)
    assert ours["speedup"]["low"] < ours["speedup"]["value"] < ours["speedup"]["high"]
    assert ours["verdict"] in ("faster", "slower", "tie", "unclear")


def test_tune(results: tuple[Path, Path], tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    found, status = answer(["tune", "--from", str(results[1]), "-o", str(rules)])
    assert (status, found["tuning_file"], found["results"]) == (0, str(rules), [str(results[1])])
    assert found["rules"][0]["collective"] == "alltoall" and found["rules"][0]["ranks"][0] == 4
    assert rules.read_text().count("\nrule: ") == len(found["rules"])


def test_compare(results: tuple[Path, Path]) -> None:
    found, status = answer(["compare", *map(str, results)])
    assert (found["changed_for_worse"], status) == (False, 0)
    verdicts = {change["spec"]: (change["verdict"], change["speedup"]["value"]) for change in found["changes"]}
    assert verdicts["pairwise"] == ("faster", pytest.approx(2, rel=0.05))
    found, status = answer(["compare", *map(str, reversed(results))])
    assert (found["changed_for_worse"], status) == (True, 1)


def test_regret(results: tuple[Path, Path]) -> None:
    found, _ = answer(["regret", str(results[1])])
    assert {row["choice"] for row in found["rows"]} >= {"native"}
    assert all(row["regret"] >= 0 and row["bytes"] in (64, 1024) for row in found["rows"])


def test_plot(results: tuple[Path, Path], tmp_path: Path) -> None:
    found, status = answer(["plot", str(results[0]), "--kind", "latency", "-o", str(tmp_path / "l.png")])
    assert (found["files"], status) == ([str(tmp_path / "l.png")], 0)


def test_profile(tmp_path: Path) -> None:
    page, recording = tmp_path / "page.json", tmp_path / "recording"
    recording.mkdir()
    found, status = answer(["profile", "--no-replay", "-o", str(page), "--from", str(skewed(recording))])
    assert status == 0
    assert found["ranks"] == 2 and len(found["kinds"]) == 2
    assert json.loads(page.read_text()).items() <= found.items() and {"swapmeet", "command"} <= found.keys()
