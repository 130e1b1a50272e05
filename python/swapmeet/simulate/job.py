"""One simulation: a process of SimGrid's, and what it prints."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from swapmeet import _core, texts
from swapmeet.cache import own_cache_folder
from swapmeet.errors import SwapmeetError
from swapmeet.measure.bench.candidates import AUTO
from swapmeet.measure.bench.cells import NATIVE, Cell
from swapmeet.mpi.launch import end_with_parent
from swapmeet.mpi.library import built, library, program
from swapmeet.mpi.mpis import Mpi
from swapmeet.network.slot_tables import NAMED, with_table
from swapmeet.simulate import peers
from swapmeet.simulate.platform import Platform

ANSWER = re.compile(r"^measure: (\w+) ?(.*)$", re.MULTILINE)
EXPLAINED = re.compile(r"^swapmeet: Alltoallv? on [^:]*: (\S+) \((.*)\)$", re.MULTILINE)
FRAME = re.compile(r"^ *-> +\d+# ([\w:~]+)", re.MULTILINE)  #: of SimGrid's backtraces
OUT_OF_MEMORY = ("bad_alloc", "Cannot allocate memory")
NOISE_LINES = 8  #: of a simulation that failed, told


@dataclass(frozen=True)
class Outcome:
    """What came of a simulation."""

    longest: float = 0  #: over ranks, simulated seconds; of no meaning if there is a problem
    shortest: float = 0
    mean: float = 0
    problem: str = ""
    wrong: bool = False  #: data were
    spec: str = ""  #: that the library says it ran
    wall_s: float = 0  #: that the simulation took
    peak_bytes: int = 0


@dataclass(frozen=True)
class Job:
    """A cell and a candidate on a platform."""

    platform: Platform
    cell: Cell
    spec: str
    native: str  #: the MPI that "native" stands for


def label(platform: Platform, version: str) -> str:
    """What stands for the MPI in results of such a SimGrid."""
    return f"{platform.name} (SimGrid {version})"


class Simulator:
    """Runs jobs, each at most once for all times.

    Parameters
    ----------
    target : Mpi
        As `simgrid.find` returns it.
    timeout_s : float, optional
        After which a simulation is given up.
    tuning : str, optional
        The content of a tuning file, which the automatic choice follows (`tuned.for_simulations`).
    """

    def __init__(self, target: Mpi, timeout_s: float | None = None, tuning: str = "") -> None:
        self.target, self.timeout_s, self.tuning = target, timeout_s, tuning
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    @functools.cached_property
    def library(self) -> Path:
        """What is preloaded; built when it is first asked for, as the program is."""
        path = library(self.target)
        if set(str(path)) & set(" :"):
            raise SwapmeetError(f"LD_PRELOAD cannot hold blanks or colons, as in {path}: move it elsewhere")
        return path

    @functools.cached_property
    def program(self) -> Path:
        """Whose exchanges are timed."""
        return program(self.target, "simulated")

    @functools.cached_property
    def _built(self) -> dict[Path, str]:
        """Digests of the two."""
        return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in (self.library, self.program)}

    def label(self, platform: Platform) -> str:
        """What stands for the MPI in results: that all of it is simulated."""
        return label(platform, self.target.version)

    def notes(self, platform: Platform) -> list[str]:
        """The description of a launch in results."""
        return [
            f"simulated by SimGrid {self.target.version}: the same every time",
            *(f"SimGrid: {option}" for option in platform.options()),
        ]

    def known(self, job: Job) -> Outcome | None:
        """What came of it before, here or in another run; nothing is known before the library has been built."""
        if built(self.target) is None:
            return None
        try:
            return Outcome(**json.loads(self._place(job).read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def run(self, job: Job) -> Outcome:
        """Simulate, and remember what came of it unless it was given up."""
        preload = [] if peers.is_peer(job.spec) else [str(self.library)]
        variables = {} if peers.is_peer(job.spec) else _choice(with_table(job.spec, job.platform.ranks, simulated=True))
        exchange = [job.cell.collective, job.cell.sizes, str(job.cell.seed), job.cell.datatype, "1"]
        exchange.append(f"{job.platform.jitter_us:g}")
        words = ["--cfg=smpi/privatization:no", *peers.options(job.spec, job.cell.collective, job.native)]
        words += ["--cfg=smpi/test:0"] * bool(variables)  # our library lets time pass by itself when it has tested all
        program, begun = self.program, time.monotonic()
        status, output, errors, peak_bytes = self.launch(job.platform, program, exchange, words, preload, variables)
        outcome = _judged(job, status, output, errors, time.monotonic() - begun, peak_bytes)
        if status is not None and status >= 0 and not self._stopped:  # a signal may come for lack of memory, say
            self._remember(job, outcome)
        return outcome

    def launch(
        self,
        platform: Platform,
        program: Path,
        arguments: Sequence[str],
        options: Sequence[str],
        preload: Sequence[str],
        variables: dict[str, str],
    ) -> tuple[int | None, str, str, int]:
        """Run a program on all ranks. Returns its status (None: given up), output, errors and most memory."""
        with texts.temporary_folder("swapmeet-simulation-") as folder:
            xml, hosts = folder / "platform.xml", folder / "hosts"
            xml.write_text(platform.xml)
            hosts.write_text(platform.hostfile)
            words = [
                str(self.target.mpiexec),
                str(program),
                f"--cfg=smpi/np:{platform.ranks}",
                f"--cfg=smpi/hostfile:{hosts}",
            ]
            words += [
                f"--cfg=smpi/tmpdir:{folder}",
                "--log=root.thres:critical",
                *platform.options(),
                *options,
                str(xml),
            ]
            environment = {k: v for k, v in os.environ.items() if not k.startswith("SWAPMEET_")} | variables
            environment |= {"SMPI_GLOBAL_SIZE": str(platform.ranks)}
            if preload:
                environment["LD_PRELOAD"] = ":".join(preload)
            if preload and self.tuning:
                rules = folder / "rules.tuning"
                rules.write_text(self.tuning)
                environment["SWAPMEET_TUNING_FILE"] = str(rules)
            with open(folder / "out", "w+b") as out, open(folder / "err", "w+b") as err:
                process = self._start([*words, *arguments], environment, out.fileno(), err.fileno())
                status, peak_bytes = self._wait(process)
                printed = []
                for file in (out, err):
                    file.seek(0)
                    printed.append(file.read().decode(errors="replace"))
        return status, printed[0], printed[1], peak_bytes

    def stop(self) -> None:
        """End all simulations, from another thread."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.kill()

    def _start(self, words: list[str], environment: dict[str, str], out: int, err: int) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._stopped:
                raise SwapmeetError("interrupted")
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, start_new_session=True,
                preexec_fn=end_with_parent,
            )  # fmt: skip
            self._running.add(process)
            return process

    def _wait(self, process: subprocess.Popen[bytes]) -> tuple[int | None, int]:
        timer = threading.Timer(self.timeout_s, process.kill) if self.timeout_s else None
        if timer:
            timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        given_up = process.returncode == -signal.SIGKILL
        if timer:
            timer.cancel()
        with self._lock:
            self._running.discard(process)
        return None if given_up else process.returncode, usage.ru_maxrss << 10

    def _place(self, job: Job) -> Path:
        """The file that remembers a job, named by all that determines what comes of it."""
        parts: list[object] = [self.target.version, job.platform.key, asdict(job.cell), job.spec]
        parts += peers.options(job.spec, job.cell.collective, job.native)
        parts += _order_of(job.spec)
        parts += [self.tuning] if self.tuning and job.spec == AUTO else []
        parts += [self._built[self.program]] + ([] if peers.is_peer(job.spec) else [self._built[self.library]])
        name = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        return own_cache_folder() / "simulated" / name[:2] / f"{name}.json"

    def _remember(self, job: Job, outcome: Outcome) -> None:
        place = self._place(job)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            draft = place.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
            draft.write_text(json.dumps(asdict(outcome)))
            draft.replace(place)
        except OSError:  # then it is simulated again
            pass


