"""Every function of swapmeet.exchange: answers, buffers, plans and errors. Rank 0 says if all is right."""

import array
import ctypes
import gc
import sys
import weakref

import numpy as np
import pytest
from mpi4py import MPI

import swapmeet
from swapmeet import SwapmeetError, exchange

comm = MPI.COMM_WORLD
me, ranks = comm.rank, comm.size
N = 3  #: elements of a block
everyone = np.arange(ranks)


def sent(dtype="i"):
    """The blocks of this rank."""
    return (100 * me + 10 * everyone[:, None] + np.arange(N)).astype(dtype)


def expected(dtype="i"):
    return (100 * everyone[:, None] + 10 * me + np.arange(N)).astype(dtype)


def poison(dtype="i"):
    return np.full((ranks, N), 77, dtype)


def check(received, dtype="i"):
    np.testing.assert_array_equal(np.asarray(received).reshape(ranks, N), expected(dtype))


def specifications_of_equal_blocks():
    for dtype in (
        "i",
        "d",
        "F",
        "u1",
        "?",
        [("x", "i4"), ("y", "f8")],
        np.dtype([("x", "i4"), ("y", "f8")], align=True),
    ):
        received = poison(dtype)
        exchange.alltoall(sent(dtype), received, comm)
        check(received, dtype)
    received = poison()
    exchange.alltoall([sent(), MPI.INT], [received, "i"], comm)
    check(received)
    received = poison()
    exchange.alltoall([sent(), N, MPI.INT], (received, N * 4, MPI.BYTE), comm)
    check(received)
    received = array.array("i", [77] * (ranks * N))
    exchange.alltoall(bytes(sent()), [received, MPI.BYTE], comm)
    check(received)
    received = (ctypes.c_long * (ranks * N))()
    exchange.alltoall(sent("l"), received, comm)
    check(received, "l")
    for in_place in (MPI.IN_PLACE, None):
        received = sent()
        exchange.alltoall(in_place, received, comm)
        check(received)


def specifications_of_unequal_blocks():
    counts = [(me + rank) % (N + 1) for rank in range(ranks)]
    displs = [N * rank for rank in range(ranks)]
    right = poison()
    for rank in range(ranks):
        right[rank, : counts[rank]] = expected()[rank, : counts[rank]]
    for blocks in ([counts, displs, MPI.INT], [(np.array(counts), np.array(displs)), MPI.INT], [(counts, displs)]):
        received = poison()
        exchange.alltoallv([sent(), *blocks], [received, *blocks], comm)
        np.testing.assert_array_equal(received, right)
    received = poison()
    exchange.alltoallv(sent(), [received, [N] * ranks, "i"], comm)
    check(received)
    received = sent()
    exchange.alltoallv(MPI.IN_PLACE, received, comm)
    check(received)


def specifications_of_types():
    counts, displs, types = [N] * ranks, [4 * N * rank for rank in range(ranks)], [MPI.INT] * ranks
    rows = MPI.INT.Create_contiguous(N).Commit()
    for blocks in ([counts, displs, types], [(counts, displs), ["i"] * ranks], [[1] * ranks, displs, [rows] * ranks]):
        received = poison()
        exchange.alltoallw([sent(), *blocks], [received, counts, displs, types], comm)
        check(received)
    received = sent()
    exchange.alltoallw(MPI.IN_PLACE, [received, counts, displs, types], comm)
    check(received)
    out, received = sent(), poison()
    placed = [
        [MPI.INT.Create_hindexed([N], [MPI.Get_address(row)]).Commit() for row in array] for array in (out, received)
    ]
    exchange.alltoallw([MPI.BOTTOM, placed[0]], [None, placed[1]], comm)
    check(received)
    for type in [rows, *placed[0], *placed[1]]:
        type.Free()


