"""`swapmeet simulate` as its users see it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.command import swapmeet
from limits import scaled
from plain import MakeJob
from typer.testing import CliRunner

from swapmeet.choose import fit
from swapmeet.cli.app import app
from swapmeet.measure.bench.reading import read
from swapmeet.simulate import job, peers, scoreboard
from swapmeet.simulate.job import Simulator
from swapmeet.simulate.platform import platform

pytestmark = pytest.mark.slow

APPLICATION = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int calls; /* each rank's own */

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, sum = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int *send = malloc(ranks * sizeof(int)), *receive = malloc(ranks * sizeof(int));
  for (int i = 0; i < ranks; ++i) send[i] = 100 * rank + i;
  MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
  ++calls;
  for (int i = 0; i < ranks; ++i) sum += receive[i] == 100 * i + rank;
  printf("%s %d: %d right, %d call\\n", argv[1], rank, sum, calls);
  MPI_Finalize();
  return 0;
}
"""


def simulate(*words: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return swapmeet("simulate", *words, env={"XDG_CACHE_HOME": str(folder / "cache"), **variables}, cwd=folder)


def test_a_dry_run_builds_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], simulator: Simulator
) -> None:
    def build(*_: object) -> Path:
        raise AssertionError

    monkeypatch.setattr(job, "built", lambda target: None)
    monkeypatch.setattr(job, "library", build)
    monkeypatch.setattr(job, "program", build)
    done = CliRunner().invoke(app, ["simulate", "-n", "4", "--ranks-per-node", "2", "tra(r=2)", "-S", "8", "--dry-run"])
    assert done.exit_code == 0, done.output
    assert "2 simulations, 0 more are known" in done.output + capsys.readouterr().err


def test_the_automatic_choice_follows_a_tuning_file(simulator: Simulator, tmp_path: Path) -> None:
    rules = [
        "swapmeet-tuning 1",
        "mpi: openmpi 5.0.11",
        "machine: another, 512 cores",
        "rule: alltoall use=tra(r=3)",
        "end",
    ]
    (tmp_path / "rules").write_text("\n".join(rules) + "\n")
    words = ("-n", "9", "--ranks-per-node", "3", "-S", "64", "auto", "tra(r=3)", "-o")
    plain = simulate(*words, "plain.jsonl", folder=tmp_path)
    tuned = simulate(*words, "one.jsonl", "--tuning", "rules", folder=tmp_path)
    assert plain.returncode == tuned.returncode == 0, plain.stderr + tuned.stderr
    assert "1 simulation, 2 more are known" in tuned.stderr
    results = read(tmp_path / "one.jsonl")
    [cell] = results.cells()
    asked, named = (float(results.samples(cell, spec)[0].longest[0]) for spec in ("auto", "tra(r=3)"))
    assert asked == pytest.approx(named)
    again = simulate(*words, "one.jsonl", folder=tmp_path)
    assert again.returncode == 2 and "one.jsonl is there already: give another file" in again.stderr
    (tmp_path / "rules").write_text("\n".join(rules[:-1]))
    cut = simulate(*words, "cut.jsonl", "--tuning", "rules", folder=tmp_path)
    assert cut.returncode == 2 and "--tuning rules: " in cut.stderr and "Traceback" not in cut.stderr
    idle = simulate("-n", "9", "tra", "--tuning", "rules", folder=tmp_path)
    assert idle.returncode == 2 and "give auto" in idle.stderr


