"""The recipes of package managers name the version and the minimum versions of the tree that they lie in."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import swapmeet
from swapmeet import _core
from swapmeet.mpi import mpis

ROOT = Path(__file__).parents[2]
SPACK = ROOT / "packaging" / "spack" / "spack_repo" / "swapmeet" / "packages" / "swapmeet" / "package.py"

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: Where each names the version.
VERSIONS = {
    "CITATION.cff": r"^version: \"?([\d.]+)",
    "debian/changelog": r"\Aswapmeet \(([\d.]+)-\d+\)",
    "packaging/conda/recipe.yaml": r"^  version: \"([\d.]+)\"",
    "packaging/easybuild/*.eb": r"^version = '([\d.]+)'",
    "packaging/spack/**/swapmeet/package.py": r"version\(\"([\d.]+)\", tag=\"v\1\"\)",
}


@pytest.mark.parametrize("pattern", VERSIONS)
def test_versions(pattern: str) -> None:
    for path in ROOT.glob(pattern):
        found = re.search(VERSIONS[pattern], path.read_text(), re.MULTILINE)
        assert found and found[1] == swapmeet.__version__, path
    assert list(ROOT.glob(pattern))


#: Where each names the project's home.
HOMES = {
    "CITATION.cff": r"^url: (.*)$",
    "debian/control": r"^Homepage: (.*)$",
    "packaging/conda/recipe.yaml": r"^  homepage: (.*)$",
    "packaging/easybuild/*.eb": r"^homepage = '(.*)'$",
    "packaging/spack/**/swapmeet/package.py": r'^    homepage = "(.*?)"',
}


@pytest.mark.parametrize("pattern", HOMES)
def test_homes(pattern: str) -> None:
    """All lead to the home that pyproject.toml names, and so do all other addresses of the project."""
    home = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Homepage"]
    for path in ROOT.glob(pattern):
        text = path.read_text()
        found = re.search(HOMES[pattern], text, re.MULTILINE)
        assert found and found[1] == home, path
        assert not [url for url in re.findall(r"https?://[^\s'\"]*swapmeet[^\s'\"]*", text) if not url.startswith(home)]
    assert list(ROOT.glob(pattern))


def requirements(group: str) -> dict[str, str]:
    """Each package of pyproject.toml with its oldest version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = project["build-system"]["requires"] if group == "build" else project["project"]["dependencies"]
    return dict(line.split(">=") for line in listed)


@pytest.mark.parametrize("group", ["build", "run"])
def test_what_python_needs_is_what_pyproject_lists(group: str) -> None:
    spack, conda = SPACK.read_text(), (ROOT / "packaging" / "conda" / "recipe.yaml").read_text()
    debian = (ROOT / "debian" / "control").read_text()
    for name, oldest in requirements(group).items():
        assert re.search(rf'depends_on\("py-{name}@{oldest.removesuffix(".0")}:"', spack), name
        assert f"- {name} >={oldest}\n" in conda, name
        assert f"python3-{name} (>= {oldest})" in debian, name


@pytest.mark.long
def test_the_oldest_of_what_python_needs_will_do(tmp_path: Path) -> None:
    """The command runs with each package as old as pyproject.toml allows it to be, and the Click of that time."""
    oldest = [f"{name}=={version}" for name, version in requirements("run").items()] + ["click<8.2"]
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)
    python = tmp_path / "bin" / "python"
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", *oldest], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot be installed: {done.stderr.splitlines()[-1]}")
    behind = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r}); "

    def printed(program: str, *words: str) -> str:
        done = subprocess.run([python, "-c", behind + program, *words], capture_output=True, text=True)
        return done.stdout + done.stderr

    assert str(tmp_path) in printed("import typer; print(typer.__file__)")
    command = "from swapmeet.cli.app import app; app()"
    assert "┃" in printed(command, "show", "pairwise", "-P", "2")
    assert "its value is missing" in printed(command, "tuning", "merge", "-o", "--")
    assert "missing argument" in printed(command, "run")


def test_the_module_file_sets_what_the_library_knows() -> None:
    """Else each job of a site would begin with a warning."""
    known = {row[0] for row in _core.option_table()}
    for path in [ROOT / "cmake" / "swapmeet.module.in", SPACK, *(ROOT / "packaging" / "easybuild").iterdir()]:
        named = set(re.findall(r"\bSWAPMEET_[A-Z]+", path.read_text())) - {"SWAPMEET_MPICC"}
        assert named <= known, path
        assert "SWAPMEET_LIBRARY" in named, path


def test_conda_has_a_library_for_each_mpi() -> None:
    """By rattler-build itself, which solves nothing for it."""
    rattler_build = pytest.importorskip("rattler_build", reason="make .venv/.extra-packages")
    folder = ROOT / "packaging" / "conda"
    recipe = rattler_build.Stage0Recipe.from_file(folder / "recipe.yaml")
    rendered = [
        variant.recipe for variant in recipe.render(rattler_build.VariantConfig.from_file(folder / "variants.yaml"))
    ]
    builds = {(str(one.package.name), str(one.build.string).split("_h")[0]) for one in rendered}
    assert {build for name, build in builds if name == "libswapmeet"} == {"mpi_mpich", "mpi_openmpi"}
    assert len({build for name, build in builds if name == "swapmeet"}) == 2


