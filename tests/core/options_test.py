"""Options: environment variables, read once, with one sentence for each value that cannot be used."""

import pytest

from swapmeet import _core


def test_nothing_set() -> None:
    options = _core.read_options(["PATH=/bin", "SWAPMEET", "NOT_SWAPMEET_EXPLAIN=7"])
    assert options.problems == []
    assert (options.algorithm, options.explain, options.statistics) == (None, False, False)
    assert options.scratch_limit_bytes == 1 << 30


def test_everything_set() -> None:
    values = ["SWAPMEET_ALGORITHM=multipair-waitany(stride=3)", "SWAPMEET_EXPLAIN=1", "SWAPMEET_STATS=s.json"]
    options = _core.read_options([*values, "SWAPMEET_SCRATCH_LIMIT=64KiB"])
    assert options.problems == []
    assert str(options.algorithm) == "direct(order=shift,window=3,complete=any,post=interleaved)"
    assert (options.explain, options.statistics, options.statistics_file) == (True, True, "s.json")
    assert (options.statistics_table, options.statistics_log) == (False, "")
    assert options.scratch_limit_bytes == 65536


@pytest.mark.parametrize("value", ["", "auto"])
def test_the_automatic_choice_is_the_default(value: str) -> None:
    options = _core.read_options([f"SWAPMEET_ALGORITHM={value}"])
    assert (options.algorithm, options.problems) == (None, [])


@pytest.mark.parametrize(
    ("value", "table", "file"), [("0", False, ""), ("1", True, ""), ("/a b%r", False, "/a b%r"), ("", False, "")]
)
@pytest.mark.parametrize("log", ["0", "", "jobs.jsonl", "/jobs"])
def test_statistics_to_files_or_to_the_screen(value: str, table: bool, file: str, log: str) -> None:
    options = _core.read_options([f"SWAPMEET_STATS_LOG={log}", f"SWAPMEET_STATS={value}"])
    assert options.problems == []
    assert (options.statistics_table, options.statistics_file) == (table, file)
    assert options.statistics_log == log.removeprefix("0")
    assert options.statistics == (value not in ("", "0") or log not in ("", "0"))


def test_a_node_map_is_of_all_ranks() -> None:
    values = ["SWAPMEET_NODES=0,0,1,1,0/0,0,0,0,0"]
    assert _core.read_options(values, 5).problems == []
    assert _core.read_options(values, 5).nodes == "0,0,1,1,0/0,0,0,0,0"
    assert _core.read_options(["SWAPMEET_NODES=mpi"], 5).nodes == ""
    for value in ("0,0,1,1,0/0,0,0,0,0", "4/6", "4+", "cyclic:3/2"):
        (problem,) = _core.read_options([f"SWAPMEET_NODES={value}"], 7).problems
        assert problem.startswith(f'SWAPMEET_NODES="{value}": ')
        assert problem.endswith("; using the host MPI for algorithms that need nodes")


BAD = [
    ("SWAPMEET_ALGORITHM", "pairwize", 'did you mean "pairwise"?', "using the host MPI"),
    ("SWAPMEET_ALGORITHM", "direct(window=0)", "(column 15)", "using the host MPI"),
    (
        "SWAPMEET_NODES",
        "4+",
        "expected the ranks of each node",
        "using the host MPI for algorithms that need nodes",
    ),
    ("SWAPMEET_NODES", "0,1", "names 2 ranks, but there are 1 (column 1)", "using the host MPI"),
    ("SWAPMEET_EXPLAIN", "yes", "must be 0 or 1", "not explaining"),
    ("SWAPMEET_STATS", "json", "must be 0, 1, or a file name", "no statistics"),
    ("SWAPMEET_STATS_LOG", "jobs", "must be 0, or a file name that ends in .jsonl or holds a /", "no log"),
    ("SWAPMEET_TRIALS", "often", "must be a percentage", "keeping 1"),
    ("SWAPMEET_TRIALS", "-1", "must be a percentage", "keeping 1"),
    ("SWAPMEET_TRIALS", "1%", "must be a percentage", "keeping 1"),
    ("SWAPMEET_TRIALS", "nan", "must be a percentage", "keeping 1"),
    ("SWAPMEET_TRIALS", "+1", "must be a percentage", "keeping 1"),
    ("SWAPMEET_TRIALS", " 1", "must be a percentage", "keeping 1"),
    ("SWAPMEET_TRIALS", "0x1", "must be a percentage", "keeping 1"),
    ("SWAPMEET_TRIALS", "1e", "must be a percentage", "keeping 1"),
    ("SWAPMEET_TRIALS", "1e999", "must be a percentage", "keeping 1"),
    ("SWAPMEET_GATHERED_RANKS", "many", "must be a number of ranks, such as 512", "keeping 512,64"),
    ("SWAPMEET_GATHERED_RANKS", "2,x", "must be one of ranks, such as 64 (column 3)", "keeping 512,64"),
    ("SWAPMEET_FIRST_CALLS", "few", "must be auto, or a number of calls", "keeping auto"),
    ("SWAPMEET_FIRST_CALLS", "-1", "must be auto, or a number of calls", "keeping auto"),
    ("SWAPMEET_MEMORY", "on", "must be auto, off, read, or a file name that ends in .memory", "remembering as usual"),
    ("SWAPMEET_SCRATCH_LIMIT", "64KB", "must be bytes", "keeping 1GiB"),
    ("SWAPMEET_SCRATCH_LIMIT", "-1", "must be bytes", "keeping 1GiB"),
    ("SWAPMEET_ALGORITM", "pairwise", "no such option; did you mean SWAPMEET_ALGORITHM?", "ignoring it"),
    ("SWAPMEET_TYPO", "1", "no such option; ignoring it", "ignoring it"),
    ("SWAPMEET_ALGO", "1", "no such option; did you mean SWAPMEET_ALGORITHM?", "ignoring it"),
    ("SWAPMEET_", "1", "no such option", "ignoring it"),
    ("SWAPMEET_COMPLETELY_DIFFERENT", "1", "no such option;", "ignoring it"),
    ("SWAPMEET_PHASES", "2", "must be 0 or 1", "not measuring phases"),
    ("SWAPMEET_WATCHDOG", "soon", "must be seconds, such as 60s or 0.5s", "not watching"),
    ("SWAPMEET_WATCHDOG", "-1s", "must be seconds, such as 60s or 0.5s", "not watching"),
    ("SWAPMEET_WATCHDOG", "60s,", "the file name must end in .jsonl or hold a / (column 5)", "not watching"),
    ("SWAPMEET_WATCHDOG", "60s,waits", "the file name must end in .jsonl or hold a / (column 5)", "not watching"),
    ("SWAPMEET_TRACE", "trace", "must be 0, or a file name that ends in .json or holds a /", "not tracing"),
    ("SWAPMEET_TRACE", "t.json,call=0", "the number of the call must be 1 or more (column 13)", "not tracing"),
    ("SWAPMEET_TRACE", "t.json,call=1x", "the number of the call must be 1 or more (column 13)", "not tracing"),
]


