"""libswapmeet.so and its programs for each MPI: as `installed` finds them, or built on demand with CMake."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from swapmeet import progress
from swapmeet.cache import cache_folder, own_cache_folder, problem_of
from swapmeet.errors import SwapmeetError
from swapmeet.mpi.installed import BROUGHT, NAME, PACKAGE, beside, brought, installed, installed_front
from swapmeet.mpi.mpis import Mpi, find

TELL_AFTER_S = 5.0
TAIL_LINES = 30  #: of the log, shown when a build fails
CORE = ("swapmeet_core",)  #: what knows no MPI, compiled once for all
COMPONENT = "swapmeet_component"  #: a target that exists where it can be built
SYSTEM_NAME = re.compile(r"[a-z0-9]+-system")
CORE_FOLDER = "core"
TOOLS = ("cmake", "ninja")
COMPILED = ("benchmarks", "cmake", "include", "src", "tests", "tools")  #: folders of what is compiled
NOT_COMPILED = ("", ".jsonl", ".py", ".pyc")
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release"]  #: of CMake, for folders that are configured from now on
STAMP = "swapmeet-build.txt"  #: what a build folder was configured for


def library(mpi: Mpi) -> Path:
    """libswapmeet.so for `mpi`: an installed one, or built and brought up to date. One serves all of an ABI.

    Raises
    ------
    SwapmeetError
        If SWAPMEET_LIBRARY cannot be used; CMake, Ninja or the source is missing; or the build fails: with the end of
        its output and the log's path.
    """
    return _installed_or_built(mpi, "swapmeet", NAME)


def front() -> Path:
    """The libswapmeet.so that loads the library for whichever MPI a process has: installed, or built. See `site`.

    Raises
    ------
    SwapmeetError
        As `library`; or on a processor for which there is none.
    """
    if path := ready_front():
        return path
    folder = _builds() / CORE_FOLDER
    with _locked(folder):
        _make(folder, ["swapmeet_front"], [], _identity(None), "every MPI")
    return folder / "front" / "libswapmeet.so"


def ready_front() -> Path | None:
    """As `front`, if nothing has to be built."""
    return installed_front(search=_is_package())


def heap_library(mpi: Mpi) -> Path:
    """libswapmeet-heap.so, which is preloaded besides; installed or built, and errors, as of `library`."""
    return _installed_or_built(mpi, "swapmeet_heap", "libswapmeet-heap.so")


def component(mpi: Mpi) -> Path:
    """mca_coll_swapmeet.so, Open MPI's component, and the library that it loads; brought up to date.

    Raises
    ------
    SwapmeetError
        As `library`; or if there is none for this MPI.
    """
    if mpi.kind != "openmpi":
        raise SwapmeetError(f"{mpi.name} has no components: they are Open MPI's (--mpi openmpi-system)")
    folder = build(mpi, "swapmeet")
    if f"build {COMPONENT}: phony" not in (folder / "build.ninja").read_text():
        raise SwapmeetError(
            f"{mpi.name}: a component needs the internal headers of Open MPI 4, which Debian's libopenmpi-dev brings "
            f"(--mpi openmpi-system): see {folder / 'configure.log'}"
        )
    return build(mpi, COMPONENT) / "lib" / "openmpi" / "mca_coll_swapmeet.so"


def program(mpi: Mpi, name: str) -> Path:
    """One of the programs for tests and measurements, such as `conformance`; brought up to date."""
    return build(mpi, name) / "bin" / name


def measuring_program(mpi: Mpi) -> tuple[Mpi, Path]:
    """`measure`, the wheel's or built, and the MPI to launch it with: the wheel's has to be shown the MPI's library."""
    if path := brought(mpi.abi, "measure"):
        return replace(mpi, by_path=True), path
    return mpi, program(mpi, "measure")


def _installed_or_built(mpi: Mpi, target: str, name: str) -> Path:
    found = installed(mpi.abi, search=_is_package())
    if found and (path := beside(found, name)):
        return path
    return build(mpi, target) / "lib" / name


@functools.cache
def source_tree() -> Path:
    """Where CMakeLists.txt lies: the repository of an editable install, or the copy inside the package."""
    for folder in (PACKAGE / "source", *PACKAGE.parents):
        lists = folder / "CMakeLists.txt"
        if lists.is_file() and "project(swapmeet" in lists.read_text(errors="replace"):
            return folder
    raise SwapmeetError(f"the source of libswapmeet is neither in {PACKAGE / 'source'} nor above {PACKAGE}: reinstall")


def _is_package() -> bool:
    """Whether this is no clone: the package brings the source, and what is installed beside it serves."""
    return source_tree() == PACKAGE / "source"