def mistakes_in_buffers():
    with pytest.raises(BufferError):
        exchange.alltoall(sent()[:, ::2], poison(), comm)
    with pytest.raises(BufferError):
        exchange.alltoall(sent(), bytes(4 * N * ranks), comm)
    with pytest.raises(ValueError, match="no whole number of MPI_INT"):
        exchange.alltoall([bytes(5), MPI.INT], poison(), comm)
    with pytest.raises(ValueError, match=f"counts for {ranks} ranks"):
        exchange.alltoallv([sent(), [1] * (ranks + 1), MPI.INT], poison(), comm)
    with pytest.raises(ValueError, match="use alltoallv"):
        exchange.alltoall([sent(), 1, 0, MPI.INT], poison(), comm)
    with pytest.raises(ValueError, match="BOTTOM needs"):
        exchange.alltoall(sent(), MPI.BOTTOM, comm)
    with pytest.raises(ValueError, match="no type"):
        exchange.alltoall(sent(), [poison(), "no type"], comm)
    with pytest.raises(OverflowError):
        exchange.alltoall([sent(), 2**63, MPI.INT], poison(), comm)
    if ranks > 1:
        with pytest.raises(ValueError, match="equal blocks"):
            exchange.alltoall([bytes(ranks + 1), MPI.BYTE], poison(), comm)
    with pytest.raises(MPI.Exception):
        exchange.alltoall([sent(), -1, MPI.INT], poison(), comm)


def plans():
    out, received = sent(), poison()
    with exchange.plan_alltoall(out, received, comm, "pairwise") as plan:
        assert plan.test()  # one that was not started is complete
        for round in range(3):
            out[:] = sent() + round
            received[:] = 77
            if me > 0:
                comm.recv(source=0)
            plan.start()
            assert "under way" in repr(plan)
            if me == 0 and ranks > 1:  # the others have not started, so it cannot be complete
                with pytest.raises(SwapmeetError) as problem:
                    plan.start()
                assert problem.value.__cause__.Get_error_class() == MPI.ERR_REQUEST
                with pytest.raises(SwapmeetError):
                    plan.free()
                for rank in range(1, ranks):
                    comm.send(None, rank)
            if round == 1:
                plan.wait()
            while not plan.test():
                pass
            np.testing.assert_array_equal(received, expected() + round)
        description = plan.describe()
        assert description.spec
        assert description.reason
        assert description.scratch_bytes >= 0
        assert description.messages is None or description.messages >= 0
        assert "ready" in repr(plan)
        received[:] = 77
        out[:] = sent()
        plan.start()
    check(received)  # completed at the end of the `with`
    assert repr(plan) == "<swapmeet.exchange.Plan, freed>"
    plan.free()
    for use in (plan.start, plan.test, plan.wait, plan.describe):
        with pytest.raises(SwapmeetError):
            use()

    counts, displs, types = [N] * ranks, [4 * N * rank for rank in range(ranks)], [MPI.INT] * ranks
    for make, out, into in (
        (exchange.plan_alltoallv, sent(), [counts, [N * rank for rank in range(ranks)], MPI.INT]),
        (exchange.plan_alltoallw, [sent(), counts, displs, types], [counts, displs, types]),
    ):
        received = poison()
        with make(out, [received, *into], comm) as plan:
            plan.start()
        check(received)
    received = sent()
    with exchange.plan_alltoall(MPI.IN_PLACE, received, comm) as plan:
        plan.start()
    check(received)
    with pytest.raises(SwapmeetError, match="bogus") as problem:
        exchange.plan_alltoall(sent(), poison(), comm, "bogus")
    assert problem.value.__cause__.Get_error_class() == MPI.ERR_ARG


def plans_keep_buffers():
    out, received = sent(), poison()
    alive = weakref.ref(out)
    plan = exchange.plan_alltoall(out, received, comm)
    plan.start()
    del out
    waiting = weakref.ref(plan)
    del plan
    gc.collect()
    assert alive() is not None
    assert waiting() is not None
    waiting().wait()
    check(received)
    gc.collect()
    assert waiting() is None
    assert alive() is None


