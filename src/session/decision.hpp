/// The algorithm that was chosen for calls of one kind.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exchange/plan.hpp"
#include "exchange/sized_plan.hpp"
#include "observe/statistics.hpp"
#include "session/call_arguments.hpp"
#include "session/online_tuning.hpp"
#include "session/started_tuning.hpp"

namespace swapmeet {

/// Online tuning for one class of block sizes. Buffers that node peers can read directly are tuned separately.
struct Tunings {
  explicit Tunings(std::int32_t of_class) : size_class(of_class) {}

  const std::int32_t size_class;  ///< as block_class()
  std::unique_ptr<OnlineTuning> ordinary, direct;
  std::unique_ptr<StartedTuning> started;  ///< of exchanges that the application starts
  /// Whether, at the last comparison, node peers could read the send buffers of all ranks directly.
  bool now_direct = false;

  std::unique_ptr<OnlineTuning>& now() { return now_direct ? direct : ordinary; }
};

/// The algorithm chosen for calls of one collective with block sizes in one range.
struct Decision {
  Exchange* exchange = nullptr;  ///< nullptr: calls are left to the host MPI
  Plan* plan = nullptr;          ///< `exchange` as a Plan, if both ends know the block sizes; else nullptr
  SizedPlan* sized = nullptr;    ///< `exchange` as a SizedPlan, if only one end knows them; else nullptr
  std::string reason;
  std::int64_t least_bytes = 0, most_bytes = INT64_MAX;  ///< range of block sizes that the decision holds for
  std::int64_t unchecked_bytes = INT64_MAX;              ///< larger blocks must be checked by Call::settle()
  /// Sets the exchange of ExchangeKind::sized; nullptr: calls are left to the host MPI.
  void use(Exchange* made, bool is_sized = false) {
    exchange = made;
    plan = is_sized ? nullptr : static_cast<Plan*>(made);
    sized = is_sized ? static_cast<SizedPlan*>(made) : nullptr;
  }
  /// Spec of `exchange`; native if there is none.
  const Spec& spec() const {
    static const Spec native;
    return exchange ? exchange->spec() : native;
  }
  /// Whether calls with blocks of `block_bytes` bytes are within its limits and need no agreement on sizes.
  bool settled_for(std::int64_t block_bytes) const { return !sized && block_bytes <= unchecked_bytes; }
  /// Whether the decision has been explained for calls of this kind, or no explanation is requested.
  bool& explained(Begun begun) { return explained_[static_cast<std::size_t>(begun)]; }
  /// The statistics of calls that use this decision. To be called only if calls are counted.
  Tally& tally() const {
    if (!tally_) tally_ = &statistics().tally(collective, ranks, to_text(spec()), reason);
    return *tally_;
  }
  Collective collective = Collective::alltoall;
  Rank ranks = 0;
  mutable Tally* tally_ = nullptr;
  std::array<bool, 2> explained_{};
  bool tries = false;  ///< other algorithms may be tried
  /// Online tuning of the calls so far, if `tries`. Tunings refer to themselves, so they must not be moved.
  std::vector<std::unique_ptr<Tunings>> tunings{};
  bool compared = true;  ///< false: no other algorithm is tried, and only the time of the host MPI's calls is measured
};

}  // namespace swapmeet
