"""What the tests share: the MPIs that are installed, and launching with them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path

import limits
import naps
import pytest
from hypothesis import HealthCheck, settings
from limits import examples, scaled
from sanitizing import REPORTS, SANITIZERS, Reports

from swapmeet import SwapmeetError
from swapmeet.mpi import launch as launching
from swapmeet.mpi import mpis
from swapmeet.mpi.discovery import NAMES
from swapmeet.mpi.library import library

Launch = Callable[..., "subprocess.CompletedProcess[str]"]
#: MPIs for which nothing is compiled by day: tests that a parameter gives one of them run with --all only.
OTHER_MPIS = {"abi", "intel", "intel-abi", "mpich-abi", "mpich-system", "openmpi-system"}
REPORT_CHARACTERS = 20_000  #: of what sanitizers or late commands print that a failure shows


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="MPI tests: the whole matrix, also what is too long for CI")
    parser.addoption("--sanitize", choices=SANITIZERS, help="MPI tests: the library and the programs under a sanitizer")


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs, and their children, ignore it
    for name in ("XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"):  # what was tuned on this machine is not tested
        os.environ[name] = tempfile.gettempdir() + "/none"
    for framework in ("btl", "mtl"):  # in which Open MPI looks for networks: a second, or most of what a launch takes
        os.environ.setdefault(f"OMPI_MCA_{framework}", "^ofi")
    for yielding in mpis.YIELDING.values():  # for ranks of other tests want the cores, too
        os.environ.update({**yielding, **os.environ})
    os.environ["SWAPMEET_MEMORY"] = "off"  # nor does what one test has measured decide in the next
    limits.everything = config.getoption("--all", default=False)
    settings.register_profile(
        "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=examples(100)
    )
    settings.load_profile("untimed")  # a busy machine fails no test
    config.addinivalue_line("markers", "long: runs with --all only")
    config.addinivalue_line("markers", "slow: not in `make check`, for it takes more than a second or two")
    config.addinivalue_line("markers", "other_mpi: runs with --all only, for it needs the library for a third MPI")
    config.addinivalue_line("markers", "in_turn: without --all, half of the cases by MPICH, the others by Open MPI")
    config.addinivalue_line("markers", "sanitized: runs with --sanitize only")
    config.addinivalue_line("markers", "unsanitized(reason): not with --sanitize")
    if name := config.getoption("--sanitize", default=None):
        reports = config.stash[REPORTS] = Reports(name)
        reports.begin()
        config.add_cleanup(reports.end)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    everything = config.getoption("--all", default=False)  # not there when only a folder below is collected
    left_out = {item for item in items if not everything and _at_night(item)}
    left_out |= {item for item in items if item.get_closest_marker("sanitized") and REPORTS not in config.stash}
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(tryfirst=True, wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Give a test more time on a busy machine."""
    mark = item.get_closest_marker("timeout")
    limit_s = float(mark.args[0] if mark else item.config.getini("timeout"))
    item.add_marker(pytest.mark.timeout(scaled(limit_s)), append=False)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test, whatever its outcome, in which a sanitizer reports something."""
    reports = item.config.stash.get(REPORTS, None)
    try:
        return (yield)
    finally:
        if reports and (told := reports.take()):
            pytest.fail(told[:REPORT_CHARACTERS], pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what a command had printed when its time was over: the exception's text is the command alone."""
    report = yield
    late = call.excinfo and call.excinfo.value
    if isinstance(late, subprocess.TimeoutExpired):
        for stream, printed in (("stdout", late.stdout), ("stderr", late.stderr)):
            text = printed.decode(errors="replace") if isinstance(printed, bytes) else printed or ""
            report.sections.append((f"{stream} of the command, until its time limit", text[-REPORT_CHARACTERS:]))
    return report


def pytest_runtest_setup(item: pytest.Item) -> None:
    mark = item.get_closest_marker("unsanitized")
    if mark and REPORTS in item.config.stash:
        pytest.skip(f"not under a sanitizer: {mark.args[0]}")


def _parameters(item: pytest.Item) -> Mapping[str, object]:
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


def _at_night(item: pytest.Item) -> bool:
    """Whether the item runs with --all only."""
    if item.get_closest_marker("long") or item.get_closest_marker("other_mpi") or not _in_turn(item):
        return True
    return any(isinstance(value, str) and value in OTHER_MPIS for value in _parameters(item).values())


def _in_turn(item: pytest.Item) -> bool:
    """Whether it is the turn of the item's MPI."""
    parameters = _parameters(item)
    if not item.get_closest_marker("in_turn") or "wheel" not in parameters:
        return True
    wheel = parameters["wheel"]
    case = item.name.replace(wheel, "")
    return zlib.crc32(case.encode()) % 2 == (wheel == "mpich")


@pytest.fixture(autouse=True)
def _no_leftovers() -> None:
    """Remove what launchers of Open MPI that were killed have left: one that later gets the same PID would not start.

    OpenPMIx refuses to begin where its file of contacts exists ("The PMIx server's listener thread failed to start").
    """
    for folder in Path(tempfile.gettempdir()).glob("ompi.[0-9]*"):
        try:
            os.kill(int(folder.suffix[1:]), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (ValueError, PermissionError):
            continue


@pytest.fixture(params=NAMES, scope="session")
def mpi(request: pytest.FixtureRequest) -> str:
    """The name of each MPI; the wheels must be there, the system's may be missing, and are for --all only."""
    name: str = request.param
    if name.endswith("-system"):
        try:
            mpis.find(name)
        except SwapmeetError as problem:
            pytest.skip(str(problem))
    return name


@pytest.fixture(scope="module")
def napping(pytestconfig: pytest.Config) -> Iterator[None]:
    """Ranks that the module launches by other means than `launch` sleep, too, where they would yield in vain."""
    with pytest.MonkeyPatch.context() as patch:
        if naps.by_day(pytestconfig):
            patch.setenv("LD_PRELOAD", str(naps.naps()))
        yield


@pytest.fixture(scope="session")
def launch(pytestconfig: pytest.Config) -> Launch:
    """Run a program on `n` ranks and capture what it prints; `timeout` as it is on two idle cores."""

    def launch(
        n: int,
        argv: Sequence[str | Path],
        mpi: str = "mpich",
        env: Mapping[str, str] | None = None,
        preload: bool = True,
        algorithm: str | None = None,
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[str]:
        chosen = mpis.find(mpi)
        variables = {**(env or {}), **(launching.library_variables(algorithm) if preload else {})}
        argv, preloaded = naps.beside(pytestconfig, argv, [library(chosen)] if preload else [])
        words = launching.command(chosen, n, argv, preloaded, variables)
        return launching.run(chosen, n, words, env=env, timeout_s=scaled(timeout))

    return launch
