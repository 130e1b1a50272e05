"""Make each mistake of the list alone, and see which test notices it.

    .venv/bin/python tests/mutants/run.py --check 'tests/core tests/heap ...' [--report FILE] [WORD...]

All mistakes are compiled into one build of a copy of the tree, build/mutants. For each, the tests that it names are run
first, then those of `make check`, then those of `make test`, until one fails. WORD: only mistakes whose name or file
has it. A run that was ended early goes on where it was: a mistake is not tried again while the tree is as it was.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

from mistake import CHECK, TEST, Mistake
from mistakes import MISTAKES, VARIABLE, with_mistakes

HERE = Path(__file__).resolve().parents[2]
TREE = HERE / "build" / "mutants"
PYTHON = TREE / ".venv" / "bin" / "python"
PROGRAMS = ("swapmeet", "swapmeet_heap", "conformance", "errors", "fuzz", "transport", "typemaps")
TEST_LIMIT_S = 100  #: of one launch or command: a test that waits longer has noticed that something hangs
SET_LIMIT_S = 7200  #: of a set of tests: what takes longer is said not to have noticed anything
LEAST_BY_CHECK = 0.6  #: of all mistakes that are noticed by `make check`
#: In a copy that is compiled once and not measured, for compiling takes most of the time.
QUICKLY = (
    ('"Link libswapmeet.so with link-time optimisation" ON', '"Link libswapmeet.so with link-time optimisation" OFF'),
    ("set(CMAKE_CXX_STANDARD 20)", 'set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")\nset(CMAKE_CXX_STANDARD 20)'),
)
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py(?:::\S+?\[.*?\](?= - |$)|\S*))", re.MULTILINE)


@dataclass
class Outcome:
    """What became of a mistake."""

    name: str
    file: str
    wrong: str
    expected: str  #: the target of make whose tests are to notice it
    noticed: str | None = None  #: the target whose tests do; None: none
    test: str | None = None  #: the first that does
    seconds: float = 0.0
    tree: str = ""  #: as copy_tree() returns it
    all_tests: bool = True  #: those that the mistake does not name would have been run, too


# --- the copy of the tree


def copy_tree() -> str:
    """Bring the copy up to date, with all mistakes, and return its hash. Files that stay the same keep their times."""
    listed = subprocess.check_output(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=HERE, text=True
    )
    names = {name for name in listed.split("\0") if name and (HERE / name).is_file()}
    mistaken = {f"src/{file}": text for file, text in with_mistakes(HERE / "src").items()}
    tree = hashlib.sha256()
    for name in sorted(names):
        data = mistaken[name].encode() if name in mistaken else (HERE / name).read_bytes()
        if name == "CMakeLists.txt":
            data = _changed(data.decode(), QUICKLY).encode()
        tree.update(f"{name} {hashlib.sha256(data).hexdigest()}\n".encode())
        target = TREE / name
        if not target.exists() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            shutil.copymode(HERE / name, target)
    for part in ("src", "tests", "tools", "python"):
        for path in (TREE / part).rglob("*"):
            kept = path.suffix in (".so", ".pyc", ".pyi") or str(path.relative_to(TREE)) in names
            if path.is_file() and not kept:
                path.unlink()
    if not (TREE / ".venv").exists():
        (TREE / ".venv").symlink_to(HERE / ".venv")
    return tree.hexdigest()


def _changed(text: str, changes: Iterable[tuple[str, str]]) -> str:
    for old, new in changes:
        if text.count(old) != 1:
            raise SystemExit(f"CMakeLists.txt has not this text once: {old}")
        text = text.replace(old, new)
    return text


def build() -> None:
    """Compile the library for both MPIs that are wheels, the tests' programs, and Python's module of the core."""
    core, module = TREE / "build" / "core", TREE / "build" / "module"
    tool = HERE / ".venv" / "bin"
    path = {"PATH": f"{os.environ['PATH']}:{tool}"}

    def cmake(*words: str | Path) -> None:
        _make(["cmake", *words], path)

    cmake("-S", TREE, "-B", core, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release")
    cmake("--build", core, "--target", "swapmeet_core", "swapmeet_front")
    options = ("-DSWAPMEET_PYTHON=ON", f"-DSWAPMEET_CORE={core}", f"-DPython_EXECUTABLE={PYTHON}")
    cmake("-S", TREE, "-B", module, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *options)
    cmake("--build", module, "--target", "_core")
    (made,) = (module / "python").glob("_core.*.so")
    shutil.copy2(made, TREE / "python" / "swapmeet" / made.name)
    for mpi in ("openmpi", "mpich"):
        code = f"from swapmeet.mpi import library, mpis; library.build(mpis.find({mpi!r}), *{PROGRAMS!r})"
        _make([PYTHON, "-c", code], environment(0))


def _make(words: Sequence[str | Path], variables: Mapping[str, str]) -> None:
    done = subprocess.run(words, env={**os.environ, **variables}, cwd=TREE, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(map(str, words))} failed:\n{(done.stdout + done.stderr)[-6000:]}")


# --- tests


def environment(number: int) -> dict[str, str]:
    """The variables of a process in which mistake `number` is made."""
    site = TREE / "tests" / "mutants" / "site"
    return {VARIABLE: str(number), "PYTHONPATH": str(site), "MOST_TEST_S": str(TEST_LIMIT_S)}


def pytest(number: int, words: Sequence[str]) -> tuple[int | None, str]:
    """Run tests with a mistake, or none (0): pytest's status, None if they take too long, and what it printed."""
    command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    with subprocess.Popen(
        command,
        cwd=TREE,
        env={**os.environ, **environment(number)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=SET_LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, ""
        return process.returncode, printed


def tests_of(words: Sequence[str]) -> list[str]:
    """The tests that pytest finds."""
    status, printed = pytest(0, ["--collect-only", *words])
    if status != 0:
        raise SystemExit(f"pytest --collect-only {shlex.join(words)}:\n{printed[-3000:]}")
    return [line for line in printed.splitlines() if "::" in line]


def selected(tests: Iterable[str], names: Sequence[str]) -> list[str]:
    """Those of `tests` that one of `names`, as a mistake has them, stands for."""
    begins = tuple(name + end for name in names for end in ("[", "::", "/"))
    return [test for test in tests if test in names or test.startswith(begins)]


class Sets:
    """The tests of make's targets, but for those that fail in the copy without a mistake, as what reads src/ does."""

    def __init__(self, check: Sequence[str], test: Sequence[str]) -> None:
        own = "--ignore=tests/mutants"
        self.words = {CHECK: [*check, own], TEST: [*test, own]}
        self.of_check = tests_of(self.words[CHECK])
        self.failing: dict[str, list[str]] = {}
        self.lock = threading.Lock()

    def all_of(self, target: str) -> list[str]:
        """The words for pytest of all tests of a target; when first asked for, these run without a mistake."""
        with self.lock:
            if target not in self.failing:
                self.failing[target] = FAILED.findall(pytest(0, self.words[target])[1])
        return [*self.words[target], *(f"--deselect={test}" for test in self.failing[target])]

    def stages(self, mistake: Mistake, named_only: bool) -> Iterator[tuple[str, list[str]]]:
        """What to run until a test fails: the target of make to which the tests belong, and the words."""
        if quick := selected(self.of_check, mistake.tests):
            yield CHECK, quick
        yield TEST, list(mistake.tests)
        if not named_only:
            yield CHECK, self.all_of(CHECK)
            yield TEST, self.all_of(TEST)


def see_that_tests_pass(tests: Sequence[str], at_a_time: int) -> None:
    """End the program if some fail without a mistake."""
    status, printed = pytest(0, [f"--numprocesses={at_a_time}", "--dist=worksteal", *tests])
    if status != 0:
        raise SystemExit(f"Without a mistake, tests fail:\n{printed[-5000:]}")


def notice(number: int, mistake: Mistake, sets: Sets, named_only: bool, tree: str) -> Outcome:
    """Run tests with one mistake until one fails."""
    begin = time.monotonic()
    outcome = Outcome(mistake.name, mistake.file, mistake.wrong, mistake.by, tree=tree, all_tests=not named_only)
    for target, words in sets.stages(mistake, named_only):
        status, printed = pytest(number, ["-x", *words])
        found = FAILED.search(printed)
        if status in (1, 2) and found:
            outcome.noticed, outcome.test = target, found[1]
            break
        if status not in (0, 1, 5, None):  # 5: pytest has none of them, as where it is the turn of the other MPI
            raise SystemExit(f'"{mistake.name}": pytest ended with {status}:\n{printed[-3000:]}')
    outcome.seconds = round(time.monotonic() - begin, 1)
    return outcome


# --- the report


def outcomes_of(report: Path, tree: str, named_only: bool) -> dict[str, Outcome]:
    """What an earlier run has found out of the same tree, by the names of mistakes."""
    lines = report.read_text().splitlines() if report.exists() else []
    outcomes = [Outcome(**json.loads(line)) for line in lines]
    return {
        outcome.name: outcome
        for outcome in outcomes
        if outcome.tree == tree and (outcome.noticed or outcome.all_tests or named_only)
    }


def table(outcomes: Sequence[Outcome]) -> str:
    """One line for each mistake, and the sums."""
    width = max(len(outcome.name) for outcome in outcomes)
    lines = [
        f"{outcome.noticed or '-':5}  {outcome.name:{width}}  {outcome.test or 'nothing notices: ' + outcome.wrong}"
        for outcome in outcomes
    ]
    by_check = sum(outcome.noticed == CHECK for outcome in outcomes)
    unnoticed = sum(outcome.noticed is None for outcome in outcomes)
    lines.append(
        f"{len(outcomes)} mistakes: {by_check} noticed by make check, {len(outcomes) - by_check - unnoticed} more by "
        f"make test, {unnoticed} by nothing"
    )
    return "\n".join(lines)


def weak(outcomes: Sequence[Outcome], of_all: bool) -> list[str]:
    """Why the tests are not as they are to be. The share of `make check` is judged for all mistakes only."""
    found = [f"nothing notices: {outcome.name}" for outcome in outcomes if outcome.noticed is None]
    found += [
        f"make check is to notice, and does not: {outcome.name}"
        for outcome in outcomes
        if outcome.expected == CHECK and outcome.noticed == TEST
    ]
    if of_all and sum(outcome.noticed == CHECK for outcome in outcomes) < LEAST_BY_CHECK * len(outcomes):
        found.append(f"make check notices less than {LEAST_BY_CHECK:.0%} of the mistakes")
    return found


def main() -> int:
    """Build, run, report; 1 if the tests are weak."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--check", default="tests/core", help="the words for pytest of make check")
    parser.add_argument("--test", default="tests", help="those of make test")
    parser.add_argument("--report", type=Path, default=HERE / "build" / "mutants.jsonl")
    parser.add_argument("--at-a-time", type=int, default=2, help="mistakes that are tried side by side")
    parser.add_argument("--named-only", action="store_true", help="run the tests that a mistake names, and no others")
    parser.add_argument("words", nargs="*", help="only mistakes whose name or file has such a word")
    given = parser.parse_args()
    chosen = [
        (number, mistake)
        for number, mistake in enumerate(MISTAKES, 1)
        if not given.words or any(word in mistake.name or word in mistake.file for word in given.words)
    ]
    tree = copy_tree()
    known = outcomes_of(given.report, tree, given.named_only)
    left = [(number, mistake) for number, mistake in chosen if mistake.name not in known]
    if left:
        build()
        see_that_tests_pass(sorted({name for _, mistake in left for name in mistake.tests}), given.at_a_time)
        sets = Sets(shlex.split(given.check), shlex.split(given.test))
        with ThreadPoolExecutor(given.at_a_time) as pool, open(given.report, "w") as report:
            trying = [pool.submit(notice, number, mistake, sets, given.named_only, tree) for number, mistake in left]
            for outcome in itertools.chain(known.values(), (one.result() for one in as_completed(trying))):
                known[outcome.name] = outcome
                print(json.dumps(asdict(outcome)), file=report, flush=True)
    outcomes = [known[mistake.name] for _, mistake in chosen]
    print(table(outcomes))
    problems = weak(outcomes, of_all=not given.words)
    for problem in problems:
        print(problem, file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
