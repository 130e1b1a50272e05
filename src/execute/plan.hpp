/// A schedule made ready to run over MPI, again and again: its requests are allocated once.
#pragma once

#include <string>
#include <vector>

#include "execute/blocks.hpp"
#include "schedule/schedule.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

class Plan {
 public:
  /// `schedule` is of this rank, made from `spec`. Local.
  Plan(const Spec& spec, Schedule schedule);

  const Spec& spec() const { return spec_; }
  bool segmented() const { return schedule_.segment_bytes > 0; }

  /// Exchanges blocks over `comm`, whose traffic must be ours alone and whose errors return. Collective; blocks until the
  /// rank's own part is done; allocates nothing. A segmented plan requires contiguous blocks on both sides. On an error
  /// `touched` says whether messages had been started, after which `comm` must not be used again.
  /// Not to be called by two threads at a time (nor would MPI allow it on one communicator).
  int run(const Blocks& send, const Blocks& receive, MPI_Comm comm, bool& touched);

 private:
  Spec spec_;
  Schedule schedule_;
  std::vector<MPI_Request> requests_;  ///< 2·window of the widest step: receives, then sends
};

}  // namespace swapmeet
