"""Make an sdist, and of it a wheel for each Python; check and use each in a fresh environment: `make wheels`.

The wheels run on systems with this one's C library or a newer one: for older ones cibuildwheel (pyproject.toml) makes
them in the images of manylinux.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PROGRAM = ROOT / "tests" / "mpi" / "programs" / "loaded.c"


def run(*words: str | Path, **env: str) -> str:
    """Run a command to its end, and return what it printed; ends this one if it fails."""
    print("+", *words, flush=True)
    variables = {"PATH": f"{Path(sys.prefix, 'bin')}:/usr/bin:/bin", "HOME": str(Path.home()), **env}
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=variables)
    if done.returncode:
        sys.exit(f"{done.stdout}\nwheels: {words[0]} failed with status {done.returncode}")
    return done.stdout


def listing(folder: Path) -> set[Path]:
    """All files below a folder but for compiled Python."""
    return {path for path in folder.rglob("*") if path.suffix != ".pyc" and path.name != "__pycache__"}


def try_out(python: str, wheel: Path, mpi: str, scratch: Path) -> None:
    """Install a wheel where nothing else is: it proves, builds for an MPI in the cache, and serves, in any folder."""
    place = scratch / f"python{wheel.name.split('-')[2]}"
    run(python, "-m", "venv", place)
    pip = (place / "bin" / "pip", "--disable-pip-version-check", "install", "--quiet")
    run(*pip, wheel, "cmake", "ninja")
    run(*pip, "--no-deps", "--prefix", place / "mpi" / "mpich", mpi)
    [package] = place.glob("lib/python*/site-packages/swapmeet")
    before, swapmeet = listing(package), place / "bin" / "swapmeet"
    env = {"PATH": f"{place / 'bin'}:/usr/bin:/bin", "XDG_CACHE_HOME": str(scratch / "cache"), "SWAPMEET_MEMORY": "off"}
    run(swapmeet, "verify", "bruck", "-P", "2:9", **env)
    run(place / "mpi" / "mpich" / "bin" / "mpicc", PROGRAM, "-o", place / "loaded", **env)
    printed = run(swapmeet, "run", "-n", "3", "--explain", "--", place / "loaded", **env)
    if "wrong: 0" not in printed or "swapmeet: Alltoall on 3 ranks" not in printed:
        sys.exit(f"{printed}\nwheels: {wheel.name} does not serve an MPI program")
    if not (place / "share" / "man" / "man1" / "swapmeet.1").exists():
        sys.exit(f"wheels: {wheel.name} brings no man page")
    if added := listing(package) - before:
        sys.exit(f"wheels: {wheel.name} writes into site-packages: {sorted(added)}")


def main() -> None:
    """Make and check everything, in dist."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="mpich", help="what pip installs to try the wheels with")
    parser.add_argument("pythons", nargs="*", default=[sys.executable], help="an interpreter for each wheel")
    asked = parser.parse_args()
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, ROOT)
    [sdist] = DIST.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as scratch:
        for python in asked.pythons:
            fresh = Path(scratch) / "wheel"
            run(python, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps", "-w", fresh, sdist)
            [wheel] = fresh.glob("*.whl")
            run("auditwheel", "repair", "--wheel-dir", DIST, wheel)
            shutil.rmtree(fresh)
        wheels = sorted(DIST.glob("*.whl"))
        print(run("twine", "check", "--strict", *DIST.iterdir()), end="")
        print(run("check-wheel-contents", *wheels), end="")
        print(run("pyroma", "--min", "9", sdist), end="")
        for python, wheel in (
            (python, wheel) for python in asked.pythons for wheel in wheels if tag(python) in wheel.name
        ):
            try_out(python, wheel, asked.mpi, Path(scratch))
    for path in sorted(DIST.iterdir()):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB")


def tag(python: str) -> str:
    """What the name of a wheel has for this Python, such as cp312."""
    return run(python, "-c", "import sys; print('cp%d%d' % sys.version_info[:2], end='')")


if __name__ == "__main__":
    main()
