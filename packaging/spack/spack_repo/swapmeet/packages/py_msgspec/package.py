"""Recipe of what the command reads and writes JSON with, which Spack's own packages lack."""

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyMsgspec(PythonPackage):
    """A fast serialization and validation library, with built-in support for JSON, MessagePack, YAML and TOML."""

    homepage = "https://msgspec.dev"
    pypi = "msgspec/msgspec-0.20.0.tar.gz"

    license("BSD-3-Clause")

    version("0.20.0", sha256="692349e588fde322875f8d3025ac01689fead5901e7fb18d6870a44519d62a29")

    depends_on("c", type="build")
    depends_on("python@3.9:", type=("build", "link", "run"))
    depends_on("py-setuptools@80:", type="build")
    depends_on("py-setuptools-scm@8:", type="build")
