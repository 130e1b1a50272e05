"""Make a release in dist: the sdist, a wheel for each processor, and their checksums; check them: `make release`.

Wheels for other processors than this machine's are in folders of dist, so that `pip install dist/*.whl` works.

A wheel serves every Python, and systems with glibc 2.28 or a newer one. It brings compiled libraries (binaries.py) and
the source, from which the command compiles what is needed beyond them. tests/packaging/wheel_test.py installs it where
there is no compiler.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import inspecting
from binaries import PROCESSORS, ROOT, WORK, libraries, modules, run, wheel_tag

DIST = ROOT / "dist"


def require_committed() -> None:
    """Refuse a tree with changes, or with files that nobody knows: the sdist would hold them."""
    status = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=False)
    if changed := status.stdout.splitlines():
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        sys.exit(f"release: {changed[0][3:]}{more} is not committed; to try it: make release CHANGED=--changed")


def has_headers(python: str | Path) -> bool:
    """Whether this interpreter runs, and has the headers of Python."""
    words = [python, "-c", "import sysconfig; print(sysconfig.get_path('include'))"]
    try:
        folder = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return False
    return Path(folder, "Python.h").exists()


def usable(pythons: list[str]) -> list[str]:
    """The interpreters of these names, of PATH or of pyenv, whose own names on PATH run the chosen versions only."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found = {
        name: next((str(path) for path in (name, *sorted(versions.glob(f"*/bin/{name}"))) if has_headers(path)), None)
        for name in pythons
    }
    if missing := [name for name, path in found.items() if path is None]:
        rest = " ".join(name for name in pythons if name not in missing)
        without = f"; for wheels that lack the core for it: PYTHONS='{rest}'" if rest else ""
        sys.exit(f"release: {', '.join(missing)} with headers (Python.h) is not installed{without}")
    return [path for path in found.values() if path]


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
        place = DIST if processor == platform.machine() else DIST / processor  # pip refuses those of other processors
        place.mkdir(exist_ok=True)
        shutil.move(wheel, place / wheel.name)


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
    parser.add_argument("--changed", action="store_true", help="from a tree with changes, to try it")
    parser.add_argument("pythons", nargs="+", help="interpreters for which the wheels bring the core")
    asked = parser.parse_args()
    if not asked.changed:
        require_committed()
    pythons = usable(asked.pythons)
    mpis = {requirement.partition("==")[0]: requirement for requirement in asked.mpi}
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    [sdist] = DIST.glob("*.tar.gz")
    for processor in asked.processor or PROCESSORS:
        make_wheel(sdist, processor, mpis, pythons)
    wheels = sorted(DIST.rglob("*.whl"))
    check(sdist, wheels)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(DIST)}\n" for path in [sdist, *wheels]]
    (DIST / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main()
