/// What earlier runs measured for the ranks of one communicator. Rank 0 recalls it from its files; the exchange of
/// parameters tells the others how much there is, and it is sent to them when a decision needs it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "choose/expectation.hpp"
#include "choose/memory_store.hpp"
#include "choose/setup_policy.hpp"
#include "session/members.hpp"

namespace swapmeet {

class EarlierRuns {
 public:
  /// Reads the files of this process, for its record. Called on rank 0. Local.
  void recall(Rank ranks);
  std::size_t own_bytes() const { return (recalled_ ? recalled_->text.size() : 0); }
  bool own_many() const { return recalled_ && recalled_->many; }

  /// Sets what the record of rank 0 tells: the bytes that it recalls, and whether its program made many calls. Local.
  void announced(std::size_t bytes, bool many) {
    bytes_ = std::min(bytes, MemoryStore::most_recalled_bytes);
    many_ = many;
  }
  /// Whether there is something that use() has not used yet, and whether earlier runs made enough calls of a kind to
  /// set up a communicator at once. The same on all ranks.
  bool waits_for_use() const { return bytes_ > 0; }
  bool many() const { return many_; }

  /// Adds the measurements to `knowledge`, if all ranks have received the same. Collective.
  void use(Team& team, Knowledge& knowledge);

 private:
  std::shared_ptr<const Recalled> recalled_;  ///< of rank 0
  std::size_t bytes_ = 0;                     ///< its size, the same on all ranks; 0: it is used up or unusable
  bool many_ = false;
};

/// The measurements and counts of calls of this kind in earlier runs.
EarlierCalls in_earlier_runs(const CallKind& kind, const Knowledge& knowledge);

/// Records the measurements of this run for later runs. Only rank 0 of the job does. Local.
void remember_for_later(Knowledge& knowledge);

}  // namespace swapmeet
