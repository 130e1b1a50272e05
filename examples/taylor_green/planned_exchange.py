"""The exchanges of the solver by plans of Swapmeet (docs/plans.md), instead of MPI's calls: `--plan SPEC`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from swapmeet import exchange


class Plans:
    """Plans, made when an exchange of new sizes is first met, each with buffers of its own.

    Parameters
    ----------
    spec : str
        The algorithm, such as "radix(r=4)"; "auto": what Swapmeet chooses.
    """

    def __init__(self, spec: str) -> None:
        self._spec = None if spec == "auto" else spec
        self._made: dict[tuple, tuple[exchange.Plan, NDArray, NDArray]] = {}

    def __call__(
        self,
        comm: MPI.Intracomm,
        send: tuple[NDArray, Sequence[int]],
        receive: tuple[NDArray, Sequence[int]],
        equal: bool,
    ) -> None:
        """Exchange as `distributed_fft.by_mpi`; ranks meet new sizes together, for planning is collective."""
        key = (comm.handle, send[0].dtype.char, *send[1], *receive[1])
        if key not in self._made:
            out, back = np.empty_like(send[0]), np.empty_like(receive[0])
            plan = exchange.plan_alltoallv((out, send[1]), (back, receive[1]), comm, self._spec)
            self._made[key] = plan, out, back
        plan, out, back = self._made[key]
        out[:] = send[0]
        plan.start()
        plan.wait()
        receive[0][:] = back
