/// The states of freed communicators. Programs often make, use and free communicators of the same ranks again and again.
/// Such a communicator takes over the state of an earlier one, with its team, shared memory, plans and decisions. For
/// this library, communicators that have had one state are one communicator, whose exchanges come in the same order on
/// all ranks.
///
/// A communicator takes a state over only if all its ranks propose that same state. They find that out in the exchange of
/// parameters, so each rank may decide by itself which states it keeps. Otherwise the proposed states are deleted.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace swapmeet {

class Communicator;

/// Thread-safe.
class KeptStates {
 public:
  static constexpr std::size_t most = 8;

  KeptStates();
  ~KeptStates();

  /// Keeps `state`, whose communicator was freed, and deletes the state that was kept first if there are too many.
  void keep(std::unique_ptr<Communicator> state);
  /// Deletes the state that was kept first. Returns false if there is none.
  bool drop_first();

  /// Takes a state for the ranks with these ranks in the job, in this order. Of several it is the one with the smallest
  /// number, whatever the order in which they were kept. Only states that this thread has kept are taken: threads of
  /// another rank may free their communicators in another order. nullptr: there is none.
  std::unique_ptr<Communicator> take(std::span<const int> job_ranks);

  /// Takes all states.
  std::vector<std::unique_ptr<Communicator>> take_all();
  bool empty() const;

 private:
  struct Kept {
    std::unique_ptr<Communicator> state;
    const void* thread;  ///< as this_thread()
  };
  mutable std::mutex mutex_;
  std::vector<Kept> kept_;  ///< in the order in which they were kept
};

}  // namespace swapmeet