def build_folder(mpi: Mpi) -> Path:
    """Where the library for `mpi` is built: in a clone that can be written to, else in the user's cache."""
    return _builds() / _folder_name(mpi)


def _folder_name(mpi: Mpi) -> str:
    mpi = _built_for(mpi)
    name = mpi.name
    if SYSTEM_NAME.fullmatch(name) or mpi.wrapper.is_relative_to(source_tree()):
        return name
    readable = name if os.sep not in name else f"{mpi.kind}-{mpi.version}"  # names are not enough there
    return f"{readable}-{hashlib.sha256(str(mpi.wrapper).encode()).hexdigest()[:8]}"


def _in_cache() -> bool:
    return _is_package() or not os.access(source_tree(), os.W_OK)


def _builds() -> Path:
    source = source_tree()
    if not _in_cache():
        return source / "build"
    return cache_folder() / hashlib.sha256(str(source).encode()).hexdigest()[:8]


@functools.cache
def build(mpi: Mpi, *targets: str) -> Path:
    """Build targets for `mpi`, and what they need; quick if nothing has changed. Returns the build folder."""
    if folder := _built_before(mpi, targets):
        return folder
    folder = build_folder(mpi)
    mpi = _built_for(mpi)
    with _telling(mpi):
        core = _core()
        with _locked(folder):
            words = [f"-DSWAPMEET_MPICC={_described_by(mpi, folder)}", f"-DSWAPMEET_CORE={core}"]
            _make(folder, targets, words, _identity(mpi), mpi.name)
    return folder


def _built_before(mpi: Mpi | None, targets: Sequence[str]) -> Path | None:
    """The build folder, if all of that is there and up to date: then neither CMake nor a folder to write to is needed.

    What the owner of a clone has built serves users that may only read it, too. None: CMake is asked, as always in a
    clone that may be written to, for it knows also of settings; unless there is none.
    """
    if not _in_cache() and all(map(_path_of_tool, TOOLS)):
        return None
    name, made_of = _folder_name(mpi) if mpi else CORE_FOLDER, _made_of(_identity(mpi and _built_for(mpi)))
    return next((base / name for base in _trusted() if _up_to_date(base / name, made_of, targets)), None)


def _trusted() -> Iterator[Path]:
    """Where what was built belongs to this user, or to the owner of the source."""
    if not _is_package():
        yield source_tree() / "build"
    with contextlib.suppress(SwapmeetError):  # without a home
        if _in_cache() and problem_of(cache_folder()) is None:
            yield _builds()


def _up_to_date(folder: Path, made_of: str, targets: Sequence[str]) -> bool:
    try:
        return all(_mark(folder, target).read_text() == made_of for target in targets)
    except OSError:
        return False


def _mark(folder: Path, target: str) -> Path:
    """The file that lists what a target was made of."""
    return folder / f"{target}.built"


def _made_of(identity: str) -> str:
    """Of what targets are made: times of files mean nothing, for a package manager keeps those of its builder."""
    return f"{identity}{_source_digest()}\n"


@functools.cache
def _source_digest() -> str:
    tree = source_tree()
    files = [path for part in COMPILED for path in (tree / part).rglob("*") if path.suffix not in NOT_COMPILED]
    digest = hashlib.sha256()
    for path in sorted([tree / "CMakeLists.txt", *files]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _identity(mpi: Mpi | None) -> str:
    """What a build folder is configured for: an MPI, or none."""
    described = f"{mpi.mpicc}\n{mpi.kind} {mpi.version}\n{mpi.libmpi}\n" if mpi else ""
    return f"{described}{source_tree()}\n"


def _core() -> Path:
    """Where the libraries lie that know no MPI: brought by the package, or brought up to date in the source tree."""
    if _is_package() and (BROUGHT / f"lib{CORE[0]}.a").exists() and _can_link(BROUGHT / "compiler.txt"):
        return BROUGHT
    if before := _built_before(None, CORE):
        return before
    folder = _builds() / CORE_FOLDER
    with _locked(folder):
        _make(folder, CORE, [], _identity(None), "all MPIs")
    return folder


def _can_link(described: Path) -> bool:
    """Whether the compiler here can link what the described one compiled: a GCC as new, whose C++ library has all."""
    words = [os.environ.get("CXX", "c++"), "-v"]
    try:
        name, version = described.read_text().split()
        shown = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL).stderr
    except (OSError, ValueError):
        return False
    here = re.search(r"^gcc version ([\d.]+)", shown, re.MULTILINE)
    return name == "GNU" and here is not None and _numbers(here[1]) >= _numbers(version)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def _make(folder: Path, targets: Sequence[str], options: Sequence[str], identity: str, of: str) -> None:
    stamp, made_of = folder / STAMP, _made_of(identity)
    configured_for = made_of if _in_cache() else identity  # what is edited is compiled, that and no more
    if not (folder / "build.ninja").exists() or not stamp.exists() or stamp.read_text() != configured_for:
        (folder / "CMakeCache.txt").unlink(missing_ok=True)
        shutil.rmtree(folder / "CMakeFiles", ignore_errors=True)
        _require_compiler()
        words = [_tool("cmake"), "-S", str(source_tree()), "-B", str(folder), "-G", "Ninja"]
        words += [f"-DCMAKE_MAKE_PROGRAM={_tool('ninja')}", *OPTIONS, *options]
        _run(words, folder / "configure.log", of)
        if stamp.exists():  # what was compiled for something else may be newer than its source
            _run([_tool("cmake"), "--build", str(folder), "--target", "clean"], folder / "build.log", of)
        stamp.write_text(configured_for)
    _run([_tool("cmake"), "--build", str(folder), "--target", *targets], folder / "build.log", of)
    for target in targets:
        _mark(folder, target).write_text(made_of)


