/// The beginning of non-blocking exchanges on one communicator: whether this library serves them, and what must be
/// prepared for them in blocking calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "mpi/mpi.hpp"
#include "schedule/collective.hpp"
#include "session/started.hpp"

namespace swapmeet {

class Communicator;

/// Number of communicators whose next blocking call must prepare plans for non-blocking exchanges.
inline std::atomic<int> waiting_for_set_up{0};

class Starts {
 public:
  explicit Starts(Communicator& communicator) : communicator_(communicator) {}
  ~Starts();
  Starts(const Starts&) = delete;
  Starts& operator=(const Starts&) = delete;

  /// The queue of non-blocking exchanges of this communicator. nullptr, on all ranks: this exchange is left to the host
  /// MPI. The queue is made in one of the first calls. This call comes in the order of collectives, but does not wait
  /// for other ranks. Where the host MPI's progress is locked, the call is only recorded by request_preparation(), and
  /// the next blocking call prepares for it.
  StartedQueue* queue(Collective collective, std::int64_t block_bytes);

  /// The queue, if it has been made; else nullptr. Local.
  StartedQueue* made_queue() const { return queue_.get(); }

  /// Starts an MPI_Ialltoall without data by the host MPI, on the application's communicator. This is done with MPICH,
  /// which completes it at once, in less time than a request of ours takes. Returns as MPI does.
  int start_nothing(Collective collective, MPI_Request* request);

  /// Excludes threads that execute started exchanges, and so may make decisions. No lock if nothing was started.
  std::unique_lock<TryMutex> lock();

  /// Records a kind of non-blocking call, for which prepare_wanted() will make a decision. Local.
  void request_preparation(Collective collective, std::int64_t block_bytes);
  /// Makes the decisions for recorded kinds of non-blocking calls, if there are any. Collective; may wait.
  void prepare_wanted() {
    if (!wanted_.empty()) [[unlikely]]
      prepare();
  }

  /// Waits until all started exchanges are complete.
  void finish() {
    if (queue_) queue_->finish();
  }
  /// Ends all waiting for node peers in started exchanges. Local.
  void revoke() {
    if (queue_) queue_->revoke();
  }
  /// Serves the next exchange, however few there have been, since the user has announced many calls.
  void expect_calls() { starts_ = first_start_of_ours; }
  /// Discards all decisions. Requires that all started exchanges are complete.
  void decide_anew() {
    if (queue_) queue_->decide_anew();
  }
  /// Ends the queue. Requires that all started exchanges are complete. Local.
  void close();

 private:
  struct Kind {
    Collective collective;
    std::int64_t block_bytes;
    bool operator==(const Kind&) const = default;
  };
  static constexpr int first_start_of_ours = 5;

  bool next_start_is_ours();
  void prepare();

  Communicator& communicator_;
  std::unique_ptr<StartedQueue> queue_;
  int starts_ = 0;            ///< number of non-blocking exchanges, up to first_start_of_ours
  std::vector<Kind> wanted_;  ///< kinds of non-blocking exchanges that the host MPI had to serve
  bool cannot_prepare_ = false;
};

}  // namespace swapmeet