def test_results_are_those_of_bench(simulator: Simulator, tmp_path: Path) -> None:
    words = ("--machine", "theta", "-n", "8,12", "--ranks-per-node", "4", "-S", "64", "tra(r=2)", "native:ring")
    first = simulate(*words, "-o", "one.jsonl", folder=tmp_path)
    again = simulate(*words, "-o", "two.jsonl", "-j", "1", folder=tmp_path)
    assert first.returncode == again.returncode == 0, first.stderr + again.stderr
    assert "6 simulations, 0 more are known" in first.stderr and "0 simulations, 6 more are known" in again.stderr
    one, two = (read(tmp_path / name) for name in ("one.jsonl", "two.jsonl"))
    cells = one.cells()
    assert [cell.ranks for cell in cells] == [8, 12] and {cell.nodes for cell in cells} == {"4"}
    assert cells[0].mpi == f"theta (SimGrid {simulator.target.version})"
    for cell in cells:
        assert one.specs(cell) == ["native", "native:ring", "tra(r=2)"]
        for spec in one.specs(cell):
            times = [time for run in one.samples(cell, spec) for time in run.longest]
            assert times == [time for run in two.samples(cell, spec) for time in run.longest] and len(set(times)) == 1
    assert any("simulated" in note for note in one.launches[0].notes)
    assert any("dragonfly" in note for note in one.launches[0].notes)
    rules = fit.rules([one], cells[0].mpi)
    assert rules and all(rule.nodes in ((2, 2), (3, 3)) and "native:" not in rule.spec for rule in rules)