def control():
    exchange.set_algorithm(comm, "pairwise")
    if ranks > 1:
        with pytest.raises(SwapmeetError) as problem:
            exchange.set_algorithm(comm, "bogus")
        assert problem.value.__cause__.Get_error_class() == MPI.ERR_ARG
    with exchange.phases(comm) as seconds:
        exchange.alltoall(sent(), poison(), comm)
        assert not seconds
    assert list(seconds) == ["pack", "transfer", "wait", "unpack", "copy", "metadata", "native", "other"]
    assert sum(seconds.values()) > 0 or ranks == 1
    exchange.set_algorithm(comm, None)
    with pytest.raises(SwapmeetError):
        exchange.trace(comm, "/no/such/folder/trace.json")
    assert exchange.version() == swapmeet.__version__
    assert exchange.built_for().split()[0] in MPI.Get_library_version()


def sparse():
    to, counts = [(me + 1) % ranks, me, (me + 1) % ranks], [1, 0, N]
    out = np.array([me, *range(10, 10 + N)], "i4")
    expected = [(me, b"")] + [
        ((me - 1) % ranks, np.array(part, "i4").tobytes()) for part in ([(me - 1) % ranks], out[1:])
    ]
    expected.sort(key=lambda message: message[0])
    if ranks == 1:
        expected = [expected[1], expected[0], expected[2]]
    for spec in (None, "nbx", "census", "sparse-bruck"):
        exchange.set_algorithm(comm, spec)
        for blocks in ([counts], [(counts, [0, 1, 1]), MPI.INT], [np.array(counts), np.array([0, 1, 1]), "i"]):
            received = exchange.sparse_alltoallv([out, *blocks], to, comm)
            assert [(source, bytes(data)) for source, data in received] == expected
    exchange.set_algorithm(comm, None)
    kept = received[-1].data
    del received
    gc.collect()
    assert bytes(kept) == expected[-1][1]
    for i in range(len(kept)):
        kept[i] = 255 - kept[i]  # it is this rank's own
    assert [bytes(data) for _, data in exchange.sparse_alltoallv(out, [0] * (1 + N), comm)] == (
        [value.tobytes() for rank in range(ranks) for value in [np.int32(rank), *out[1:]]] if me == 0 else []
    )
    assert exchange.sparse_alltoallv(None, [], comm) == []
    with pytest.raises(ValueError, match="nothing to send"):
        exchange.sparse_alltoallv(None, [0], comm)
    with pytest.raises(ValueError, match="2 counts or displacements for 1 destinations"):
        exchange.sparse_alltoallv([out, [1, 1]], [0], comm)
    with pytest.raises(ValueError, match="equal messages"):
        exchange.sparse_alltoallv(out, [0] * (2 + N), comm)
    with pytest.raises(SwapmeetError, match=f"there is no rank {ranks} among {ranks}") as problem:
        exchange.sparse_alltoallv([out, [1]], [ranks], comm)
    assert problem.value.__cause__.Get_error_class() == MPI.ERR_RANK


def memory():
    view = exchange.allocate(comm, 5 * (me + 1))
    assert bytes(view) == bytes(5 * (me + 1))
    view[1] = 3
    assert view[1] == 3
    assert exchange.allocate(comm, 0).nbytes == 0
    out = exchange.allocate_array(comm, (ranks, N), "i")
    out[:], received = sent(), poison()
    exchange.alltoall(out, received, comm)
    check(received)
    with pytest.raises(SwapmeetError) as problem:
        exchange.allocate(comm, -1)
    assert problem.value.__cause__.Get_error_class() == MPI.ERR_ARG


if sys.argv[1:] == ["count"]:  # for the statistics to tell whose calls were served
    exchange.alltoall(sent(), received := poison(), comm)
    check(received)
    for _ in range(2):
        comm.Alltoall(sent(), received := poison())
        check(received)
    sys.exit()

for part in (
    specifications_of_equal_blocks,
    specifications_of_unequal_blocks,
    specifications_of_types,
    mistakes_in_buffers,
    plans,
    plans_keep_buffers,
    control,
    sparse,
    memory,
):
    part()
    comm.Barrier()
if me == 0:
    print("exchange: right")
