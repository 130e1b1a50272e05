"""Recipe for Spack 1.0: `spack repo add packaging/spack/spack_repo/swapmeet`, and then `spack install swapmeet`."""

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.python import PythonPipBuilder


class Swapmeet(CMakePackage):
    """All-to-all collectives of MPI by the algorithm expected to be the fastest: preload libswapmeet.so."""

    homepage = "https://swapmeet.invalid"  # to be set at publication, as in pyproject.toml
    git = "https://swapmeet.invalid/swapmeet.git"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("python", default=True, description="The command swapmeet, and the module for mpi4py")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("mpi")

    with when("+python"):
        extends("python@3.10:")
        depends_on("py-pip", type="build")
        depends_on("py-scikit-build-core@0.10:", type="build")
        depends_on("py-nanobind@2:", type="build")
        depends_on("py-msgspec@0.18:", type=("build", "run"))
        depends_on("py-rich@13:", type=("build", "run"))
        depends_on("py-typer@0.12.4:", type=("build", "run"))
        depends_on("cmake@3.22:", type="run")  # the command builds libraries for other MPIs
        depends_on("ninja", type="run")

    conflicts("%gcc@:9", msg="Swapmeet takes C++20: GCC 10 or newer")
    conflicts("%clang@:15", msg="Swapmeet takes C++20: Clang 16 or newer")

    @property
    def libs(self):
        """libswapmeet.so, wherever the system's libraries lie (lib or lib64)."""
        return find_libraries("libswapmeet", root=self.prefix, shared=True, recursive=True)

    def cmake_args(self):
        """Arguments for CMake: the compiler wrapper prints all that is to be known of an MPI."""
        return [self.define("SWAPMEET_MPICC", self.spec["mpi"].mpicc)]

    @run_after("install", when="+python")
    def install_python(self):
        """Install the command; it finds the library in the same prefix."""
        with working_dir(self.stage.source_path):
            python("-m", "pip", *PythonPipBuilder.std_args(self), f"--prefix={self.prefix}", ".")

    @run_after("install")
    def keep_tests(self):
        """Keep the source of the program that `spack test run` compiles."""
        cache_extra_test_sources(self, join_path("tests", "mpi", "programs"))

    def setup_run_environment(self, env):
        """`LD_PRELOAD=$SWAPMEET_LIBRARY` in front of a program; the command takes it by itself."""
        env.set("SWAPMEET_LIBRARY", self.libs[0])

    def test_served(self):
        """An all-to-all of three ranks is served, and right."""
        programs = join_path(self.test_suite.current_test_cache_dir, "tests", "mpi", "programs")
        with working_dir(programs):
            Executable(self.spec["mpi"].mpicc)("loaded.c", "-o", "loaded")
            launcher = which("mpiexec", path=self.spec["mpi"].prefix.bin, required=True)
            preload = ["env", f"LD_PRELOAD={self.libs[0]}", "SWAPMEET_EXPLAIN=1", "SWAPMEET_ALGORITHM=pairwise"]
            printed = launcher("-n", "3", *preload, "./loaded", output=str.split, error=str.split)
        check_outputs([r"wrong: 0", r"swapmeet: Alltoall on 3 ranks"], printed)