def _require_compiler() -> None:
    """Refuse at once what CMake would refuse in twenty lines."""
    if named := os.environ.get("CXX", "").strip():
        if shutil.which(shlex.split(named)[0]) is None:
            raise SwapmeetError(f'CXX="{named}" is no program: name a C++ compiler, or unset it')
    elif not any(map(shutil.which, ("c++", "CC", "g++", "icpx", "clang++"))):
        raise SwapmeetError("there is no C++ compiler: apt-get install g++, dnf install gcc-c++, or name one by CXX")


def _built_for(mpi: Mpi) -> Mpi:
    """The MPI with whose compiler the library for `mpi` is built: one build serves all that have the MPI-5 ABI."""
    return find("abi") if mpi.standard_abi and os.sep not in mpi.name else mpi


def _described_by(mpi: Mpi, folder: Path) -> Path:
    """The program whose `-show` shows CMake how to compile: the mpicc, but for Intel's, which must know its place.

    CMake drops repeated options, hence none may come in two words; and what is in C needs no libmpifort.
    """
    if mpi.kind != "intel":
        return mpi.wrapper
    simpler = ["s/-Xlinker -rpath -Xlinker /-Wl,-rpath,/g", "s/-Xlinker /-Wl,/g", "s/ -lmpifort//"]
    words = shlex.join([f"I_MPI_ROOT={mpi.prefix}", *mpi.compiler, "-show"])
    script = folder / "mpicc-show"
    script.write_text(f"#!/bin/sh\nenv {words} | sed {shlex.join(f'-e{change}' for change in simpler)}\n")
    script.chmod(0o755)
    return script


def _path_of_tool(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=os.path.join(sys.prefix, "bin"))


def _tool(name: str) -> str:
    path = _path_of_tool(name)
    if path is None:
        raise SwapmeetError(f"{name} is neither on PATH nor in {sys.prefix}/bin: `pip install {name}`")
    return path


def _run(words: Sequence[str], log: Path, of: str) -> None:
    with open(log, "w+", errors="replace") as output:
        status = subprocess.run(words, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode
        if status == 0:
            return
        output.seek(0)
        tail = "".join(output.readlines()[-TAIL_LINES:])
    raise SwapmeetError(f"building libswapmeet for {of} failed; the end of {log}:\n{tail.rstrip()}")


@contextlib.contextmanager
def _telling(mpi: Mpi) -> Iterator[None]:
    """Report what is going on, unless it is over soon."""
    words = f"building libswapmeet for {mpi.name}, which may take minutes"
    timer = threading.Timer(TELL_AFTER_S, progress.note, [words])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One build in a folder, made if need be, at a time, over all processes."""
    if _in_cache():
        own_cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock_file = open(folder / "build.lock", "w")  # noqa: SIM115
    except OSError as problem:
        raise SwapmeetError(f"cannot build in {folder}: {problem.strerror}") from None
    with lock_file as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def folder_for_every_mpi() -> Path:
    """Where the front and all libraries lie together, unless the user names another place."""
    return _builds() / "every-mpi"


def built(mpi: Mpi) -> Path | None:
    """The library for `mpi` if one is installed, or was built before, up to date or not, and by this user."""
    if path := installed(mpi.abi, search=_is_package()):
        return path
    if _built_for(mpi).mpicc is None:
        return None
    if folder := _built_before(mpi, ["swapmeet"]):
        return folder / "lib" / NAME
    try:
        path = build_folder(mpi) / "lib" / NAME
        others = _in_cache() and problem_of(cache_folder())
    except SwapmeetError:
        return None
    return path if path.exists() and not others else None
