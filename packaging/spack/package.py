"""Recipe for Spack 1.0: copy it to packages/swapmeet/package.py of a `spack repo create`; `spack install swapmeet`.

Older Spack has the classes of build systems in `spack.package`: leave out the line that takes them from `spack_repo`.
"""

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator


class Swapmeet(CMakePackage):
    """All-to-all collectives of MPI, as fast as the machine allows: preload libswapmeet.so."""

    git = "https://example.org/swapmeet.git"  # where your copy is

    license("BSD-3-Clause")

    version("main", branch="main")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("mpi")

    conflicts("%gcc@:10", msg="Swapmeet takes C++20")

    def cmake_args(self):
        """Arguments for CMake: the compiler wrapper says all there is to know of an MPI."""
        return [self.define("SWAPMEET_MPICC", self.spec["mpi"].mpicc)]
