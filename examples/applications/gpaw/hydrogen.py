"""A hydrogen molecule in a box, by plane waves; all ranks share its grid.

FFTs are planned by estimate: plans that are measured, the default, round differently from run to run.
"""

from ase import Atoms
from gpaw import GPAW, PW
from gpaw.fftw import ESTIMATE
from gpaw.mpi import world

molecule = Atoms("H2", [(0, 0, 0), (0, 0, 0.74)], cell=(5, 5, 5), pbc=True)
molecule.center()
molecule.calc = GPAW(
    mode=PW(200, fftwflags=ESTIMATE),
    nbands=4,
    kpts=(1, 1, 1),
    maxiter=12,
    convergence={"energy": 1e-4, "density": 1e-3, "eigenstates": 1e-3},
    parallel={"domain": world.size, "band": 1},
    txt="log.txt",
)
numbers = [molecule.get_potential_energy(), molecule.get_forces()[0, 2], *molecule.calc.get_eigenvalues()]
if world.rank == 0:
    with open("answer.txt", "w") as file:
        file.writelines(f"{number:.16e}\n" for number in numbers)
