/// When a communicator is worth setting up shared memory, by the automatic choice.
#pragma once

#include <cstdint>

#include "mpi/mpi.hpp"

namespace swapmeet {

/// Setting up costs half a millisecond within a node and some dozens of messages between nodes, and what a call gains by
/// it is not known before. So calls go to the host MPI until they have taken ten times as long as that: then it
/// costs a tenth of what all calls took, at most (as who rents skis for some winters before buying them).
class SetupPolicy {
 public:
  /// Counts a call. Whether shared memory is to be set up before it: the same on all ranks. By time, or by the number of
  /// calls alone, which is the same in every run. Collective.
  bool over(MPI_Comm comm, bool by_time);

  /// Around a call that goes to the host MPI meanwhile.
  void begins() { began_s_ = PMPI_Wtime(); }
  void ends() { calls_s_ += PMPI_Wtime() - began_s_; }

  /// Many calls will come: somebody said so.
  void end() { ended_ = true; }

  /// The ranks of the communicator agreed on something in so many seconds.
  void agreed_in(double seconds);

 private:
  /// Calls, where only these count; where time does: before the ranks first agree on it, and until they do again. Where
  /// calls are as short as the allreduce by which they agree, the first agreements are felt most.
  static constexpr std::int64_t counted = 8, first_look = 32, later = 4;

  bool ended_ = false;
  std::int64_t calls_ = 0, next_look_ = first_look;
  double calls_s_ = 0, began_s_ = 0;
  double agreements_s_ = 0;
  int agreements_ = 0;
};

}  // namespace swapmeet
