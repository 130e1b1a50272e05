"""Make a release in dist: the sdist, a wheel for each processor, and their checksums; check them: `make release`.

A wheel serves every Python, and systems with glibc 2.28 or a newer one. It brings compiled libraries (binaries.py) and
the source, from which the command compiles what is needed beyond them. tests/packaging/wheel_test.py installs it where
there is no compiler.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import inspecting
from binaries import PROCESSORS, ROOT, WORK, libraries, modules, run, wheel_tag

DIST = ROOT / "dist"


def usable(pythons: list[str]) -> list[str]:
    """Those interpreters that are there; a note on the others."""
    found = []
    for python in pythons:
        words = [python, "-c", "import sysconfig; print(sysconfig.get_path('include'))"]
        try:
            folder = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            print(f"release: {python} is not installed: the wheels bring no core for it")
            continue
        if Path(folder, "Python.h").exists():
            found.append(python)
        else:
            print(f"release: {python} has no Python.h: the wheels bring no core for it")
    return found


def make_wheel(sdist: Path, processor: str, mpis: dict[str, str], pythons: list[str]) -> None:
    """Compile what the wheel brings, and put it together with the Python files of the sdist."""
    package = WORK / processor / "package"
    shutil.rmtree(package, ignore_errors=True)
    core = libraries(processor, mpis, package / "lib")
    modules(processor, pythons, core, package)
    settings = {"cmake.define.SWAPMEET_BINARIES": package, "cmake.define.SWAPMEET_CORE": core, "wheel.py-api": "py3"}
    words = [f"--config-settings={name}={value}" for name, value in settings.items()]
    with tempfile.TemporaryDirectory() as folder:
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps")
        run(*pip, *words, "-w", folder, sdist)
        [wheel] = Path(folder).glob("*.whl")
        run(sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", wheel_tag(processor), wheel)
        [wheel] = Path(folder).glob("*.whl")
        shutil.move(wheel, DIST / wheel.name)


def check(sdist: Path, wheels: list[Path]) -> None:
    """Whatever the linters of packages and `inspecting` find ends this."""
    print(run("twine", "check", "--strict", sdist, *wheels), end="")
    ignored = "W002,W004"  # files of two ABIs may be equal; our libraries are taken for modules
    print(run("check-wheel-contents", f"--ignore={ignored}", *wheels), end="")
    print(run("pyroma", "--min", "9", sdist), end="")
    for wheel in wheels:
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        for name, (size, binary) in sorted(inspecting.binaries(wheel).items()):
            glibc = ".".join(map(str, binary.glibc))
            print(f"  {name}: {size / 1e6:.2f} MB, glibc {glibc}, linked to {' '.join(binary.needed)}")
        if found := inspecting.faults(wheel):
            sys.exit("\n".join(f"release: {wheel.name}: {fault}" for fault in found))


def main() -> None:
    """Make and check everything, in dist."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", action="append", required=True, help="NAME==VERSION of a wheel with an MPI's headers")
    parser.add_argument("--processor", action="append", choices=PROCESSORS, help="for these only")
    parser.add_argument("pythons", nargs="+", help="interpreters for which the wheels bring the core")
    asked = parser.parse_args()
    mpis = {requirement.partition("==")[0]: requirement for requirement in asked.mpi}
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    [sdist] = DIST.glob("*.tar.gz")
    pythons = usable(asked.pythons)
    for processor in asked.processor or PROCESSORS:
        make_wheel(sdist, processor, mpis, pythons)
    wheels = sorted(DIST.glob("*.whl"))
    check(sdist, wheels)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in [sdist, *wheels]]
    (DIST / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main()
