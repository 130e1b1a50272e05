"""Launching programs with an MPI, with or without Swapmeet."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from swapmeet import texts
from swapmeet.errors import SwapmeetError
from swapmeet.mpi.mpis import Mpi, environment

LAUNCHER_WORDS = 3  #: that a `command` begins with: mpiexec -n RANKS
UNCOUNTED = {"SWAPMEET_STATS": "0", "SWAPMEET_STATS_LOG": "0"}  #: variables without which a user's, or a site's, count
GRACE_S = 10  #: time that a launcher gets to end its ranks before it is killed
INTERRUPTED = 130  #: exit status after Ctrl-C, as shells have it
PR_SET_PDEATHSIG = 1  #: of Linux's prctl()
LIBC = ctypes.CDLL(None)
STDERR = 2  #: its file descriptor
#: What the bytes of files are known by, as `swapmeet doctor` compares them: `sh -c CHECKSUM FILE:FILE`.
CHECKSUM = "IFS=:; cat $0 | cksum"
#: Run by each rank's shell before the program: `sh -c CHECK FILE:FILE SUM program...`. The first rank of a node speaks.
#: The rank ends by a signal: MPICH's launcher waits for the ranks of other nodes if one exits before MPI_Init.
CHECK = f"""
local=${{MPI_LOCALRANKID:-${{OMPI_COMM_WORLD_LOCAL_RANK:-${{SLURM_LOCALID:-0}}}}}}
before=$IFS; IFS=:
for file in $0; do
  test -r "$file" && continue
  test "$local" != 0 || echo "swapmeet: $(uname -n) \
cannot read $file: put the library where all nodes see it, name it by SWAPMEET_LIBRARY, and see swapmeet doctor" >&2
  kill -s TERM $$
done
test "$local" != 0 || test "$({CHECKSUM})" = "$1" || echo "swapmeet: warning: $(uname -n) has another $0 than the \
node that launches: give all nodes the same library, and see swapmeet doctor" >&2
IFS=$before; shift
exec "$@"
"""


def command(
    mpi: Mpi,
    ranks: int,
    argv: Sequence[str | Path],
    library: Path | Sequence[Path] | None = None,
    variables: Mapping[str, str] | None = None,
    launcher: str | None = None,
    checked: bool = False,
) -> list[str]:
    """The launcher's command line.

    Parameters
    ----------
    mpi : Mpi
        The MPI to launch with.
    ranks : int
        Number of ranks.
    argv : sequence of str
        The program and its arguments.
    library : Path or sequence of Path, optional
        libswapmeet.so, to preload, or all that is to be preloaded; not into the launcher, and behind whatever
        LD_PRELOAD holds already: a tool that wraps MPI_ and calls PMPI_ comes first, and reaches us by the PMPI_ name.
    variables : mapping, optional
        Variables for the ranks only.
    launcher : str, optional
        Replaces the MPI's own mpiexec, as in "srun -n {ranks}".
    checked : bool
        Whether a rank whose node lacks the library ends with a message, and a node that has another one is told so.
        Without, the loader ignores a file that is not there, and the other ranks wait for that rank.

    Raises
    ------
    SwapmeetError
        If the library's path cannot be preloaded, or `launcher` cannot be used.
    """
    settings = dict(variables or {})
    before = os.environ.get("LD_PRELOAD", "").replace(":", " ").split()
    others = [word for word in before if not is_ours(word)]  # after `swapmeet env` ours may be there, for any MPI
    ours = [library] if isinstance(library, Path) else list(library or [])
    for path in ours:
        require_preloadable(path)
    if ours or others != before:
        settings["LD_PRELOAD"] = ":".join([*others, *map(str, ours)])
    words = [f"{name}={value}" for name, value in settings.items()]
    files = ":".join(map(str, ours))
    look = ["sh", "-c", CHECK, files, _checksum(files)] if checked and files else []
    return [*beginning(mpi, ranks, launcher), *look, *(["env", *words] if words else []), *map(str, argv)]


def _checksum(files: str) -> str:
    """As CHECKSUM prints it."""
    done = subprocess.run(["sh", "-c", CHECKSUM, files], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip()


def beginning(mpi: Mpi, ranks: int, launcher: str | None = None) -> list[str]:
    """The words of a command line before the program."""
    return launcher_words(launcher, ranks, mpi) if launcher else [str(mpi.mpiexec), "-n", str(ranks)]


def launcher_words(launcher: str, ranks: int, mpi: Mpi) -> list[str]:
    """The words of --launcher, as in "srun -n {ranks}"; {mpi} is the MPI's name."""
    try:
        words = shlex.split(launcher.format(ranks=ranks, mpi=mpi.name))
    except (ValueError, LookupError) as problem:
        what = f"{{{problem.args[0]}}} is unknown" if isinstance(problem, KeyError) else problem
        raise SwapmeetError(f'--launcher "{launcher}": {what}; try "srun -n {{ranks}}"') from None
    if not words or "{ranks}" not in launcher:
        raise SwapmeetError(f'--launcher "{launcher}" does not contain {{ranks}}; try "srun -n {{ranks}}"')
    return words


