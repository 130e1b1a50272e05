"""How a process knows its rank before MPI_Init."""

from __future__ import annotations

RANK_VARIABLE = {"mpich": "PMI_RANK", "openmpi": "OMPI_COMM_WORLD_RANK"}
