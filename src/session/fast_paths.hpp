/// What the last calls of a communicator leave behind for equal calls that follow.
#pragma once

#include <array>
#include <cstdint>

#include "exchange/plan.hpp"
#include "schedule/collective.hpp"
#include "session/online_tuning.hpp"

namespace swapmeet {

/// The arguments of the last MPI_Alltoall. A call with equal arguments (addresses may differ) reuses its decision.
struct Repeat {
  enum class By : std::uint8_t { nobody, plan, host };
  By by = By::nobody;  ///< what executed the call; nobody: no call is stored
  Plan* plan = nullptr;
  std::int64_t send_count = 0, receive_count = 0;
  MPI_Datatype send_type = MPI_DATATYPE_NULL, receive_type = MPI_DATATYPE_NULL;  ///< always predefined types
  Rows rows{};
  OnlineTuning* tuning = nullptr;  ///< online tuning that counts such calls; nullptr: none

  /// Counts a call. Returns false if the call needs a new decision.
  bool again() { return !tuning || !tuning->due(); }

  bool is(std::int64_t sends, MPI_Datatype sent, std::int64_t receives, MPI_Datatype received) const {
    return send_count == sends && receive_count == receives && send_type == sent && receive_type == received;
  }
};

/// Set when every call of this collective is left to the host MPI and no statistics are kept: the fast path skips the
/// decision.
struct LeftToHost {
  bool all = false;
  OnlineTuning* tuning = nullptr;  ///< online tuning that counts the calls; nullptr: none

  bool again() { return all && (!tuning || !tuning->due()); }
};

/// The fast paths of one communicator. Whatever changes how a later call must be served clears them.
struct FastPaths {
  Repeat repeat;

  LeftToHost& left_to_host(Collective collective) { return left_to_host_[static_cast<std::size_t>(collective)]; }

  /// Lets the next call of each collective make its decision anew. Local.
  void clear() {
    repeat = {};
    left_to_host_ = {};
  }

 private:
  std::array<LeftToHost, collective_names.size()> left_to_host_;
};

}  // namespace swapmeet
