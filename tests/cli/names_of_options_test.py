"""Options have one name in all commands, and the help leaves no command out."""

from __future__ import annotations

from typing import Any

import pytest
import typer.core
import typer.main
from cli.command import refused, swapmeet

from swapmeet.cli.app import PARTS, RENAMED, app

OLD = [
    ("simulate", "--platform", "theta"),
    ("simulate", "--per-node", "2"),
    ("limits", "--platform", "theta"),
    ("explain", "-P", "4", "--block", "8"),
    ("explain", "-P", "4", "-Q", "2"),
    ("explain", "-P", "4", "--ranks-per-node", "2"),
    ("explain", "-P", "4", "--per-node", "2"),
    ("goal", "tra", "-P", "4", "--size", "8"),
    ("model", "tra", "-P", "4", "--block", "8"),
    ("reproduce", "--limit", "10m"),
    ("conformance", "--timeout", "60"),
    ("cluster", "run", "--limit", "3s", "--", "true"),
    ("cluster", "run", "--nodes", "2", "--", "true"),
    ("cluster", "check", "--nodes", "2"),
    ("bench", "--seeds", "0"),
    ("topology", "torus(2)", "--seconds", "3"),
    ("topology", "torus(2)", "--weights", "sizes"),
]


@pytest.mark.parametrize("words", OLD, ids=" ".join)
def test_an_earlier_name_is_refused_with_the_new_one(words: tuple[str, ...]) -> None:
    (old, new), *_ = (
        (word, new)
        for word in words
        for key in (f"{' '.join(words[:2])} {word}", f"{words[0]} {word}", word)
        if (new := RENAMED.get(key))
    )
    assert refused(*words) == f"swapmeet: {old} is called {new} now"


def test_a_workload_is_no_size_of_blocks() -> None:
    assert "given by --workload now" in refused("model", "tra", "-P", "4", "--sizes", "uniform:max=1KiB")


def test_every_command_is_in_one_part_of_the_help() -> None:
    listed = [name for names in PARTS.values() for name in names.split()]
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    assert sorted(listed) == sorted(group.commands)
    text = swapmeet("--help").stdout
    assert all(f"\n{part}:" in text for part in PARTS) and all(f"\n  {name} " in text for name in listed)


def test_every_line_of_the_help_is_a_whole_sentence() -> None:
    for command in ("", "cluster", "tuning"):
        lines = swapmeet(*command.split(), "--help").stdout.splitlines()
        assert not [line for line in lines if line.endswith("...") and "[ARGS]" not in line]


def test_the_help_has_names_for_values_and_not_the_types_of_python() -> None:
    text = swapmeet("run", "--help").stdout
    assert text.startswith("Usage: swapmeet run [OPTIONS] APP [ARGS]...\n")
    assert "-P, -n, --ranks N " in text and "--mpi NAME " in text and "<" not in text


def test_an_option_has_the_same_letter_in_every_command() -> None:
    letters: dict[str, dict[str, set[str]]] = {}

    def gather(command: Any, path: str) -> None:
        for name, one in getattr(command, "commands", {}).items():
            gather(one, f"{path} {name}")
        for option in (one for one in command.params if one.param_type_name == "option"):
            for name in (name for name in option.opts if name.startswith("--")):
                short = " ".join(sorted(name for name in option.opts if not name.startswith("--")))
                letters.setdefault(name, {}).setdefault(short, set()).add(path)

    gather(typer.main.get_command(app), "swapmeet")
    assert letters["--ranks-per-node"].keys() == {"-Q"}
    assert not {name: by for name, by in letters.items() if len(by) > 1}


@pytest.mark.parametrize("option", ["-P", "--ranks", "-n"])
def test_the_number_of_ranks_has_three_names(option: str) -> None:
    assert "K = 2 messages" in swapmeet("show", "tra", option, "4").stdout