#: What stands for conda-forge's packages: the system's compilers, and the MPIs of `make build`.
ACTIVATION = {
    "gcc_linux-64": "export CC=cc CMAKE_ARGS='-DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX='$PREFIX",
    "gxx_linux-64": "export CXX=c++",
    "openmpi": "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
}
VERSIONS_THERE = {"sysroot_linux-64": "2.28", "cmake": "3.31", "ninja": "1.12"}


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    """A channel with what the recipe of the library asks for."""
    rattler_build = pytest.importorskip("rattler_build", reason="make .venv/.extra-packages")
    if platform.machine() != "x86_64" or not shutil.which("ninja"):
        pytest.skip("the channel is made for x86_64, and takes the system's cmake and ninja")
    packages = tmp_path / "channel" / "linux-64"
    packages.mkdir(parents=True)
    (tmp_path / "channel" / "noarch").mkdir()
    (tmp_path / "channel" / "noarch" / "repodata.json").write_text('{"packages": {}, "packages.conda": {}}')
    versions = {**dict.fromkeys(ACTIVATION, "14"), **VERSIONS_THERE}
    for name in ("mpich", "openmpi"):
        mpi = mpis.find(name)
        versions[name] = mpi.version
        shutil.copytree(mpi.mpicc.parents[1], tmp_path / name, symlinks=True)
    for name, version in versions.items():
        script = tmp_path / name / "etc" / "conda" / "activate.d" / f"{name}.sh"
        script.parent.mkdir(parents=True)
        script.write_text(ACTIVATION.get(name, "") + "\n")
        words = (name, version, "linux-64", "stub_0", packages)
        rattler_build.assemble_package(*words, files_dir=tmp_path / name, compression_level=1)
    return tmp_path / "channel"


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_rattler_build_makes_and_tests_the_library(channel: Path, mpi: str) -> None:
    import rattler_build

    folder = ROOT / "packaging" / "conda"
    rendered = rattler_build.Stage0Recipe.from_file(folder / "recipe.yaml").render(
        rattler_build.VariantConfig.from_file(folder / "variants.yaml")
    )
    variant = next(one for one in rendered if str(one.recipe.build.string).startswith(f"mpi_{mpi}_"))
    settings = rattler_build.ToolConfiguration(test_strategy="native")
    built = variant.run_build(settings, output_dir=channel, channels=[channel.as_uri()])
    assert [Path(path).name.split("_h")[0] for path in built.packages] == [
        f"libswapmeet-{swapmeet.__version__}-mpi_{mpi}"
    ]


def easybuild(*words: str | Path, **variables: str) -> str:
    """What EasyBuild prints; it is to succeed."""
    command = Path(sys.executable).with_name("eb")
    if not command.exists() or not Path("/usr/share/lmod").exists():
        pytest.skip("make .venv/.extra-packages; apt-get install lmod")
    env = {
        **os.environ,
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "LMOD_CMD": "/usr/share/lmod/lmod/libexec/lmod",
        **variables,
    }
    options = ["--allow-use-as-root-and-accept-consequences", "--modules-tool=Lmod", "--module-syntax=Tcl"]
    done = subprocess.run([command, *options, *words], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("question", ["--check-style", "--dry-run"])
def test_easybuild_finds_no_fault(question: str) -> None:
    """By its own check of style; and its easyconfigs have all that is needed."""
    easybuild("--robot", question, *sorted((ROOT / "packaging" / "easybuild").glob("*.eb")))


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_easybuild_makes_the_library(tmp_path: Path) -> None:
    """With the system's compilers, CMake and Ninja, and the Open MPI of `make build`, in place of its toolchain."""
    [path] = (ROOT / "packaging" / "easybuild").glob("*.eb")
    recipe = re.sub(r"^toolchain = .*", "toolchain = SYSTEM", path.read_text(), count=1, flags=re.MULTILINE)
    for name, version in re.findall(r"\('(\w+)', '([\d.]+)'\),", recipe):
        module = tmp_path / "there" / name / version
        module.parent.mkdir(parents=True)
        module.write_text("#%Module1.0\n")
        recipe = recipe.replace(f"('{name}', '{version}')", f"('{name}/{version}', EXTERNAL_MODULE)")
    (tmp_path / f"Swapmeet-{swapmeet.__version__}.eb").write_text(recipe)
    sources = tmp_path / "sources" / "s" / "Swapmeet"
    sources.mkdir(parents=True)
    name = f"swapmeet-{swapmeet.__version__}"
    words = ["git", "archive", f"--prefix={name}/", "-o", sources / f"{name}.tar.gz", "HEAD"]
    subprocess.run(words, cwd=ROOT, check=True)
    easybuild(
        tmp_path / f"Swapmeet-{swapmeet.__version__}.eb",
        f"--prefix={tmp_path}",
        f"--sourcepath={tmp_path / 'sources'}",
        "--ignore-checksums",
        HOME=str(tmp_path),
        MODULEPATH=str(tmp_path / "there"),
        EBROOTOPENMPI=str(mpis.find("openmpi").mpicc.parents[1]),
    )
    [module] = (tmp_path / "modules" / "all" / "Swapmeet").iterdir()
    found = re.search(r'setenv\s+SWAPMEET_LIBRARY\s+"(.*)"', module.read_text())
    assert found and Path(found[1]).exists()
