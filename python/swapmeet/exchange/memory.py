"""Memory that the ranks of a node share, for the buffers of exchanges."""

from __future__ import annotations

import ctypes
import math
import weakref
from typing import TYPE_CHECKING, Any

from mpi4py import MPI

from swapmeet.exchange.library import call, function, handle_of

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray


def allocate(comm: MPI.Comm, size: int) -> memoryview:
    """Allocate memory that the ranks of a node share; blocks sent from it are copied once. Collective over `comm`.

    It is freed when nothing refers to it any more, views and plans included.

    Parameters
    ----------
    comm : MPI.Comm
        An intracommunicator.
    size : int
        Of this rank, in bytes; ranks may differ.

    Returns
    -------
    memoryview
        `size` bytes, zero at first.

    Raises
    ------
    SwapmeetError
        If `size` is negative, `comm` no intracommunicator, or there is not that much memory.
    """
    base = ctypes.c_void_p()
    call("memory_allocate", handle_of(comm), ctypes.c_ssize_t(size), ctypes.byref(base))
    owner = (ctypes.c_char * size).from_address(base.value or 0)
    weakref.finalize(owner, function("memory_free"), base).atexit = False
    plain: Any = MPI.buffer.frombuffer(owner)  # ctypes' own format is one that memoryview cannot index
    return memoryview(plain)


def allocate_array(comm: MPI.Comm, shape: int | tuple[int, ...], dtype: DTypeLike = float) -> NDArray[Any]:
    """An array in memory as of `allocate`, zero at first. Collective over `comm`. Needs NumPy.

    Parameters
    ----------
    comm : MPI.Comm
        An intracommunicator.
    shape : int or tuple of int
        Of the array of this rank, in elements; ranks may differ.
    dtype : data type, optional
        Of its elements.

    Raises
    ------
    SwapmeetError
        As `allocate`.
    """
    import numpy as np

    size = math.prod(np.atleast_1d(shape).tolist()) * np.dtype(dtype).itemsize
    array: NDArray[Any] = np.ndarray(shape, dtype, buffer=allocate(comm, size))
    return array