def test_an_application_is_served(simulator: Simulator, tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(APPLICATION)
    words = ("-n", "6", "--ranks-per-node", "3", "pairwise", "native:bruck", "--", "app.c", "rank")
    done = simulate(*words, folder=tmp_path, SWAPMEET_EXPLAIN="1")
    assert done.returncode == 0, done.stderr
    for rank in range(6):
        assert done.stdout.count(f"rank {rank}: 6 right, 1 call\n") == 2
    assert done.stderr.count("swapmeet: Alltoall on 6 ranks") == 1, "the peer is not preloaded"
    times = [line.split(": ")[-1] for line in done.stdout.splitlines() if "of simulated time" in line]
    assert len(set(times)) == 2


@pytest.mark.parametrize(
    "words, problem",
    [
        (["--machine", "thera"], "no such file, and no built-in machine"),
        (["--machine", "hockney"], "has no network"),
        (["--machine", "theta", "-n", "1000000"], "ranks at most, not 1000000"),
        (["--network", "slim-fly(q=6)"], "q"),
        (["native:fastest"], "expected native:NAME"),
        (["native:openmpi"], "did you mean native:ompi?"),
        (["native:brucks"], "did you mean native:bruck?"),
        (["no-such-algorithm"], "no-such-algorithm"),
        (["--native", "openmpi"], "expected ompi"),
        (["-n", "1024", "-S", "1GiB"], "GiB are available"),
        (["-n", "512", "direct(window=8)", "-S", "8", "--budget", "1s"], "more than --budget 1 s"),
        (["--", "no-such-program"], "is no file"),
        (["--"], "nothing behind --"),
        (["--", sys.executable], "not linked with SimGrid"),
    ],
)
def test_bad_input_is_refused(simulator: Simulator, tmp_path: Path, words: list[str], problem: str) -> None:
    done = (
        simulate(*words, "-o", "results.jsonl", folder=tmp_path)
        if "--" not in words
        else simulate(*words, folder=tmp_path)
    )
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert problem in done.stderr.splitlines()[-1]
    assert not (tmp_path / "results.jsonl").exists()


def test_what_the_compiler_says_may_be_no_text(simulator: Simulator, tmp_path: Path) -> None:
    (tmp_path / "app.c").write_bytes(b"int main(void) { return \xff\xfe; }\n")
    done = simulate("-n", "2", "--", "app.c", folder=tmp_path)
    assert done.returncode == 2 and "smpicc does not compile app.c" in done.stderr and "Traceback" not in done.stderr


def test_an_interrupted_command_can_be_given_again(simulator: Simulator, tmp_path: Path) -> None:
    results = tmp_path / "one.jsonl"
    words = ["-n", "64", "-j", "1", "-S", "8,16,32,64,128,256,512,1KiB", "pairwise", "tra", "-o", str(results)]
    begun = subprocess.Popen(
        [sys.executable, "-m", "swapmeet", "simulate", *words], stderr=subprocess.PIPE, cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )  # fmt: skip
    while not results.exists():
        time.sleep(0.01)
    begun.send_signal(signal.SIGINT)
    assert (
        begun.communicate(timeout=scaled(60))[1].decode().endswith("swapmeet: interrupted\n")
        and begun.returncode == 130
    )
    assert not results.exists()


def test_a_death_is_not_remembered(simulator: Simulator, make_job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
    told = "terminate called after throwing an instance of 'std::bad_alloc'"
    monkeypatch.setattr(simulator, "launch", lambda *_: (-6, "", told, 0))
    one = make_job(platform("cluster", 4), "tra(r=3)", "17")
    assert simulator.run(one).problem == "SimGrid was killed by SIGABRT: there is not enough memory for it"
    assert simulator.known(one) is None


def test_a_deadlock_is_told(simulator: Simulator, tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(
        "#include <mpi.h>\n"
        "int main(int argc, char** argv) {\n"
        "  int rank, nothing;\n"
        "  MPI_Init(&argc, &argv);\n"
        "  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
        "  if (rank == 1) MPI_Recv(&nothing, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
        "  MPI_Finalize();\n"
        "}\n"
    )
    done = simulate("-n", "2", "native:bruck", "--", "app.c", folder=tmp_path)
    assert done.returncode == 2 and "ended in a deadlock" in done.stderr, done.stderr


def test_programs_that_abort_or_crash_are_told(simulator: Simulator, tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(
        "#include <mpi.h>\n"
        "#include <signal.h>\n"
        "int main(int argc, char** argv) {\n"
        "  MPI_Init(&argc, &argv);\n"
        "  if (argc > 1) raise(SIGSEGV);\n"
        "  MPI_Abort(MPI_COMM_WORLD, 3);\n"
        "}\n"
    )
    aborted, crashed = (simulate("-n", "2", "--", "app.c", *more, folder=tmp_path) for more in ([], ["crash"]))
    assert (aborted.returncode, crashed.returncode) == (2, 2)
    assert "app by auto called MPI_Abort" in aborted.stderr and "Simulated time" not in aborted.stderr
    assert "app by auto was killed by SIGSEGV" in crashed.stderr


def test_malformed_networks_are_refused(tmp_path: Path) -> None:
    link = {"latency_us": 1, "byte_ns": 0.1}
    network = {"topology": "torus(dims=1,hosts=4)", "link_byte_ns": 0, "hop_us": 0}
    bad: list[tuple[object, str]] = [
        (7, "network: expected an object"),
        ({**network, "hop_us": -1}, "network.hop_us"),
        ({**network, "bandwidth": 1}, "network.bandwidth: not one of"),
        ({"topology": "x", "hop_us": 0}, "network.link_byte_ns: is missing"),
        ({**network, "topology": "torus(dims=0)"}, '--machine "machine.json": network.topology: '),
        ({**network, "topology": "a\x1b[31m"}, "network.topology: holds what cannot be printed"),
    ]
    for value, problem in bad:
        description = {"format": "swapmeet-machine", "version": 1, "between": link, "network": value}
        (tmp_path / "machine.json").write_text(json.dumps(description))
        done = simulate("--machine", "machine.json", "-n", "4", folder=tmp_path)
        assert done.returncode == 2 and problem in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_without_simgrid_it_says_what_to_install(tmp_path: Path) -> None:
    done = simulate("-n", "4", folder=tmp_path, PATH=str(tmp_path))
    assert done.returncode == 2 and "apt-get install libsimgrid-dev" in done.stderr


def test_the_scoreboard_has_the_best_peer_of_each_cell(simulator: Simulator, tmp_path: Path) -> None:
    words = ("--machine", "cluster,fat-tree", "-n", "8", "--ranks-per-node", "2", "-S", "8,20000", "--scoreboard")
    done = simulate(*words, "-o", "scores.jsonl", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    results = read(tmp_path / "scores.jsonl")
    found = scoreboard.scores(results)
    assert len(found) == 4 and len({score.cell.mpi for score in found}) == 2
    for score in found:
        times = [results.samples(score.cell, f"native:{name}")[0].longest[0] for name in peers.SELECTORS]
        assert score.best == min(times) and score.peer in peers.SELECTORS
        assert score.ours == results.samples(score.cell, "auto")[0].longest[0]
    assert f"geometric mean {scoreboard.mean(found):.2f}" in done.stdout