def _choice(spec: str) -> dict[str, str]:
    chosen = {} if spec == AUTO else {"SWAPMEET_ALGORITHM": spec}
    return {"SWAPMEET_EXPLAIN": "1", "SWAPMEET_TUNING_FILE": "none", **chosen}


def _order_of(spec: str) -> list[str]:
    """The content of a file that the spec names."""
    if "order=topology" not in spec:
        return []
    network, *_ = _core.order_source(_core.parse_spec(spec))
    try:
        return [hashlib.sha256(Path(network).read_bytes()).hexdigest()]
    except OSError:  # a network by name
        return [os.environ.get("SWAPMEET_ORDER_TIME", "")]


def ending(status: int | None) -> str:
    """How a simulation with such a status ended."""
    if status is None:
        return "was given up (--time-limit)"
    return f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def _where(output: str, errors: str) -> str:
    """In which of its functions SimGrid failed, if it names that; what it printed last, if not."""
    if any(words in errors for words in OUT_OF_MEMORY):
        return ": there is not enough memory for it"
    frames = [frame for frame in FRAME.findall(errors) if frame.startswith("simgrid::")]
    if frames:
        return f" in {frames[0]}"
    lines = [*output.splitlines(), *errors.splitlines()]
    said = [line for line in lines if not FRAME.match(line)][-NOISE_LINES:]
    return f": {chr(10).join(said)}" if said else ""


def _judged(job: Job, status: int | None, output: str, errors: str, wall_s: float, peak_bytes: int) -> Outcome:
    answers = dict(ANSWER.findall(output))
    explained = EXPLAINED.findall(errors)
    served = explained[-1][0] if explained else job.spec
    spec = job.spec if NAMED in job.spec and served != NATIVE else served  # that is served by a table of its network
    outcome = functools.partial(Outcome, spec=spec, wall_s=wall_s, peak_bytes=peak_bytes)
    if status is None:
        return outcome(problem=f"given up, after {wall_s:.0f} s")
    for kind in ("refused", "wrong"):
        if kind in answers:
            return outcome(problem=answers[kind], wrong=kind == "wrong")
    if "ok" not in answers or "sample" not in answers:
        return outcome(problem=f"SimGrid {ending(status)}{_where(output, errors)}")
    if spec == NATIVE and job.spec not in (AUTO, NATIVE):
        return outcome(problem=f"left to the host MPI: {explained[-1][1]}")
    longest, shortest, mean = map(float, answers["sample"].split())
    return outcome(longest, shortest, mean)
