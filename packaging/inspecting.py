"""What the programs and libraries of a wheel need of a system, and whether that is what the wheel's name promises."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

MACHINES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}
SYSTEM = re.compile(r"(lib(c|m|dl|pthread|rt)\.so\.\d+|ld-linux-(x86-64|aarch64)\.so\.\d+)")
#: The measuring program and its library, and what they need besides: the MPI, and each other.
MEASURERS = ("measure", "libmeasure_passed.so")
MEASURING = re.compile(r"libmpi(_abi)?\.so\.\d+|libmeasure_passed\.so")
NAME = re.compile(r".*-manylinux_(\d+)_(\d+)_(\w+)\.whl")
PAGE_BYTES = {"x86_64": 4096, "aarch64": 65536}
LIBRARIES = ("mpich", "openmpi", "standard")
BROUGHT = (
    "swapmeet/lib/libswapmeet.so",
    "swapmeet/lib/libswapmeet-heap.so",
    *(f"swapmeet/lib/swapmeet/{abi}/{name}" for abi in LIBRARIES for name in ("libswapmeet.so", *MEASURERS)),
)


@dataclass(frozen=True)
class Binary:
    """What an ELF file needs."""

    processor: str
    needed: tuple[str, ...]  #: names of libraries
    versions: tuple[str, ...]  #: of symbols, as in GLIBC_2.17
    page_bytes: int  #: pages may be as large as that

    @property
    def glibc(self) -> tuple[int, ...]:
        """The oldest C library that it runs with."""
        return max((_numbers(name) for name in self.versions if name.startswith("GLIBC_2")), default=(0,))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.partition("_")[2].split(".")))


def read(data: bytes) -> Binary:
    """Read an ELF file."""
    elf = ELFFile(io.BytesIO(data))
    sections = list(elf.iter_sections())
    needed = [
        tag.needed
        for section in sections
        if isinstance(section, DynamicSection)
        for tag in section.iter_tags()
        if tag.entry.d_tag == "DT_NEEDED"
    ]
    versions = {
        version.name
        for section in sections
        if isinstance(section, GNUVerNeedSection)
        for _, listed in section.iter_versions()
        for version in listed
    }
    pages = min(segment["p_align"] for segment in elf.iter_segments() if segment["p_type"] == "PT_LOAD")
    return Binary(MACHINES.get(elf["e_machine"], elf["e_machine"]), tuple(needed), tuple(sorted(versions)), pages)


def binaries(wheel: Path) -> dict[str, tuple[int, Binary]]:
    """All ELF files of a wheel by their names: the size in bytes, and what each needs."""
    found = {}
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            data = files.read(name)
            if data.startswith(b"\x7fELF"):
                found[name] = len(data), read(data)
    return found


def faults(wheel: Path) -> list[str]:
    """Sentences on everything that breaks the promise of a wheel's name, or is missing."""
    match = NAME.fullmatch(wheel.name)
    if match is None:
        return [f"{wheel.name} names no C library"]
    oldest, processor = (int(match[1]), int(match[2])), match[3]
    found = binaries(wheel)
    said = [f"{name} is missing" for name in BROUGHT if name not in found]
    if not any(name.startswith("swapmeet/_core.") for name in found):
        said.append("swapmeet/_core is missing")
    for name, (_, binary) in found.items():
        measuring = name.rpartition("/")[2] in MEASURERS
        said.extend(f"{name} {fault}" for fault in faults_of(binary, oldest, processor, measuring))
    return said


def faults_of(binary: Binary, oldest: tuple[int, ...], processor: str, measuring: bool = False) -> list[str]:
    """The same of one ELF file; `measuring`: it is one of MEASURERS."""
    said = []
    if binary.processor != processor:
        said.append(f"is for {binary.processor}")
    if binary.glibc > oldest:
        said.append(f"needs glibc {'.'.join(map(str, binary.glibc))}")
    said.extend(f"needs {name}" for name in binary.versions if not name.startswith("GLIBC_2"))
    for name in binary.needed:
        if not SYSTEM.fullmatch(name) and not (measuring and MEASURING.fullmatch(name)):
            said.append(f"needs {name}")
    if binary.page_bytes < PAGE_BYTES[processor]:
        said.append(f"cannot be loaded where pages have {PAGE_BYTES[processor]} bytes")
    return said