def library_variables(
    algorithm: str | None = None, explain: bool = False, stats: str | None = None, trace: str | None = None
) -> dict[str, str]:
    """Options of the library as variables. `stats`: a file, or "-" for standard error. `trace`: as SWAPMEET_TRACE."""
    variables = {}
    if algorithm is not None:
        variables["SWAPMEET_ALGORITHM"] = algorithm
    if explain:
        variables["SWAPMEET_EXPLAIN"] = "1"
    if stats is not None:
        variables["SWAPMEET_STATS"] = "1" if stats == "-" else os.path.abspath(stats)
    if trace is not None:
        variables["SWAPMEET_TRACE"] = os.path.abspath(trace)
    return variables


def is_ours(preloaded: str) -> bool:
    """Whether a word of LD_PRELOAD is a library of Swapmeet, for whichever MPI."""
    return Path(preloaded).name.startswith(("libswapmeet.so", "libswapmeet-heap.so"))


def require_preloadable(library: Path) -> None:
    """Refuse a path that LD_PRELOAD would take for several."""
    if set(str(library)) & set(" :"):
        remedy = "or copy it by `swapmeet lib --all --to FOLDER` and set SWAPMEET_LIBRARY=FOLDER"
        problem = f"LD_PRELOAD cannot hold blanks or colons, as in {library}"
        raise SwapmeetError(f"{problem}: move it to another folder, {remedy}")


def batch_job() -> str | None:
    """The variable that names our job of a batch system; None: in none."""
    return next((name for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID") if name in os.environ), None)


def require_program(name: str) -> None:
    """Refuse a program that cannot be started, before as many ranks fail."""
    if "=" in name:
        raise SwapmeetError(f"{name} is no program; to set a variable: env {name} APP; no name may hold a =")
    if shutil.which(name) is None:
        problem = "is not an executable file" if os.path.exists(name) else "is no program"
        raise SwapmeetError(f"{name} {problem}: give a path, or a name that PATH finds")


def require_writable(option: str, name: str | None) -> None:
    """Refuse a file that could not be written when the program ends, perhaps after hours.

    Parameters
    ----------
    option : str
        That names the file.
    name : str, optional
        As the library takes it: with a %r for the rank, and ,call=N at the end.
    """
    if name in (None, "-"):
        return
    file = Path(os.path.abspath(str(name).partition(",call=")[0].replace("%r", "0")))
    if file.is_dir():
        raise SwapmeetError(f"{option} {name}: it is a folder; name a file in it")
    if not file.parent.is_dir():
        raise SwapmeetError(f"{option} {name}: there is no folder {file.parent}; make it first")
    if texts.is_anothers(file):
        raise SwapmeetError(f"{option} {name}: it is {texts.FOREIGN}; name another file")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise SwapmeetError(f"{option} {name}: it cannot be written to; name a file in a folder of yours")


def replace_process(words: Sequence[str], variables: Mapping[str, str]) -> None:
    """Become the launcher, with more variables: input, output, signals and exit status are then the caller's own."""
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    try:
        os.execvpe(words[0], list(words), {**os.environ, **variables})
    except OSError as problem:
        raise SwapmeetError(f"cannot start {words[0]}: {problem.strerror}") from None


def attend(words: Sequence[str], variables: Mapping[str, str], to_stderr: bool = False) -> int:
    """Run the launcher with our input and output until it ends; its exit status, as shells have it.

    With `to_stderr` all of its output goes to standard error.

    Ctrl-C reaches it as well as us, and a SIGTERM is passed on. It does not survive us.

    Raises
    ------
    SwapmeetError
        If it cannot be started.
    """
    try:
        environment, output = {**os.environ, **variables}, STDERR if to_stderr else None
        process = subprocess.Popen(words, env=environment, stdout=output, preexec_fn=end_with_parent)
    except OSError as problem:
        raise SwapmeetError(f"cannot start {words[0]}: {problem.strerror}") from None
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        status = process.wait()
    except KeyboardInterrupt:
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, before)
    return status if status >= 0 else 128 - status


def end_with_parent() -> None:
    """Ask the kernel to end this process when the thread that began it is killed, whatever by."""
    with contextlib.suppress(AttributeError):
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def run(
    mpi: Mpi,
    ranks: int,
    words: Sequence[str],
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    folder: Path | None = None,
    typed: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Launch and wait, capturing what is printed. However this ends, no rank is left behind.

    Parameters
    ----------
    mpi : Mpi
        The MPI to launch with.
    ranks : int
        Number of ranks.
    words : sequence of str
        What `command` returned.
    env : mapping, optional
        More variables, for the launcher and the ranks.
    timeout_s : float, optional
        Limit, in seconds.
    folder : Path, optional
        Where to run; the current directory if not given.
    typed : str, optional
        Standard input of rank 0.

    Raises
    ------
    subprocess.TimeoutExpired
        With the output so far.
    """
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL if typed is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, **environment(mpi, ranks), **(env or {})},
        cwd=folder,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(typed, timeout=timeout_s)
    except BaseException as problem:
        output, errors = _end(process)
        if isinstance(problem, subprocess.TimeoutExpired):
            raise subprocess.TimeoutExpired(words, timeout_s or 0, output, errors) from None
        raise
    return subprocess.CompletedProcess(words, process.returncode, output, errors)


def _end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Ask the launcher to end its ranks; kill what does not listen."""
    process.terminate()
    try:
        return process.communicate(timeout=GRACE_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()
