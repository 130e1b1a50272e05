"""The MPIs follow the files that `swapmeet tune --export-...` writes."""

from __future__ import annotations

from pathlib import Path

from swapmeet.choose import mpich, openmpi
from swapmeet.choose.rule import Rule
from swapmeet.mpi import mpis

RANKS = 5


def rules(spec: str) -> list[Rule]:
    return [Rule("alltoall", (2, 8), None, (0, 64), spec, "")]


def test_open_mpi_sends_other_messages(launch, compiled, tmp_path: Path) -> None:
    """Told by its own monitoring: to whom rank 0 sends."""
    program = compiled("openmpi", "one_exchange")

    def receivers(spec: str) -> list[int]:
        file, log = tmp_path / "rules", tmp_path / spec
        file.write_text(openmpi.export(rules(spec)))
        env = {openmpi.VARIABLES[0]: "1", openmpi.VARIABLES[1]: str(file)}
        env |= {f"OMPI_MCA_pml_monitoring_{key}": value for key, value in
                (("enable", "1"), ("enable_output", "3"), ("filename", str(log)))}  # fmt: skip
        done = launch(RANKS, [program], "openmpi", env=env, preload=False)
        assert done.returncode == 0, done.stderr
        (said,) = tmp_path.glob(f"{spec}.0.prof")
        return [int(line.split()[2]) for line in said.read_text().splitlines() if line.startswith("E")]

    assert receivers("pairwise") == [1, 2, 3, 4]
    assert len(receivers("bruck")) == 3  # ceil(log2(5))


def test_mpich_takes_the_file(launch, compiled, tmp_path: Path) -> None:
    """A selection that it does not understand, or without other collectives, ends the program."""
    program = compiled("mpich", "one_exchange")
    file = tmp_path / "f.json"
    for spec in ("pairwise", "bruck(radix=3)"):
        file.write_text(mpich.export(rules(spec), mpis.find("mpich")))
        done = launch(RANKS, [program], "mpich", env={mpich.VARIABLE: str(file)}, preload=False)
        assert done.returncode == 0, done.stderr
    file.write_text(file.read_text().replace("k_brucks", "no_brucks"))
    assert launch(RANKS, [program], "mpich", env={mpich.VARIABLE: str(file)}, preload=False).returncode != 0
