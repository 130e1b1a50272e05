"""Laplace's equation on a grid by PETSc's conjugate gradients.

Ranks exchange the values along their edges by PETSc's star forest, which `-sf_type neighbor` has make distributed
graphs and calls of MPI_Ineighbor_alltoallv. petsc4py is found where Debian puts it.
"""

import glob
import sys

sys.path += glob.glob("/usr/lib/petscdir/petsc3.*/*-real/lib/python3/dist-packages")
import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402  (only once its options are known)

SIDES = (37, 23)  # of unequal parts on four ranks

grid = PETSc.DMDA().create(SIDES, stencil_width=1)
matrix = grid.createMatrix()
(left, right), (bottom, top) = grid.getRanges()
here, there = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for y in range(bottom, top):
    for x in range(left, right):
        here.index = (x, y)
        matrix.setValueStencil(here, here, 4.0)
        for i, j in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
            if 0 <= i < SIDES[0] and 0 <= j < SIDES[1]:
                there.index = (i, j)
                matrix.setValueStencil(here, there, -1.0)
matrix.assemble()
solution, charge = matrix.createVecs()
first, last = charge.getOwnershipRange()
charge.setArray([1.0 / (1 + number) for number in range(first, last)])
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-12)
solver.solve(charge, solution)
assert solver.converged
viewer = PETSc.Viewer().createBinary("solution.bin", "w")
solution.view(viewer)
