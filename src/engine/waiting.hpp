/// The two ways in which the same exchange waits for its messages.
#pragma once

#include <sched.h>

#include <span>

#include "mpi/outcome.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

/// How an exchange waits: as long as it takes.
struct Blocking {
  static constexpr bool waits = true;

  static int all(Outcome& outcome, std::span<MPI_Request> requests, MPI_Status* statuses) {
    return outcome.wait_all(requests, statuses);
  }

  /// The index of a request that has completed, MPI_UNDEFINED if none is active. Not MPI_Waitany: MPICH 5 spins in it
  /// without giving the core away, which takes some 30 times as long where ranks share cores; so after some polls
  /// others may have the core. Where time is simulated nobody shares a core, and a poll would take time.
  static int any(std::span<MPI_Request> requests, int patience, int& index) {
    if constexpr (simulated)
      return PMPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, MPI_STATUS_IGNORE);
    for (int polls = 0;; ++polls) {
      int flag = 0;
      const int error =
          PMPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &flag, MPI_STATUS_IGNORE);
      if (error || flag) return error;
      if (polls >= patience) sched_yield();
    }
  }

  static int probe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    return PMPI_Mprobe(from, tag, comm, message, status);
  }
};

/// Not at all: what is not there yet is `unfinished`. Whoever calls comes back.
struct Nonblocking {
  static constexpr bool waits = false;

  static int all(Outcome& outcome, std::span<MPI_Request> requests, MPI_Status* statuses) {
    return outcome.test_all(requests, statuses);
  }

  static int any(std::span<MPI_Request> requests, int /*patience*/, int& index) {
    int flag = 0;
    const int error =
        PMPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &flag, MPI_STATUS_IGNORE);
    return error || flag ? error : unfinished;
  }

  static int probe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    int flag = 0;
    const int error = PMPI_Improbe(from, tag, comm, &flag, message, status);
    return error || flag ? error : unfinished;
  }
};

}  // namespace swapmeet
