/// The decisions of one communicator: which algorithm serves calls of each kind. Decisions are made when a call first
/// needs them, from facts that all ranks share, so that all ranks make the same ones in the same order.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "choose/limits.hpp"
#include "choose/select.hpp"
#include "choose/setup_policy.hpp"
#include "session/decision.hpp"
#include "session/earlier_runs.hpp"
#include "session/members.hpp"
#include "session/neighbour_plans.hpp"
#include "session/plan_cache.hpp"

namespace swapmeet {

class Communicator;

class Decisions {
 public:
  /// `communicator`: whose calls the decisions are for; online tuning refers to it.
  Decisions(Communicator& communicator, Members& members, NodeSharing& node, PlanCache& plans,
            NeighbourPlans& neighbours)
      : communicator_(communicator), members_(members), node_(node), plans_(plans), neighbours_(neighbours) {}

  /// The decision for blocks of `block_bytes` bytes; 0 for unequal blocks, whose sizes are not shared. The same on all
  /// ranks. Decisions are cached: the first call for a range of sizes makes a plan and is collective, later calls are
  /// local.
  Decision& decide(Collective collective, std::int64_t block_bytes, Begun begun) {
    Decision* const known = decided(collective, block_bytes);
    return known ? *known : make(collective, block_bytes, begun);
  }
  /// The decision that decide() would return, if it is known. nullptr: decide() would be collective. Local.
  Decision* decided(Collective collective, std::int64_t block_bytes) const {
    for (const auto& decision : all_[static_cast<std::size_t>(collective)])
      if (decision->least_bytes <= block_bytes && block_bytes <= decision->most_bytes) return decision.get();
    return nullptr;
  }

  /// A decision for the host MPI for a reason that depends on the single call. decide() does not find it.
  Decision& decline(Collective collective, const std::string& reason);
  /// The decision for a call that tries `spec`. Collective.
  Decision& on_trial(Collective collective, const Spec& spec);
  /// Whether `spec` may be tried for calls with blocks of any size.
  bool may_try(const Spec& spec, Collective collective) const;

  /// The decision for a non-blocking call that would be left to the host MPI, but can no longer be: the host MPI can
  /// start it only in the order of the application's calls. Such a call sends all blocks at once by messages. The first
  /// call is collective. The decision has no exchange if a rank lacks memory.
  Decision& by_messages(Collective collective);
  /// The same decision, if it has been made; else nullptr. Local.
  Decision* known_by_messages(Collective collective) const {
    return by_messages_[static_cast<std::size_t>(collective)];
  }

  /// Online tuning of such calls that have been started; nullptr: there is nothing to try. Local.
  StartedTuning* start_tuning_for(Collective collective, Decision& decision, std::int64_t block_bytes);
  /// Whether `tuning` counts an exchange that starts. It does not while exchanges of another kind are being tried: the
  /// time from one exchange to the next can belong to only one kind. Local.
  bool counts(StartedTuning& tuning);

  /// Online tuning of calls by `decision` with blocks of `block_bytes` bytes (0: unequal ones). Made when first needed;
  /// nullptr for equal blocks of no bytes. Requires decision.tries.
  OnlineTuning* tuning_for(Collective collective, Decision& decision, std::int64_t block_bytes);

  /// The choice by `options` for blocks of `block_bytes` bytes, with the given means within nodes. Local.
  Choice choose(Collective collective, std::int64_t block_bytes, const Options& options, const Means& means) const;
  /// The candidates for blocks of `block_bytes` bytes on average, among them the host MPI and `usual`. Local.
  std::vector<Expectation> candidates_beside(const CallKind& kind, std::int64_t block_bytes, const Spec& usual) const;
  CallKind kind_of_calls(Collective collective, std::int64_t block_bytes) const;

  /// Measurements and facts that all ranks share, and note() to add a measurement. Local.
  Knowledge& knowledge() { return knowledge_; }
  void note(Evidence measured);
  EarlierRuns& earlier_runs() { return earlier_runs_; }
  /// Measures the network between nodes, so that the model can price trials by it, unless it is known, is not needed,
  /// or cannot be measured here. It is not measured in steps, because that would delay the host MPI's progress.
  /// Collective.
  void measure_network();

  /// Which of the first calls are left to the host MPI.
  SetupPolicy& setup_policy() { return setup_policy_; }

  /// Warns of `problem`, and removes the order of `spec` from `options` and from what is known, so that the automatic
  /// choice takes its place.
  void give_up_order(const Spec& spec, const std::string& problem, Options& options);

  /// Records what this run has measured and counted, for later runs. Local.
  void remember();
  /// Forgets all decisions. Local.
  void clear();

 private:
  Decision& make(Collective collective, std::int64_t block_bytes, Begun begun);
  Tunings& tunings_of(Decision& decision, std::int64_t block_bytes);
  void make_for_neighbours(Decision& decision);
  /// Keeps `decision`. With a `reason` it is one that decide() does not find.
  Decision& keep(Collective collective, std::unique_ptr<Decision> decision, const std::string& reason = "");
  std::string execute_by(const Spec& spec, Collective collective, Decision& decision);
  bool awaits_calls(Collective collective) const;
  Decision& postponed(Collective collective);
  void learn_from_first_calls(Collective collective);
  void remember_calls(Collective collective);
  std::vector<std::unique_ptr<Decision>>& of(Collective collective) {
    return all_[static_cast<std::size_t>(collective)];
  }

  Communicator& communicator_;
  Members& members_;
  NodeSharing& node_;
  PlanCache& plans_;
  NeighbourPlans& neighbours_;
  SetupPolicy setup_policy_;
  EarlierRuns earlier_runs_;
  Knowledge knowledge_;
  std::array<std::vector<std::unique_ptr<Decision>>, collective_names.size()> all_;
  std::array<Decision*, collective_names.size()> by_messages_{};
  StartedTuning* counting_ = nullptr;  ///< tuning that has counted the last started exchange
  int not_counted_ = 0;                ///< number of started exchanges of other kinds since then
};

}  // namespace swapmeet