@pytest.mark.parametrize(("name", "value", "problem", "instead"), BAD)
def test_one_sentence_for_each_bad_value(name: str, value: str, problem: str, instead: str) -> None:
    options = _core.read_options([f"{name}={value}"])
    assert len(options.problems) == 1
    sentence = options.problems[0]
    assert sentence.startswith(f'{name}="{value}": ')
    assert problem in sentence
    assert instead in sentence.split("; ")[-1]


def test_bad_values_change_nothing_else() -> None:
    options = _core.read_options([f"{name}={value}" for name, value, *_ in BAD[1:8]])
    assert len(options.problems) == 7
    assert (options.explain, options.statistics, options.scratch_limit_bytes) == (False, False, 1 << 30)
    assert options.algorithm is not None and options.algorithm.family == "native"


def test_long_values_are_cut_in_messages() -> None:
    for value in ("x" * 5000, "x" + "é" * 5000):
        (problem,) = _core.read_options([f"SWAPMEET_EXPLAIN={value}"]).problems
        assert len(problem) < 300


def test_the_table_names_every_option_once_with_a_default_that_is_accepted() -> None:
    rows = _core.option_table()
    assert len({name for name, *_ in rows}) == len(rows) >= 4
    defaults = _core.read_options([f"{name}={default}" for name, _, default, _ in rows])
    assert defaults.problems == []
    assert defaults.fingerprint == _core.read_options([]).fingerprint


def test_the_fingerprint_tells_choices_apart() -> None:
    settings: list[list[str]] = [[], ["SWAPMEET_ALGORITHM=native"], ["SWAPMEET_ALGORITHM=pairwise"]]
    settings += [["SWAPMEET_NODES=4+2"], ["SWAPMEET_NODES=4+2/8"], ["SWAPMEET_NODES=4+"]]
    settings += [["SWAPMEET_TRIALS=0"], ["SWAPMEET_TRIALS=2"]]
    settings += [["SWAPMEET_GATHERED_RANKS=2"], ["SWAPMEET_GATHERED_RANKS=2,3"], ["SWAPMEET_GATHERED_RANKS=512,3"]]
    settings += [["SWAPMEET_FIRST_CALLS=0"], ["SWAPMEET_FIRST_CALLS=1"]]
    settings += [["SWAPMEET_SCRATCH_LIMIT=1MiB"], ["SWAPMEET_ALGORITHM=direct(seed=1)"], ["SWAPMEET_ALGORITHM=direct"]]
    assert len({_core.read_options(setting).fingerprint for setting in settings}) == len(settings)
    settings += [["SWAPMEET_TRACE=/a,call=2"], ["SWAPMEET_TRACE=/a"]]  # which all ranks take part in
    same = [["SWAPMEET_WATCHDOG=60"], ["SWAPMEET_WATCHDOG=0.5s,/a/%r"]]
    same += [["SWAPMEET_EXPLAIN=1"], ["SWAPMEET_STATS=1"], ["SWAPMEET_STATS_LOG=/a"], ["SWAPMEET_ALGORITHM=auto"]]
    assert {_core.read_options(setting).fingerprint for setting in same} == {_core.read_options([]).fingerprint}
