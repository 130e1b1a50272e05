/// Communicators of plans. Each plan that sends messages has one to itself, for its exchanges may come in another order than
/// those of others; a plan that is freed leaves it to a later one, for many programs plan anew in each of their steps, and to make
/// one takes as long as many exchanges.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// All ranks of the communicator add the same, in the same order. Any thread.
class PlanComms {
 public:
  /// Those without a plan on this rank, the i-th as bit i; and `room`, if the process may have more: MPICH has 2,048 in all.
  std::uint64_t idle() const;
  static constexpr std::uint64_t room = std::uint64_t{1} << 63;

  /// The first of those that have no plan on any rank, which has one now. `number` becomes what it is called here; negative: there
  /// is none.
  MPI_Comm take(std::uint64_t idle_everywhere, int& number);

  /// Keeps one that a plan has, until both are gone. Returns its number; negative: there is no room, and the plan frees it.
  int add(MPI_Comm one);

  /// Frees one that add() has been given, and that is its plan's.
  static void free(MPI_Comm& one);

  /// Its plan is gone. `sound`: nothing on it has failed. False: the plan is to free it.
  bool give_back(int number, bool sound);

  /// Frees those without a plan; the others are their plans' from now on. Collective.
  void close();

 private:
  struct One {
    MPI_Comm comm = MPI_COMM_NULL;
    bool idle = false;
  };

  mutable std::mutex mutex_;
  std::array<One, 16> all_;
  std::size_t number_ = 0;
  bool closed_ = false;
};

}  // namespace swapmeet
