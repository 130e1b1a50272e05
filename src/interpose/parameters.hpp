/// The parameters of the entry points of all-to-alls, in the forms in which the macros of the entry points need them.
#pragma once

#include "interpose/foreign.hpp"

// The parameters of an all-to-all up to the communicator, of each shape: `equal` blocks, `unequal` ones, and unequal ones
// that are `typed` each. SWAPMEET_GIVEN_: the arguments as the application gave them. SWAPMEET_HERE_: the same with
// handles converted (interpose/foreign.hpp), as call_of() takes them.
#define SWAPMEET_PARAMETERS_equal(Count, Displacement)                                             \
  const void *sendbuf, Count sendcount, swapmeet::Handle sendtype, void *recvbuf, Count recvcount, \
      swapmeet::Handle recvtype
#define SWAPMEET_PARAMETERS_unequal(Count, Displacement)                                                               \
  const void *sendbuf, const Count *sendcounts, const Displacement *sdispls, swapmeet::Handle sendtype, void *recvbuf, \
      const Count *recvcounts, const Displacement *rdispls, swapmeet::Handle recvtype
#define SWAPMEET_PARAMETERS_typed(Count, Displacement)                                                      \
  const void *sendbuf, const Count *sendcounts, const Displacement *sdispls, const MPI_Datatype *sendtypes, \
      void *recvbuf, const Count *recvcounts, const Displacement *rdispls, const MPI_Datatype *recvtypes
#define SWAPMEET_GIVEN_equal sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
#define SWAPMEET_GIVEN_unequal sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype
#define SWAPMEET_GIVEN_typed sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes
#define SWAPMEET_HERE_equal \
  sendbuf, sendcount, swapmeet::as<MPI_Datatype>(sendtype), recvbuf, recvcount, swapmeet::as<MPI_Datatype>(recvtype)
#define SWAPMEET_HERE_unequal                                                                       \
  sendbuf, sendcounts, sdispls, swapmeet::as<MPI_Datatype>(sendtype), recvbuf, recvcounts, rdispls, \
      swapmeet::as<MPI_Datatype>(recvtype)
#define SWAPMEET_HERE_typed SWAPMEET_GIVEN_typed
